// Every allocation of a computation fails once. The computation must then end with out_of_memory, or with std::bad_alloc where
// it builds values such as kernels, and the next one must be right again. Under the address sanitizer, no memory may leak.
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <thread>

#include "base/parallel.hpp"
#include "check.hpp"
#include "kernsel/choose.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/least_squares.hpp"
#include "kernsel/model.hpp"
#include "kernsel/nystrom.hpp"
#include "kernsel/path.hpp"
#include "kernsel/posterior.hpp"
#include "kernsel/runtime.hpp"
#include "kernsel/strings.hpp"
#include "kernsel/support.hpp"
#include "model_file.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<long> allocations{0};
std::atomic<long> fails_at{-1};  // the index of the allocation that fails; none if it is -1

bool fails_now() { return counting.load() && allocations.fetch_add(1) == fails_at.load(); }

void* allocated(std::size_t bytes) {
  void* memory = fails_now() ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocated(bytes); }
void* operator new[](std::size_t bytes) { return allocated(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return fails_now() ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return fails_now() ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

// The linker replaces posix_memalign with this function (CMakeLists.txt), since the library allocates arrays with it.
extern "C" int __real_posix_memalign(void** memory, std::size_t alignment, std::size_t bytes);
extern "C" int __wrap_posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  return fails_now() ? 12 : __real_posix_memalign(memory, alignment, bytes);
}

namespace {

using kernsel::Code;
using kernsel::Index;
using kernsel::Kernel;
using kernsel::Status;

constexpr Index n = 40;

// A computation, whose result is a number.
using Computation = std::function<Status(double& answer)>;

struct Outcome {
  Status status;
  bool bad_alloc = false;
  double answer = 0.0;
};

// Runs a computation on a new thread, which has no scratch memory yet, so that this is allocated too.
Outcome run(const Computation& compute, long failing) {
  Outcome outcome;
  std::thread([&] {
    allocations = 0;
    fails_at = failing;
    counting = true;
    try {
      outcome.status = compute(outcome.answer);
    } catch (const std::bad_alloc&) {
      outcome.bad_alloc = true;
    }
    counting = false;
  }).join();
  return outcome;
}

void every_allocation_fails_once(const char* name, const Computation& compute) {
  (void)run(compute, -1);  // makes the allocations that occur once in a process
  const Outcome expected = run(compute, -1);
  const long count = allocations;
  CHECK(expected.status.ok() && count > 0);
  long failed = 0;
  for (long at = 0; at < count; at += at < 300 ? 1 : 1 + count / 100) {
    const Outcome outcome = run(compute, at);
    const bool told = outcome.bad_alloc || outcome.status.code == Code::out_of_memory;
    // A search may ignore a trial point for which there is no memory: then the answer must be right.
    const bool right = outcome.status.ok() && outcome.answer == expected.answer;
    if (!told && !right)
      std::printf("%s, allocation %ld of %ld: code %d\n", name, at, count, static_cast<int>(outcome.status.code));
    CHECK(told || right);
    failed += told;
  }
  CHECK(failed > 0);
  const Outcome afterwards = run(compute, -1);
  CHECK(afterwards.status.ok() && afterwards.answer == expected.answer);
}

struct Data {
  std::vector<double> x = random_numbers<double>(2 * n, 3), y = random_numbers<double>(n, 4);
  std::vector<double> ones = std::vector<double>(static_cast<std::size_t>(n), 1.0);
  std::vector<Index> folds = std::vector<Index>(static_cast<std::size_t>(n));
  Data() {
    for (Index i = 0; i < n; ++i) folds[static_cast<std::size_t>(i)] = i % 4;
  }
  kernsel::View<const double> X() const { return kernsel::columns(x.data(), n, 2); }
  kernsel::Problem problem() const {
    return {X(), kernsel::vector(y.data(), n), kernsel::vector(ones.data(), 1), kernsel::vector(ones.data(), n)};
  }
};

Kernel some_kernel() {
  return 2.0 * kernsel::rbf({0.5, 1.0}) + kernsel::matern52({1.0}) * kernsel::normalize(kernsel::dot_product(0.7)) +
         kernsel::matern(1.2, {0.4}) + kernsel::white(0.1);
}

void linear_algebra() {
  const Data data;
  every_allocation_fails_once("factor", [&](double& answer) {
    const Kernel k = some_kernel();
    kernsel::LowerTiles<double> L;
    Status status = kernsel::factorize<double>(k, data.X(), kernsel::vector(data.ones.data(), n), L);
    if (!status.ok()) return status;
    answer = kernsel::log_determinant(L);
    std::vector<double> b = data.y, inverse(static_cast<std::size_t>(n * n)), gradient(k.theta().size());
    status = kernsel::solve(L, kernsel::columns(b.data(), n, 1));
    if (!status.ok()) return status;
    status = kernsel::inverse(L, kernsel::columns(inverse.data(), n, n));
    if (!status.ok()) return status;
    status = kernsel::pullback<double>(k, data.X(), kernsel::columns(inverse.data(), n, n), gradient.data());
    answer += b[0] + inverse[1] + gradient[0];
    return status;
  });
}

void criteria() {
  const Data data;
  for (const bool left_out : {false, true})
    every_allocation_fails_once("criterion", [&](double& answer) {
      const auto factor = kernsel::dense_factor();
      kernsel::Evaluation evaluation;
      const kernsel::Criterion criterion = left_out ? kernsel::criteria::leave_out(kernsel::criteria::log_density())
                                                    : kernsel::criteria::likelihood(true, kernsel::criteria::Scale::shared);
      const Status status =
          kernsel::evaluate(some_kernel(), data.problem(), criterion,
                            left_out ? kernsel::Order::gradient : kernsel::Order::information, *factor, evaluation);
      if (status.ok()) answer = evaluation.value + evaluation.gradient.theta.at(0);
      return status;
    });
  for (const bool joint : {false, true})
    every_allocation_fails_once("groups", [&](double& answer) {
      const auto factor = kernsel::dense_factor();
      kernsel::Evaluation evaluation;
      const kernsel::Groups groups{data.folds, 4};
      const kernsel::Criterion criterion = joint ? kernsel::criteria::joint_log_density(groups)
                                                 : kernsel::criteria::leave_out(kernsel::criteria::crps(), groups);
      const Status status =
          kernsel::evaluate(some_kernel(), data.problem(), criterion, kernsel::Order::gradient, *factor, evaluation);
      if (status.ok()) answer = evaluation.value + evaluation.gradient.theta.at(0);
      return status;
    });
}

void criteria_by_landmarks() {
  const Data data;
  for (const Index size : {0, 3, 20})  // of the groups that are left out together, if any
    every_allocation_fails_once("landmarks", [&](double& answer) {
      kernsel::NystromOptions options;
      options.given = random_numbers<double>(12, 5);
      const auto factor = kernsel::nystrom_factor(options);
      kernsel::Groups groups;
      for (Index i = 0; i < n && size > 0; ++i) groups.of.push_back(i / size);
      groups.count = size > 0 ? (n + size - 1) / size : 0;
      kernsel::Evaluation evaluation;
      const Status status =
          kernsel::evaluate(some_kernel(), data.problem(), kernsel::criteria::leave_out(kernsel::criteria::crps(), groups),
                            kernsel::Order::gradient, *factor, evaluation);
      if (status.ok()) answer = evaluation.value + evaluation.gradient.theta.at(0);
      return status;
    });
}

void posteriors() {
  const Data data;
  every_allocation_fails_once("posterior", [&](double& answer) {
    kernsel::DensePosterior model;
    Status status = model.condition({some_kernel(), data.X(), kernsel::vector(data.y.data(), n),
                                     kernsel::vector(data.ones.data(), 1), kernsel::Basis::Kind::linear});
    std::vector<double> mean(5), variance(5), slopes(10);
    const kernsel::View<const double> Z = data.X().block(0, 0, 5, 2);
    if (status.ok()) status = model.mean(Z, kernsel::vector(mean.data(), 5));
    if (status.ok()) status = model.variance(Z, kernsel::vector(variance.data(), 5));
    if (status.ok()) status = model.variance_gradient(Z, kernsel::rows(slopes.data(), 5, 2));
    answer = mean[0] + variance[1] + slopes[3];
    return status;
  });
}

void searches() {
  const Data data;
  every_allocation_fails_once("search", [&](double& answer) {
    kernsel::Choosing problem(2.0 * kernsel::matern52({1.0, 1.0}), data.X(), kernsel::vector(data.y.data(), n));
    problem.finds_noise = true;
    kernsel::ChoosingOptions options;
    options.evaluations = 6;
    kernsel::Choice choice;
    const Status status = kernsel::choose(problem, options, choice);
    if (status.ok()) answer = choice.criterion;
    return status;
  });
}

void support_vectors() {
  const Data data;
  every_allocation_fails_once("support vectors", [&](double& answer) {
    const auto size = static_cast<std::size_t>(n);
    const kernsel::SupportProblem problem{kernsel::vector(data.y.data(), n), std::vector<double>(size, -10.0),
                                          std::vector<double>(size, 10.0), 0.1, true};
    kernsel::SupportSolver solver(some_kernel(), data.X(), std::size_t{1} << 24);
    kernsel::SupportFit fit;
    const Status status = solver.solve(problem, {}, fit);
    if (status.ok()) answer = fit.primal;
    return status;
  });
}

void strings() {
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> offsets{0};
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 4 + i; ++j) tokens.push_back((i * 7 + j * j) % 4);
    offsets.push_back(static_cast<std::int64_t>(tokens.size()));
  }
  const kernsel::Strings X{tokens.data(), offsets.data(), 12};
  const auto of = [&](const auto& kernel_of_strings) {
    return [&, kernel_of_strings](double& answer) {
      std::vector<double> K(144);
      const Status status = kernel_of_strings(kernsel::columns(K.data(), 12, 12));
      answer = K[13] + K[50];
      return status;
    };
  };
  every_allocation_fails_once("spectrum", of([&](kernsel::View<double> K) {
                                return kernsel::gram(kernsel::Spectrum{3, 1, 4}, X, K);
                              }));
  every_allocation_fails_once("subsequences",
                              of([&](kernsel::View<double> K) { return kernsel::gram(kernsel::Subsequences{}, X, K); }));
  every_allocation_fails_once("alignments",
                              of([&](kernsel::View<double> K) { return kernsel::log_gram(kernsel::LocalAlignment{}, X, K); }));
}

void paths() {
  const Data data;
  for (const bool features : {false, true})
    every_allocation_fails_once("path", [&](double& answer) {
      kernsel::PathProblem problem;
      problem.y = kernsel::vector(data.y.data(), n);
      problem.trend = kernsel::vector(data.ones.data(), n);
      kernsel::RegularizationPath path;
      kernsel::PathValues values;
      kernsel::PathChoice choice;
      std::vector<double> groups;
      Status status = features ? kernsel::RegularizationPath::of_features(data.X(), problem, path)
                               : kernsel::RegularizationPath::of_kernel(kernsel::matern52({1.0}), data.X(), problem, path);
      if (status.ok()) status = path.values({0.1, 1.0}, values);
      if (status.ok()) status = path.best(kernsel::PathRule::gcv, values, choice);
      if (status.ok()) status = path.leave_groups_out(data.folds, 4, true, {0.5}, groups);
      if (status.ok()) answer = values.loo[0] + choice.alpha + groups[0];
      return status;
    });
  every_allocation_fails_once("least squares", [&](double& answer) {
    kernsel::LeastSquares fit;
    const Status status = kernsel::least_squares(data.X(), kernsel::vector(data.y.data(), n), 0.1, fit);
    if (status.ok()) answer = fit.press[0];
    return status;
  });
}

void models() {
  const std::string path = "memory-" + std::to_string(getpid()) + ".ksl";
  std::ofstream(path, std::ios::binary) << file_of(process, process_arrays());
  every_allocation_fails_once("model", [&](double& answer) {
    kernsel::Model model;
    Status status = kernsel::load_model(path.c_str(), model);
    const std::vector<double> z{0.1, 0.4, 2.0};
    std::vector<double> mean(3), deviation(3);
    if (status.ok())
      status = model.predict(kernsel::columns(z.data(), 3, 1), kernsel::columns(mean.data(), 3, 1),
                             kernsel::columns(deviation.data(), 3, 1));
    answer = mean[0] + deviation[1];
    return status;
  });
  std::remove(path.c_str());
}

}  // namespace

int main() {
  for (const int threads : {1, 2}) {
    kernsel::set_num_threads(threads);
    kernsel::use_a_team_for_any_work(threads > 1);
    linear_algebra();
    criteria();
    criteria_by_landmarks();
    posteriors();
    searches();
    support_vectors();
    strings();
    paths();
    models();
  }
  return report("memory");
}

// Kernels as values: the order of parameters, shared subtrees, gradients in the points, functions of the caller, and errors,
// which are returned when the kernel is used.
#include <pthread.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include "check.hpp"
#include "kernels/program.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/kernel_json.hpp"

using kernsel::Index;
using kernsel::Kernel;

namespace {

void parameters_from_left_to_right() {
  const Kernel k = 2.0 * kernsel::rbf({0.5, 3.0}) + kernsel::constant(5.0) * kernsel::white(7.0);
  const double expected[] = {2.0, 0.5, 3.0, 5.0, 7.0};
  CHECK(k.parameters() == 5);
  for (std::size_t p = 0; p < 5; ++p) CHECK_BELOW(std::abs(k.theta()[p] - std::log(expected[p])), 1e-15);
}

// A kernel that occurs twice in an expression has one set of parameters, whose gradient is the sum over both places.
void shared_subtrees() {
  const Kernel shared = kernsel::rbf({0.8});
  const Kernel k = shared * shared + shared;
  CHECK(k.parameters() == 1);
  const std::vector<double> x = random_numbers<double>(40, 1), w = random_numbers<double>(1600, 2);
  const auto X = kernsel::columns(x.data(), 40, 1);
  double gradient = 0.0;
  CHECK(kernsel::pullback<double>(k, X, kernsel::columns(w.data(), 40, 40), &gradient).ok());
  const auto value = [&](double l) {
    const Kernel moved = kernsel::rbf({l});
    std::vector<double> K(1600);
    CHECK(kernsel::gram<double>(moved * moved + moved, X, kernsel::columns(K.data(), 40, 40)).ok());
    double sum = 0.0;
    for (std::size_t i = 0; i < K.size(); ++i) sum += w[i] * K[i];
    return sum;
  };
  const double h = 1e-5;
  CHECK_BELOW(std::abs(gradient - (value(0.8 * std::exp(h)) - value(0.8 * std::exp(-h))) / (2 * h)), 1e-7);
}

void errors_wait_until_the_kernel_is_used() {
  const std::vector<double> x = random_numbers<double>(12, 1);
  std::vector<double> K(16);
  const auto X = kernsel::columns(x.data(), 4, 3);
  const auto out = kernsel::columns(K.data(), 4, 4);
  for (const Kernel& k : {kernsel::rbf({-1.0}),
                          kernsel::rbf({1.0, 2.0}),
                          kernsel::rbf({}),
                          kernsel::constant(0.0),
                          kernsel::white(-1.0),
                          -1.0 * kernsel::rbf({1.0}),
                          kernsel::rbf({1.0}) + kernsel::rbf({std::nan("")}),
                          kernsel::matern(-1.0, {1.0}),
                          kernsel::matern(1e3, {1.0}),
                          kernsel::pow(kernsel::rbf({1.0}), -1.0),
                          kernsel::sigmoid(std::nan(""), {1.0}),
                          kernsel::arc_cosine(3, 1.0, {1.0}),
                          kernsel::arc_cosine(0, -1.0, {1.0}),
                          kernsel::radial_pair({}),
                          kernsel::transform(kernsel::rbf({1.0}), {1.0, 2.0}, 1),
                          kernsel::quadratic_form({}, 0),
                          kernsel::function({}),
                          kernsel::warp(kernsel::rbf({1.0}), {}),
                          kernsel::noise(1.0, {}),
                          kernsel::precomputed({}),
                          kernsel::spectral_mixture({1.0}, {}, {}),
                          kernsel::normalize(kernsel::on(kernsel::rbf({1.0}), {7})),
                          kernsel::transform(kernsel::rbf({1.0, 2.0}), {1.0, 2.0, 3.0}, 1)}) {
    CHECK(kernsel::gram<double>(k, X, out).code == kernsel::Code::invalid_argument);
    kernsel::LowerTiles<double> L;
    CHECK(kernsel::factorize<double>(k, X, {}, L).code == kernsel::Code::invalid_argument);
  }
  CHECK(kernsel::gram<double>(kernsel::rbf({1.0}), X, kernsel::columns(K.data(), 2, 2)).code ==
        kernsel::Code::invalid_argument);
}

double weighted_sum(const Kernel& k, const std::vector<double>& x, const std::vector<double>& w, Index n, Index d) {
  std::vector<double> K(static_cast<std::size_t>(n * n));
  CHECK(kernsel::gram<double>(k, kernsel::columns(x.data(), n, d), kernsel::columns(K.data(), n, n)).ok());
  double sum = 0.0;
  for (std::size_t i = 0; i < K.size(); ++i) sum += w[i] * K[i];
  return sum;
}

void gradients_in_the_points() {
  constexpr Index n = 30, d = 2;
  std::vector<double> x = random_numbers<double>(n * d, 1);
  const std::vector<double> w = random_numbers<double>(n * n, 2);
  const auto sine = [](kernsel::View<const double> points, kernsel::View<double> values) {
    for (Index i = 0; i < points.rows; ++i) values(i, 0) = std::sin(points(i, 0)) + 2.0;
  };
  const Kernel k =
      kernsel::normalize(kernsel::dot_product(0.7) + kernsel::arc_cosine(1, 1.0, {0.8})) * kernsel::matern(1.7, {1.2}) +
      kernsel::warp(kernsel::transform(kernsel::rbf({0.9}), {1.0, -0.5}, 1), {sine}) +
      kernsel::spectral_mixture({1.0, 0.5}, {{1.0}, {2.0}}, {{1.5}, {0.7}});
  std::vector<double> gradient(n * d);
  const auto X = kernsel::columns(static_cast<const double*>(x.data()), n, d);
  const auto W = kernsel::columns(w.data(), n, n);
  CHECK(kernsel::pullback_points<double>(k, X, W, kernsel::columns(gradient.data(), n, d)).ok());
  for (const std::size_t i : {std::size_t{0}, std::size_t{7}, std::size_t{59}}) {
    const double h = 1e-5, before = x[i];
    x[i] = before + h;
    const double above = weighted_sum(k, x, w, n, d);
    x[i] = before - h;
    const double below = weighted_sum(k, x, w, n, d);
    x[i] = before;
    CHECK_BELOW(std::abs(gradient[i] - (above - below) / (2 * h)), 1e-6);
  }
}

// A squared exponential composed with the linear kernel is the squared exponential of the points.
void composed_kernels() {
  constexpr Index n = 40, d = 2;
  const std::vector<double> x = random_numbers<double>(n * d, 1);
  const auto X = kernsel::columns(x.data(), n, d);
  std::vector<double> K(n * n), expected(n * n);
  const Kernel linear = kernsel::polynomial(0.0, 1, {1.0});
  const Kernel k = kernsel::compose(kernsel::rbf({0.8}), linear);
  CHECK(kernsel::gram<double>(k, X, kernsel::columns(K.data(), n, n)).ok());
  CHECK(kernsel::gram<double>(kernsel::rbf({0.8}), X, kernsel::columns(expected.data(), n, n)).ok());
  double error = 0.0;
  for (std::size_t i = 0; i < K.size(); ++i) error = std::max(error, std::abs(K[i] - expected[i]));
  CHECK_BELOW(error, 1e-13);
  CHECK(k.theta() == (std::vector<double>{std::log(0.8), 0.0}));
  for (const Kernel& wrong : {kernsel::compose(kernsel::rbf({1.0, 2.0}), linear),
                              kernsel::compose(kernsel::rbf({-1.0}), linear), kernsel::compose(kernsel::cosine({1.0}), linear),
                              kernsel::compose(k, linear), kernsel::compose(kernsel::rbf({1.0}), kernsel::rbf({-1.0}))})
    CHECK(kernsel::gram<double>(wrong, X, kernsel::columns(K.data(), n, n)).code == kernsel::Code::invalid_argument);
}

void functions_are_called_once_and_may_throw() {
  std::atomic<int> calls{0};
  kernsel::KernelFunction f;
  f.value = [&calls](kernsel::View<const double> X, kernsel::View<const double> Z, kernsel::View<double> values) {
    ++calls;
    for (Index i = 0; i < X.rows; ++i)
      for (Index j = 0; j < Z.rows; ++j) values(i, j) = 1.0 + X(i, 0) * Z(j, 0);
  };
  f.name = "one plus product";
  const std::vector<double> x = random_numbers<double>(20, 1);
  std::vector<double> K(400);
  const auto X = kernsel::columns(x.data(), 20, 1);
  const auto out = kernsel::columns(K.data(), 20, 20);
  CHECK(kernsel::gram<double>(kernsel::function(f) * kernsel::function(f) + kernsel::function(f), X, out).ok());
  CHECK(calls == 1);
  calls = 0;  // if the function has a diagonal, k(x, x) is computed by that
  f.diagonal = [](kernsel::View<const double> points, kernsel::View<double> values) {
    for (Index i = 0; i < points.rows; ++i) values(i, 0) = 1.0 + points(i, 0) * points(i, 0);
  };
  f.name = "with a diagonal";
  const std::vector<double> whole = K;
  CHECK(kernsel::gram<double>(kernsel::normalize(kernsel::function(f)), X, out).ok());
  CHECK(calls == 1);
  const auto at = [&](std::size_t i, std::size_t j) { return 1.0 + x[i] * x[j]; };
  CHECK_BELOW(std::abs(K[3 + 7 * 20] - at(3, 7) / std::sqrt(at(3, 3) * at(7, 7))), 1e-14);
  CHECK(kernsel::gram_diagonal<double>(kernsel::function(f), X, kernsel::columns(K.data(), 20, 1)).ok());
  CHECK(calls == 1);
  CHECK(K[5] == at(5, 5));
  f.value = [](kernsel::View<const double>, kernsel::View<const double>, kernsel::View<double>) {
    throw std::runtime_error("not today");
  };
  f.name = "";
  const kernsel::Status status = kernsel::gram<double>(kernsel::rbf({1.0}) + kernsel::function(f), X, out);
  CHECK(status.code == kernsel::Code::exception);
  bool caught = false;
  try {
    std::rethrow_exception(status.exception);
  } catch (const std::runtime_error& error) {
    caught = std::string(error.what()) == "not today";
  }
  CHECK(caught);
}

constexpr std::size_t small_stack = 256 * 1024;
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t stack_for_json =
    4 * small_stack;  // lists are read by recursion, whose stack frames the sanitizer enlarges
#else
constexpr std::size_t stack_for_json = small_stack;
#endif

// Runs f on a thread with a small stack, as some servers have: recursion over a long expression would overflow it.
template <class F>
void on_a_small_stack(std::size_t bytes, const F& f) {
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, bytes) == 0);
  const auto run = [](void* function) -> void* {
    (*static_cast<const F*>(function))();
    return nullptr;
  };
  CHECK(pthread_create(&thread, &attributes, run, const_cast<F*>(&f)) == 0);
  CHECK(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}

// Long sums and products, nested to the left or to the right, and other operations nested as deeply, work without recursion.
void expressions_deeper_than_the_stack() {
  constexpr int many = 100'000;
  const Kernel leaf = kernsel::rbf({0.5});
  const std::vector<double> x = {0.0, 1.0};
  const auto X = kernsel::columns(x.data(), 2, 1);
  const auto one = [](kernsel::View<const double> points, kernsel::View<double> values) {
    for (Index i = 0; i < points.rows; ++i) values(i, 0) = 1.0;
  };
  const std::function<Kernel(const Kernel&)> steps[] = {
      [&](const Kernel& k) { return k + leaf; },
      [&](const Kernel& k) { return leaf + k; },
      [&](const Kernel& k) { return 0.5 * (k + leaf) * leaf; },
      [&](const Kernel& k) { return kernsel::pow(k, 1.0); },
      [&](const Kernel& k) { return kernsel::on(k, {0}); },
      [&](const Kernel& k) {
        return kernsel::warp(k, {one, {}, "one"});
      },
      [&](const Kernel& k) { return kernsel::normalize(k); },
  };
  on_a_small_stack(small_stack, [&] {
    for (const auto& step : steps) {
      Kernel k = leaf;
      for (int i = 0; i < many; ++i) k = step(k);
      CHECK(k.check(1).ok());
      CHECK(!k.has_noise());
      bool changed = false;
      const Kernel moved = k.with_theta(std::vector<double>(k.theta().size(), -0.125), &changed);
      CHECK(changed && std::abs(moved.theta().back() + 0.125) < 1e-15);
      std::string json;
      (void)kernsel::kernel_to_json(k, json);
    }
    for (std::size_t s = 0; s < 5; ++s) {  // evaluation of the other steps would need too much memory
      Kernel k = leaf;
      for (int i = 0; i < many / 10; ++i) k = steps[s](k);
      std::vector<double> K(4);
      CHECK(kernsel::gram<double>(k, X, kernsel::columns(K.data(), 2, 2)).ok());
      if (s < 2) CHECK(K[0] == many / 10 + 1);
    }
  });
  on_a_small_stack(stack_for_json, [&] {
    Kernel deep = leaf, read = leaf;
    for (int i = 0; i < 200; ++i) deep = kernsel::exp(deep);
    std::string json, again;
    CHECK(kernsel::kernel_to_json(deep, json).ok() && kernsel::kernel_from_json(json, read).ok());
    CHECK(kernsel::kernel_to_json(read, again).ok() && again == json);
    CHECK(!kernsel::kernel_to_json(kernsel::exp(deep), json).ok());
    CHECK(!kernsel::kernel_from_json(std::string(100'000, '['), read).ok());
  });
}

// A kernel that is squared 60 times has 61 nodes, but 2^60 paths from the root to the leaf: each node must be visited once.
void shared_nodes_are_walked_once() {
  Kernel k = kernsel::rbf({0.5});
  for (int i = 0; i < 60; ++i) k = k * k;
  CHECK(k.check(1).ok() && k.parameters() == 1);
  const double x[] = {0.0};
  double K = 0.0;
  CHECK(kernsel::gram<double>(k, kernsel::columns(x, 1, 1), kernsel::columns(&K, 1, 1)).ok() && K == 1.0);
}

}  // namespace

int main() {
  parameters_from_left_to_right();
  shared_subtrees();
  gradients_in_the_points();
  composed_kernels();
  functions_are_called_once_and_may_throw();
  errors_wait_until_the_kernel_is_used();
  expressions_deeper_than_the_stack();
  shared_nodes_are_walked_once();
  return report("kernel");
}

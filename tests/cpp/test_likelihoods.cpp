// Likelihoods on a team of threads, those that a program writes itself, and functions that throw.
#include <stdexcept>
#include <thread>

#include "base/parallel.hpp"
#include "check.hpp"
#include "kernsel/likelihood.hpp"
#include "kernsel/runtime.hpp"

using kernsel::Code;
using kernsel::Index;
using kernsel::Observations;

namespace {

constexpr Index n = 1000;

struct Rows {
  std::vector<double> y, mean, variance, p;
  Rows() {
    for (Index i = 0; i < n; ++i) {
      y.push_back(static_cast<double>(i % 6));
      mean.push_back(0.01 * static_cast<double>(i % 300) - 1.0);
      variance.push_back(i % 7 == 0 ? 0.0 : 0.5);
      p.push_back((static_cast<double>(i) + 0.5) / n);
    }
  }
  Observations observations() const { return {n, y.data(), nullptr}; }
  kernsel::LatentNormal margins() const { return {n, mean.data(), variance.data(), nullptr}; }
};

// The same bits on one thread and on several, and quantiles that the probability reaches.
void threads_change_nothing() {
  const Rows rows;
  const auto counts = kernsel::likelihoods::negative_binomial(2.0);
  std::vector<kernsel::Moments> alone(n), together(n);
  std::vector<double> quantile(n), reached(n);
  for (auto* out : {&alone, &together}) {
    kernsel::use_a_team_for_any_work(out == &together);
    CHECK(counts->moments(rows.observations(), rows.mean.data(), rows.variance.data(), out->data()).ok());
  }
  for (Index i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    CHECK(alone[k].value == together[k].value && alone[k].second == together[k].second);
  }
  CHECK(counts->predict_quantile(rows.margins(), rows.p.data(), quantile.data()).ok());
  CHECK(counts->predict_probability(rows.margins(), quantile.data(), reached.data()).ok());
  for (std::size_t k = 0; k < n; ++k) CHECK(reached[k] >= rows.p[k]);
  kernsel::use_a_team_for_any_work(false);
}

kernsel::LikelihoodFunctions functions(std::thread::id caller, bool throws) {
  const auto poisson = kernsel::likelihoods::poisson();
  kernsel::LikelihoodFunctions f;
  f.name = "own";
  f.log_concave = true;
  f.outcomes = poisson->outcomes(1.0);
  f.rough = [=](const Observations& of, double* out) { CHECK(poisson->rough(of, out).ok()); };
  f.density = [=](const Observations& of, const double* at, kernsel::Density* out) {
    CHECK(std::this_thread::get_id() == caller);
    if (throws) throw std::runtime_error("of the caller");
    CHECK(poisson->density(of, at, out).ok());
  };
  return f;
}

// Functions of the caller are called on its thread, even if all work is for a team, and what they throw is kept.
void functions_of_the_caller() {
  const Rows rows;
  const auto own = kernsel::likelihoods::of_functions(functions(std::this_thread::get_id(), false));
  std::vector<kernsel::Moments> found(n), expected(n);
  kernsel::use_a_team_for_any_work(true);
  CHECK(own->moments(rows.observations(), rows.mean.data(), rows.variance.data(), found.data()).ok());
  const auto poisson = kernsel::likelihoods::poisson();
  CHECK(poisson->moments(rows.observations(), rows.mean.data(), rows.variance.data(), expected.data()).ok());
  for (std::size_t k = 0; k < n; ++k) CHECK_BELOW(std::abs(found[k].value - expected[k].value), 1e-12);

  const auto bad = kernsel::likelihoods::of_functions(functions(std::this_thread::get_id(), true));
  const auto status = bad->moments(rows.observations(), rows.mean.data(), rows.variance.data(), found.data());
  CHECK(status.code == Code::exception);
  try {
    if (status.exception) std::rethrow_exception(status.exception);
    CHECK(false);
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()) == "of the caller");
  }
  kernsel::use_a_team_for_any_work(false);
}

void no_rows() {
  for (const auto& likelihood : {kernsel::likelihoods::poisson(), kernsel::likelihoods::student_t(1.0, 4.0)}) {
    CHECK(likelihood->moments({}, nullptr, nullptr, nullptr).ok());
    CHECK(likelihood->predict_quantile({}, nullptr, nullptr).ok());
    for (const auto& parameter : likelihood->start({})) CHECK(std::isfinite(parameter.value));
  }
}

}  // namespace

int main() {
  kernsel::set_num_threads(2);
  threads_change_nothing();
  functions_of_the_caller();
  no_rows();
  return report("likelihoods");
}

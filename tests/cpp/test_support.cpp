// Support vector regression: the conditions of the optimum, with room for the whole kernel matrix and with a small cache of
// rows.
#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/support.hpp"

using kernsel::Index;
using kernsel::Kernel;
using kernsel::SupportFit;
using kernsel::SupportOptions;
using kernsel::SupportProblem;
using kernsel::SupportSolver;

namespace {

struct Case {
  Case(Index points, unsigned seed)
      : n(points), X(random_numbers<double>(2 * points, seed)), y(static_cast<std::size_t>(points)) {
    const std::vector<double> noise = random_numbers<double>(points, seed + 1);
    for (Index i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      y[k] = std::sin(3.0 * X[k]) + 0.3 * noise[k];
    }
  }
  kernsel::View<const double> points() const { return kernsel::columns(X.data(), n, 2); }
  SupportProblem problem(double C, double epsilon, bool intercept) const {
    const auto size = static_cast<std::size_t>(n);
    return {kernsel::vector(y.data(), n), std::vector<double>(size, -C), std::vector<double>(size, C), epsilon, intercept};
  }

  Index n;
  std::vector<double> X, y;
};

// The duality gap divided by the primal objective, computed with the whole kernel matrix.
double gap_of(const Kernel& k, const Case& data, const SupportProblem& problem, const SupportFit& fit) {
  const Index n = data.n;
  std::vector<double> K(static_cast<std::size_t>(n * n));
  CHECK(kernsel::gram<double>(k, data.points(), kernsel::rows(K.data(), n, n)).ok());
  double norm = 0.0, losses = 0.0, linear = 0.0, absolute = 0.0, sum = 0.0;
  for (Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    double f = 0.0;
    for (Index j = 0; j < n; ++j) f += K[static_cast<std::size_t>(i * n + j)] * fit.a[static_cast<std::size_t>(j)];
    norm += fit.a[at] * f;
    const double residual = data.y[at] - f - fit.intercept;
    losses += problem.upper[at] * std::max(residual - problem.epsilon, 0.0);
    losses -= problem.lower[at] * std::max(-residual - problem.epsilon, 0.0);
    linear += fit.a[at] * data.y[at];
    absolute += std::abs(fit.a[at]);
    sum += fit.a[at];
    CHECK(problem.lower[at] <= fit.a[at] && fit.a[at] <= problem.upper[at]);
    // Coefficients are zero for points inside of the tube, by a margin that is larger than the error of the solution.
    if (std::abs(data.y[at] - f - fit.intercept) < problem.epsilon - 1e-3) CHECK(fit.a[at] == 0.0);
  }
  if (problem.intercept) CHECK_BELOW(std::abs(sum - problem.sum), 1e-12 * std::max(absolute, 1.0));
  const double primal = norm / 2.0 + losses + fit.intercept * problem.sum,
               dual = linear - norm / 2.0 - problem.epsilon * absolute;
  CHECK_BELOW(std::abs(primal - fit.primal), 1e-8 * std::max(primal, 1.0));
  return (primal - dual) / std::max(std::abs(primal), 1e-300);
}

void optimum() {
  for (const Index n : {Index{1}, Index{2}, Index{37}, Index{300}, Index{700}})
    for (const bool intercept : {true, false})
      for (const double C : {1e-3, 1.0, 1e3}) {
        const Case data(n, static_cast<unsigned>(n));
        const Kernel k = kernsel::rbf({0.7, 0.7});
        const SupportProblem problem = data.problem(C, 0.1, intercept);
        SupportOptions options;
        options.tolerance = 1e-9;
        SupportFit whole, paged;
        SupportSolver with_all(k, data.points(), std::size_t{1} << 30), with_few(k, data.points(), 1000);
        CHECK(with_all.solve(problem, options, whole).ok());
        CHECK(whole.converged);
        CHECK_BELOW(gap_of(k, data, problem, whole), 2e-9);
        CHECK(with_few.solve(problem, options, paged).ok());
        CHECK(paged.converged);
        CHECK_BELOW(gap_of(k, data, problem, paged), 2e-9);
        CHECK_BELOW(std::abs(whole.primal - paged.primal), 3e-9 * std::max(whole.primal, 1e-6));
        // Started from the solution, the solver needs at most about half of the iterations.
        const Index before = whole.iterations;
        CHECK(with_all.solve(problem, options, whole).ok());
        CHECK(whole.iterations <= before / 2 + 2);
      }
}

// Bounds that differ, some of them zero; and a sum, as one class has it.
void lopsided_bounds() {
  const Case data(300, 9);
  const Kernel k = kernsel::matern32({0.7, 0.7});
  for (const bool one_class : {false, true})
    for (const std::size_t bytes : {std::size_t{1} << 30, std::size_t{1000}}) {
      SupportProblem problem = data.problem(1.0, 0.0, true);
      for (std::size_t i = 0; i < problem.lower.size(); ++i) {
        problem.lower[i] *= one_class || i % 3 == 0 ? 0.0 : 0.1;
        problem.upper[i] *= !one_class && i % 3 == 1 ? 0.0 : 0.9;
      }
      if (one_class) problem.sum = 40.0;
      SupportOptions options;
      options.tolerance = 1e-9;
      SupportFit fit;
      SupportSolver solver(k, data.points(), bytes);
      CHECK(solver.solve(problem, options, fit).ok());
      CHECK(fit.converged);
      CHECK_BELOW(gap_of(k, data, problem, fit), 2e-9);
    }
}

void wrong_problems() {
  const Case data(5, 1);
  SupportSolver solver(kernsel::rbf({1.0}), data.points(), 1 << 20);
  SupportFit fit;
  SupportProblem problem = data.problem(1.0, -1.0, true);
  CHECK(!solver.solve(problem, {}, fit).ok());
  problem = data.problem(-1.0, 0.0, true);
  CHECK(!solver.solve(problem, {}, fit).ok());
  problem = data.problem(1.0, 0.0, true);
  problem.upper.pop_back();
  CHECK(!solver.solve(problem, {}, fit).ok());
  problem = data.problem(1.0, 0.0, true);
  problem.sum = 5.1;  // more than all upper bounds
  CHECK(!solver.solve(problem, {}, fit).ok());
  SupportSolver noisy(kernsel::rbf({1.0}), data.points(), 1 << 20, {1.0, 2.0});
  CHECK(!noisy.solve(data.problem(1.0, 0.0, true), {}, fit).ok());
}

}  // namespace

int main() {
  optimum();
  lopsided_bounds();
  wrong_problems();
  return report("support");
}

// Support vector regression: the epsilon-insensitive loss, for which most coefficients are zero.
//
// Minimizes over f = b + sum_j a_j k(., x_j), with bounds C_i (a constant times the weight of each point), the primal objective
//
//     1/2 |f - b|^2 + sum_i C_i max(|y_i - f(x_i)| - epsilon, 0)                                            (primal)
//
// by its dual, the minimum of a'Ka/2 - a'y + epsilon |a|_1 for |a_i| <= C_i, and sum a_i = 0 if there is an intercept b.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "kernsel/kernel.hpp"

namespace kernsel {

struct SupportProblem {
  View<const double> y;        // (n, 1)
  std::vector<double> bounds;  // C_i, not negative; 0 leaves the point out
  double epsilon = 0.0;
  bool intercept = true;
};

struct SupportOptions {
  double tolerance = 1e-4;  // the duality gap at which the solver stops, relative to the primal objective
  Index iterations = std::numeric_limits<Index>::max();
  bool shrinking = true;
  Index working_set = 0;  // the number of points that are solved for at a time; 0 chooses it automatically
};

struct SupportFit {
  // The coefficients, exactly zero for points that are not support vectors. On input, the start, if there are n numbers.
  std::vector<double> a;
  double intercept = 0.0;
  double primal = 0.0, gap = 0.0;  // the objective, and an upper bound of its difference from the minimum
  Index iterations = 0;            // the number of steps of two coefficients, or of one
  Index rounds = 0;                // the number of sets of points that were solved for
  Index rows = 0;                  // the number of rows of the kernel matrix that were computed
  bool converged = false;
  bool indefinite = false;  // whether the kernel was found not to be positive semidefinite; `a` is then a stationary point
};

// Solves several problems on the same points, between which rows of the kernel matrix are kept, in about `bytes` of memory.
// It must not be used by several threads at once.
class SupportSolver {
 public:
  // The points must outlive the solver.
  SupportSolver(const Kernel& kernel, View<const double> X, std::size_t bytes);
  ~SupportSolver();
  SupportSolver(const SupportSolver&) = delete;
  SupportSolver& operator=(const SupportSolver&) = delete;

  // If it fails because of an interrupt, `fit` has the current coefficients.
  Status solve(const SupportProblem& problem, const SupportOptions& options, SupportFit& fit);

 private:
  class Rows;
  struct Run;
  std::unique_ptr<Rows> rows_;
};

}  // namespace kernsel

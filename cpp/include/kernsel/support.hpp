// Support vector machines: regression, classification and the support of a distribution, by losses whose slopes are bounded,
// for which many coefficients are zero.
//
// Minimizes over f = b + sum_j a_j k(., x_j), with bounds lower_i <= 0 <= upper_i, the primal objective
//
//     1/2 |f - b|^2 + b sum + sum_i (upper_i max(r_i - epsilon, 0) - lower_i max(-r_i - epsilon, 0)),  r_i = y_i - f(x_i)
//     (primal)
//
// by its dual, the minimum of a'Ka/2 - a'y + epsilon |a|_1 for lower_i <= a_i <= upper_i, and sum a_i = sum if there is an
// intercept b. With a constant C_i (times the weight of each point), these are
//
//     the epsilon-insensitive loss   lower = -C, upper = C
//     the hinge loss, y = 1 or -1    lower = min(C y, 0), upper = max(C y, 0), epsilon = 0
//     the loss of the quantile q     lower = -C (1 - q), upper = C q, epsilon = 0
//     Huber's loss                   lower = -C delta, upper = C delta, epsilon = 0, and noise of variance 1 / C
//     one class, of n points         lower = 0, upper = C, y = 0, epsilon = 0, sum = nu n C
//
// since Huber's loss, r^2 / 2 up to delta and linear beyond, is the minimum of s^2 / 2 + delta |r - s| over s = a / C: the gap
// for K + 1 / C is at least that of Huber's objective.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "kernsel/kernel.hpp"

namespace kernsel {

struct SupportProblem {
  View<const double> y;              // (n, 1)
  std::vector<double> lower, upper;  // lower <= 0 <= upper; both zero leave the point out
  double epsilon = 0.0;
  bool intercept = true;
  double sum = 0.0;  // of the coefficients, from 0 to the sum of `upper`; only with an intercept
};

struct SupportOptions {
  double tolerance = 1e-4;  // the duality gap at which the solver stops, relative to the size of the primal objective
  Index iterations = std::numeric_limits<Index>::max();
  bool shrinking = true;
  Index working_set = 0;  // the number of points that are solved for at a time; 0 chooses it automatically
};

struct SupportFit {
  // The coefficients, exactly zero for points that are not support vectors. On input, the start, if there are n numbers.
  std::vector<double> a;
  double intercept = 0.0;
  double primal = 0.0, gap = 0.0;  // the objective, and an upper bound of its difference from the minimum
  double rounding = 0.0;           // a gap that rounding errors may leave where large coefficients cancel in the function
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
  // The points must outlive the solver. `noise` is added to the diagonal of the kernel matrix: (n), or empty for zeros.
  SupportSolver(const Kernel& kernel, View<const double> X, std::size_t bytes, std::vector<double> noise = {});
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

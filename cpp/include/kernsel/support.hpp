// Support vector regression: the epsilon-insensitive loss, whose solutions are sparse.
//
// Minimizes over f = b + sum_j a_j k(., x_j), with bounds C_i (a constant times the weight of each point)
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
  std::vector<double> bounds;  // C_i, from 0 on; 0 leaves the point out
  double epsilon = 0.0;
  bool intercept = true;
};

struct SupportOptions {
  double tolerance = 1e-4;  // of the duality gap, relative to the primal objective
  Index iterations = std::numeric_limits<Index>::max();
  bool shrinking = true;
  Index working_set = 0;  // points that are solved for at a time; 0: as is best
};

struct SupportFit {
  std::vector<double> a;  // exactly zero for points that are no support vectors; where to start, if there are n of them
  double intercept = 0.0;
  double primal = 0.0, gap = 0.0;  // objective, and how far above the minimum it may be
  Index iterations = 0;            // steps of two coefficients, or of one
  Index rounds = 0;                // sets of points that were solved for
  Index rows = 0;                  // of the kernel matrix that were computed
  bool converged = false;
  bool indefinite = false;  // the kernel has been seen not to be positive semidefinite: `a` is a stationary point
};

// Solves problems on the same points; rows of the kernel matrix are kept between them, within so many bytes. Not for several
// threads at once.
class SupportSolver {
 public:
  // The points must outlive the solver.
  SupportSolver(const Kernel& kernel, View<const double> X, std::size_t bytes);
  ~SupportSolver();
  SupportSolver(const SupportSolver&) = delete;
  SupportSolver& operator=(const SupportSolver&) = delete;

  // What was found is in `fit` also when it fails by an interrupt.
  Status solve(const SupportProblem& problem, const SupportOptions& options, SupportFit& fit);

 private:
  class Rows;
  struct Run;
  std::unique_ptr<Rows> rows_;
};

}  // namespace kernsel

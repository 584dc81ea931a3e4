// The regularization path: kernel ridge regression for all values of lambda at once, from one eigendecomposition.
//
//     RegularizationPath path;
//     Status status = RegularizationPath::of_kernel(2.0 * rbf({0.7}), X, {vector(y, n)}, path);
//     PathValues values;
//     if (status.ok()) status = path.values(path.default_alphas(), values);
//     PathChoice choice;
//     if (status.ok()) status = path.best(PathRule::loo, values, choice);
//
// The fit for lambda minimizes sum_i w_i (y_i - f(x_i) - (H b)_i)^2 + lambda |f|^2. With K = V diag(e) V' (where a trend H is,
// of what it leaves of K: Z an orthonormal basis of all that is orthogonal to H, Z'KZ = Q diag(e) Q', V = Z Q), each value of
// lambda costs two products with V for leave-one-out, and O(n) for everything else.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "kernsel/kernel.hpp"

namespace kernsel {

struct PathProblem {
  View<const double> y;             // (n, m)
  View<const double> trend = {};    // H, (n, q), of full column rank, not penalized; or none
  const double* weights = nullptr;  // (n), positive; or nullptr for ones
  double noise_std = 0.0;           // the standard deviation of the noise at weight one; 0: not known
  bool mean_of_errors = false;      // lambda is multiplied by the sum of the weights: the objective with the mean of errors
  double rounding = std::numeric_limits<double>::epsilon();  // of the entries of K: how negative an eigenvalue may be
};

// One entry for each value of lambda. All of the targets together: errors are means over them, likelihoods sums.
struct PathValues {
  std::vector<double> alphas;                                                       // lambda
  std::vector<double> loo;                                                          // mean squared leave-one-out residual
  std::vector<double> gcv;                                                          // generalized cross-validation
  std::vector<double> log_likelihood, restricted_log_likelihood;                    // of kernel K and noise lambda / w
  std::vector<double> profiled_log_likelihood, profiled_restricted_log_likelihood;  // at the best common factor of the two
  std::vector<double> residual_norm;                                                // |w^(1/2) (y - f)|
  std::vector<double> seminorm;                                                     // |f| = (c'Kc)^(1/2), without the trend
  std::vector<double> effective_dof;                                                // q + sum e / (e + lambda)
  std::vector<double> risk;       // unbiased estimate of the mean squared error of fitted values; NaN if the noise is not known
  std::vector<double> curvature;  // of log seminorm against log residual norm, positive at a corner
  std::vector<double> quasi_optimality;  // |lambda df/dlambda|
};

// The least loo, gcv or risk; the greatest likelihood; the lambda whose residual has the norm tau (n m)^(1/2) noise_std; the
// corner of the L-curve; the interior minimum of `quasi_optimality`.
enum class PathRule {
  loo,
  gcv,
  likelihood,
  restricted_likelihood,
  profiled_likelihood,
  profiled_restricted_likelihood,
  risk,
  discrepancy,
  l_curve,
  quasi_optimality
};

struct PathChoice {
  enum class Outcome {
    found,
    no_corner,        // the L-curve has none
    no_minimum,       // the quasi-optimality function has none between the ends
    noise_is_all,     // discrepancy: `wanted` is not less than `norm`, that of y; every lambda fits well enough
    noise_too_small,  // discrepancy: `wanted` is not more than `least`, what no lambda fits
  };
  Outcome outcome = Outcome::found;
  double alpha = std::numeric_limits<double>::quiet_NaN();
  double norm = 0.0, wanted = 0.0, least = 0.0;  // of residuals, for the discrepancy
};

// Who decomposes, A being free to be overwritten: by default symmetric_eigen, or singular_values of A, (n, d), with the
// arguments as in decomposition.hpp. May throw.
using Decomposition = std::function<Status(View<double> A, View<double> values, View<double> vectors)>;

// Copies share the decomposition, which never changes.
class RegularizationPath {
 public:
  // Code::not_positive_definite if K has eigenvalues that are more negative than rounding makes them: `value` is the least,
  // and least_eigenvalue() and greatest_eigenvalue() of `out` tell both.
  static Status of_matrix(View<const double> K, const PathProblem& problem, RegularizationPath& out,
                          const Decomposition& decompose = {});
  static Status of_kernel(const Kernel& k, View<const double> X, const PathProblem& problem, RegularizationPath& out);
  // Ridge regression on the columns of A, (n, d): the same as for the matrix AA', in O(n d^2) operations.
  static Status of_features(View<const double> A, const PathProblem& problem, RegularizationPath& out,
                            const Decomposition& decompose = {});
  // From K = V diag(e) V' with e, (n), and V, (n, n), columns in any order: for problems without trend and weights.
  static Status of_eigen(View<const double> e, View<const double> V, const PathProblem& problem, RegularizationPath& out);

  Index points() const;          // n
  Index targets() const;         // m
  Index trend_columns() const;   // q
  double largest_alpha() const;  // the lambda that is as large as the largest eigenvalue; 1 if all are zero
  double least_eigenvalue() const;
  double greatest_eigenvalue() const;
  std::vector<double> eigenvalues() const;  // the largest first, none negative; of features, those that are not zero
  // 200 values from 1e-12 to 100 times largest_alpha().
  std::vector<double> default_alphas() const;

  // Everything at these values of lambda, all positive. Without `leave_out`, loo is NaN and all else O(n) for each.
  Status values(const std::vector<double>& alphas, PathValues& out, bool leave_out = true) const;

  // c, (n, m), for one lambda: f = sum_i c_i k(., x_i).
  Status dual_coef(double alpha, View<double> out) const;

  // What leaving groups of points out costs, point i being in group group[i], 0 ... count - 1: the mean of squared residuals,
  // or the sum of the joint log densities. n^3 / count operations for each lambda.
  Status leave_groups_out(const std::vector<Index>& group, Index count, bool log_density, const std::vector<double>& alphas,
                          std::vector<double>& out) const;

  // The lambda that a rule chooses: where `grid`, which values() made, has its best, made precise; beyond the grid if the best
  // is at an end. `grid` may be empty for discrepancy, l_curve and quasi_optimality.
  Status best(PathRule rule, const PathValues& grid, PathChoice& out, double tau = 1.0) const;

  // The path of one target alone; nothing is decomposed again.
  Status target(Index k, RegularizationPath& out) const;

  // All of it as numbers, to be stored and read back.
  std::vector<double> state() const;
  static Status from_state(View<const double> state, RegularizationPath& out);

  struct Content;

 private:
  std::shared_ptr<const Content> content_;
};

// The column of the values that a rule looks at: values.*curve_of(rule).
std::vector<double> PathValues::*curve_of(PathRule rule);

}  // namespace kernsel

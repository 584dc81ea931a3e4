// The regularization path: kernel ridge regression for all values of lambda at once, from one eigendecomposition.
//
//     RegularizationPath path;
//     Status status = RegularizationPath::of_kernel(2.0 * rbf({0.7}), X, {vector(y, n)}, path);
//     PathValues values;
//     if (status.ok()) status = path.values(path.default_alphas(), values);
//     PathChoice choice;
//     if (status.ok()) status = path.best(PathRule::loo, values, choice);
//
// The fit for lambda minimizes sum_i w_i (y_i - f(x_i) - (H b)_i)^2 + lambda |f|^2. With K = V diag(e) V', each value of lambda
// takes two products of V with a vector for leave-one-out, and O(n) for all other criteria. With a trend H, K is restricted to
// the complement of H: Z'KZ = Q diag(e) Q' and V = Z Q, where Z is an orthonormal basis of the complement.
//
// Any number of rows: with Nystrom's approximation by m landmarks (nystrom.hpp), sums over rows determine all criteria but
// leave-one-out, for which the rows are read once more. Nothing of the size n x m is stored.
//
//     PathSums sums;
//     Status status = blocks.begin(k, Z, 0);
//     for each block: status = sums.add(blocks, rows);
//     status = RegularizationPath::of_landmarks(blocks, sums, {}, path);
//     for each block: status = path.left_out(blocks, rows, alphas, errors);
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "kernsel/kernel.hpp"
#include "kernsel/nystrom.hpp"

namespace kernsel {

struct PathProblem {
  View<const double> y;             // (n, m)
  View<const double> trend = {};    // H, (n, q), of full column rank, not penalized; or none
  const double* weights = nullptr;  // (n), positive; or nullptr for ones
  double sigma = 0.0;               // the standard deviation of the noise at weight one; 0 if it is not known
  bool mean_of_errors = false;      // multiply lambda by the sum of the weights, for an objective with the mean of the errors
  // The relative rounding error of the entries of K, which determines how negative an eigenvalue may be.
  double rounding = std::numeric_limits<double>::epsilon();
};

// What a path by landmarks needs to know of the rows. Sums of blocks are added, in any grouping.
struct PathSums {
  NystromSums rows;              // with the noise 1 / w_i
  double weights = 0.0;          // sum w_i
  double inverse_weights = 0.0;  // sum 1 / w_i
  // `block` has the noise 1 / w_i. The kernel must have no noise of its own, which lambda would not multiply.
  Status add(const NystromBlocks& blocks, const RowBlock& block);
  void add(const PathSums& other);
};

struct LandmarkPathOptions {
  double sigma = 0.0;           // as in PathProblem
  bool mean_of_errors = false;  // as in PathProblem
  bool bound = true;            // likelihoods are lower bounds of those of the kernel itself
};

// A function that calls its argument for all rows, one block after the other, with the noise 1 / w_i.
using PathRows = std::function<Status(const std::function<Status(const RowBlock&)>&)>;

// The criteria, with one entry for each value of lambda. Errors are averaged over the targets, and likelihoods summed.
struct PathValues {
  std::vector<double> alphas;                                                       // lambda
  std::vector<double> loo;                                                          // mean squared leave-one-out residual
  std::vector<double> gcv;                                                          // generalized cross-validation
  std::vector<double> log_likelihood, restricted_log_likelihood;                    // for kernel K and noise lambda / w
  std::vector<double> profiled_log_likelihood, profiled_restricted_log_likelihood;  // at the best common factor of the two
  std::vector<double> residual_norm;                                                // |w^(1/2) (y - f)|
  std::vector<double> seminorm;                                                     // |f| = (c'Kc)^(1/2), without the trend
  std::vector<double> effective_dof;                                                // q + sum e / (e + lambda)
  std::vector<double> risk;       // unbiased estimate of the mean squared error of fitted values; NaN if the noise is not known
  std::vector<double> curvature;  // curvature of log seminorm against log residual norm, positive at a corner
  std::vector<double> quasi_optimality;  // |lambda df/dlambda|
};

// The rules that choose lambda: the least loo, gcv or risk; the greatest likelihood; discrepancy, a residual of the norm
// tau (n m)^(1/2) sigma; the corner of the L-curve; the interior minimum of `quasi_optimality`.
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
    no_corner,        // the L-curve has no corner
    no_minimum,       // the quasi-optimality function has no minimum in the interior
    noise_is_all,     // discrepancy: `wanted` is at least `norm`, the norm of y, so that every lambda fits well enough
    noise_too_small,  // discrepancy: `wanted` is at most `least`, the residual that remains for any lambda
  };
  Outcome outcome = Outcome::found;
  double alpha = std::numeric_limits<double>::quiet_NaN();
  double norm = 0.0, wanted = 0.0, least = 0.0;  // norms of residuals, for the discrepancy
};

// A function that decomposes A, which it may overwrite, with the arguments of symmetric_eigen or singular_values in
// decomposition.hpp, which are the defaults. It may throw.
using Decomposition = std::function<Status(View<double> A, View<double> values, View<double> vectors)>;

// Copies share the decomposition, which is immutable.
class RegularizationPath {
 public:
  // Fails with Code::not_positive_definite if K has eigenvalues that are more negative than rounding explains: `value` is the
  // least one, and least_eigenvalue() and greatest_eigenvalue() of `out` are set.
  static Status of_matrix(View<const double> K, const PathProblem& problem, RegularizationPath& out,
                          const Decomposition& decompose = {});
  static Status of_kernel(const Kernel& k, View<const double> X, const PathProblem& problem, RegularizationPath& out);
  // Ridge regression on the columns of A, (n, d): the path of the kernel matrix AA', in O(n d^2) operations.
  static Status of_features(View<const double> A, const PathProblem& problem, RegularizationPath& out,
                            const Decomposition& decompose = {});
  // From a decomposition K = V diag(e) V' with e, (n), and V, (n, n), whose columns may be in any order. Only for problems
  // without trend and weights.
  static Status of_eigen(View<const double> e, View<const double> V, const PathProblem& problem, RegularizationPath& out);

  // The path of Q = F F' in the place of K, for F and `blocks` as in nystrom.hpp. `sums` are those of all rows.
  static Status of_landmarks(const NystromBlocks& blocks, const PathSums& sums, const LandmarkPathOptions& options,
                             RegularizationPath& out);

  Index points() const;         // n
  Index targets() const;        // m
  Index trend_columns() const;  // q
  bool by_landmarks() const;
  double largest_alpha() const;  // the lambda that equals the largest eigenvalue; 1 if all are zero
  double least_eigenvalue() const;
  double greatest_eigenvalue() const;
  std::vector<double> eigenvalues() const;  // in decreasing order, not negative; for features, those that are not zero
  // 200 values from 1e-12 to 100 times largest_alpha().
  std::vector<double> default_alphas() const;

  // Computes all criteria at positive values of lambda. Without `leave_out`, loo is NaN, and each value takes O(n) only. With
  // landmarks, each takes O(m), and loo reads the rows once for all values: it fails without set_rows().
  Status values(const std::vector<double>& alphas, PathValues& out, bool leave_out = true) const;

  // Writes the coefficients c, (n, m), of f = sum_i c_i k(., x_i) for one lambda. Not for landmarks.
  Status dual_coef(double alpha, View<double> out) const;

  // For landmarks: the coefficients u and b, (m + q, targets), of f = sum_j u_j k(., z_j) + sum_p b_p h_p.
  Status landmark_coef(double alpha, View<double> out) const;
  // For landmarks: sums, (values of lambda, targets) by columns, += sum_i w_i r_i^2 over the rows of a block, where r_i is the
  // leave-one-out residual; 2 m (m + 2 values) operations a row. `sums` is empty at first.
  Status left_out(const NystromBlocks& blocks, const RowBlock& block, const std::vector<double>& alphas,
                  std::vector<double>& sums) const;
  // For landmarks: the means over the rows of set_rows(), sum_i w_i r_i^2 / sum_i w_i, in the same order.
  Status left_out(const std::vector<double>& alphas, std::vector<double>& means) const;
  // For landmarks: the rows that values() and best() read for loo. They are not part of state().
  Status set_rows(std::shared_ptr<const NystromBlocks> blocks, PathRows rows);

  // k-fold cross-validation, where point i belongs to group[i], from 0 to count - 1: the mean of the squared residuals of
  // groups that are left out, or the sum of their joint log densities. n^3 / count operations for each lambda. Not for
  // landmarks.
  Status leave_groups_out(const std::vector<Index>& group, Index count, bool log_density, const std::vector<double>& alphas,
                          std::vector<double>& out) const;

  // The lambda that a rule chooses: the best of `grid`, which values() has computed, refined between its neighbours, or beyond
  // the grid if the best is at an end. `grid` may be empty for discrepancy, l_curve and quasi_optimality.
  Status best(PathRule rule, const PathValues& grid, PathChoice& out, double tau = 1.0) const;

  // The path of target k alone, with the same decomposition.
  Status target(Index k, RegularizationPath& out) const;

  // The path as numbers that can be stored, and its reconstruction from them.
  std::vector<double> state() const;
  static Status from_state(View<const double> state, RegularizationPath& out);

  struct Content;

 private:
  std::shared_ptr<const Content> content_;
  std::shared_ptr<const NystromBlocks> blocks_;  // with `rows_`, if they are known
  PathRows rows_;
};

// The criterion by which a rule chooses is values.*curve_of(rule).
std::vector<double> PathValues::*curve_of(PathRule rule);

}  // namespace kernsel

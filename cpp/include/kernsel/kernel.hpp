// Kernels: immutable expressions of simple kernels and operations, which are cheap to copy.
//
//     Kernel k = 2.0 * rbf({1.0, 0.3}) + white(0.1);
//
// Expressions can be as long and as deep as memory allows, since no function here is recursive.
//
// gram.hpp evaluates kernels at points. A kernel with an invalid parameter can be constructed, but every computation with it
// returns Code::invalid_argument.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

class KernelNode;  // program.hpp

// The kind of a hyperparameter, by which a start and bounds for it are derived from data (data.hpp).
enum class Rule : std::uint8_t {
  none,      // unknown
  length,    // a length scale of distances
  size,      // a length scale of inner products
  norm,      // a constant that is added to inner products
  ratio,     // a positive number without a unit
  share,     // a number between zero and one
  variance,  // a variance of the function
  noise,     // a variance of the noise
  period,
  signed_number,  // a number without a unit that may be negative
};

class Kernel {
 public:
  explicit Kernel(std::shared_ptr<const KernelNode> node) : node_(std::move(node)) {}

  // The hyperparameters from left to right in the expression: the logarithms of those that are positive, others unchanged.
  Index parameters() const;
  std::vector<double> theta() const;
  // Returns the kernel with other hyperparameters. A kernel that contains functions of the caller with parameters is returned
  // unchanged, and `changed` is set to false.
  Kernel with_theta(const std::vector<double>& theta, bool* changed = nullptr) const;

  // The kinds of the hyperparameters, in the order of theta().
  std::vector<Rule> rules() const;

  bool has_noise() const;             // whether the diagonal of k(X, X) includes noise, which equal points do not share
  Status check(Index columns) const;  // fails if the kernel cannot be evaluated at points with that many columns
  const std::shared_ptr<const KernelNode>& node() const { return node_; }

 private:
  std::shared_ptr<const KernelNode> node_;
};

// Kernels of the distance r, r^2 = sum_k (x_k - z_k)^2 / l_k^2, with one length scale l for all columns or one for each.
Kernel rbf(std::vector<double> length_scale);                               // exp(-r^2 / 2)
Kernel exponential(std::vector<double> length_scale);                       // exp(-r), which is Matern 1/2
Kernel matern32(std::vector<double> length_scale);                          // (1 + a) exp(-a), a = 3^(1/2) r
Kernel matern52(std::vector<double> length_scale);                          // (1 + a + a^2 / 3) exp(-a), a = 5^(1/2) r
Kernel matern(double nu, std::vector<double> length_scale);                 // any smoothness nu, 1e-6 <= nu <= 100, or infinity
Kernel rational_quadratic(double alpha, std::vector<double> length_scale);  // (1 + r^2 / (2 alpha))^-alpha
// exp(-2 sin(pi r)^2 / l^2), where r is the distance in periods, with one period for all columns or one for each.
Kernel periodic(double length_scale, std::vector<double> period);

// prod_k m(|x_k - z_k| / l_k), where m is the Matern kernel of one column, as is usual in kriging.
Kernel product_matern(double nu, std::vector<double> length_scale);
Kernel cosine(std::vector<double> period);  // cos(2 pi sum_k (x_k - z_k) / period_k)
// Wendland's kernels, zero for r >= 1; functions in the kernel's space are `smoothness` (0, 1 or 2) times differentiable.
Kernel wendland(int smoothness, std::vector<double> length_scale);
// sum_q weight_q exp(-r_q^2 / 2) cos(2 pi sum_k (x_k - z_k) / period_qk), which approximates any stationary kernel with enough
// components.
Kernel spectral_mixture(const std::vector<double>& weights, const std::vector<std::vector<double>>& length_scales,
                        const std::vector<std::vector<double>>& periods);

// Kernels of the inner product of points whose columns are divided by length scales (one, one for each column, or none).
Kernel dot_product(double sigma, std::vector<double> length_scale = {});              // sigma^2 + x'z
Kernel polynomial(double offset, int degree, std::vector<double> length_scale = {});  // (offset + x'z)^degree
Kernel sigmoid(double offset, std::vector<double> length_scale);  // tanh(offset + x'z): not positive semidefinite
Kernel radial_pair(std::vector<double> length_scale);             // x'z + (|x| |z|)^2
Kernel quadratic_form(std::vector<double> B, Index rows);         // x'B'B z; B by rows, whose entries are hyperparameters
// (u v)^(n/2) J_n(t) / pi, u = offset + x'x, v = offset + z'z, t the angle: J_0 = pi - t, J_1 = sin t + (pi - t) cos t,
// J_2 = 3 sin t cos t + (pi - t)(1 + 2 cos^2 t). It is the limit of wide neural networks of one layer.
Kernel arc_cosine(int order, double offset, std::vector<double> length_scale);
Kernel brownian();  // prod_k min(|x_k|, |z_k|), zero if the signs of x_k and z_k differ for some k

// Kernels of levels, the values of a column of categories: a column of codes 0, 1, ..., or 0/1 columns, one for each level.
// 1 for equal levels, and one correlation, 0 <= correlation <= 1, for all others. There may be any number of levels, so that
// the columns need not have codes: what differs is another level.
Kernel exchangeable(double correlation);
// 1 for equal levels, `within` for others of the same group, within * between otherwise; a group for each level.
Kernel grouped_levels(double within, double between, std::vector<Index> groups);
// (w_i'w_j + [i = j]) / ((1 + |w_i|^2) (1 + |w_j|^2))^(1/2): any correlations that `rank` factors explain. W by rows, one for
// each level; its entries are hyperparameters.
Kernel correlated_levels(std::vector<double> W, Index rank);
// w_i'w_j + [i = j] kappa_i: covariances of related outputs, whose numbers are the levels. Times a kernel of x, and as a sum of
// such products, it is the linear model of coregionalization. Without kappa it is w_i w_j, with one number w for each level.
Kernel coregion(std::vector<double> W, std::vector<double> kappa);
// A Matern kernel of smoothness 1/2, 3/2, 5/2 or infinity of the positions of levels on a line, `gaps` apart from each other.
Kernel ordered_levels(double nu, std::vector<double> gaps);

Kernel constant(double value);  // k(x, z) = value
Kernel white(double noise);     // noise on the diagonal of k(X, X), zero between different sets of points

// A function of points, one in each row. It may throw: the exception ends the computation and is stored in Status::exception.
// values are (n, outputs), derivatives (n, outputs * columns) with the index of the column of the points varying fastest;
// without a function for them, they are computed by central differences. Kernels whose functions have the same name are treated
// as equal, and evaluated once.
struct PointFunction {
  std::function<void(View<const double> points, View<double> values)> value;
  std::function<void(View<const double> points, View<double> derivatives)> derivative = {};
  std::string name = {};
};

Kernel noise(double level, PointFunction variance);  // level * variance(x) on the diagonal of k(X, X), like white()

// k(x, z) = K_ij for points x = (i), z = (j). `owner` keeps the memory of the view alive.
Kernel precomputed(View<const double> K, std::shared_ptr<const void> owner = {});

// A kernel that the caller defines: `value` writes values, (n, m); if there are parameters theta, `pullback` computes
// gradient_p += sum_ij weights_ij dk_ij/dtheta_p. Both are called with blocks of points, from several threads at a time.
// Without `diagonal`, k(x, x) is taken from the values of whole blocks.
struct KernelFunction {
  std::function<void(View<const double> X, View<const double> Z, View<double> values)> value;
  std::function<void(View<const double> X, View<const double> Z, View<const double> weights, double* gradient)> pullback;
  std::vector<double> theta;
  std::function<void(View<const double> X, View<double> values)> diagonal = {};
  std::string name = {};  // kernels whose functions have the same name are treated as equal
};
Kernel function(KernelFunction f);

Kernel operator+(const Kernel& a, const Kernel& b);
Kernel operator*(const Kernel& a, const Kernel& b);
Kernel operator*(double factor, const Kernel& k);  // factor > 0
Kernel pow(const Kernel& k, double exponent);      // k^exponent; for whole exponents it is positive semidefinite if k is
Kernel exp(const Kernel& k);
Kernel series(const std::vector<double>& coefficients, const Kernel& k);  // c_0 + c_1 k + c_2 k^2 + ..., c_i >= 0
Kernel on(const Kernel& k, std::vector<Index> columns);                   // k as a function of these columns of the points only
Kernel normalize(const Kernel& k);                                        // k(x, z) / (k(x, x) k(z, z))^(1/2)
// The kernel `outer` of the features of `inner`: a kernel of distances is evaluated for (k(x, x) + k(z, z) - 2 k(x, z))^(1/2),
// and one of inner products for k(x, z), where k is `inner`. `outer` must have one length scale or none.
Kernel compose(const Kernel& outer, const Kernel& inner);
Kernel warp(const Kernel& k, PointFunction f);  // f(x) k(x, z) f(z)
// k(phi(x), phi(z)), where phi has that many outputs; or with phi(x) = B x, B by rows, whose entries are hyperparameters.
Kernel transform(const Kernel& k, Index outputs, PointFunction phi);
Kernel transform(const Kernel& k, std::vector<double> B, Index outputs);
// k of columns that are warped by Kumaraswamy's distribution function: lower + (upper - lower) (1 - (1 - u^a)^b) in the place
// of x, u = (x - lower) / (upper - lower). The shapes a and b are hyperparameters; each list has a number for all columns, or
// one for each.
Kernel warped_inputs(const Kernel& k, std::vector<double> a, std::vector<double> b, std::vector<double> lower,
                     std::vector<double> upper);

}  // namespace kernsel

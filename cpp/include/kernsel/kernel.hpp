// Kernels as values: a tree of leaves and operations, copied cheaply, never changed.
//
//     Kernel k = 2.0 * rbf({1.0, 0.3}) + white(0.1);
//
// Expressions can be as long and as deep as memory allows: no function here walks them by recursion.
//
// A kernel knows no data. gram.hpp evaluates it on points. A kernel built from an impossible parameter is kept, and
// every computation with it returns Code::invalid_argument.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

class KernelNode;  // program.hpp

// What kind of number a hyperparameter is, so that a start and bounds for it can be read off data (data.hpp).
enum class Rule : std::uint8_t {
  none,      // nothing is known of it
  length,    // a length scale of distances
  size,      // a length scale of inner products
  norm,      // a constant beside inner products
  ratio,     // a positive number without a unit
  share,     // a number between zero and one
  variance,  // of what is modelled
  noise,     // a variance of noise
  period,
  signed_number,  // a number without a unit that may be negative
};

class Kernel {
 public:
  explicit Kernel(std::shared_ptr<const KernelNode> node) : node_(std::move(node)) {}

  // Hyperparameters from left to right in the expression: logarithms of those that are positive, others as they are.
  Index parameters() const;
  std::vector<double> theta() const;
  // The same kernel with other hyperparameters; not of kernels that are functions of the caller's with parameters of their
  // own: those are returned as they are, and `changed` is false.
  Kernel with_theta(const std::vector<double>& theta, bool* changed = nullptr) const;

  // What kinds of numbers the hyperparameters are, in the order of theta().
  std::vector<Rule> rules() const;

  bool has_noise() const;             // white noise, or noise of each point: is k(x, x) more for a point itself?
  Status check(Index columns) const;  // can it be evaluated on points with that many columns?
  const std::shared_ptr<const KernelNode>& node() const { return node_; }

 private:
  std::shared_ptr<const KernelNode> node_;
};

// Kernels of the distance r, r^2 = sum_k (x_k - z_k)^2 / l_k^2: one length scale l for all columns, or one for each.
Kernel rbf(std::vector<double> length_scale);                               // exp(-r^2 / 2)
Kernel exponential(std::vector<double> length_scale);                       // exp(-r), which is Matern 1/2
Kernel matern32(std::vector<double> length_scale);                          // (1 + a) exp(-a), a = 3^(1/2) r
Kernel matern52(std::vector<double> length_scale);                          // (1 + a + a^2 / 3) exp(-a), a = 5^(1/2) r
Kernel matern(double nu, std::vector<double> length_scale);                 // any smoothness nu, 1e-6 <= nu <= 100, or infinity
Kernel rational_quadratic(double alpha, std::vector<double> length_scale);  // (1 + r^2 / (2 alpha))^-alpha
// exp(-2 sin(pi r)^2 / l^2), r the distance in periods: one for all columns, or one for each.
Kernel periodic(double length_scale, std::vector<double> period);

// prod_k m(|x_k - z_k| / l_k), m the Matern kernel of one column: the convention of kriging.
Kernel product_matern(double nu, std::vector<double> length_scale);
Kernel cosine(std::vector<double> period);  // cos(2 pi sum_k (x_k - z_k) / period_k)
// Wendland's kernels, zero from r = 1 on; `smoothness` 0, 1 or 2 is how often functions of the kernel can be differentiated.
Kernel wendland(int smoothness, std::vector<double> length_scale);
// sum_q weight_q exp(-r_q^2 / 2) cos(2 pi sum_k (x_k - z_k) / period_qk): any stationary kernel, with enough components.
Kernel spectral_mixture(const std::vector<double>& weights, const std::vector<std::vector<double>>& length_scales,
                        const std::vector<std::vector<double>>& periods);

// Kernels of the inner product, columns divided by their length scales (one, one for each, or none).
Kernel dot_product(double sigma, std::vector<double> length_scale = {});              // sigma^2 + x'z
Kernel polynomial(double offset, int degree, std::vector<double> length_scale = {});  // (offset + x'z)^degree
Kernel sigmoid(double offset, std::vector<double> length_scale);  // tanh(offset + x'z): not positive semidefinite
Kernel radial_pair(std::vector<double> length_scale);             // x'z + (|x| |z|)^2
Kernel quadratic_form(std::vector<double> B, Index rows);         // x'B'B z; B by rows, its entries are learned
// (u v)^(n/2) J_n(t) / pi, u = offset + x'x, v = offset + z'z, t the angle: J_0 = pi - t, J_1 = sin t + (pi - t) cos t,
// J_2 = 3 sin t cos t + (pi - t)(1 + 2 cos^2 t). Wide networks of one layer.
Kernel arc_cosine(int order, double offset, std::vector<double> length_scale);
Kernel brownian();  // prod_k min(|x_k|, |z_k|), zero where signs differ

Kernel constant(double value);  // k(x, z) = value
Kernel white(double noise);     // noise on the diagonal of k(X, X), zero between different sets of points

// Functions of points, one in each row, that may throw: the exception ends the computation and is kept in Status::exception.
// values are (n, outputs), derivatives (n, outputs * columns) with the columns of the points running fastest; without a
// function for them they are central differences. Kernels with functions of one name are taken to be equal, and evaluated once.
struct PointFunction {
  std::function<void(View<const double> points, View<double> values)> value;
  std::function<void(View<const double> points, View<double> derivatives)> derivative = {};
  std::string name = {};
};

Kernel noise(double level, PointFunction variance);  // level * variance(x) on the diagonal of k(X, X), like white()

// k(x, z) = K_ij for points x = (i), z = (j). `owner` keeps the numbers of the view alive.
Kernel precomputed(View<const double> K, std::shared_ptr<const void> owner = {});

// A kernel of the caller's: values, (n, m); and with parameters theta, gradient_p += sum_ij weights_ij dk_ij/dtheta_p.
// Called with blocks of points, on any thread, by several at a time. Without `diagonal`, k(x, x) is taken from whole blocks.
struct KernelFunction {
  std::function<void(View<const double> X, View<const double> Z, View<double> values)> value;
  std::function<void(View<const double> X, View<const double> Z, View<const double> weights, double* gradient)> pullback;
  std::vector<double> theta;
  std::function<void(View<const double> X, View<double> values)> diagonal = {};
  std::string name = {};  // as above
};
Kernel function(KernelFunction f);

Kernel operator+(const Kernel& a, const Kernel& b);
Kernel operator*(const Kernel& a, const Kernel& b);
Kernel operator*(double factor, const Kernel& k);  // factor > 0
Kernel pow(const Kernel& k, double exponent);      // k^exponent; a kernel for whole exponents, others see kernels/function.cpp
Kernel exp(const Kernel& k);
Kernel series(const std::vector<double>& coefficients, const Kernel& k);  // c_0 + c_1 k + c_2 k^2 + ..., c_i >= 0
Kernel on(const Kernel& k, std::vector<Index> columns);                   // k of these columns of its points only
Kernel normalize(const Kernel& k);                                        // k(x, z) / (k(x, x) k(z, z))^(1/2)
// outer, of a distance or an inner product with one length scale or none, of the features of inner: of the distance
// (k(x, x) + k(z, z) - 2 k(x, z))^(1/2), or of k(x, z).
Kernel compose(const Kernel& outer, const Kernel& inner);
Kernel warp(const Kernel& k, PointFunction f);  // f(x) k(x, z) f(z)
// k(phi(x), phi(z)), phi with that many outputs; or phi(x) = B x, B by rows, its entries learned.
Kernel transform(const Kernel& k, Index outputs, PointFunction phi);
Kernel transform(const Kernel& k, std::vector<double> B, Index outputs);

}  // namespace kernsel

// Kernels as values: a tree of leaves and operations, copied cheaply, never changed.
//
//     Kernel k = 2.0 * rbf({1.0, 0.3}) + white(0.1);
//
// A kernel knows no data. gram.hpp evaluates it on points. A kernel built from an impossible parameter is kept, and
// every computation with it returns Code::invalid_argument.
#pragma once

#include <memory>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

class KernelNode;  // program.hpp

class Kernel {
 public:
  explicit Kernel(std::shared_ptr<const KernelNode> node) : node_(std::move(node)) {}

  // Hyperparameters on their log scale, from left to right in the expression.
  Index parameters() const;
  std::vector<double> theta() const;

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
Kernel rational_quadratic(double alpha, std::vector<double> length_scale);  // (1 + r^2 / (2 alpha))^-alpha
// exp(-2 sin(pi r)^2 / l^2), r the distance in periods: one for all columns, or one for each.
Kernel periodic(double length_scale, std::vector<double> period);

// prod_k m(|x_k - z_k| / l_k), m the Matern kernel of one column, nu = 1/2, 3/2 or 5/2: the convention of kriging.
Kernel product_matern(double nu, std::vector<double> length_scale);
Kernel cosine(std::vector<double> period);  // cos(2 pi sum_k (x_k - z_k) / period_k)
// Wendland's kernels, zero from r = 1 on; `smoothness` 0, 1 or 2 is how often functions of the kernel can be differentiated.
Kernel wendland(int smoothness, std::vector<double> length_scale);

// Kernels of the inner product, columns divided by their length scales (one, one for each, or none).
Kernel dot_product(double sigma, std::vector<double> length_scale = {});              // sigma^2 + x'z
Kernel polynomial(double offset, int degree, std::vector<double> length_scale = {});  // (offset + x'z)^degree

Kernel constant(double value);  // k(x, z) = value
Kernel white(double noise);     // noise on the diagonal of k(X, X), zero between different sets of points

Kernel operator+(const Kernel& a, const Kernel& b);
Kernel operator*(const Kernel& a, const Kernel& b);
Kernel operator*(double factor, const Kernel& k);  // factor > 0
Kernel pow(const Kernel& k, int exponent);         // k^exponent, exponent >= 1
Kernel exp(const Kernel& k);
Kernel series(const std::vector<double>& coefficients, const Kernel& k);  // c_0 + c_1 k + c_2 k^2 + ..., c_i >= 0
Kernel on(const Kernel& k, std::vector<Index> columns);                   // k of these columns of its points only

}  // namespace kernsel

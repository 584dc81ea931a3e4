// The posterior: what a fitted model knows, for Gaussian processes, ridge regression, interpolation and latent processes.
//
//     DensePosterior model;
//     Status status = model.condition({k, X, y, noise, Basis::Kind::constant});
//     if (status.ok()) status = model.mean(Z, mean);
//
// With c = P. y and the trend's coefficients beta,
//
//     mean(z) = k(z, X) c + h(z)'beta
//     var(z) = k(z, z) - k(z, X) K~^-1 k(X, z) + r'(H'K~^-1 H)^-1 r,  r = h(z) - H'K~^-1 k(X, z)
//
// in O(n) for a mean and O(n^2) for a variance at a point; points are taken block after block. Everything may be asked by
// several threads at a time, but for changes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernsel/factor.hpp"
#include "kernsel/tiles.hpp"
#include "kernsel/trend.hpp"

namespace kernsel {

// What a posterior is made of; its arrays are copied.
struct Conditioning {
  Kernel kernel;
  View<const double> X;      // (n, d)
  View<const double> y;      // (n, outputs)
  View<const double> noise;  // (n), or one number, or none: all that is added to the diagonal of k(X, X)
  Basis trend = {};
};

class Posterior {
 public:
  virtual ~Posterior() = default;

  virtual Index points() const = 0;
  virtual Index columns() const = 0;
  virtual Index outputs() const = 0;
  virtual const Kernel& kernel() const = 0;
  virtual bool has_variances() const = 0;  // does it know more than the mean?

  // At points Z, (m, d): the mean, (m, outputs); the variance, (m), which all outputs share; the joint covariance, (m, m).
  virtual Status mean(View<const double> Z, View<double> out) const = 0;
  virtual Status variance(View<const double> Z, View<double> out) const = 0;
  virtual Status covariance(View<const double> Z, View<double> out) const = 0;
  // Their derivatives in the points: (m, d outputs), outputs running fastest; (m, d).
  virtual Status mean_gradient(View<const double> Z, View<double> out) const = 0;
  virtual Status variance_gradient(View<const double> Z, View<double> out) const = 0;
  // out, (m, draws), <- mean + root u for standard normal u, (m, draws), root root' the covariance. One output.
  Status draw(View<const double> Z, View<const double> u, View<double> out) const;

  // Of each point, in the fit without it: r_i = c_i / P.ii, (n, outputs), of variance 1 / P.ii, (n); and its leverage in the
  // fit with all, 1 - N_i P.ii, (n). What is not wanted may be empty.
  virtual Status leave_one_out(View<double> residuals, View<double> variances, View<double> leverage) const = 0;
  // What a criterion says of the fit.
  virtual Status value(const Criterion& criterion, double& out) const = 0;

  // More points, none of them if one cannot be taken in; or one less: O(n^2) for each.
  virtual Status append(View<const double> X, View<const double> y, View<const double> noise) = 0;
  virtual Status remove(Index i) = 0;
};

// The posterior by the whole kernel matrix.
class DensePosterior final : public Posterior {
 public:
  DensePosterior();
  ~DensePosterior() override;
  DensePosterior(DensePosterior&&) noexcept;
  DensePosterior& operator=(DensePosterior&&) noexcept;

  Status condition(const Conditioning& given);  // n^3/3 flops
  // From coefficients that are known, C (n, outputs) and those of the trend, (q, outputs): only the mean can be asked, unless
  // there is noise, (n): then the kernel matrix is factorized when this is first needed.
  // A factor that is known, (n, n), is taken; its lower triangle is read.
  Status assume(const Conditioning& given, View<const double> C, View<const double> beta, bool can_factorize,
                View<const double> L = {});
  // A latent process: the mean k(z, X) c, the variance k(z, z) - |L^-1 (root o k(X, z))|^2 for the factor of
  // I + diag(root) k(X, X) diag(root), or of k(X, X) without a root.
  Status assume_latent(const Kernel& k, View<const double> X, View<const double> c, std::shared_ptr<const LowerTiles<double>> L,
                       std::vector<double> root);
  // Interpolation by a matrix that is singular to rounding: k(X, X)^+ = R R', R (n, rank).
  Status assume_root(const Kernel& k, View<const double> X, View<const double> c, View<const double> R);

  Index points() const override;
  Index columns() const override;
  Index outputs() const override;
  const Kernel& kernel() const override;
  bool has_variances() const override;
  Status mean(View<const double> Z, View<double> out) const override;
  Status variance(View<const double> Z, View<double> out) const override;
  Status covariance(View<const double> Z, View<double> out) const override;
  Status mean_gradient(View<const double> Z, View<double> out) const override;
  Status variance_gradient(View<const double> Z, View<double> out) const override;
  Status leave_one_out(View<double> residuals, View<double> variances, View<double> leverage) const override;
  Status value(const Criterion& criterion, double& out) const override;
  Status append(View<const double> X, View<const double> y, View<const double> noise) override;
  Status remove(Index i) override;

  // Gives the kernel other hyperparameters for what is asked from now on; the factor stays as it is.
  void set_kernel(const Kernel& k);

  // What it is made of. The factor is made if it is not there.
  bool has_targets() const;
  View<const double> X() const;
  View<const double> y() const;
  View<const double> noise() const;         // without that of the kernel
  View<const double> basis() const;         // H, (n, q)
  View<const double> coefficients() const;  // c, (n, outputs)
  View<const double> trend() const;         // beta, (q, outputs)
  const Basis& trend_basis() const;
  double log_det() const;        // of K~
  double log_det_trend() const;  // log det H'K~^-1 H - log det H'H
  Status factor(const LowerTiles<double>*& L) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace kernsel

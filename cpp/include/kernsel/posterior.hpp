// The posterior, from which predictions are computed, for Gaussian processes, ridge regression, interpolation and latent
// processes.
//
//     DensePosterior model;
//     Status status = model.condition({k, X, y, noise, Basis::Kind::constant});
//     if (status.ok()) status = model.mean(Z, mean);
//
// With c = P. y (fit.hpp) and the coefficients beta of the trend,
//
//     mean(z) = k(z, X) c + h(z)'beta
//     var(z) = k(z, z) - k(z, X) K~^-1 k(X, z) + r'(H'K~^-1 H)^-1 r,  r = h(z) - H'K~^-1 k(X, z)
//
// in O(n) for a mean and O(n^2) for a variance at a point; points are processed in blocks. Const functions may be called from
// several threads at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernsel/factor.hpp"
#include "kernsel/tiles.hpp"
#include "kernsel/trend.hpp"

namespace kernsel {

// The data from which a posterior is computed; the arrays are copied.
struct Conditioning {
  Kernel kernel;
  View<const double> X;      // (n, d)
  View<const double> y;      // (n, outputs)
  View<const double> noise;  // (n), or one number, or none: added to the diagonal of k(X, X), jitter included
  Basis trend = {};
};

class Posterior {
 public:
  virtual ~Posterior() = default;

  virtual Index points() const = 0;
  virtual Index columns() const = 0;
  virtual Index outputs() const = 0;
  virtual const Kernel& kernel() const = 0;
  virtual bool has_variances() const = 0;  // whether variances can be computed, and not only means

  // At points Z, (m, d): the mean, (m, outputs); the variance, (m), which all outputs share; the joint covariance, (m, m).
  virtual Status mean(View<const double> Z, View<double> out) const = 0;
  virtual Status variance(View<const double> Z, View<double> out) const = 0;
  virtual Status covariance(View<const double> Z, View<double> out) const = 0;
  // The derivatives of the mean with respect to the points, (m, d outputs), with the index of the output varying fastest, and
  // those of the variance, (m, d).
  virtual Status mean_gradient(View<const double> Z, View<double> out) const = 0;
  virtual Status variance_gradient(View<const double> Z, View<double> out) const = 0;
  // Samples: out, (m, draws), <- mean + root u for standard normal u, (m, draws), where root root' is the covariance. Only for
  // one output.
  Status draw(View<const double> Z, View<const double> u, View<double> out) const;

  // The leave-one-out residuals r_i = c_i / P.ii, (n, outputs), their variances 1 / P.ii, (n), and the leverages in the fit
  // with all points, 1 - N_i P.ii, (n). Views of results that are not needed may be empty.
  virtual Status leave_one_out(View<double> residuals, View<double> variances, View<double> leverage) const = 0;
  // The value of a criterion for the fit.
  virtual Status value(const Criterion& criterion, double& out) const = 0;

  // Add points (if one of them cannot be added, none is), or remove point i, in O(n^2) for each point.
  virtual Status append(View<const double> X, View<const double> y, View<const double> noise) = 0;
  virtual Status remove(Index i) = 0;
};

// The posterior that uses the whole kernel matrix.
class DensePosterior final : public Posterior {
 public:
  DensePosterior();
  ~DensePosterior() override;
  DensePosterior(DensePosterior&&) noexcept;
  DensePosterior& operator=(DensePosterior&&) noexcept;

  Status condition(const Conditioning& given);  // n^3/3 flops
  // From known coefficients C, (n, outputs), and those of the trend, (q, outputs). Without `can_factorize`, only the mean can
  // be computed; with it, the kernel matrix plus `given.noise` is factorized when this is first needed. If the factor L, (n,
  // n), is given, its lower triangle is used instead.
  Status assume(const Conditioning& given, View<const double> C, View<const double> beta, bool can_factorize,
                View<const double> L = {});
  // Interpolation: the mean k(z, X) c and the variance k(z, z) - |L^-1 k(X, z)|^2, where L is the Cholesky factor of k(X, X).
  Status assume_factor(const Kernel& k, View<const double> X, View<const double> c,
                       std::shared_ptr<const LowerTiles<double>> L);
  // Interpolation with a kernel matrix that is singular up to rounding: k(X, X)^+ = R R', R (n, rank).
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

  // Replaces the kernel in later predictions; the factor is not changed.
  Status set_kernel(const Kernel& k);

  // The parts of the posterior. factor() computes the factor if necessary.
  bool has_targets() const;
  View<const double> X() const;
  View<const double> y() const;
  View<const double> noise() const;         // without the noise of the kernel
  View<const double> basis() const;         // H, (n, q)
  View<const double> coefficients() const;  // c, (n, outputs)
  View<const double> trend() const;         // beta, (q, outputs)
  const Basis& trend_basis() const;
  double log_det() const;        // log det K~
  double log_det_trend() const;  // log det H'K~^-1 H - log det H'H
  Status factor(const LowerTiles<double>*& L) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace kernsel

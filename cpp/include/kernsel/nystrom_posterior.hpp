// The posterior by Nystrom's approximation: new points are predicted from the values of the function at landmarks.
//
//     NystromPosterior model;
//     NystromOptions options;
//     options.landmarks = 500;
//     Status status = model.condition({k, X, y, noise, Basis::Kind::constant}, options);
//     if (status.ok()) status = model.predict(Z, mean, variance);
//
// With the landmarks U, K_UU = L L', the features f(z) = L^-1 k(U, z), the functions h of the trend, d = (f, h), and R and
// t(z) = R^-1 d(z) as in nystrom.hpp,
//
//     mean(z) = d(z)'w,  w = (D'N^-1 D + [I 0; 0 0])^-1 D'N^-1 y
//     var(z) = k(z, z) - f(z)'f(z) + t(z)'t(z)
//     cov(z, z') = k(z, z') - f(z)'f(z') + t(z)'t(z')
//
// of which the first difference is what landmarks do not see of the function, and t contains that the coefficients of the trend
// are estimated. If the landmarks are the training points, everything equals the posterior that uses the whole kernel matrix,
// up to the 1e-10 on the diagonal of K_UU.
//
// All that the data say is in sums over rows (NystromSums), so that a posterior can also be one of rows that are not in memory:
// then it can predict, points can be added, and likelihoods have values. Predictions of a point cost m values of the kernel and
// m operations for a mean, 2 m^2 for a variance, with m landmarks; the memory is that of some m x m matrices. Const functions
// may be called from several threads at a time.
#pragma once

#include <memory>
#include <vector>

#include "kernsel/nystrom.hpp"
#include "kernsel/posterior.hpp"

namespace kernsel {

class NystromPosterior final : public Posterior {
 public:
  NystromPosterior();
  ~NystromPosterior() override;
  NystromPosterior(NystromPosterior&&) noexcept;
  NystromPosterior& operator=(NystromPosterior&&) noexcept;

  // Landmarks that are not given are chosen here, once and for all. All noise variances have to be positive. n m^2 flops.
  Status condition(const Conditioning& given, NystromOptions options);
  // From the sums of all rows for the landmarks, which the options have to contain: m^3 flops. The rows are kept if they are
  // given; X may also be empty, with as many columns as the points have, and y and noise with it.
  Status assume(const Conditioning& given, NystromOptions options, NystromSums sums);

  Index points() const override;  // also those that are not kept
  Index columns() const override;
  Index outputs() const override;
  const Kernel& kernel() const override;
  bool has_variances() const override;
  bool has_rows() const;  // whether the rows are kept

  // Mean and variance in one pass; either view may be empty. Coordinates have to be finite here and in all other functions of
  // new points.
  Status predict(View<const double> Z, View<double> mean, View<double> variance) const;
  Status mean(View<const double> Z, View<double> out) const override;
  Status variance(View<const double> Z, View<double> out) const override;
  Status covariance(View<const double> Z, View<double> out) const override;
  Status mean_gradient(View<const double> Z, View<double> out) const override;
  Status variance_gradient(View<const double> Z, View<double> out) const override;

  // The landmarks are held. A residual has the variance 1 / P.ii + e_i, where e_i is what landmarks do not see of the function
  // at point i. The leverage is 1 - N_i P.ii. Only if the rows are kept.
  Status leave_one_out(View<double> residuals, View<double> variances, View<double> leverage) const override;
  // Of criteria that are no likelihoods only if the rows are kept.
  Status value(const Criterion& criterion, double& out) const override;

  // The sums of the points are added or subtracted, in O(m^2) for each, and m^3 flops follow. The landmarks are held. A point
  // can be removed only if the rows are kept.
  Status append(View<const double> X, View<const double> y, View<const double> noise) override;
  Status remove(Index i) override;

  // Replaces the kernel, for the same landmarks: a new fit, for which the rows have to be kept.
  Status set_kernel(const Kernel& k);

  // The parts of the posterior. Those of the rows are empty if the rows are not kept.
  View<const double> X() const;
  View<const double> y() const;
  View<const double> noise() const;  // without the noise of the kernel
  const NystromOptions& options() const;
  const Basis& trend_basis() const;
  View<const double> landmarks() const;  // (m, d)
  View<const double> trend() const;      // the coefficients of the trend, (q, outputs)
  // The weights b of the landmarks in the mean, k(z, U) b + h(z)'beta, (m, outputs).
  View<const double> landmark_weights() const;
  const std::vector<double>& squares() const;   // y'c of each output
  double log_det() const;                       // log det K~
  double log_det_trend() const;                 // log det H'PH - log det H'H
  const NystromSums& sums() const;              // of all points
  Status coefficients(View<double> out) const;  // c, (n, outputs)

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace kernsel

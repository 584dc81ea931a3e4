// The posterior by Vecchia's approximation: each new point is predicted from its nearest training points.
//
//     VecchiaPosterior model;
//     Status status = model.condition({k, X, y, noise, Basis::Kind::constant}, {}, 200);
//     if (status.ok()) status = model.predict(Z, mean, variance);
//
// With S the nearest training points of z, K~ the kernel matrix of S with its noise, and the weights b = K~^-1 k(S, z),
//
//     mean(z) = h(z)'beta + b'(y_S - H_S beta)
//     var(z) = k(z, z) - k(z, S) b + r'M^-1 r,  r = h(z) - H_S'b
//
// where beta and M = H'PH are those of the likelihood's approximation (vecchia.hpp). With inducing points, K~ and k(S, z) are
// of the residual kernel k - f'f, the features f are further functions beside those of the trend, and M has the identity added
// for them. "Nearest" is meant in columns multiplied by column_scales(k, X). Two numbers of neighbours matter: that of the
// likelihood, `VecchiaOptions::neighbours`, which estimates the trend and leaves points out; and that of predictions, which
// should be larger. If both are at least the number of points, everything equals the posterior that uses the whole kernel
// matrix.
//
// A prediction costs m^3 / 3 flops and m^2 / 2 values of the kernel, for m neighbours. The memory is that of the data. Const
// functions may be called from several threads at a time. What a function needs and no one before it has needed - a tree of
// the points, and the trend after a point was removed - is computed first. If the matrix of a set is not positive definite, the
// pivot of the status is a training point of that set.
#pragma once

#include <memory>
#include <vector>

#include "kernsel/posterior.hpp"
#include "kernsel/vecchia.hpp"

namespace kernsel {

class VecchiaPosterior final : public Posterior {
 public:
  VecchiaPosterior();
  ~VecchiaPosterior() override;
  VecchiaPosterior(VecchiaPosterior&&) noexcept;
  VecchiaPosterior& operator=(VecchiaPosterior&&) noexcept;

  // A posterior is one of all points: the terms of the options are not used.
  Status condition(const Conditioning& given, VecchiaOptions options, Index predict_neighbours);
  // From known coefficients of the columns D = [F H], of inducing points first, and then of the trend, (columns, outputs), and
  // the triangle R, (columns, columns), upper, by columns: D'PD + I = R'R, where the identity is that of F. The options have to
  // contain the landmarks.
  Status assume(const Conditioning& given, VecchiaOptions options, Index predict_neighbours, View<const double> coefficients,
                std::vector<double> R);

  Index points() const override;
  Index columns() const override;
  Index outputs() const override;
  const Kernel& kernel() const override;
  bool has_variances() const override;

  // Mean and variance in one pass, which takes as long as each of them alone; either view may be empty. Coordinates have to be
  // finite here and in all other functions of new points.
  Status predict(View<const double> Z, View<double> mean, View<double> variance) const;
  Status mean(View<const double> Z, View<double> out) const override;
  Status variance(View<const double> Z, View<double> out) const override;
  // In their maximin order, each new point is conditioned on its nearest ones among training points and the new points before
  // it. As points that others are conditioned on, new points have a noise of 1e-12 of their variance, which is subtracted in
  // the end, so that they may be equal, or as near as on a fine grid. The covariance of m points costs O(m^2 neighbours) beside
  // their sets. Its diagonal is not exactly variance(), whose sets are other ones, unless all points are neighbours.
  Status covariance(View<const double> Z, View<double> out) const override;
  // Derivatives while the sets of neighbours do not change.
  Status mean_gradient(View<const double> Z, View<double> out) const override;
  Status variance_gradient(View<const double> Z, View<double> out) const override;

  // Each point is predicted from its `options().neighbours` nearest other points. Leverages are those of the likelihood's
  // approximation.
  Status leave_one_out(View<double> residuals, View<double> variances, View<double> leverage) const override;
  Status value(const Criterion& criterion, double& out) const override;

  // Each added point has neighbours among all points before it, from which the trend is updated. Later predictions compare new
  // points with all points that were added, until a new tree of all points is worthwhile.
  Status append(View<const double> X, View<const double> y, View<const double> noise) override;
  // In O(n) for memory that moves; the tree and the trend are computed anew when they are next needed.
  Status remove(Index i) override;

  // Replaces the kernel in later predictions; the trend and the units in which points are near are not changed. With inducing
  // points all coefficients are computed anew when they are next needed.
  Status set_kernel(const Kernel& k);

  // The parts of the posterior.
  View<const double> X() const;
  View<const double> y() const;
  View<const double> noise() const;  // without the noise of the kernel
  const VecchiaOptions& options() const;
  Index predict_neighbours() const;
  const Basis& trend_basis() const;
  View<const double> landmarks() const;  // of inducing points, (number, d)
  // The coefficients of the trend, (q, outputs); those of all columns, (columns, outputs); and the triangle. They are empty if
  // they cannot be computed.
  View<const double> trend() const;
  View<const double> coefficients() const;
  const std::vector<double>& trend_triangle() const;

 private:
  struct Content;
  struct Chunk;
  template <class F>
  Status in_chunks(View<const double> Z, const F& f) const;

  std::unique_ptr<Content> content_;
};

}  // namespace kernsel

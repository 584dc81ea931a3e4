// Vecchia's approximation: each point is predicted from a few neighbours, for any number of points.
//
//     std::unique_ptr<VecchiaFactor> factor = vecchia_factor({});
//     Evaluation out;
//     Status status = evaluate(k, problem, criteria::likelihood(), Order::gradient, *factor, out);
//
// The density of the targets is the product of the densities of each given those before it in some order. Here each is given
// only its m nearest neighbours among those before it, so that P = K~^-1 is approximated by a sum over points,
//
//     P = sum_i v_i v_i',   v_i = L^-T e   on point i and its neighbours, K~ of these = L L', e the unit vector of point i
//
// and log det K~ by -2 sum_i log v_ii. Points or groups that are left out are predicted from their m nearest neighbours among
// all others, which is also how new points are predicted. Everything is exact if m is at least n - 1.
//
// With inducing points (`VecchiaOptions::inducing`), K = Q + R: Q is what the function's values at k landmarks Z determine,
//
//     Q = F F',   F = k(X, Z) L^-T,   k(Z, Z) = L L'
//
// which is exact between all points, and only R + N is approximated by neighbours, so that smooth functions with little noise
// need far fewer of these. Everything else is as before, and exact if m is at least n - 1 for any k. Each point costs m^2 k +
// k^2 flops more, and the memory is 3 n k doubles for a gradient of the likelihood, 7 n k for points that are left out.
//
// Criteria that leave points out need the likelihood's sets for coefficients only. They take those of the first 4096 points of
// the order, or 64 for each coefficient, if there are more; with inducing points they take all, but for a sum over some points.
//
// Each point costs m^3 / 3 flops and m^2 values of the kernel, and twice as many with derivatives. The memory is n m numbers of
// four bytes for the neighbours, and O(n) doubles.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernsel/factor.hpp"

namespace kernsel {

// A coordinate in which neighbours are near: x times the scale, for the column x of the points; or, with a period, the two
// coordinates (cos, sin)(2 pi x / period) times the scale, in which points a period apart are equal.
struct Feature {
  Index column;
  double scale;
  double period = 0.0;
};

// column_scales(), and for columns in which a part of the kernel is periodic a circle for each period; the scale of such a
// column itself is that in which the correlation of points some periods apart falls. All are read off the kernel's values.
Status features_of(const Kernel& k, View<const double> X, std::vector<Feature>& out);

// The features of the rows of X, by rows in `memory`.
View<const double> in_features(View<const double> X, const std::vector<Feature>& features, std::vector<double>& memory);

struct VecchiaOptions {
  static constexpr Index most_neighbours = 500;  // unless there are fewer points: matrices of more are no small ones
  static constexpr Index most_inducing = 2000;
  Index neighbours = 30;  // m
  // The order of the points: each is as far as possible from those before it if there are at most that many points, and
  // otherwise it is random.
  Index spread_points = 20000;
  std::uint64_t seed = 0;
  // Criteria sum over these points only, which have neighbours among all points; all points if it is empty. Criteria that need
  // c or the diagonal of P always sum over all.
  std::vector<Index> terms = {};
  // The number of inducing points. They are chosen among the points by a randomly pivoted Cholesky factorization, when the
  // neighbours are chosen, and are fewer if these determine all points. With `landmarks`, (any number, d), by rows, they are
  // these, and `inducing` only has to be positive.
  Index inducing = 0;
  std::vector<double> landmarks = {};
  // Whether the order of the points is that of the rows, in place of a random one or one that spreads them.
  bool ordered = false;
  // The coordinates in which neighbours are near; features_of() the kernel if there are none. With these and `ordered`, points
  // have the same neighbours whichever others are left out that are no neighbours.
  std::vector<Feature> features = {};
};

class VecchiaFactor : public Factor {
 public:
  bool has_prior() const override { return false; }  // a point that others are conditioned on is seen with its noise
  // Chooses the neighbours anew, in the units of the length scales of k, at the next call of show(). Otherwise they remain
  // those of the first kernel as long as the points are the same. Returns whether the length scales differ so much from those
  // by which the neighbours were chosen that it is worthwhile; `always` chooses them anew in any case. Values of a criterion
  // before and after cannot be compared.
  virtual bool renew(const Kernel& k, View<const double> X, bool always = false) = 0;
  // The neighbours in use, for each term, nearest first, and then -1: among the points before it in the order, or among those
  // that are not left out with it. Empty if no criterion has needed them.
  virtual const std::vector<std::int32_t>& neighbours(bool left_out) const = 0;
  virtual const VecchiaOptions& options() const = 0;
  // The landmarks in use, by rows.
  virtual const std::vector<double>& landmarks() const = 0;
  // The coefficients of the last fit's columns D = [F H], of inducing points first, and then of the trend, (columns, outputs),
  // by columns; and the triangle R, (columns, columns), upper, by columns: D'PD + I = R'R, where the identity is that of F.
  virtual std::vector<double> coefficients() const = 0;
  virtual const std::vector<double>& triangle() const = 0;
  // e_j'e_k for outputs j and k, (outputs, outputs), where e_i = v_i'(y - D beta) are the standardized errors of the
  // likelihood's sets: Y'P Y without columns D, and its diagonal is y'c. Empty if no criterion has needed these sets.
  virtual std::vector<double> products() const = 0;
  // The value and the derivatives of another criterion, which sees the same sets as that of the last show(), for what that has
  // computed of the same kernel and problem, whose arrays may be others with the same numbers. With an unknown noise in the
  // problem, also the information for a known scale.
  virtual Status differentiate(const Problem& problem, const Criterion& criterion, Evaluation& out) = 0;
  virtual void set_options(VecchiaOptions options) = 0;  // also forgets the neighbours
};

std::unique_ptr<VecchiaFactor> vecchia_factor(VecchiaOptions options);

// For each column of X the factor by which to multiply it, so that a unit is the distance over which the correlation falls to
// one half: one over the length scale, but for a common factor, where the kernel has one. Zero for columns on which the kernel
// does not depend.
Status column_scales(const Kernel& k, View<const double> X, std::vector<double>& scales);

}  // namespace kernsel

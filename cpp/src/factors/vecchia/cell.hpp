// The covariance matrix of one small set of points, in the cache.
//
// A *cell* is one set with its matrix K_S = L L'. All that a criterion needs of it is one vector, v = L^-T e, where e is the
// unit vector of the set's last point: v'y is the standardized error of the prediction of that point from the others, and
// 1 / v_last^2 its variance. The derivative of a criterion with respect to v, q, gives the adjoint of K_S, which has rank two:
//
//     W = -sym(K_S^-1 q v') + (q'v) v v' / 2
//
// The rows of a batch of sets are copied one after the other, and one program of the kernel is compiled for them, of which only
// the tiles between points of one set are computed. Any kernel is evaluated by the tiles that it has anyway.
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory.hpp"
#include "factors/vecchia/sets.hpp"
#include "kernels/program.hpp"

namespace kernsel {

// The shape of the matrices of all sets: each has `parts` x `parts` tiles of `block` points, of which the last are padding.
struct CellShape {
  explicit CellShape(Index points);
  Index block, parts;
  Index size() const { return block * parts; }
};

// The points of which sets are made. Those with the numbers 0, ..., X.rows - 1 are the rows of X, with their noise; the next
// ones are the rows of Z, new points without noise. Both are stored by rows. With features of inducing points, F of the rows of
// X and F_new of those of Z, `features` of them for each, K is the residual kernel matrix k(X, X) - F F' everywhere.
struct SetPoints {
  View<const double> X;
  const double* noise;
  View<const double> Z = {};
  Index features = 0;
  View<const double> F = {}, F_new = {};
  const double* row(Index i) const { return i < X.rows ? X.data + i * X.row_stride : Z.data + (i - X.rows) * Z.row_stride; }
  const double* features_at(Index i) const {
    return i < X.rows ? F.data + i * F.row_stride : F_new.data + (i - X.rows) * F_new.row_stride;
  }
};

class Cell {
 public:
  // For set `set`, whose rows begin at tile `first` of the program. `memory` is of room(shape, parameters) numbers.
  Cell(const CellShape& shape, const Program<double>& program, double* memory);
  static Index room(const CellShape& shape, Index parameters);

  // Computes K_S + N and its Cholesky factor, and v. With `differentiable`, pull() and add_information() may follow. Fails with
  // the point of `points` whose pivot is not positive.
  //
  // New points have no noise. The last point of a set may be a new one that equals another point of the set, and then its
  // variance given the others is zero. Therefore its own k(z, z) is added to the last entry of the diagonal before the matrix
  // is factorized. The weights of the other points do not depend on that entry. Other new points have `jitter` times their
  // k(z, z) added.
  Status condition(Index first, const std::int32_t* points, Index count, const SetPoints& of, bool differentiable);
  static constexpr double jitter = 1e-12;

  Index count() const { return count_; }
  const double* v() const { return v_; }
  double* q() const { return q_; }  // for the caller to fill, (count)
  // After pull(), a: W = -(a v' + v a') / 2, (count).
  const double* a() const { return W_; }
  // The variance of the last point given the others, after what was added to its own variance is subtracted again.
  double variance() const;
  // b <- K^-1 b for the matrix K of all points but the last, where b has room for stride() numbers.
  void solve_without_last(double* b) const;
  Index stride() const { return shape_.size(); }

  // gradient += <W, dK_S/dtheta>, and noise_i <- W_ii for the points of the set.
  Status pull(double* gradient, double* noise);
  // to <- d<W, K_S>/d(points), (count, d), by rows, after pull(), if the program is differentiable in its points.
  Status pull_points(double* to);
  // information += G_a'G_b without the last entry + gamma_a gamma_b / 2, (p + 1, p + 1) with columns `stride` apart, and
  // slopes_a += gamma_a, where G_a = L^-1 dK_S/dtheta_a v has the last entry gamma_a. The last parameter is the logarithm of a
  // factor of `unknown_noise`, the noise of the set's points, which may be nullptr.
  Status add_information(const double* unknown_noise, double* information, Index stride, double* slopes);

 private:
  Status tiles(Index first, bool differentiable);
  Status subtract_features(const std::int32_t* points, const SetPoints& of);
  void solve(double* b, bool without_last = false) const;  // b <- K_S^-1 b

  const CellShape& shape_;
  const Program<double>& program_;
  Memory of_points_;
  double *K_, *W_, *tile_, *v_, *q_, *x_, *rows_;
  const double* tape_ = nullptr;
  Index first_ = 0, count_ = 0;
  Index size_ = 0;      // the number of points with as much padding as tile kernels need
  double added_ = 0.0;  // what was added to the variance of a new last point
};

}  // namespace kernsel

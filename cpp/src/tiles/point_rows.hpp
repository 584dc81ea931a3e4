// Matrices with a row for each point, or for each set of points, and their products.
//
// Few columns are those of a trend, and are processed by plain loops. Many are those of inducing points: then rows are padded
// with zeros, so that tile kernels can process them. To these, a matrix by rows is its transpose by columns.
#pragma once

#include <algorithm>
#include <vector>

#include "base/memory.hpp"

namespace kernsel {

class PointRows {
 public:
  // All entries are zero. With `tiled`, rows are padded and aligned for tile kernels.
  Status resize(Index rows, Index width, bool tiled);
  Index rows() const { return rows_; }
  Index width() const { return width_; }
  Index stride() const { return stride_; }
  bool tiled() const { return tiled_; }
  double* row(Index i) { return static_cast<double*>(memory_.data()) + i * stride_; }
  const double* row(Index i) const { return static_cast<const double*>(memory_.data()) + i * stride_; }

  // The product of two rows of this shape.
  double dot(const double* a, const double* b) const;
  // out += sum_r factors_r rows_r, for rows of this shape.
  void add(Index count, const double* const* rows, const double* factors, double* out) const;

 private:
  Memory memory_;
  Index rows_ = 0, width_ = 0, stride_ = 0;
  bool tiled_ = false;
};

// The rows `begin` to `begin + count - 1` of a matrix.
struct RowRange {
  Index begin, count;
};

// Row i of out <- M a_i, for the rows a_i of A in the range: out has its first result in row `first`. M has as many rows as
// columns, and its columns are the rows of the argument; A and M are both tiled, or neither.
Status multiply(const PointRows& M, const PointRows& A, RowRange range, PointRows& out, Index first);

// The same for a triangular matrix M, by columns, whose entries above the diagonal, or below it, are not read. All are tiled,
// and `out` is another matrix than A.
enum class Triangle { lower, upper };
Status multiply_triangular(const PointRows& M, Triangle triangle, const PointRows& A, RowRange range, PointRows& out,
                           Index first);

// out += sum_i a_i b_i', by columns, over rows of A in the range, and as many of B from row `first` on. With `symmetric`, for
// results that are, only what is on and below the diagonal is computed, and mirror() copies it in the end. All are tiled.
Status add_products(const PointRows& A, RowRange range, const PointRows& B, Index first, bool symmetric, PointRows& out);

// Overwrites what is above the diagonal by what is below it.
void mirror(PointRows& A);

// Row l of out += sum_i factors_il a_i, for rows of A in the range: `factors` has `outputs` numbers for each, from the first
// row of the range on.
Status add_weighted(const PointRows& A, RowRange range, const double* factors, Index outputs, PointRows& out);

// Overwrites a symmetric matrix, tiled, by its Cholesky factor L, by columns; what is above the diagonal is undefined. Fails if
// the matrix is not positive definite.
Status factorize(PointRows& A);
// root <- L^-T, by columns, for L by columns, of which only the lower triangle is read.
Status invert_transposed(const PointRows& L, PointRows& root);
// inverse <- L^-T L^-1 for such L and root, and is symmetric.
Status invert_product(const PointRows& L, const PointRows& root, PointRows& inverse);

}  // namespace kernsel

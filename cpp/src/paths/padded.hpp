// Matrices by columns, each column padded with zeros to a multiple of the SIMD width, which the tile kernels require.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/memory.hpp"
#include "isa/table.hpp"
#include "kernsel/tiles.hpp"

namespace kernsel {

class Padded {
 public:
  static constexpr Index padding = LowerTiles<double>::padding;

  // Makes room for (rows, cols), with all entries zero.
  Status resize(Index rows, Index cols) {
    rows_ = rows;
    cols_ = cols;
    stride_ = round_up(std::max<Index>(rows, 1), padding);
    const Status status = memory_.reserve(static_cast<std::size_t>(stride_ * std::max<Index>(cols, 1)) * sizeof(double));
    if (status.ok()) std::fill_n(data(), stride_ * cols, 0.0);
    return status;
  }

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index stride() const { return stride_; }
  double* data() const { return static_cast<double*>(memory_.data()); }
  double* column(Index j) const { return data() + j * stride_; }
  double& operator()(Index i, Index j) const { return data()[i + j * stride_]; }
  View<double> view() const { return {data(), rows_, cols_, 1, stride_}; }

 private:
  Memory memory_;
  Index rows_ = 0, cols_ = 0, stride_ = 0;
};

inline void copy(View<const double> from, double factor, View<double> to) {
  for (Index j = 0; j < to.cols; ++j)
    for (Index i = 0; i < to.rows; ++i) to(i, j) = factor * from(i, j);
}

// dot_from() returns a'b, add_from() computes out += factor a, for columns of `stride` entries of which a (or b, in dot_from)
// is zero before row `first`: most of these rows are skipped.
inline double dot_from(Index first, Index stride, const double* a, const double* b) {
  const Index begin = first / Padded::padding * Padded::padding;
  return tile_kernels<double>().dot(stride - begin, a + begin, b + begin);
}
inline void add_from(Index first, Index stride, double factor, const double* a, double* out) {
  const Index begin = first / Padded::padding * Padded::padding;
  const double* const row = a + begin;
  tile_kernels<double>().combine(stride - begin, 1, &row, &factor, out + begin);
}

// The largest power of two that is not above `largest`, by which numbers are divided without rounding; 1 for zero. It is at
// least 2^-1000, so that its inverse is finite.
inline double power_of_two(double largest) {
  if (!(largest > 0.0)) return 1.0;
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0, std::max(exponent - 1, -1000));
}

// The largest absolute value; infinity if there is one that is not finite.
inline double largest_of(View<const double> A) {
  double largest = 0.0;
  for (Index j = 0; j < A.cols; ++j)
    for (Index i = 0; i < A.rows; ++i) {
      const double size = std::abs(A(i, j));
      if (!std::isfinite(size)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, size);
    }
  return largest;
}

}  // namespace kernsel

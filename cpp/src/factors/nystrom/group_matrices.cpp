#include "factors/nystrom/group_matrices.hpp"

#include <algorithm>
#include <cmath>

#include "isa/table.hpp"
#include "kernsel/tiles.hpp"

namespace kernsel {

namespace {

constexpr Index columns_at_a_time = 64;
// A pivot of P.II, in parts of the precision of the noise, that is nothing but rounding errors.
constexpr double rounding = 1e-13;

}  // namespace

Status GroupMatrices::begin(Index count) {
  count_ = count;
  size_ = round_up(count, LowerTiles<double>::padding);
  const Index square = size_ * size_;
  factor_ = scratch<double>(Scratch::panel, 4 * square + columns_at_a_time * size_);
  if (!factor_) return no_memory(static_cast<std::size_t>(4 * square) * sizeof(double));
  S_ = factor_ + square;
  A_ = S_ + square;
  V_ = A_ + square;
  columns_ = V_ + square;
  return {};
}

Status GroupMatrices::invert_precision(const PointRows& t, Index first, const double* noise) {
  const TileKernels<double>& kernels = tile_kernels<double>();
  std::fill_n(factor_, size_ * size_, 0.0);
  std::fill_n(columns_, columns_at_a_time * size_, 0.0);
  for (Index begin = 0; begin < t.stride(); begin += columns_at_a_time) {
    const Index columns = std::min(columns_at_a_time, t.stride() - begin);
    kernels.transpose(columns, count_, t.row(first) + begin, t.stride(), columns_, size_);
    kernels.multiply_lower(size_, columns, -1.0, columns_, size_, factor_, size_);
  }
  for (Index j = 0; j < count_; ++j) {
    for (Index i = j; i < count_; ++i) factor_[i + j * size_] /= noise[i] * noise[j];
    factor_[j * (size_ + 1)] += 1.0 / noise[j];
  }
  Status status = invert(S_);
  for (Index j = 0; j < count_ && status.ok(); ++j) {
    const double pivot = factor_[j * (size_ + 1)] * factor_[j * (size_ + 1)];
    if (pivot * noise[j] > rounding) continue;
    status.code = Code::not_positive_definite;
    status.value = pivot;
  }
  return status;
}

Status GroupMatrices::invert_with(const double* missing, double& log_det) {
  std::copy_n(S_, size_ * size_, factor_);
  for (Index i = 0; i < count_; ++i) factor_[i * (size_ + 1)] += missing[i];
  const Status status = invert(A_);
  log_det = 0.0;
  for (Index i = 0; i < count_; ++i) log_det -= 2.0 * std::log(factor_[i * (size_ + 1)]);
  return status;
}

void GroupMatrices::multiply(const double* M, const double* x, double* out) const {
  std::fill_n(out, count_, 0.0);
  for (Index j = 0; j < count_; ++j)
    for (Index i = 0; i < count_; ++i) out[i] += M[i + j * size_] * x[j];
}

Status GroupMatrices::invert(double* inverse) {
  const TileKernels<double>& kernels = tile_kernels<double>();
  for (Index i = count_; i < size_; ++i) {
    for (Index j = 0; j < size_; ++j) factor_[i + j * size_] = factor_[j + i * size_] = 0.0;
    factor_[i * (size_ + 1)] = 1.0;
  }
  Status status;
  if (kernels.factorize(size_, factor_, size_, &status.value) >= 0) {
    status.code = Code::not_positive_definite;
    return status;
  }
  std::fill_n(inverse, size_ * size_, 0.0);
  for (Index i = 0; i < size_; ++i) inverse[i * (size_ + 1)] = 1.0;
  // inverse <- I L^-T L^-1, some columns at a time, since tile kernels solve with triangles of a limited size.
  constexpr Index most = LowerTiles<double>::largest_tile;
  for (Index c = 0; c < size_; c += most) {
    const Index width = std::min(most, size_ - c);
    double* columns = inverse + c * size_;
    kernels.multiply_nt(size_, width, c, -1.0, inverse, size_, factor_ + c, size_, columns, size_);
    kernels.solve_transposed(size_, width, factor_ + c * (size_ + 1), size_, columns, size_);
  }
  for (Index c = (size_ - 1) / most * most; c >= 0; c -= most) {
    const Index width = std::min(most, size_ - c), after = c + width;
    double* columns = inverse + c * size_;
    kernels.multiply_nn(size_, width, size_ - after, -1.0, inverse + after * size_, size_, factor_ + after + c * size_, size_,
                        columns, size_);
    kernels.solve(size_, width, factor_ + c * (size_ + 1), size_, columns, size_);
  }
  return status;
}

}  // namespace kernsel

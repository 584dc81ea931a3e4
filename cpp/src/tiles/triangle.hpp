// Numbers for the tiles of a lower triangle, and functions that write tiles to arrays.
#pragma once

#include <algorithm>
#include <cmath>

#include "isa/table.hpp"
#include "kernsel/view.hpp"

namespace kernsel {

struct TileIndex {
  Index i, j;
};

// The tile with the number `job` in the lower triangle: lower_by_rows() counts along the rows from the top, lower_by_columns()
// down the columns from the left.
inline TileIndex lower_by_rows(Index job) {
  auto i = static_cast<Index>((std::sqrt(8.0 * static_cast<double>(job) + 1.0) - 1.0) / 2.0);
  while ((i + 1) * (i + 2) / 2 <= job) ++i;
  while (i * (i + 1) / 2 > job) --i;
  return {i, job - i * (i + 1) / 2};
}

inline TileIndex lower_by_columns(Index job, Index blocks) {
  const TileIndex mirrored = lower_by_rows(blocks * (blocks + 1) / 2 - 1 - job);
  return {blocks - 1 - mirrored.j, blocks - 1 - mirrored.i};
}

// Copies a tile to `to`, in any order of storage. `large` tells that `to` is part of an array that does not fit into the
// caches.
template <class T>
void write_tile(const TileKernels<T>& kernels, const T* tile, Index stride, View<T> to, bool large = false) {
  if (to.row_stride == 1 && large) {
    kernels.stream(to.rows, to.cols, tile, stride, to.data, to.col_stride);
  } else if (to.row_stride == 1) {
    for (Index c = 0; c < to.cols; ++c) std::copy_n(tile + c * stride, to.rows, to.data + c * to.col_stride);
  } else if (to.col_stride == 1) {
    kernels.transpose(to.rows, to.cols, tile, stride, to.data, to.row_stride);
  } else {
    for (Index c = 0; c < to.cols; ++c)
      for (Index r = 0; r < to.rows; ++r) to(r, c) = tile[r + c * stride];
  }
}

// Adds `noise` to the diagonal of a tile whose first element is (row, row): one number for all rows, one for each row of the
// matrix, or none.
template <class T>
void add_noise(View<const T> noise, Index row, Index height, T* tile, Index stride) {
  if (noise.rows == 0) return;
  for (Index r = 0; r < height; ++r) tile[r + r * stride] += noise(noise.rows == 1 ? 0 : row + r, 0);
}

}  // namespace kernsel

// Tiled Cholesky factorization, left-looking: a job fills tile (i, j) from its source, subtracts the products L_ik L_jk' of the
// tiles to its left, and then factorizes it (i = j) or solves it against the diagonal tile L_jj. Jobs go down the columns of
// tiles from the left, so that a job waits only for tiles of jobs with lower numbers.
#include "kernsel/cholesky.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "base/parallel.hpp"
#include "isa/table.hpp"
#include "kernsel/runtime.hpp"
#include "tiles/triangle.hpp"

namespace kernsel {

template <class T>
Status ArraySource<T>::fill(Index row, Index col, Index height, Index width, T* tile, Index stride) const {
  const View<const T> from = A_.block(row, col, height, width);
  if (from.row_stride == 1) {
    for (Index c = 0; c < width; ++c) std::copy_n(from.data + c * from.col_stride, height, tile + c * stride);
  } else if (from.col_stride == 1) {
    tile_kernels<T>().transpose(width, height, from.data, from.row_stride, tile, stride);
  } else {
    for (Index c = 0; c < width; ++c)
      for (Index r = 0; r < height; ++r) tile[r + c * stride] = from(r, c);
  }
  if (row == col) add_noise(noise_, row, height, tile, stride);
  return {};
}

namespace {

template <class T>
Status load_tile(const TileSource<T>& A, LowerTiles<T>& L, Index i, Index j) {
  const Index width = L.rows(j), real = L.rows(i), padded = L.padded_rows(i), stride = L.stride(i);
  T* tile = L.block(i, j);
  const Status status = A.fill(i * L.tile(), j * L.tile(), real, width, tile, stride);
  if (i == j) L.pad_diagonal(i);
  for (Index c = 0; i != j && real < padded && c < width; ++c)
    std::fill(tile + real + c * stride, tile + padded + c * stride, T(0));
  return status;
}

}  // namespace

template <class T>
Status factorize(const TileSource<T>& A, LowerTiles<T>& L) {
  Status status = runtime_status();
  if (!status.ok()) return status;
  const TileKernels<T>& kernels = tile_kernels<T>();
  const Index blocks = L.blocks();
  const auto n = static_cast<double>(L.size());
  std::vector<std::atomic<Index>> done(static_cast<std::size_t>(blocks));  // the number of finished tiles in each block row

  const auto factor_tile = [&](Jobs& jobs, Index job) {
    const auto [i, j] = lower_by_columns(job, blocks);
    const auto done_in = [&](Index row) -> std::atomic<Index>& { return done[static_cast<std::size_t>(row)]; };
    const Status loaded = load_tile(A, L, i, j);
    if (!loaded.ok()) return jobs.stop(loaded);
    T* tile = L.block(i, j);
    const Index rows = L.padded_rows(i), stride = L.stride(i);
    for (Index k = 0; k < j; ++k) {
      if (!jobs.wait(done_in(i), k + 1) || !jobs.wait(done_in(j), k + 1)) return;
      if (i == j) {
        kernels.multiply_lower(rows, L.tile(), T(-1), L.block(i, k), stride, tile, stride);
      } else {
        kernels.multiply_nt(rows, L.tile(), L.tile(), T(-1), L.block(i, k), stride, L.block(j, k), L.stride(j), tile, stride);
      }
    }
    if (i == j) {
      T pivot = 0;
      const Index failed = kernels.factorize(rows, tile, stride, &pivot);
      if (failed >= 0) {
        Status failure;
        failure.code = Code::not_positive_definite;
        failure.pivot = i * L.tile() + failed;
        failure.value = static_cast<double>(pivot);
        return jobs.stop(failure);
      }
    } else {
      if (!jobs.wait(done_in(j), j + 1)) return;
      kernels.solve_transposed(rows, L.tile(), L.block(j, j), L.stride(j), tile, stride);
    }
    jobs.publish(done_in(i), j + 1);
  };
  return run_jobs(blocks * (blocks + 1) / 2, n * n * n / 300.0, factor_tile);
}

template <class T>
Status assign_lower(const TileSource<T>& A, LowerTiles<T>& L) {
  const auto n = static_cast<double>(L.size());
  return run_jobs(L.blocks() * (L.blocks() + 1) / 2, n * n, [&](Jobs& jobs, Index job) {
    const auto [i, j] = lower_by_rows(job);
    const Status loaded = load_tile(A, L, i, j);
    if (!loaded.ok()) jobs.stop(loaded);
  });
}

template <class T>
double log_determinant(const LowerTiles<T>& L) {
  double sum = 0.0;
  for (Index i = 0; i < L.size(); ++i) sum += std::log(static_cast<double>(L.at(i, i)));
  return 2.0 * sum;
}

namespace {

template <class T>
Status unpack(const LowerTiles<T>& tiles, View<T> out, bool symmetric) {
  if (out.rows != tiles.size() || out.cols != tiles.size()) return Status::invalid("the output has the wrong shape");
  const TileKernels<T>& kernels = tile_kernels<T>();
  const Index blocks = tiles.blocks(), size = tiles.tile();
  return run_jobs(blocks * (blocks + 1) / 2, static_cast<double>(tiles.size()) * static_cast<double>(tiles.size()),
                  [&](Jobs&, Index job) {
                    const auto [i, j] = lower_by_columns(job, blocks);
                    const T* tile = tiles.block(i, j);
                    const Index stride = tiles.stride(i), rows = tiles.rows(i), cols = tiles.rows(j);
                    const View<T> below = out.block(i * size, j * size, rows, cols);
                    const View<T> above = out.block(j * size, i * size, cols, rows).transposed();
                    if (i == j) {
                      for (Index c = 0; c < cols; ++c)
                        for (Index r = c; r < rows; ++r) {
                          above(r, c) = symmetric ? tile[r + c * stride] : T(0);
                          below(r, c) = tile[r + c * stride];
                        }
                      return;
                    }
                    write_tile(kernels, tile, stride, below);
                    if (symmetric) {
                      write_tile(kernels, tile, stride, above);
                    } else {
                      for (Index r = 0; r < rows; ++r)
                        for (Index c = 0; c < cols; ++c) above(r, c) = T(0);
                    }
                  });
}

}  // namespace

template <class T>
Status unpack_lower(const LowerTiles<T>& tiles, View<T> out) {
  return unpack(tiles, out, false);
}

template <class T>
Status unpack_symmetric(const LowerTiles<T>& tiles, View<T> out) {
  return unpack(tiles, out, true);
}

#define KERNSEL_INSTANTIATE(T)                                           \
  template class ArraySource<T>;                                         \
  template Status factorize<T>(const TileSource<T>&, LowerTiles<T>&);    \
  template Status assign_lower<T>(const TileSource<T>&, LowerTiles<T>&); \
  template double log_determinant<T>(const LowerTiles<T>&);              \
  template Status unpack_lower<T>(const LowerTiles<T>&, View<T>);        \
  template Status unpack_symmetric<T>(const LowerTiles<T>&, View<T>);
KERNSEL_INSTANTIATE(float)
KERNSEL_INSTANTIATE(double)
#undef KERNSEL_INSTANTIATE

}  // namespace kernsel

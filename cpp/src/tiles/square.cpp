// P diag(g) P, tile by tile. One job gathers block row i of P, scaled by g, where tiles above the diagonal are transposes of
// those below; then it multiplies the row by the block columns j <= i.
#include <algorithm>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "isa/table.hpp"
#include "kernsel/cholesky.hpp"
#include "kernsel/runtime.hpp"

namespace kernsel {

template <class T>
Status weighted_square(const LowerTiles<T>& P, View<const T> g, TileSink<T>& sink) {
  const Status status = runtime_status();
  if (!status.ok()) return status;
  if (g.rows != P.size() || g.cols != 1) return Status::invalid("weighted_square: give one weight for each row");
  const TileKernels<T>& kernels = tile_kernels<T>();
  const Index blocks = P.blocks(), tile = P.tile();
  const auto n = static_cast<double>(P.size());
  return run_jobs(blocks, n * n * n / 100.0, [&](Jobs& jobs, Index job) {
    const Index i = blocks - 1 - job;  // the rows with most tiles first
    const Index height = P.padded_rows(i);
    const Index columns = (blocks - 1) * tile + P.padded_rows(blocks - 1);
    T* row = scratch<T>(Scratch::row, height * (columns + tile));
    if (!row) return jobs.stop(no_memory(static_cast<std::size_t>(height * (columns + tile)) * sizeof(T)));
    T* out = row + height * columns;
    for (Index k = 0; k < blocks; ++k) {
      T* to = row + k * tile * height;
      if (k > i) {
        kernels.transpose(P.padded_rows(k), height, P.block(k, i), P.stride(k), to, height);
      } else {
        const T* from = P.block(i, k);
        for (Index c = 0; c < P.padded_rows(k); ++c) std::copy_n(from + c * P.stride(i), height, to + c * height);
      }
      for (Index c = 0; c < P.padded_rows(k); ++c)
        kernels.scale(height, c < P.rows(k) ? g(k * tile + c, 0) : T(0), to + c * height, to + c * height);
    }
    for (Index j = 0; j <= i; ++j) {
      const Index width = P.padded_rows(j);
      std::fill_n(out, height * width, T(0));
      for (Index k = 0; k < blocks; ++k) {
        if (!jobs.poll()) return;
        const T* left = row + k * tile * height;
        if (k < j) {
          kernels.multiply_nt(height, width, tile, T(1), left, height, P.block(j, k), P.stride(j), out, height);
        } else {
          kernels.multiply_nn(height, width, P.padded_rows(k), T(1), left, height, P.block(k, j), P.stride(k), out, height);
        }
      }
      sink.take(i * tile, j * tile, P.rows(i), P.rows(j), out, height);
    }
  });
}

template Status weighted_square<float>(const LowerTiles<float>&, View<const float>, TileSink<float>&);
template Status weighted_square<double>(const LowerTiles<double>&, View<const double>, TileSink<double>&);

}  // namespace kernsel

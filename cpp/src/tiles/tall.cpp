#include "tiles/tall.hpp"

#include "base/parallel.hpp"
#include "isa/table.hpp"

namespace kernsel {

Index padded_size(const LowerTiles<double>& P) {
  return P.blocks() == 0 ? 0 : (P.blocks() - 1) * P.tile() + P.padded_rows(P.blocks() - 1);
}

Status multiply_symmetric(const LowerTiles<double>& P, const Tall& B, Tall& out) {
  Status status = out.resize(B.padded(), B.columns());
  if (!status.ok() || B.columns() == 0) return status;
  const TileKernels<double>& kernels = tile_kernels<double>();
  const Index blocks = P.blocks(), tile = P.tile(), padded = B.padded();
  const auto n = static_cast<double>(P.size());
  return run_jobs(blocks, n * n * (0.5 + 0.1 * static_cast<double>(B.columns())), [&](Jobs& jobs, Index i) {
    if (!jobs.poll()) return;
    const Index height = P.padded_rows(i);
    double* turned = scratch<double>(Scratch::panel, height * tile);
    if (!turned) return jobs.stop(no_memory());
    for (Index k = 0; k < blocks; ++k) {
      const Index width = P.padded_rows(k);
      const double* left = k > i ? turned : P.block(i, k);
      if (k > i) kernels.transpose(width, height, P.block(k, i), P.stride(k), turned, height);
      kernels.multiply_nn(height, B.columns(), width, 1.0, left, k > i ? height : P.stride(i), B.data() + k * tile, padded,
                          out.data() + i * tile, padded);
    }
  });
}

}  // namespace kernsel

// The joint covariance of new points.
#include <algorithm>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "factors/nystrom/content.hpp"
#include "isa/table.hpp"
#include "kernsel/gram.hpp"
#include "posterior/nystrom_content.hpp"

namespace kernsel {

Status NystromPosterior::covariance(View<const double> Z, View<double> out) const {
  const Content& own = *content_;
  const NystromBlocks::Content& blocks = own.blocks.content();
  const Index count = Z.rows, m = blocks.m, w = blocks.width();
  if (out.rows != count || out.cols != count) return Status::invalid("covariance: the output must be m x m");
  Status status = own.check(Z);
  if (status.ok()) status = gram<double>(own.kernel, Z, out);
  if (!status.ok() || count == 0) return status;
  return within_memory([&] {
    // F' and t', with a column for each point, whose tiles the tile kernels multiply.
    const Index padded = round_up(count, LowerTiles<double>::padding);
    Memory memory;
    PointRows rows;
    status = memory.reserve(static_cast<std::size_t>((m + w) * padded) * sizeof(double));
    if (status.ok()) status = rows.resize(std::min(NystromBlocks::Content::rows_at_a_time, count), w, true);
    if (!status.ok()) return status;
    auto *F = static_cast<double*>(memory.data()), *t = F + m * padded;
    std::fill_n(F, (m + w) * padded, 0.0);
    status = own.in_chunks(Z, rows.rows(), [&](Index begin, View<const double> some, View<const double> h) {
      return blocks.for_rows(some, h, [&](Index, Index size, const PointRows& raw) {
        Status done;
        for (const bool of_prior : {true, false}) {
          if (done.ok())
            done = multiply_triangular(of_prior ? blocks.inverse : blocks.T, Triangle::lower, raw, {0, size}, rows, 0);
          for (Index j = 0; j < (of_prior ? m : w) && done.ok(); ++j)
            for (Index i = 0; i < size; ++i) (of_prior ? F : t)[j * padded + begin + i] = rows.row(i)[j];
        }
        return done;
      });
    });
    if (!status.ok()) return status;
    constexpr Index tile = 96;
    const Index tiles = (count + tile - 1) / tile;
    const double flops = static_cast<double>(count) * static_cast<double>(count) * static_cast<double>(m + w);
    return run_jobs(tiles * tiles, 0.05 * flops, [&](Jobs& jobs, Index job) {
      const Index i = job / tiles, j = job % tiles, row = i * tile, col = j * tile;
      if (j > i || !jobs.poll()) return;
      const Index height = std::min(tile, padded - row), width = std::min(tile, padded - col);
      double* sums = scratch<double>(Scratch::panel, height * width);
      if (!sums) return jobs.stop(no_memory());
      std::fill_n(sums, height * width, 0.0);
      tile_kernels<double>().multiply_nt(height, width, m, -1.0, F + row, padded, F + col, padded, sums, height);
      tile_kernels<double>().multiply_nt(height, width, w, 1.0, t + row, padded, t + col, padded, sums, height);
      for (Index c = 0; c < std::min(width, count - col); ++c)
        for (Index r = 0; r < std::min(height, count - row); ++r) {
          if (row + r < col + c) continue;
          const double value = out(row + r, col + c) + sums[r + c * height];
          out(row + r, col + c) = value;
          if (row + r > col + c) out(col + c, row + r) = value;
        }
    });
  });
}

}  // namespace kernsel

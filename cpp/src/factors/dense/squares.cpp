#include "factors/dense/squares.hpp"

#include "base/memory.hpp"
#include "base/parallel.hpp"

namespace kernsel {

namespace {

// The entries of P. in column `col` from row `row` on: those of P, in `from`, without those of V V'.
void column_of_projected(const State& state, Index row, Index col, Index count, const double* from, double* out) {
  for (Index r = 0; r < count; ++r) out[r] = from[r];
  for (Index q = 0; q < state.trend.q; ++q) {
    const double* V = state.trend.V.column(q);
    for (Index r = 0; r < count; ++r) out[r] -= V[row + r] * V[col];
  }
}

}  // namespace

// A job gathers one block row: its tiles, and the transposes of those below the diagonal tile.
Status multiply_squares(const State& state, const std::vector<double>& g, std::vector<double>& out) {
  const LowerTiles<double>& P = state.P;
  const Index blocks = P.blocks(), tile = P.tile();
  const auto n = static_cast<double>(state.n);
  out.assign(static_cast<std::size_t>(state.n), 0.0);
  return run_jobs(blocks, n * n * (1.0 + static_cast<double>(state.trend.q)), [&](Jobs& jobs, Index i) {
    double* column = scratch<double>(Scratch::panel, tile);
    if (!column) return jobs.stop(no_memory());
    double* to = out.data() + i * tile;
    for (Index j = 0; j < blocks; ++j) {
      if (!jobs.poll()) return;
      if (j <= i) {
        for (Index c = 0; c < P.rows(j); ++c) {
          const Index col = j * tile + c;
          const double weight = g[static_cast<std::size_t>(col)];
          column_of_projected(state, i * tile, col, P.rows(i), P.block(i, j) + c * P.stride(i), column);
          for (Index r = 0; r < P.rows(i); ++r) to[r] += column[r] * column[r] * weight;
        }
      } else {
        const double* weights = g.data() + j * tile;
        for (Index c = 0; c < P.rows(i); ++c) {
          column_of_projected(state, j * tile, i * tile + c, P.rows(j), P.block(j, i) + c * P.stride(j), column);
          for (Index r = 0; r < P.rows(j); ++r) to[c] += column[r] * column[r] * weights[r];
        }
      }
    }
  });
}

}  // namespace kernsel

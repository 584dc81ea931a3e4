// Solutions, inverses and quadratic forms from L by substitution. Right-hand sides are stored transposed, in a panel X with one
// padded row for each right-hand side and n padded columns, in column-major order. Both substitutions then multiply L from the
// right, which the tile kernels do fastest, and read L in its own order.
//
//     forward:   X_i = (B_i - sum_{k<i} X_k L_ik') L_ii^-T          (L y = b)
//     backward:  X_i = (Y_i - sum_{k>i} X_k L_ki ) L_ii^-1          (L' x = y)
//
// Block column j of the inverse is the solution for the block column j of the identity. Only its blocks from j on are computed,
// since A^-1 is symmetric and L^-1 is lower triangular. The panels of different j are independent.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "isa/table.hpp"
#include "kernsel/cholesky.hpp"
#include "kernsel/runtime.hpp"
#include "tiles/triangle.hpp"

namespace kernsel {

namespace {

template <class T>
struct Panel {
  T* data;
  Index height;  // the number of right-hand sides, with padding
  Index first;   // the index of the first block in `data`
  T* block(const LowerTiles<T>& L, Index i) const { return data + (i - first) * L.tile() * height; }
};

template <class T>
Index panel_size(const LowerTiles<T>& L, Index height, Index first) {
  return height * round_up(L.size() - first * L.tile(), LowerTiles<T>::padding);
}

// Solves for block i. ready(k) waits until block k is solved; if it returns false, the substitution ends.
template <class T, class Ready>
bool forward_block(const LowerTiles<T>& L, const Panel<T>& X, Index i, const Ready& ready) {
  const TileKernels<T>& kernels = tile_kernels<T>();
  for (Index k = X.first; k < i; ++k) {
    if (!ready(k)) return false;
    kernels.multiply_nt(X.height, L.padded_rows(i), L.tile(), T(-1), X.block(L, k), X.height, L.block(i, k), L.stride(i),
                        X.block(L, i), X.height);
  }
  kernels.solve_transposed(X.height, L.padded_rows(i), L.block(i, i), L.stride(i), X.block(L, i), X.height);
  return true;
}

template <class T, class Ready>
bool backward_block(const LowerTiles<T>& L, const Panel<T>& X, Index i, const Ready& ready) {
  const TileKernels<T>& kernels = tile_kernels<T>();
  for (Index k = L.blocks() - 1; k > i; --k) {
    if (!ready(k)) return false;
    kernels.multiply_nn(X.height, L.tile(), L.padded_rows(k), T(-1), X.block(L, k), X.height, L.block(k, i), L.stride(k),
                        X.block(L, i), X.height);
  }
  kernels.solve(X.height, L.padded_rows(i), L.block(i, i), L.stride(i), X.block(L, i), X.height);
  return true;
}

// Solves for all blocks on one thread. Returns false if the jobs were stopped.
template <class T>
bool substitute(const LowerTiles<T>& L, const Panel<T>& X, bool backward, Jobs& jobs) {
  const auto go_on = [&](Index) { return jobs.poll(); };
  for (Index i = X.first; i < L.blocks(); ++i)
    if (!forward_block(L, X, i, go_on)) return false;
  for (Index i = L.blocks() - 1; backward && i >= X.first; --i)
    if (!backward_block(L, X, i, go_on)) return false;
  return true;
}

// Solves for all blocks on all threads, one job for each block: for few right-hand sides.
template <class T>
Status substitute_together(const LowerTiles<T>& L, const Panel<T>& X, bool backward) {
  const Index blocks = L.blocks();
  const double cost = static_cast<double>(L.size()) * static_cast<double>(L.size()) * static_cast<double>(X.height) / 100.0;
  std::vector<std::atomic<Index>> solved(static_cast<std::size_t>(blocks));
  const auto ready = [&](Jobs& jobs, Index value) {
    return [&solved, &jobs, value](Index k) { return jobs.wait(solved[static_cast<std::size_t>(k)], value); };
  };
  Status status = run_jobs(blocks, cost, [&](Jobs& jobs, Index i) {
    if (forward_block(L, X, i, ready(jobs, 1))) jobs.publish(solved[static_cast<std::size_t>(i)], 1);
  });
  if (!backward || !status.ok()) return status;
  return run_jobs(blocks, cost, [&](Jobs& jobs, Index job) {
    const Index i = blocks - 1 - job;
    if (backward_block(L, X, i, ready(jobs, 2))) jobs.publish(solved[static_cast<std::size_t>(i)], 2);
  });
}

// Copies the right-hand sides, the columns of B, to the rows of the panel, with zeros in the padding.
template <class T>
void load_panel(View<const T> B, const Panel<T>& X, Index padded) {
  for (Index r = 0; r < B.rows; ++r) {
    T* to = X.data + r * X.height;
    for (Index c = 0; c < B.cols; ++c) to[c] = B(r, c);
    std::fill(to + B.cols, to + X.height, T(0));
  }
  std::fill(X.data + B.rows * X.height, X.data + padded * X.height, T(0));
}

constexpr Index largest_group = 144;

// The division of right-hand sides into groups, each of which one thread solves for: each group is wide enough to justify a
// pass over L, and every thread has the same number of groups.
struct Groups {
  Index width, count;
  Groups(Index columns, Index padding) {
    const Index threads = num_threads(), narrowest = 2 * padding;
    count = std::max((columns + largest_group - 1) / largest_group, std::min(threads, (columns + narrowest - 1) / narrowest));
    if (count > threads) count = round_up(count, threads);
    width = round_up((columns + count - 1) / count, padding);
    count = (columns + width - 1) / width;
  }
};

// Calls take(first column, columns, X) with the panel of each group of columns of B after the substitution, from several
// threads.
template <class T, class F>
Status for_solved_panels(const LowerTiles<T>& L, View<const T> B, bool backward, const F& take) {
  const Status status = runtime_status();
  if (!status.ok()) return status;
  if (B.rows != L.size()) return Status::invalid("the right-hand side has another number of rows than the matrix");
  if (B.cols == 0 || B.rows == 0) return {};
  constexpr Index padding = LowerTiles<T>::padding;
  const Index padded = round_up(L.size(), padding);
  const Groups groups(B.cols, padding);
  const auto solve_group = [&](Index g, const auto& solver) -> Status {
    const Index first = g * groups.width;
    const View<const T> part = B.block(0, first, B.rows, std::min(groups.width, B.cols - first));
    const Index height = round_up(part.cols, padding);
    T* room = scratch<T>(Scratch::panel, height * padded);
    if (!room) return no_memory(static_cast<std::size_t>(height * padded) * sizeof(T));
    const Panel<T> X{room, height, 0};
    load_panel<T>(part, X, padded);
    const Status done = solver(X);
    if (done.ok()) take(first, part.cols, X);
    return done;
  };
  if (groups.count == 1) return solve_group(0, [&](const Panel<T>& X) { return substitute_together(L, X, backward); });
  const double cost = static_cast<double>(L.size()) * static_cast<double>(L.size()) * static_cast<double>(B.cols) / 50.0;
  return run_jobs(groups.count, cost, [&](Jobs& jobs, Index g) {
    const Status done = solve_group(g, [&](const Panel<T>& X) {
      substitute(L, X, backward, jobs);
      return Status{};
    });
    if (!done.ok()) jobs.stop(done);
  });
}

template <class T>
Status substitute_all(const LowerTiles<T>& L, View<T> B, bool backward) {
  return for_solved_panels<T>(L, B, backward, [&](Index first, Index columns, const Panel<T>& X) {
    for (Index r = 0; r < B.rows; ++r)
      for (Index c = 0; c < columns; ++c) B(r, first + c) = X.data[c + r * X.height];
  });
}

// Calls take(jobs, j, X) with the panel of block column j of L^-1, or of A^-1 if `backward`, for each j, from several threads.
// Row r of the panel is the r-th column of the block.
template <class T, class F>
Status for_inverse_panels(const LowerTiles<T>& L, bool backward, const F& take) {
  const Status status = runtime_status();
  if (!status.ok()) return status;
  const auto n = static_cast<double>(L.size());
  return run_jobs(L.blocks(), n * n * n / (backward ? 150.0 : 300.0), [&](Jobs& jobs, Index j) {
    const Index height = L.padded_rows(j), count = panel_size(L, height, j);
    T* room = scratch<T>(Scratch::panel, count);
    if (!room) return jobs.stop(no_memory(static_cast<std::size_t>(count) * sizeof(T)));
    std::fill_n(room, count, T(0));
    for (Index r = 0; r < height; ++r) room[r + r * height] = T(1);
    const Panel<T> X{room, height, j};
    if (substitute(L, X, backward, jobs)) take(jobs, j, X);
  });
}

}  // namespace

template <class T>
Status solve(const LowerTiles<T>& L, View<T> B) {
  return substitute_all(L, B, true);
}

template <class T>
Status solve_lower(const LowerTiles<T>& L, View<T> B) {
  return substitute_all(L, B, false);
}

template <class T>
Status inverse_quadratic(const LowerTiles<T>& L, View<const T> B, View<T> out) {
  if (out.rows != B.cols || out.cols != 1)
    return Status::invalid("inverse_quadratic: the output needs one entry for each column");
  for (Index c = 0; c < out.rows; ++c) out(c, 0) = T(0);  // the result if the matrix has no rows
  return for_solved_panels<T>(L, B, false, [&](Index first, Index columns, const Panel<T>& X) {
    double sums[largest_group] = {};
    for (Index r = 0; r < B.rows; ++r)
      for (Index c = 0; c < columns; ++c) {
        const auto x = static_cast<double>(X.data[c + r * X.height]);
        sums[c] += x * x;
      }
    for (Index c = 0; c < columns; ++c) out(first + c, 0) = static_cast<T>(sums[c]);
  });
}

Index columns_at_a_time(Index n) {
  constexpr Index numbers = 2'000'000, groups_of_a_thread = 4;  // several, so that fast threads can take groups from slow ones
  const Index rows = std::max<Index>(n, 1), wanted = groups_of_a_thread * largest_group * num_threads();
  return std::max({numbers / rows, std::min(wanted, rows / 16), Index{16}});
}

template <class T>
Status inverse(const LowerTiles<T>& L, View<T> out) {
  if (out.rows != L.size() || out.cols != L.size()) return Status::invalid("inverse: the output has the wrong shape");
  const TileKernels<T>& kernels = tile_kernels<T>();
  return for_inverse_panels(L, true, [&](Jobs&, Index j, const Panel<T>& X) {
    for (Index i = j; i < L.blocks(); ++i) {
      const T* tile = X.block(L, i);  // rows of block j, columns of block i
      const View<T> above = out.block(j * L.tile(), i * L.tile(), L.rows(j), L.rows(i));
      const View<T> below = out.block(i * L.tile(), j * L.tile(), L.rows(i), L.rows(j)).transposed();
      if (i > j) {
        write_tile(kernels, tile, X.height, above);
        write_tile(kernels, tile, X.height, below);
        continue;
      }
      for (Index c = 0; c < above.cols; ++c)  // by rounding, the two triangles of a diagonal tile differ
        for (Index r = 0; r <= c; ++r) above(r, c) = below(r, c) = tile[r + c * X.height];
    }
  });
}

// Panel j is computed from the columns j, j + 1, ... of L. It can therefore replace column j of L as soon as the panels 0 to j
// are computed; until then it is kept in memory of its own.
template <class T>
Status invert(LowerTiles<T>& L) {
  const TileKernels<T>& kernels = tile_kernels<T>();
  const Index blocks = L.blocks();
  std::vector<std::unique_ptr<Memory>> aside(static_cast<std::size_t>(blocks));
  Index next = 0;  // the first panel not yet stored
  std::mutex storing;
  const auto store = [&](Index j, const T* panel) {
    const Index height = L.padded_rows(j);
    for (Index i = j; i < blocks; ++i)
      kernels.transpose(height, L.padded_rows(i), panel + (i - j) * L.tile() * height, height, L.block(i, j), L.stride(i));
    T* diagonal = L.block(j, j);  // both triangles of a symmetric tile, equal to the last bit
    for (Index c = 0; c < height; ++c)
      for (Index r = 0; r < c; ++r) diagonal[r + c * L.stride(j)] = diagonal[c + r * L.stride(j)];
    L.pad_diagonal(j);
  };
  return for_inverse_panels(L, true, [&](Jobs& jobs, Index j, const Panel<T>& X) {
    const std::lock_guard<std::mutex> lock(storing);
    if (j > next) {
      auto copy = std::make_unique<Memory>();
      const auto count = panel_size(L, X.height, j);
      const Status status = copy->reserve(static_cast<std::size_t>(count) * sizeof(T));
      if (!status.ok()) return jobs.stop(status);
      std::copy_n(X.data, count, static_cast<T*>(copy->data()));
      aside[static_cast<std::size_t>(j)] = std::move(copy);
      return;
    }
    store(j, X.data);
    for (++next; next < blocks && aside[static_cast<std::size_t>(next)]; ++next) {
      store(next, static_cast<const T*>(aside[static_cast<std::size_t>(next)]->data()));
      aside[static_cast<std::size_t>(next)].reset();
    }
  });
}

template <class T>
Status inverse_diagonal(const LowerTiles<T>& L, View<T> out) {
  if (out.rows != L.size() || out.cols != 1) return Status::invalid("inverse_diagonal: the output has the wrong shape");
  return for_inverse_panels(L, false, [&](Jobs&, Index j, const Panel<T>& X) {
    const Index columns = panel_size(L, X.height, j) / X.height;
    for (Index r = 0; r < L.rows(j); ++r) {
      double sum = 0.0;
      for (Index c = r; c < columns; ++c)
        sum += static_cast<double>(X.data[r + c * X.height]) * static_cast<double>(X.data[r + c * X.height]);
      out(j * L.tile() + r, 0) = static_cast<T>(sum);
    }
  });
}

#define KERNSEL_INSTANTIATE(T)                                                        \
  template Status solve<T>(const LowerTiles<T>&, View<T>);                            \
  template Status solve_lower<T>(const LowerTiles<T>&, View<T>);                      \
  template Status inverse_quadratic<T>(const LowerTiles<T>&, View<const T>, View<T>); \
  template Status inverse<T>(const LowerTiles<T>&, View<T>);                          \
  template Status invert<T>(LowerTiles<T>&);                                          \
  template Status inverse_diagonal<T>(const LowerTiles<T>&, View<T>);
KERNSEL_INSTANTIATE(float)
KERNSEL_INSTANTIATE(double)
#undef KERNSEL_INSTANTIATE

}  // namespace kernsel

// Visits the cells of all sets, in parallel, a few thousand at a time.
#pragma once

#include <algorithm>
#include <vector>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "factors/vecchia/cell.hpp"

namespace kernsel {

// The sets that are visited before their results are collected, and the largest number of batches that they form.
constexpr Index walk_chunk = 8192, walk_batches = 4096;

// Calls visit(cell, points, i, batch) for each set i, whose points are listed in `points`, after Cell::condition(), on any
// thread. The sets of a batch are visited in order, by one thread. After each walk_chunk of sets it calls, on the calling
// thread, collect(begin, end, batches), so that what the visits have stored for these sets and batches can be added up in their
// order: which sets form a batch, and so the results, do not depend on the number of threads. With `of_points`,
// Cell::pull_points() may be called.
template <class Visit, class Collect>
Status walk(const Kernel& k, const SetPoints& of, const Sets& sets, bool differentiable, const Visit& visit,
            const Collect& collect, bool of_points = false) {
  const Index d = of.X.cols, m = sets.neighbours;
  const CellShape shape(m + 1);
  const Index s = shape.size();
  const Index batch = std::clamp<Index>(32768 / (s * std::max<Index>(d, 1)), 2, 64);
  const double of_features = 0.1 * static_cast<double>(of.features);
  const double cost =
      static_cast<double>(s * s) * ((differentiable ? 6.0 : 2.0) + of_features) + 0.05 * static_cast<double>(s * s * s);
  Watch watch;
  for (Index begin = 0; begin < sets.count(); begin += walk_chunk) {
    const Index end = std::min(begin + walk_chunk, sets.count());
    const Index batches = (end - begin + batch - 1) / batch;
    const Status status = run_jobs(batches, cost * static_cast<double>(end - begin), [&](Jobs& jobs, Index job) {
      const Status done = within_memory([&]() -> Status {
        const Index from = begin + job * batch, to = std::min(from + batch, end);
        std::vector<std::int32_t> points(static_cast<std::size_t>((to - from) * s));
        std::vector<Index> sizes;
        double* gathered = scratch<double>(Scratch::row, (to - from) * s * std::max<Index>(d, 1));
        if (!gathered) return no_memory();
        double* row = gathered;
        for (Index i = from; i < to; ++i) {
          std::int32_t* own = points.data() + (i - from) * s;
          const Index size = sets.size(i);
          std::copy_n(sets.neighbours_of(i), size - 1, own);
          own[size - 1] = sets.last[static_cast<std::size_t>(i)];
          std::fill(own + size, own + s, own[size - 1]);
          sizes.push_back(size);
          for (Index r = 0; r < s; ++r, row += d) std::copy_n(of.row(own[r]), d, row);
        }
        const View<const double> Z{gathered, (to - from) * s, d, d, 1};
        const Program<double> program(k, Z, Z, true, shape.block, of_points);
        if (!program.status().ok()) return program.status();
        double* memory = scratch<double>(Scratch::panel, Cell::room(shape, program.parameters()));
        if (!memory) return no_memory();
        Cell cell(shape, program, memory);
        for (Index i = from; i < to; ++i) {
          if (!jobs.poll()) return {};
          const std::int32_t* own = points.data() + (i - from) * s;
          const Index size = sizes[static_cast<std::size_t>(i - from)];
          Status visited = cell.condition((i - from) * shape.parts, own, size, of, differentiable);
          if (visited.ok()) visited = visit(cell, own, i, job);
          if (!visited.ok()) return program.finish(visited);
        }
        return program.finish({});
      });
      if (!done.ok()) jobs.stop(done);
    });
    if (!status.ok()) return status;
    collect(begin, end, batches);
    if (const Status asked = watch.poll(); !asked.ok()) return asked;
  }
  return {};
}

}  // namespace kernsel

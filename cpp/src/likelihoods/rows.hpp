// Loops over rows, and what a check of them finds.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "kernsel/likelihood.hpp"

namespace kernsel {

// Calls f(i) for each row, on several threads if there are many; `cost` is that of a row in nanoseconds.
template <class F>
Status for_rows(Index count, double cost, const F& f) {
  constexpr Index block = 512;
  return run_jobs((count + block - 1) / block, cost * static_cast<double>(count), [&](Jobs&, Index job) {
    const Index end = std::min(count, (job + 1) * block);
    for (Index i = job * block; i < end; ++i) f(i);
  });
}

// Calls f(begin, end), which returns a status, for blocks of rows: on several threads, or if `serial` on this one, whose blocks
// are larger.
template <class F>
Status for_blocks(Index count, bool serial, double cost, const F& f) {
  const Index block = serial ? 4096 : 32;
  const auto run = [&](Index job) { return f(job * block, std::min(count, (job + 1) * block)); };
  const Index jobs = (count + block - 1) / block;
  if (serial) {
    for (Index job = 0; job < jobs; ++job) {
      const Status status = run(job);
      if (!status.ok()) return status;
    }
    return {};
  }
  return run_jobs(jobs, cost * static_cast<double>(count), [&](Jobs& all, Index job) {
    const Status status = run(job);
    if (!status.ok()) all.stop(status);
  });
}

inline bool is_count(double y) { return y >= 0.0 && std::isfinite(y) && y == std::floor(y); }
inline bool is_positive(double y) { return y > 0.0 && std::isfinite(y); }

// A row whose value cannot be.
inline Status wrong_row(Index row, double value, const char* message) {
  Status status = Status::invalid(message);
  status.pivot = row;
  status.value = value;
  return status;
}

}  // namespace kernsel

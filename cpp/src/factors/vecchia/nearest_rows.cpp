#include "factors/vecchia/nearest_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "factors/vecchia/sets.hpp"

namespace kernsel {

namespace {

constexpr Index most_beside_tree = 1000;
constexpr Index queries_of_a_job = 64;

double squared_distance(Index columns, const double* a, const double* b) {
  double sum = 0.0;
  for (Index k = 0; k < columns; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

}  // namespace

Status NearestRows::build(const Kernel& k, View<const double> X) {
  return within_memory([&] {
    NearestRows made;
    Status status = features_of(k, X, made.features_);
    if (!status.ok()) return status;
    const View<const double> points = in_features(X, made.features_, made.scaled_);
    made.rows_ = points.rows;
    made.built_ = true;
    made.columns_ = points.cols;
    status = made.tree_.build(points);
    if (status.ok()) *this = std::move(made);
    return status;
  });
}

void NearestRows::append(View<const double> X) {
  std::vector<double> added;
  in_features(X, features_, added);
  scaled_.insert(scaled_.end(), added.begin(), added.end());
  rows_ += X.rows;
}

bool NearestRows::outgrown() const {
  const Index in_tree = tree_.points(), beside = rows_ - in_tree;
  return beside > std::min(in_tree, std::max(most_beside_tree, rows_ / 20));
}

Status NearestRows::nearest(View<const double> Z, Index m, bool predecessors, std::vector<std::int32_t>& out) const {
  if (rows_ + Z.rows > std::numeric_limits<std::int32_t>::max())
    return Status::invalid("Vecchia's approximation: there are more than 2^31 - 1 points");
  return within_memory([&] {
    std::vector<double> memory;
    const View<const double> points = in_features(Z, features_, memory);
    out.assign(static_cast<std::size_t>(Z.rows * m), -1);
    const Status status = m > 0 ? tree_.nearest(points, m, out.data()) : Status{};
    if (!status.ok() || m == 0 || (rows_ == tree_.points() && !predecessors)) return status;
    return add_rows_beside_tree(points, m, predecessors, out.data());
  });
}

Status NearestRows::spread(View<const double> Z, std::vector<Index>& order) const {
  return within_memory([&] {
    std::vector<double> memory;
    return maximin_order(in_features(Z, features_, memory), order);
  });
}

// Merges the neighbours from the tree with all rows beside it, which have higher indices.
Status NearestRows::add_rows_beside_tree(View<const double> Z, Index m, bool predecessors, std::int32_t* out) const {
  const Index jobs = (Z.rows + queries_of_a_job - 1) / queries_of_a_job;
  const double candidates = static_cast<double>(rows_ - tree_.points() + m + (predecessors ? Z.rows / 2 : 0));
  const double cost = static_cast<double>(Z.rows) * candidates * static_cast<double>(columns_ + 2);
  return run_jobs(jobs, cost, [&](Jobs& control, Index job) {
    std::vector<std::pair<double, std::int32_t>> found;
    for (Index i = job * queries_of_a_job; i < std::min(Z.rows, (job + 1) * queries_of_a_job); ++i) {
      if (!control.poll()) return;
      const double* z = Z.data + i * columns_;
      std::int32_t* own = out + i * m;
      found.clear();
      for (Index r = 0; r < m && own[r] >= 0; ++r)
        found.emplace_back(squared_distance(columns_, z, scaled_.data() + own[r] * columns_), own[r]);
      double farthest = static_cast<Index>(found.size()) < m ? std::numeric_limits<double>::infinity() : 0.0;
      for (const auto& [distance, index] : found) farthest = std::max(farthest, distance);
      const auto consider = [&](const double* row, Index index) {
        const double distance = squared_distance(columns_, z, row);
        if (distance < farthest) found.emplace_back(distance, static_cast<std::int32_t>(index));
      };
      for (Index r = tree_.points(); r < rows_; ++r) consider(scaled_.data() + r * columns_, r);
      for (Index r = 0; r < i && predecessors; ++r) consider(Z.data + r * columns_, rows_ + r);
      std::sort(found.begin(), found.end());
      for (std::size_t r = 0; r < std::min(found.size(), static_cast<std::size_t>(m)); ++r) own[r] = found[r].second;
    }
  });
}

}  // namespace kernsel

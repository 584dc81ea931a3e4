// Clusters of points by k-means.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/random.hpp"
#include "factors/landmarks.hpp"
#include "kernsel/neighbours.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

constexpr Index rounds = 5;  // of Lloyd's: later ones move the centres by little
constexpr Index rows_of_a_job = 1024;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

class Clusters {
 public:
  Clusters(View<const double> X, const Numbers& scales) : X_(X), scaled_(at(X.rows * X.cols)) {
    for (Index i = 0; i < X.rows; ++i)
      for (Index j = 0; j < X.cols; ++j) scaled_[at(i * X.cols + j)] = scales[at(j)] * X(i, j);
  }

  // Draws rows as first centres, each different from all others after scaling.
  Status start(Index count, std::uint64_t seed) {
    const Index n = X_.rows;
    Random random(seed);
    Watch watch;
    nearest_.assign(at(n), std::numeric_limits<double>::infinity());
    Index row = static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
    for (size_ = 0; size_ < count;) {
      centres_.insert(centres_.end(), point(row), point(row) + X_.cols);
      ++size_;
      Status status = watch.poll();
      if (status.ok()) status = update_nearest(point(row));
      if (!status.ok()) return status;
      const double sum = std::accumulate(nearest_.begin(), nearest_.end(), 0.0);
      if (!(sum > 0.0)) break;
      row = row_at(random.uniform() * sum);
    }
    return {};
  }

  // Moves the centres to the means of the rows that are nearest to them.
  Status move() {
    Status status = assign();
    if (!status.ok()) return status;
    fill_empty();
    centres_.assign(at(size_ * X_.cols), 0.0);
    for (Index i = 0; i < X_.rows; ++i) {
      double* centre = centres_.data() + of_[at(i)] * X_.cols;
      for (Index j = 0; j < X_.cols; ++j) centre[j] += point(i)[j] / static_cast<double>(members_[at(of_[at(i)])]);
    }
    return {};
  }

  // The means of the clusters of the last move, before scaling.
  Numbers means() const {
    Numbers out(at(size_ * X_.cols), 0.0);
    for (Index i = 0; i < X_.rows; ++i) {
      double* mean = out.data() + of_[at(i)] * X_.cols;
      for (Index j = 0; j < X_.cols; ++j) mean[j] += X_(i, j) / static_cast<double>(members_[at(of_[at(i)])]);
    }
    return out;
  }

 private:
  const double* point(Index i) const { return scaled_.data() + i * X_.cols; }

  double squared_distance(Index i, const double* centre) const {
    double sum = 0.0;
    for (Index j = 0; j < X_.cols; ++j) sum += (point(i)[j] - centre[j]) * (point(i)[j] - centre[j]);
    return sum;
  }

  // nearest <- the squared distances to the nearest centre, of which `centre` is a new one.
  Status update_nearest(const double* centre) {
    const Index n = X_.rows;
    const double cost = static_cast<double>(n) * static_cast<double>(X_.cols + 2);
    return run_jobs((n + rows_of_a_job - 1) / rows_of_a_job, cost, [&](Jobs&, Index job) {
      for (Index i = job * rows_of_a_job; i < std::min(n, (job + 1) * rows_of_a_job); ++i)
        nearest_[at(i)] = std::min(nearest_[at(i)], squared_distance(i, centre));
    });
  }

  // The first row, of those that are not a centre, at which the sum of `nearest` exceeds `limit`.
  Index row_at(double limit) const {
    double sum = 0.0;
    Index last = 0;
    for (Index i = 0; i < X_.rows; ++i) {
      if (!(nearest_[at(i)] > 0.0)) continue;
      sum += nearest_[at(i)];
      last = i;
      if (sum > limit) break;
    }
    return last;
  }

  Status assign() {
    Neighbours tree;
    std::vector<std::int32_t> found(at(X_.rows));
    Status status = tree.build(rows(static_cast<const double*>(centres_.data()), size_, X_.cols));
    if (status.ok()) status = tree.nearest(rows(static_cast<const double*>(scaled_.data()), X_.rows, X_.cols), 1, found.data());
    if (!status.ok()) return status;
    of_.assign(found.begin(), found.end());
    members_.assign(at(size_), 0);
    for (Index i = 0; i < X_.rows; ++i) {
      ++members_[at(of_[at(i)])];
      nearest_[at(i)] = squared_distance(i, centres_.data() + of_[at(i)] * X_.cols);
    }
    return {};
  }

  // An empty cluster gets the row that is farthest from its centre, of those that are not alone in their cluster. There is such
  // a row, since there are at least as many rows as clusters.
  void fill_empty() {
    if (std::find(members_.begin(), members_.end(), 0) == members_.end()) return;
    std::vector<Index> farthest(at(X_.rows));
    std::iota(farthest.begin(), farthest.end(), Index{0});
    std::stable_sort(farthest.begin(), farthest.end(), [&](Index a, Index b) { return nearest_[at(a)] > nearest_[at(b)]; });
    auto next = farthest.begin();
    for (Index c = 0; c < size_; ++c) {
      if (members_[at(c)] > 0) continue;
      while (members_[at(of_[at(*next)])] < 2) ++next;
      --members_[at(of_[at(*next)])];
      of_[at(*next)] = c;
      members_[at(c)] = 1;
      ++next;
    }
  }

  View<const double> X_;
  Numbers scaled_, centres_, nearest_;  // (n, d) and (size, d), by rows; squared distances to the nearest centres
  std::vector<Index> of_, members_;     // the cluster of each row; the number of rows of each cluster
  Index size_ = 0;
};

}  // namespace

Status cluster_centres(View<const double> X, const std::vector<double>& scales, Index count, std::uint64_t seed,
                       std::vector<double>& centres) {
  Clusters clusters(X, scales);
  Status status = clusters.start(count, seed);
  for (Index round = 0; round < rounds && status.ok(); ++round) status = clusters.move();
  if (status.ok()) centres = clusters.means();
  return status;
}

}  // namespace kernsel

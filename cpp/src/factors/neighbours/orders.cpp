// Orders of points: random, and maximin.
#include <algorithm>
#include <limits>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "factors/neighbours/tree.hpp"
#include "kernsel/neighbours.hpp"

namespace kernsel {

namespace {

// The points that have not been chosen, with their squared distances from those that have.
//
// All of these distances are at most that of the point that is chosen next, so only points near that one come nearer to the
// chosen ones: the subtrees whose boxes are not farther from it than their own points from the chosen ones. They contain
// O(n / k) points for the k-th choice, O(n log n) for all of them, times a number that grows with the dimension.
class Unchosen {
 public:
  explicit Unchosen(const PointTree& tree)
      : tree_(tree),
        distances_(static_cast<std::size_t>(tree.points()), std::numeric_limits<double>::infinity()),
        farthest_(static_cast<std::size_t>(tree.nodes())) {}

  // Returns the place of the point that is farthest from those chosen, and chooses it. `first` is chosen first.
  Index choose(Index first) {
    const Index place = chosen_++ == 0 ? first : farthest_[0].place;
    distances_[static_cast<std::size_t>(place)] = chosen;
    center_.resize(static_cast<std::size_t>(tree_.columns()));
    for (Index k = 0; k < tree_.columns(); ++k) center_[static_cast<std::size_t>(k)] = tree_.coordinate(place, k);
    center_place_ = place;
    update(tree_.root());
    return place;
  }

 private:
  static constexpr double chosen = -1.0;
  struct Farthest {
    double distance = std::numeric_limits<double>::infinity();
    std::int32_t place = 0;
  };

  bool is_before(const Farthest& a, const Farthest& b) const {
    return a.distance > b.distance || (a.distance == b.distance && tree_.ids()[a.place] < tree_.ids()[b.place]);
  }

  double distance_from_box(Index node) const {
    const double *const lower = tree_.box(node), *const upper = lower + tree_.columns();
    double sum = 0.0;
    for (Index k = 0; k < tree_.columns(); ++k) {
      const double x = center_[static_cast<std::size_t>(k)];
      const double gap = std::max(std::max(lower[k] - x, x - upper[k]), 0.0);
      sum += gap * gap;
    }
    return sum;
  }

  void update(const PointTree::Node& node) {
    Farthest& farthest = farthest_[static_cast<std::size_t>(node.number)];
    const bool has_center = node.first <= center_place_ / bucket_size && center_place_ / bucket_size < node.last;
    if (!has_center && distance_from_box(node.number) >= farthest.distance) return;
    if (node.is_leaf()) {
      farthest = update_bucket(node.first);
      return;
    }
    const PointTree::Node a = tree_.left(node), b = tree_.right(node);
    update(a);
    update(b);
    const Farthest &of_a = farthest_[static_cast<std::size_t>(a.number)], &of_b = farthest_[static_cast<std::size_t>(b.number)];
    farthest = is_before(of_b, of_a) ? of_b : of_a;
  }

  Farthest update_bucket(Index bucket) {
    const double* const x = tree_.bucket(bucket);
    const Index first = bucket * bucket_size, size = tree_.size(bucket);
    double sums[bucket_size] = {};
    for (Index k = 0; k < tree_.columns(); ++k) {
      const double center = center_[static_cast<std::size_t>(k)];
      for (Index i = 0; i < bucket_size; ++i) {
        const double difference = x[i + k * bucket_size] - center;
        sums[i] += difference * difference;
      }
    }
    Farthest farthest{-2.0, static_cast<std::int32_t>(first)};
    double* const distances = distances_.data() + first;
    for (Index i = 0; i < size; ++i) {
      distances[i] = std::min(distances[i], sums[i]);
      const Farthest here{distances[i], static_cast<std::int32_t>(first + i)};
      if (is_before(here, farthest)) farthest = here;
    }
    return farthest;
  }

  static constexpr Index bucket_size = PointTree::bucket_size;
  const PointTree& tree_;
  std::vector<double> distances_;   // by place
  std::vector<Farthest> farthest_;  // by node
  std::vector<double> center_;      // the point that was chosen last
  Index center_place_ = 0, chosen_ = 0;
};

// Returns the row of X that is nearest to the mean.
Index nearest_to_mean(View<const double> X) {
  std::vector<double> mean(static_cast<std::size_t>(X.cols), 0.0);
  for (Index i = 0; i < X.rows; ++i)
    for (Index k = 0; k < X.cols; ++k) mean[static_cast<std::size_t>(k)] += X(i, k) / static_cast<double>(X.rows);
  Index nearest = 0;
  double smallest = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < X.rows; ++i) {
    double distance = 0.0;
    for (Index k = 0; k < X.cols; ++k) {
      const double difference = X(i, k) - mean[static_cast<std::size_t>(k)];
      distance += difference * difference;
    }
    if (distance < smallest) {
      smallest = distance;
      nearest = i;
    }
  }
  return nearest;
}

}  // namespace

std::vector<Index> random_order(Index n, std::uint64_t seed) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  Random random(seed);
  for (Index i = n - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(random.below(static_cast<std::uint64_t>(i) + 1))]);
  return order;
}

Status maximin_order(View<const double> X, std::vector<Index>& order) {
  order.clear();
  if (X.rows == 0) return {};
  return within_memory([&] {
    PointTree tree;
    Status status = tree.build(X);
    if (!status.ok()) return status;
    const Index nearest = nearest_to_mean(X);
    const Index first = std::find(tree.ids(), tree.ids() + X.rows, nearest) - tree.ids();
    order.reserve(static_cast<std::size_t>(X.rows));
    Unchosen unchosen(tree);
    return run_jobs(1, 1e3 * static_cast<double>(X.rows), [&](Jobs& jobs, Index) {
      for (Index k = 0; k < X.rows && jobs.poll(); ++k) order.push_back(tree.ids()[unchosen.choose(first)]);
    });
  });
}

}  // namespace kernsel

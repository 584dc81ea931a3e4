#include "factors/neighbours/tree.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/parallel.hpp"

namespace kernsel {

namespace {

// Subtrees of at most that many buckets are built by one job from a copy of their points that fits into the cache.
constexpr Index buckets_of_a_job = 64;
// The column of a split is chosen by the variance of a sample of at most that many points.
constexpr Index sample_size = 128;

struct Key {
  double value;
  std::int32_t row;
};

struct ComesFirst {  // an object instead of a function, so that compilers put it in line
  bool operator()(const Key& a, const Key& b) const { return a.value < b.value || (a.value == b.value && a.row < b.row); }
};

// Returns the column with the largest variance in a sample of some rows of X.
Index widest_column(View<const double> X, const std::int32_t* rows, Index count) {
  const Index step = (count + sample_size - 1) / sample_size;
  Index widest = 0;
  double largest = 0.0;
  for (Index k = 0; k < X.cols; ++k) {
    const double origin = X(rows[0], k);
    double sum = 0.0, squares = 0.0, used = 0.0;
    for (Index i = 0; i < count; i += step) {
      const double x = X(rows[i], k) - origin;
      sum += x;
      squares += x * x;
      used += 1.0;
    }
    const double spread = squares - sum * sum / used;
    if (spread > largest) {
      largest = spread;
      widest = k;
    }
  }
  return widest;
}

// Reorders some rows of X: the first `half` of them are not above the others in the widest column. Rows of equal value are
// ordered by their numbers, so that equal points end up in buckets of consecutive numbers.
void split_rows(View<const double> X, std::int32_t* rows, Index count, Index half, std::vector<Key>& keys) {
  const Index column = X.cols > 0 ? widest_column(X, rows, count) : 0;
  keys.resize(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) keys[static_cast<std::size_t>(i)] = {X.cols > 0 ? X(rows[i], column) : 0.0, rows[i]};
  std::nth_element(keys.begin(), keys.begin() + half, keys.end(), ComesFirst());
  for (Index i = 0; i < count; ++i) rows[i] = keys[static_cast<std::size_t>(i)].row;
}

}  // namespace

// The points of a subtree, copied row by row, and their order in the tree.
struct PointTree::Subtree {
  View<const double> X;
  std::vector<std::int32_t> order;  // by place in the subtree: a row of X
  std::vector<std::int32_t> ids;    // of the rows of X
  Index first_place;
  std::vector<Key> keys;
};

// Splits the rows that ids_ has in the places of a node; until finish(), ids_ holds row numbers.
void PointTree::split(const Node& node, View<const double> X) {
  std::vector<Key> keys;
  const Index first = first_place(node);
  split_rows(X, ids_.data() + first, last_place(node) - first, first_place(right(node)) - first, keys);
}

// Builds the subtree of a node.
void PointTree::finish(const Node& node, View<const double> X, const std::int32_t* names) {
  Subtree subtree;
  const Index first = first_place(node), count = last_place(node) - first;
  std::sort(ids_.begin() + first, ids_.begin() + first + count);
  std::vector<double> copy(static_cast<std::size_t>(count * columns_));
  const View<double> to = rows(copy.data(), count, columns_);
  subtree.ids.assign(ids_.begin() + first, ids_.begin() + first + count);
  for (Index i = 0; i < count; ++i) {
    std::int32_t& id = subtree.ids[static_cast<std::size_t>(i)];
    for (Index k = 0; k < columns_; ++k) to(i, k) = X(id, k);
    if (names) id = names[id];
  }
  subtree.X = to;
  subtree.first_place = first;
  subtree.order.resize(static_cast<std::size_t>(count));
  std::iota(subtree.order.begin(), subtree.order.end(), 0);
  fill_subtree(node, subtree);
}

void PointTree::fill_subtree(const Node& node, Subtree& subtree) {
  const Index first = first_place(node), count = last_place(node) - first;
  std::int32_t* const order = subtree.order.data() + (first - subtree.first_place);
  if (!node.is_leaf()) {
    split_rows(subtree.X, order, count, first_place(right(node)) - first, subtree.keys);
    fill_subtree(left(node), subtree);
    fill_subtree(right(node), subtree);
    return enclose_children(node);
  }
  std::sort(order, order + count);
  double* const bucket = static_cast<double*>(memory_.data()) + first * columns_;
  for (Index i = 0; i < count; ++i) {
    ids_[static_cast<std::size_t>(first + i)] = subtree.ids[static_cast<std::size_t>(order[i])];
    for (Index k = 0; k < columns_; ++k) bucket[i + k * bucket_size] = subtree.X(order[i], k);
  }
  for (Index i = count; i < bucket_size; ++i)
    for (Index k = 0; k < columns_; ++k) bucket[i + k * bucket_size] = 0.0;
  enclose_bucket(node);
}

void PointTree::enclose_bucket(const Node& node) {
  const Index count = size(node.first);
  double* const box = boxes_.data() + node.number * 2 * columns_;
  for (Index k = 0; k < columns_; ++k) {
    const double* const x = bucket(node.first) + k * bucket_size;
    const auto ends = std::minmax_element(x, x + count);
    box[k] = *ends.first;
    box[columns_ + k] = *ends.second;
  }
  const auto first = ids_.begin() + first_place(node);
  least_ids_[static_cast<std::size_t>(node.number)] = *std::min_element(first, first + count);
}

void PointTree::enclose_children(const Node& node) {
  const Index a = left(node).number, b = right(node).number;
  double* const union_of_both = boxes_.data() + node.number * 2 * columns_;
  const double *const x = box(a), *const z = box(b);
  for (Index k = 0; k < columns_; ++k) {
    union_of_both[k] = std::min(x[k], z[k]);
    union_of_both[columns_ + k] = std::max(x[columns_ + k], z[columns_ + k]);
  }
  least_ids_[static_cast<std::size_t>(node.number)] = std::min(least_id(a), least_id(b));
}

Status PointTree::build(View<const double> X, const std::int32_t* names) {
  if (X.rows > std::numeric_limits<std::int32_t>::max())
    return Status::invalid("X: nearest neighbours are found among at most 2^31 - 1 points");
  points_ = X.rows;
  columns_ = X.cols;
  buckets_ = std::max<Index>((points_ + bucket_size - 1) / bucket_size, 1);
  Status status = memory_.reserve(static_cast<std::size_t>(buckets_ * bucket_size * columns_) * sizeof(double));
  if (!status.ok()) return status;
  return within_memory([&] {
    ids_.resize(static_cast<std::size_t>(points_));
    std::iota(ids_.begin(), ids_.end(), 0);
    least_ids_.assign(static_cast<std::size_t>(nodes()), 0);
    boxes_.assign(static_cast<std::size_t>(nodes() * 2 * columns_), 0.0);
    if (points_ == 0) return Status{};

    // The upper levels are split level by level, and one job does what is below a node of the last of them.
    std::vector<Node> upper, level{root()};
    Status done;
    while (done.ok() && level.front().last - level.front().first > buckets_of_a_job) {
      done = run_jobs(static_cast<Index>(level.size()), 20.0 * static_cast<double>(points_),
                      [&](Jobs&, Index job) { split(level[static_cast<std::size_t>(job)], X); });
      upper.insert(upper.end(), level.begin(), level.end());
      std::vector<Node> next;
      for (const Node& node : level) {
        next.push_back(left(node));
        next.push_back(right(node));
      }
      level = std::move(next);
    }
    if (!done.ok()) return done;
    done = run_jobs(static_cast<Index>(level.size()), 200.0 * static_cast<double>(points_),
                    [&](Jobs&, Index job) { finish(level[static_cast<std::size_t>(job)], X, names); });
    if (!done.ok()) return done;
    for (auto node = upper.rbegin(); node != upper.rend(); ++node) enclose_children(*node);
    return done;
  });
}

}  // namespace kernsel

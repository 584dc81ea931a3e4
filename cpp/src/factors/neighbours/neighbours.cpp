#include "kernsel/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"
#include "factors/neighbours/axes.hpp"
#include "factors/neighbours/search.hpp"
#include "factors/neighbours/tree.hpp"

namespace kernsel {

namespace {

constexpr Index largest_count = std::numeric_limits<std::int32_t>::max();
constexpr Index places_of_a_job = 4096;

// Calls f(i) for i < count, on all threads.
template <class F>
Status for_each(Index count, double cost, const F& f) {
  const Index jobs = (count + places_of_a_job - 1) / places_of_a_job;
  return run_jobs(jobs, cost * static_cast<double>(count), [&](Jobs&, Index job) {
    for (Index i = job * places_of_a_job; i < std::min(count, (job + 1) * places_of_a_job); ++i) f(i);
  });
}

// Returns the first place of a bucket that is near z: at each node, the subtree whose box is nearer.
Index descend(const PointTree& tree, View<const double> z) {
  const auto distance = [&](const PointTree::Node& node) {
    const double *const lower = tree.box(node.number), *const upper = lower + tree.columns();
    double sum = 0.0;
    for (Index k = 0; k < tree.columns(); ++k) {
      const double gap = std::max(std::max(lower[k] - z(0, k), z(0, k) - upper[k]), 0.0);
      sum += gap * gap;
    }
    return sum;
  };
  PointTree::Node node = tree.root();
  while (!node.is_leaf()) {
    const PointTree::Node a = tree.left(node), b = tree.right(node);
    node = distance(a) <= distance(b) ? a : b;
  }
  return node.first * PointTree::bucket_size;
}

// How many buckets a group of queries visits where exact results would take too long, or 0 for as many as it takes. Of 30
// neighbours among 1e6 points (1103 of 31250 buckets) this found 98.5 % in 20 columns, each correlated by 0.8 with the next,
// and more than 99.5 % in 17 and 30 columns that depend on 5 and 8 variables; among fewer points it finds more.
Index most_buckets(const PointTree& tree) {
  if (tree.columns() <= Neighbours::exact_columns) return 0;
  return static_cast<Index>(35.0 * std::cbrt(static_cast<double>(tree.buckets()))) + 1;
}

// Below that share of queries, a tree of a part of the points is not worth building.
constexpr double share_worth_a_tree = 1.0 / 16;

}  // namespace

struct Neighbours::State {
  PrincipalAxes axes;  // of the coordinates in the tree, if there are many columns
  PointTree tree;
  std::vector<std::int32_t> places;  // of the points in the tree

  // queries <- the points `rows`, or all points if it is nullptr. Each goes to a row of the output of its own.
  Status list(const Index* rows, Index count, std::vector<Query>& queries) const;
  Status rank_points(const Index* rank, std::vector<std::int32_t>& order) const;
};

Neighbours::Neighbours() : state_(std::make_unique<State>()) {}
Neighbours::~Neighbours() = default;
Neighbours::Neighbours(Neighbours&&) noexcept = default;
Neighbours& Neighbours::operator=(Neighbours&&) noexcept = default;

Index Neighbours::points() const { return state_->tree.points(); }
Index Neighbours::columns() const { return state_->tree.columns(); }

Status Neighbours::build(View<const double> X) {
  State& state = *state_;
  return within_memory([&] {
    Memory memory;
    state.axes = {};
    if (X.cols > exact_columns) state.axes.find(X);
    Status status = state.axes.rotate(X, memory, X);
    if (status.ok()) status = state.tree.build(X);
    if (!status.ok()) return status;
    state.places.resize(static_cast<std::size_t>(X.rows));
    for (Index place = 0; place < X.rows; ++place)
      state.places[static_cast<std::size_t>(state.tree.ids()[place])] = static_cast<std::int32_t>(place);
    return status;
  });
}

Status Neighbours::State::list(const Index* rows, Index count, std::vector<Query>& queries) const {
  const Index n = tree.points();
  if (!rows) {
    queries.resize(static_cast<std::size_t>(n));
    return for_each(n, 1.0, [&](Index place) {
      queries[static_cast<std::size_t>(place)] = {static_cast<std::int32_t>(place), tree.ids()[place]};
    });
  }
  if (count > largest_count) return Status::invalid("count: at most 2^31 - 1 rows can be asked for at a time");
  queries.resize(static_cast<std::size_t>(count));
  for (Index r = 0; r < count; ++r) {
    if (rows[r] < 0 || rows[r] >= n) return Status::invalid("rows: a row is not among the points");
    queries[static_cast<std::size_t>(r)] = {places[static_cast<std::size_t>(rows[r])], static_cast<std::int32_t>(r)};
  }
  return {};
}

// order <- the inverse of the permutation `rank`.
Status Neighbours::State::rank_points(const Index* rank, std::vector<std::int32_t>& order) const {
  const Index n = tree.points();
  order.assign(static_cast<std::size_t>(n), -1);
  for (Index i = 0; i < n; ++i) {
    if (rank[i] < 0 || rank[i] >= n || order[static_cast<std::size_t>(rank[i])] >= 0)
      return Status::invalid("rank: expected a permutation of 0, ..., n - 1");
    order[static_cast<std::size_t>(rank[i])] = static_cast<std::int32_t>(i);
  }
  return {};
}

Status Neighbours::nearest(View<const double> Z, Index m, std::int32_t* out) const {
  const PointTree& tree = state_->tree;
  if (m < 0) return Status::invalid("m: the number of neighbours must not be negative");
  if (Z.cols != tree.columns()) return Status::invalid("Z: the number of columns is not that of the points");
  if (Z.rows > largest_count) return Status::invalid("Z: at most 2^31 - 1 rows can be asked for at a time");
  return within_memory([&] {
    Memory memory;
    std::vector<Query> queries(static_cast<std::size_t>(Z.rows));
    Status status = state_->axes.rotate(Z, memory, Z);
    if (!status.ok()) return status;
    const double cost = 40.0 * static_cast<double>(Z.cols + 1);
    status = for_each(Z.rows, cost, [&](Index r) {
      const Index place = descend(tree, Z.block(r, 0, 1, Z.cols));
      queries[static_cast<std::size_t>(r)] = {static_cast<std::int32_t>(place), static_cast<std::int32_t>(r)};
    });
    if (!status.ok()) return status;
    return run({tree, m, Allowed::all, nullptr, Z, out, most_buckets(tree)}, queries);
  });
}

Status Neighbours::nearest_others(Index m, const Index* group, std::int32_t* out, const Index* rows, Index count) const {
  return find_others(m, group, OwnGroup::none, out, rows, count);
}

Status Neighbours::nearest_others_and_before(Index m, const Index* group, std::int32_t* out, const Index* rows,
                                             Index count) const {
  return find_others(m, group, OwnGroup::before, out, rows, count);
}

Status Neighbours::find_others(Index m, const Index* group, OwnGroup own, std::int32_t* out, const Index* rows,
                               Index count) const {
  const PointTree& tree = state_->tree;
  if (m < 0) return Status::invalid("m: the number of neighbours must not be negative");
  return within_memory([&] {
    std::vector<Query> queries;
    std::vector<Index> labels(static_cast<std::size_t>(tree.points()));
    Status status = state_->list(rows, count, queries);
    if (status.ok())
      status = for_each(tree.points(), 2.0, [&](Index place) {
        const Index id = tree.ids()[place];
        labels[static_cast<std::size_t>(place)] = group ? group[id] : id;
      });
    if (!status.ok()) return status;
    const Allowed allowed = own == OwnGroup::none ? Allowed::other_labels : Allowed::other_labels_or_smaller_ids;
    return run({tree, m, allowed, labels.data(), {}, out, most_buckets(tree)}, queries);
  });
}

// The second half of an order finds its predecessors in a tree of all points, of which at least every other one precedes. The
// second half of the first half finds them in a tree of the first half, and so on, as long as there are enough queries left to
// be worth a tree.
Status Neighbours::nearest_predecessors(Index m, const Index* rank, std::int32_t* out, const Index* rows, Index count) const {
  const State& state = *state_;
  if (m < 0) return Status::invalid("m: the number of neighbours must not be negative");
  return within_memory([&] {
    std::vector<Query> left, queries;
    std::vector<std::int32_t> order, names;
    Status status = state.rank_points(rank, order);
    if (status.ok()) status = state.list(rows, count, left);
    if (!status.ok()) return status;
    // From here on, `left` has the ids of points in place of their places in the first tree.
    for (Query& query : left) query.place = state.tree.ids()[query.place];

    const PointTree* tree = &state.tree;
    const std::vector<std::int32_t>* places = &state.places;
    PointTree own_tree;
    std::vector<std::int32_t> own_places;
    std::vector<Index> labels;
    Memory memory;
    while (!left.empty()) {
      // The queries of rank half or more are answered with this tree; or all, if the next tree is not worth building.
      const Index size = tree->points();
      Index half = (size + 1) / 2;
      const auto is_late = [&](const Query& query) { return rank[query.place] >= half; };
      const Index early = static_cast<Index>(left.size()) - std::count_if(left.begin(), left.end(), is_late);
      if (size <= 4 * PointTree::bucket_size || static_cast<double>(early) < share_worth_a_tree * static_cast<double>(half))
        half = 0;
      queries.clear();
      for (const Query& query : left)
        if (is_late(query)) queries.push_back({(*places)[static_cast<std::size_t>(query.place)], query.row});
      left.erase(std::remove_if(left.begin(), left.end(), is_late), left.end());
      labels.resize(static_cast<std::size_t>(size));
      for (Index place = 0; place < size; ++place) labels[static_cast<std::size_t>(place)] = rank[tree->ids()[place]];
      status = run({*tree, m, Allowed::smaller_labels, labels.data(), {}, out, most_buckets(*tree)}, queries);
      if (!status.ok() || left.empty()) return status;

      names.assign(order.begin(), order.begin() + half);
      std::sort(names.begin(), names.end());
      const Index d = tree->columns();
      status = memory.reserve(static_cast<std::size_t>(half * d) * sizeof(double));
      if (!status.ok()) return status;
      const View<double> X = kernsel::rows(static_cast<double*>(memory.data()), half, d);
      status = for_each(half, 5.0 * static_cast<double>(d + 1), [&](Index i) {
        const Index place = (*places)[static_cast<std::size_t>(names[static_cast<std::size_t>(i)])];
        for (Index k = 0; k < d; ++k) X(i, k) = tree->coordinate(place, k);
      });
      PointTree next;
      if (status.ok()) status = next.build(X, names.data());
      if (!status.ok()) return status;
      own_tree = std::move(next);
      tree = &own_tree;
      own_places.resize(static_cast<std::size_t>(state.tree.points()));
      for (Index place = 0; place < half; ++place)
        own_places[static_cast<std::size_t>(tree->ids()[place])] = static_cast<std::int32_t>(place);
      places = &own_places;
    }
    return status;
  });
}

}  // namespace kernsel

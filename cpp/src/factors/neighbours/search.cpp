// Queries are answered together, up to 32 at a time in the order of their places: one walk through the tree for all of them,
// which compares each box with all queries at once, and goes on with those that are near enough. Boxes of queries would exclude
// hardly anything in eight columns, where they touch most of the buckets. At a bucket, the queries that are left are compared
// with all its points.
#include "factors/neighbours/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"
#include "isa/table.hpp"

namespace kernsel {

namespace {

constexpr Index group_size = 32;  // of queries
constexpr Index bucket_size = PointTree::bucket_size;
constexpr Index groups_of_a_job = 16;
constexpr Index most_pending = 40;  // more than a tree of 2^31 points has levels
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Candidate {
  double distance;  // squared
  std::int32_t id;
};

// Comparisons are objects instead of functions, so that compilers put them in line.
struct IsNearer {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.distance < b.distance || (a.distance == b.distance && a.id < b.id);
  }
};

// A subtree that is still to be visited, and the queries that its parent is near to.
struct Branch {
  PointTree::Node node;
  Index count;
  std::int8_t queries[group_size];
  alignas(64) double distances[group_size];  // of all queries from its box, squared
};

// A subtree that is still to be visited for all queries.
struct Pending {
  double distance;  // a lower bound of the squared distances between the queries and its points
  std::int32_t least_id;
  PointTree::Node node;
};

// For a heap whose top is visited next.
struct ComesLater {
  bool operator()(const Pending& a, const Pending& b) const {
    return a.distance > b.distance || (a.distance == b.distance && a.least_id > b.least_id);
  }
};

// What is known of the labels in each subtree: the smallest label if smaller labels are allowed; if other labels are allowed,
// the label that all points have in common, or `mixed`.
constexpr Index mixed = std::numeric_limits<Index>::min();

std::vector<Index> labels_of_nodes(const Search& search) {
  const PointTree& tree = search.tree;
  std::vector<Index> labels(static_cast<std::size_t>(tree.nodes()));
  const bool smallest = search.allowed == Allowed::smaller_labels;
  const auto join = [&](Index a, Index b) { return smallest ? std::min(a, b) : (a == b ? a : mixed); };
  const auto fill = [&](const auto& self, const PointTree::Node& node) -> Index {
    Index& label = labels[static_cast<std::size_t>(node.number)];
    if (!node.is_leaf()) return label = join(self(self, tree.left(node)), self(self, tree.right(node)));
    const Index* const first = search.labels + node.first * bucket_size;
    label = *first;
    for (Index i = 1; i < tree.size(node.first); ++i) label = join(label, first[i]);
    return label;
  };
  fill(fill, tree.root());
  return labels;
}

// A group of queries, and the memory for it.
class Group {
 public:
  Group(const Search& search, const std::vector<Index>& node_labels);
  Status answer(const Query* queries, Index count);

 private:
  void start(const Query* queries, Index count);
  Pending measure(const PointTree::Node& node) const;
  void walk();
  void walk_best_first();
  bool is_out_of_reach(double distance, std::int32_t least_id) const;
  bool has_only_forbidden(Index node) const;
  void measure(Branch& branch, const PointTree::Node& node) const;
  void take_all_queries(Branch& branch) const;
  void choose_queries(Branch& branch) const;
  void visit(const Branch& branch);
  template <Allowed allowed>
  void collect(Index bucket, const double* distances, Index query);
  void drop_far(Index query);
  void keep_nearest(Index query);
  void update_reach();
  void write(const Query* queries);

  const Search& search_;
  const PointTree& tree_;
  const std::vector<Index>& node_labels_;
  const Index d_, keep_, capacity_;
  const double slack_;  // lower bounds are multiplied by it, on account of rounding errors
  Index count_ = 0;
  Memory memory_;
  double *x_ = nullptr, *tile_ = nullptr;  // coordinates of all queries, and their distances from the points of a bucket
  std::vector<double> box_;
  std::vector<Branch> branches_;
  std::vector<Pending> pending_;
  std::vector<Candidate> candidates_;  // `capacity_` for each query
  // By query: the number of candidates; the largest distance that a further one may have, and the largest id at that distance.
  Index found_[group_size];
  double bound_[group_size];
  std::int32_t last_id_[group_size];
  Index label_[group_size];
  std::int32_t id_[group_size];  // that of the point at the place of the query
  // The same for all queries together.
  double reach_ = infinity;
  std::int32_t reach_id_ = 0;
  Index least_label_ = 0, largest_label_ = 0;
};

Group::Group(const Search& search, const std::vector<Index>& node_labels)
    : search_(search),
      tree_(search.tree),
      node_labels_(node_labels),
      d_(search.tree.columns()),
      keep_(std::min(search.m, search.tree.points())),
      capacity_(keep_ + std::max<Index>(keep_ / 2, 32) + bucket_size),
      slack_(1.0 - 4.0 * static_cast<double>(d_ + 4) * std::numeric_limits<double>::epsilon()) {}

// Reads the queries, and encloses them in a box.
void Group::start(const Query* queries, Index count) {
  count_ = count;
  box_.resize(static_cast<std::size_t>(2 * d_));
  for (Index k = 0; k < d_; ++k) {
    double* const x = x_ + k * group_size;
    for (Index q = 0; q < count; ++q)
      x[q] = search_.Z.data ? search_.Z(queries[q].row, k) : tree_.coordinate(queries[q].place, k);
    for (Index q = count; q < group_size; ++q) x[q] = x[0];
    const auto ends = std::minmax_element(x, x + count);
    box_[static_cast<std::size_t>(k)] = *ends.first;
    box_[static_cast<std::size_t>(d_ + k)] = *ends.second;
  }
  for (Index q = 0; q < count; ++q) {
    found_[q] = 0;
    bound_[q] = infinity;
    last_id_[q] = std::numeric_limits<std::int32_t>::max();
    id_[q] = tree_.points() > 0 ? tree_.ids()[queries[q].place] : 0;
    label_[q] = search_.labels ? search_.labels[queries[q].place] : 0;
  }
  const auto ends = std::minmax_element(label_, label_ + count);
  least_label_ = *ends.first;
  largest_label_ = *ends.second;
  pending_.clear();
  update_reach();
}

// Whether all further candidates from a subtree would be farther than those found, or equally far with larger ids. Lower bounds
// are exact only if they are zero, which matters where many points are equal.
bool Group::is_out_of_reach(double distance, std::int32_t least_id) const {
  return distance * slack_ > reach_ || (reach_ == 0.0 && least_id > reach_id_);
}

bool Group::has_only_forbidden(Index node) const {
  if (node_labels_.empty()) return false;
  const Index label = node_labels_[static_cast<std::size_t>(node)];
  if (search_.allowed == Allowed::smaller_labels) return label >= largest_label_;
  if (search_.allowed == Allowed::other_labels_or_smaller_ids) return false;
  return label != mixed && label == least_label_ && label == largest_label_;
}

Pending Group::measure(const PointTree::Node& node) const {
  const double *const lower = tree_.box(node.number), *const upper = lower + d_;
  const double *const own_lower = box_.data(), *const own_upper = own_lower + d_;
  double distance = 0.0;
  for (Index k = 0; k < d_; ++k) {
    const double gap = std::max(std::max(lower[k] - own_upper[k], own_lower[k] - upper[k]), 0.0);
    distance += gap * gap;
  }
  return {distance, tree_.least_id(node.number), node};
}

// Visits a limited number of buckets, in the order of the distances from the mean of the queries: in many columns the box of
// the queries is about as near to most of the other boxes.
void Group::walk_best_first() {
  std::vector<double> center(static_cast<std::size_t>(d_), 0.0);
  for (Index k = 0; k < d_; ++k)
    for (Index q = 0; q < count_; ++q)
      center[static_cast<std::size_t>(k)] += x_[q + k * group_size] / static_cast<double>(count_);
  const auto push = [&](const PointTree::Node& node) {
    if (has_only_forbidden(node.number)) return;
    Pending pending = measure(node);
    if (is_out_of_reach(pending.distance, pending.least_id)) return;
    const double *const lower = tree_.box(node.number), *const upper = lower + d_;
    pending.distance = 0.0;
    for (Index k = 0; k < d_; ++k) {
      const double x = center[static_cast<std::size_t>(k)];
      const double gap = std::max(std::max(lower[k] - x, x - upper[k]), 0.0);
      pending.distance += gap * gap;
    }
    pending_.push_back(pending);
    std::push_heap(pending_.begin(), pending_.end(), ComesLater());
  };
  push(tree_.root());
  Branch& branch = branches_.front();
  Index visited = 0;
  while (!pending_.empty()) {
    const PointTree::Node node = pending_.front().node;
    std::pop_heap(pending_.begin(), pending_.end(), ComesLater());
    pending_.pop_back();
    if (!node.is_leaf()) {
      push(tree_.left(node));
      push(tree_.right(node));
      continue;
    }
    if (visited >= search_.most_buckets && reach_ < infinity) break;
    const Pending again = measure(node);
    if (is_out_of_reach(again.distance, again.least_id)) continue;
    take_all_queries(branch);
    measure(branch, node);
    choose_queries(branch);
    visit(branch);
    update_reach();
    ++visited;
  }
}

void Group::take_all_queries(Branch& branch) const {
  branch.count = count_;
  for (Index q = 0; q < count_; ++q) branch.queries[q] = static_cast<std::int8_t>(q);
}

void Group::measure(Branch& branch, const PointTree::Node& node) const {
  const double* const box = tree_.box(node.number);
  branch.node = node;
  tile_kernels<double>().box_distances(group_size, d_, x_, box, box + d_, branch.distances);
}

// Keeps the queries that may have neighbours in a subtree.
void Group::choose_queries(Branch& branch) const {
  const Index number = branch.node.number;
  const std::int32_t least_id = tree_.least_id(number);
  const Index label = node_labels_.empty() ? 0 : node_labels_[static_cast<std::size_t>(number)];
  Index count = 0;
  for (Index i = 0; i < branch.count; ++i) {
    const std::int8_t q = branch.queries[i];
    bool excluded = branch.distances[q] * slack_ > bound_[q] || (bound_[q] == 0.0 && least_id > last_id_[q]);
    if (search_.allowed == Allowed::smaller_labels) excluded |= label >= label_[q];
    if (search_.allowed == Allowed::other_labels) excluded |= label == label_[q];
    branch.queries[count] = q;
    count += !excluded;
  }
  branch.count = count;
}

// Visits whatever is within reach, the nearer of two subtrees first.
void Group::walk() {
  Branch* stack[most_pending];
  for (Index i = 0; i < most_pending; ++i) stack[i] = branches_.data() + i;
  Index pending = 1;
  take_all_queries(branches_.front());
  measure(branches_.front(), tree_.root());
  while (pending > 0) {
    Branch& branch = *stack[pending - 1];
    choose_queries(branch);
    if (branch.count == 0 || branch.node.is_leaf()) {
      if (branch.count > 0) visit(branch);
      --pending;
      continue;
    }
    // The two halves take the place of the subtree, the nearer one last; of equally near ones, which many equal points have,
    // that of the smallest id, since points of larger ids are then out of reach.
    Branch& next = *stack[pending++];
    next.count = branch.count;
    std::copy_n(branch.queries, branch.count, next.queries);
    const PointTree::Node a = tree_.left(branch.node), b = tree_.right(branch.node);
    measure(branch, a);
    measure(next, b);
    double difference = 0.0;
    for (Index i = 0; i < next.count; ++i) difference += next.distances[next.queries[i]] - branch.distances[next.queries[i]];
    const bool is_first = difference > 0.0 || (difference == 0.0 && tree_.least_id(a.number) < tree_.least_id(b.number));
    if (is_first) std::swap(stack[pending - 2], stack[pending - 1]);
  }
}

Status Group::answer(const Query* queries, Index count) {
  const Index width = std::max<Index>(d_, 1) * group_size;
  const Status status = memory_.reserve(static_cast<std::size_t>(width + bucket_size * group_size) * sizeof(double));
  if (!status.ok()) return status;
  x_ = static_cast<double*>(memory_.data());
  tile_ = x_ + width;
  branches_.resize(most_pending);
  candidates_.resize(static_cast<std::size_t>(group_size * capacity_));
  start(queries, count);
  if (keep_ > 0 && search_.most_buckets == 0) walk();
  if (keep_ > 0 && search_.most_buckets > 0) walk_best_first();
  write(queries);
  return {};
}

void Group::visit(const Branch& branch) {
  alignas(64) double nearest[group_size];
  tile_kernels<double>().bucket_distances(bucket_size, d_, tree_.bucket(branch.node.first), x_, group_size, branch.count,
                                          branch.queries, tile_, nearest);
  for (Index i = 0; i < branch.count; ++i) {
    const Index query = branch.queries[i];
    if (nearest[i] > bound_[query]) continue;
    const double* const distances = tile_ + bucket_size * i;
    switch (search_.allowed) {
      case Allowed::all:
        collect<Allowed::all>(branch.node.first, distances, query);
        break;
      case Allowed::other_labels:
        collect<Allowed::other_labels>(branch.node.first, distances, query);
        break;
      case Allowed::other_labels_or_smaller_ids:
        collect<Allowed::other_labels_or_smaller_ids>(branch.node.first, distances, query);
        break;
      case Allowed::smaller_labels:
        collect<Allowed::smaller_labels>(branch.node.first, distances, query);
        break;
    }
  }
}

// Takes the points of a bucket that are near enough to a query as candidates.
template <Allowed allowed>
void Group::collect(Index bucket, const double* distances, Index query) {
  const double bound = bound_[query];
  const Index size = tree_.size(bucket);
  const std::int32_t* const ids = tree_.ids() + bucket * bucket_size;
  const Index* const labels = allowed == Allowed::all ? nullptr : search_.labels + bucket * bucket_size;
  const Index label = label_[query];
  Candidate* const candidates = candidates_.data() + query * capacity_;
  Index found = found_[query];
  for (Index i = 0; i < size; ++i) {
    candidates[found] = {distances[i], ids[i]};
    bool is_candidate = distances[i] <= bound;
    if (allowed == Allowed::other_labels) is_candidate &= labels[i] != label;
    if (allowed == Allowed::other_labels_or_smaller_ids) is_candidate &= labels[i] != label || ids[i] < id_[query];
    if (allowed == Allowed::smaller_labels) is_candidate &= labels[i] < label;
    found += is_candidate;
  }
  found_[query] = found;
  if (found >= keep_ && (bound == infinity || found > capacity_ - bucket_size)) drop_far(query);
}

// Finds a bound of the distances without sorting: a quantile of some of the candidates that `keep_` of all do not exceed. Where
// it would keep most of them, among them many equal ones, keep_nearest() does.
void Group::drop_far(Index query) {
  constexpr Index sample_size = 32;
  Candidate* const candidates = candidates_.data() + query * capacity_;
  const Index found = found_[query];
  if (found < 4 * sample_size) return keep_nearest(query);
  double sample[sample_size];
  for (Index i = 0; i < sample_size; ++i) sample[i] = candidates[i * found / sample_size].distance;
  std::sort(sample, sample + sample_size);
  for (Index s = keep_ * sample_size / found; s < sample_size; ++s) {
    Index near = 0;
    for (Index i = 0; i < found; ++i) near += candidates[i].distance <= sample[s];
    if (near < keep_) continue;
    if (near > keep_ + (found - keep_) / 2) break;
    Index kept = 0;
    for (Index i = 0; i < found; ++i) {
      candidates[kept] = candidates[i];
      kept += candidates[i].distance <= sample[s];
    }
    found_[query] = kept;
    bound_[query] = sample[s];
    return;
  }
  keep_nearest(query);
}

void Group::keep_nearest(Index query) {
  Candidate* const candidates = candidates_.data() + query * capacity_;
  Candidate* const last = candidates + keep_ - 1;
  std::nth_element(candidates, last, candidates + found_[query], IsNearer());
  found_[query] = keep_;
  bound_[query] = last->distance;
  last_id_[query] = last->id;
}

void Group::update_reach() {
  reach_ = *std::max_element(bound_, bound_ + count_);
  reach_id_ = *std::max_element(last_id_, last_id_ + count_);
}

void Group::write(const Query* queries) {
  for (Index q = 0; q < count_; ++q) {
    Candidate* const candidates = candidates_.data() + q * capacity_;
    if (found_[q] > keep_) keep_nearest(q);
    std::sort(candidates, candidates + found_[q], IsNearer());
    std::int32_t* const out = search_.out + queries[q].row * search_.m;
    for (Index i = 0; i < search_.m; ++i) out[i] = i < found_[q] ? candidates[i].id : -1;
  }
}

// Returns the first query of each group, and the number of queries. If only some buckets are visited, the queries of a group
// have to be near each other, in at most two buckets.
std::vector<Index> divide(const std::vector<Query>& queries, bool into_near_ones) {
  std::vector<Index> firsts{0};
  const auto pair_of_buckets = [&](Index i) { return queries[static_cast<std::size_t>(i)].place / (2 * bucket_size); };
  const Index count = static_cast<Index>(queries.size());
  for (Index i = 1; i < count; ++i)
    if (i - firsts.back() == group_size || (into_near_ones && pair_of_buckets(i) != pair_of_buckets(firsts.back())))
      firsts.push_back(i);
  if (count > 0) firsts.push_back(count);
  return firsts;
}

}  // namespace

Status run(const Search& search, std::vector<Query>& queries) {
  return within_memory([&] {
    const auto comes_before = [](const Query& a, const Query& b) {
      return a.place < b.place || (a.place == b.place && a.row < b.row);
    };
    if (!std::is_sorted(queries.begin(), queries.end(), comes_before)) std::sort(queries.begin(), queries.end(), comes_before);
    const std::vector<Index> firsts = divide(queries, search.most_buckets > 0);
    const std::vector<Index> node_labels =
        search.allowed == Allowed::all || search.tree.points() == 0 ? std::vector<Index>() : labels_of_nodes(search);
    const Index groups = static_cast<Index>(firsts.size()) - 1;
    const Index jobs_wanted = (groups + groups_of_a_job - 1) / groups_of_a_job;
    const double cost = 100.0 * static_cast<double>(queries.size()) * static_cast<double>(search.m + search.tree.columns());
    return run_jobs(jobs_wanted, cost, [&](Jobs& jobs, Index job) {
      Group group(search, node_labels);
      for (Index g = job * groups_of_a_job; g < std::min(groups, (job + 1) * groups_of_a_job) && jobs.poll(); ++g) {
        const Index first = firsts[static_cast<std::size_t>(g)];
        const Status status = group.answer(queries.data() + first, firsts[static_cast<std::size_t>(g) + 1] - first);
        if (!status.ok()) return jobs.stop(status);
      }
    });
  });
}

}  // namespace kernsel

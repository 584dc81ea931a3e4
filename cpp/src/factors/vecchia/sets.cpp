#include "factors/vecchia/sets.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/memory.hpp"
#include "kernsel/neighbours.hpp"
#include "kernsel/runtime.hpp"

namespace kernsel {

namespace {

Status check(Index n, const VecchiaOptions& options) {
  if (n > std::numeric_limits<std::int32_t>::max())
    return Status::invalid("Vecchia's approximation: there are more than 2^31 - 1 points");
  if (options.neighbours < 1) return Status::invalid("Vecchia's approximation: expected at least one neighbour");
  if (std::min(options.neighbours, n - 1) > VecchiaOptions::most_neighbours)
    return Status::invalid("Vecchia's approximation: expected 500 neighbours at most");
  return {};
}

// The points whose sets are wanted, and memory for their neighbours.
Status prepare(Index n, const VecchiaOptions& options, std::vector<Index> of, Sets& out, std::vector<Index>& which) {
  which = std::move(of);
  if (which.empty()) {
    which.resize(static_cast<std::size_t>(n));
    std::iota(which.begin(), which.end(), Index{0});
  }
  for (const Index i : which)
    if (i < 0 || i >= n) return Status::invalid("Vecchia's approximation: a term is not the number of a point");
  out.neighbours = std::min(options.neighbours, n - 1);
  const Status room = check_memory(which.size() * static_cast<std::size_t>(out.neighbours) * sizeof(std::int32_t));
  if (!room.ok()) return room;
  out.last.assign(which.begin(), which.end());
  out.of.assign(which.size() * static_cast<std::size_t>(out.neighbours), -1);
  return {};
}

}  // namespace

Status predecessors(View<const double> X, const std::vector<Feature>& features, const VecchiaOptions& options, const SetsOf& of,
                    Sets& out) {
  std::vector<Index> which = of.points;
  Status status = check(X.rows, options);
  std::vector<double> memory;
  const View<const double> points = in_features(X, features, memory);
  std::vector<Index> order(static_cast<std::size_t>(X.rows)), rank(order.size());
  std::iota(order.begin(), order.end(), Index{0});
  if (!options.ordered) order = random_order(X.rows, options.seed);
  if (status.ok() && !options.ordered && X.rows <= options.spread_points) status = maximin_order(points, order);
  if (of.first > 0) which.assign(order.begin(), order.begin() + std::min(of.first, X.rows));
  if (status.ok()) status = prepare(X.rows, options, which, out, which);
  for (std::size_t place = 0; place < order.size(); ++place)
    rank[static_cast<std::size_t>(order[place])] = static_cast<Index>(place);
  Neighbours tree;
  if (status.ok() && out.neighbours > 0) status = tree.build(points);
  if (status.ok() && out.neighbours > 0)
    status =
        tree.nearest_predecessors(out.neighbours, rank.data(), out.of.data(), which.data(), static_cast<Index>(which.size()));
  if (!status.ok()) out = {};
  return status;
}

Status others(View<const double> X, const std::vector<Feature>& features, const VecchiaOptions& options, const Groups& groups,
              bool jointly, const std::vector<Index>& of, Sets& out) {
  std::vector<Index> which;
  Status status = check(X.rows, options);
  if (status.ok()) status = prepare(X.rows, options, of, out, which);
  if (status.ok() && !groups.alone() && static_cast<Index>(groups.of.size()) != X.rows)
    status = Status::invalid("groups: expected the group of each point");
  std::vector<double> memory;
  Neighbours tree;
  if (status.ok() && out.neighbours > 0) status = tree.build(in_features(X, features, memory));
  if (status.ok() && out.neighbours > 0)
    status = jointly ? tree.nearest_others_and_before(out.neighbours, groups.of.data(), out.of.data(), which.data(),
                                                      static_cast<Index>(which.size()))
                     : tree.nearest_others(out.neighbours, groups.alone() ? nullptr : groups.of.data(), out.of.data(),
                                           which.data(), static_cast<Index>(which.size()));
  if (!status.ok()) out = {};
  return status;
}

}  // namespace kernsel

// Nearest neighbours of points, and orders of points: what a Vecchia approximation conditions each point on.
//
// Distances are Euclidean, in columns that the caller has scaled. Equally near points come in the order of their indices. The
// results are exact for up to `Neighbours::exact_columns` columns. For more columns the tree is one of coordinates along the
// principal axes, so that the distances have other rounding errors, and of more than some thousand points each query visits
// only the most promising part: it may miss some of the nearest. Either way, the results do not depend on the number of
// threads. Coordinates have to be finite.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

// The nearest of a set of points.
class Neighbours {
 public:
  static constexpr Index exact_columns = 10;

  Neighbours();
  ~Neighbours();
  Neighbours(Neighbours&&) noexcept;
  Neighbours& operator=(Neighbours&&) noexcept;

  // Copies the points X, (n, d), into a tree. n may be up to 2^31 - 1; O(n d + n log n).
  Status build(View<const double> X);
  Index points() const;   // n
  Index columns() const;  // d

  // In all of these, out is an array of m numbers for each query, stored query by query: the indices of the m nearest points
  // that are allowed, nearest first, and -1 in the places that are left if there are fewer than m.

  // For each row of Z, (any number, d): all points are allowed.
  Status nearest(View<const double> Z, Index m, std::int32_t* out) const;

  // For each point: all points of other groups are allowed, where group[i] is any number. Without `group` each point is a group
  // of its own. If `rows` is given, only these `count` points are queries, and out[r * m + k] belongs to the point rows[r].
  Status nearest_others(Index m, const Index* group, std::int32_t* out, const Index* rows = nullptr, Index count = 0) const;
  // The same if points of the own group with smaller indices are allowed, too: neighbours for the joint density of each group.
  Status nearest_others_and_before(Index m, const Index* group, std::int32_t* out, const Index* rows = nullptr,
                                   Index count = 0) const;

  // For each point i: all points j with rank[j] < rank[i] are allowed, where rank is a permutation of 0, ..., n - 1, the place
  // of each point in an order.
  Status nearest_predecessors(Index m, const Index* rank, std::int32_t* out, const Index* rows = nullptr,
                              Index count = 0) const;

 private:
  enum class OwnGroup { none, before };
  Status find_others(Index m, const Index* group, OwnGroup own, std::int32_t* out, const Index* rows, Index count) const;
  struct State;
  std::unique_ptr<State> state_;
};

// A random order of n points, the same on every machine: order[place] is a point.
std::vector<Index> random_order(Index n, std::uint64_t seed);

// The maximin order: the first point is the one nearest to the mean, and each next one is the farthest from all those before
// it. Equally far points come in the order of their indices. In few dimensions this takes O(n (log n)^2), on one thread; in
// many it approaches O(n^2).
Status maximin_order(View<const double> X, std::vector<Index>& order);

}  // namespace kernsel

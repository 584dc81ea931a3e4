// Which points are predicted from which others.
#pragma once

#include <cstdint>
#include <vector>

#include "kernsel/factor.hpp"
#include "kernsel/vecchia.hpp"

namespace kernsel {

// Sets of points: the neighbours of a point, and that point, the last of its set.
struct Sets {
  Index neighbours = 0;            // the most that a point has
  std::vector<std::int32_t> of;    // (count, neighbours) by rows; after the last neighbour, -1
  std::vector<std::int32_t> last;  // (count): the point of each set

  Index count() const { return static_cast<Index>(last.size()); }
  bool empty() const { return last.empty(); }
  const std::int32_t* neighbours_of(Index i) const { return of.data() + i * neighbours; }
  Index size(Index i) const {  // with the point itself
    const std::int32_t* first = neighbours_of(i);
    Index m = neighbours;
    while (m > 0 && first[m - 1] < 0) --m;
    return m + 1;
  }
};

// The columns of X that have a scale, multiplied by it, by rows in `memory`.
View<const double> scaled(View<const double> X, const std::vector<double>& scales, std::vector<double>& memory);

// The points whose sets are wanted: those with the given numbers, or all if there are none; or the first ones of the order.
struct SetsOf {
  std::vector<Index> points;
  Index first = 0;
};

// Finds neighbours in columns that are multiplied by `scales`, of each point among those before it in an order, or among all
// others that are not of its group.
Status predecessors(View<const double> X, const std::vector<double>& scales, const VecchiaOptions& options, const SetsOf& of,
                    Sets& out);
Status others(View<const double> X, const std::vector<double>& scales, const VecchiaOptions& options, const Groups& groups,
              const std::vector<Index>& of, Sets& out);

}  // namespace kernsel

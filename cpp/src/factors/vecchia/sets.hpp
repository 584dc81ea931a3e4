// Which points are predicted from which others.
#pragma once

#include <cstdint>
#include <vector>

#include "factors/neighbours/features.hpp"
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

// The points whose sets are wanted: those with the given numbers, or all if there are none; or the first ones of the order.
struct SetsOf {
  std::vector<Index> points;
  Index first = 0;
};

// Finds neighbours in `features` of the points: of each point among those before it in an order, or among all others that are
// not of its group and, with `jointly`, those before it in its group.
Status predecessors(View<const double> X, const std::vector<Feature>& features, const VecchiaOptions& options, const SetsOf& of,
                    Sets& out);
Status others(View<const double> X, const std::vector<Feature>& features, const VecchiaOptions& options, const Groups& groups,
              bool jointly, const std::vector<Index>& of, Sets& out);

}  // namespace kernsel

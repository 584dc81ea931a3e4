// Groups of points that are left out together, which all factors are asked for in the same form.
#pragma once

#include <vector>

#include "kernsel/fit.hpp"

namespace kernsel {

// The points of each group.
Status points_of(const Groups& groups, Index n, std::vector<std::vector<Index>>& out);

inline Status trend_needs_group() {
  return Status::invalid("folds: a group cannot be left out: without it the trend is not determined");
}

}  // namespace kernsel

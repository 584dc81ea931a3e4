// Groups of points that are left out together, for P whole in place of L.
#pragma once

#include <vector>

#include "factors/dense/adjoint.hpp"
#include "factors/dense/state.hpp"

namespace kernsel {

// The points of each group.
Status points_of(const Groups& groups, Index n, std::vector<std::vector<Index>>& out);

Status leave_out(const State& state, const std::vector<std::vector<Index>>& groups, const Request& request, LeftOut& out);

// The adjoint of partial derivatives in what was shown of the groups, in c, and in the log determinant of the trend.
Status pull_groups(const State& state, const std::vector<std::vector<Index>>& groups, const LeftOut& shown,
                   const Partials& partials, Adjoint& adjoint);

}  // namespace kernsel

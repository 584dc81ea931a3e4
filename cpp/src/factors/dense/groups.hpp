// Groups of points that are left out together. Both functions of a state need all of P in state.P (find_precision).
#pragma once

#include <vector>

#include "factors/dense/adjoint.hpp"
#include "factors/dense/state.hpp"

namespace kernsel {

Status leave_out(const State& state, const std::vector<std::vector<Index>>& groups, const Request& request, LeftOut& out);

// The adjoint that follows from the partial derivatives in residuals, variances and densities of the groups (`shown`, as
// leave_out has computed them), in c, and in the log determinant of the trend.
Status pull_groups(const State& state, const std::vector<std::vector<Index>>& groups, const LeftOut& shown,
                   const Partials& partials, Adjoint& adjoint);

}  // namespace kernsel

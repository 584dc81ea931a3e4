// The minimum of a convex quadratic function within bounds.
#pragma once

#include <functional>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

// min g's + s'Hs / 2 for lower <= s <= upper, H (n, n) positive definite, zero being within the bounds. An active-set method:
// exact, in a few factorizations of the part of H that is free. Asked before each of them, `go_on` may end it: s is then within
// the bounds and downhill, but no minimum yet.
Status minimize_in_box(const std::vector<double>& H, const std::vector<double>& g, const std::vector<double>& lower,
                       const std::vector<double>& upper, const std::function<bool()>& go_on, std::vector<double>& s);

}  // namespace kernsel

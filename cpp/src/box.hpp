// The minimum of a convex quadratic function within bounds.
#pragma once

#include <vector>

namespace kernsel {

// min g's + s'Hs / 2 for lower <= s <= upper, H (n, n) positive definite, zero being within the bounds. An active-set method:
// exact, in a few factorizations of the part of H that is free.
std::vector<double> minimize_in_box(const std::vector<double>& H, const std::vector<double>& g,
                                    const std::vector<double>& lower, const std::vector<double>& upper);

}  // namespace kernsel

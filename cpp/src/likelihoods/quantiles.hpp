// The search for quantiles of many distributions at once.
#pragma once

#include <functional>
#include <vector>

#include "kernsel/likelihood.hpp"

namespace kernsel {

// Where a search for the quantile of one distribution begins: somewhere near its middle, and about how wide it is.
struct Middle {
  double place = 0.0, width = 1.0;
};

// The probability of values up to y for `count` of the rows.
using Distribution = std::function<Status(Index count, const Index* row, const double* y, double* out)>;

// out[i] is the least value up to which the probability is at least p[i].
Status search_quantiles(const std::vector<Middle>& middle, const std::vector<Outcomes>& outcomes, const double* p,
                        const Distribution& probability, double* out);

}  // namespace kernsel

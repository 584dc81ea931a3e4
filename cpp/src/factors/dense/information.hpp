// The average information (factor.hpp): one more pass over the kernel matrix, and one product of P with a column for each
// parameter. O(n^2), where the observed or the expected information takes O(n^3) for each.
#pragma once

#include <vector>

#include "factors/dense/state.hpp"

namespace kernsel {

Status average_information(const State& state, const Partials& partials, std::vector<double>& out);

}  // namespace kernsel

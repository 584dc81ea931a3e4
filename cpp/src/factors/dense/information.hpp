// The average information (Factor::information): one more pass over the kernel matrix, and one product of P with a vector for
// each parameter and output. It takes O(n^2) operations for each, where observed and expected information take O(n^3).
#pragma once

#include <vector>

#include "factors/dense/state.hpp"

namespace kernsel {

Status average_information(const State& state, const Partials& partials, std::vector<double>& out);

}  // namespace kernsel

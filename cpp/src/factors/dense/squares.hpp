// Products with the matrix of the squares of the entries of P..
#pragma once

#include <vector>

#include "factors/dense/state.hpp"

namespace kernsel {

// out_i <- sum_j (P.ij)^2 g_j, for P in place of L (find_precision() with `whole`).
Status multiply_squares(const State& state, const std::vector<double>& g, std::vector<double>& out);

}  // namespace kernsel

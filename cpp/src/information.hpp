// The average information of a likelihood: half of the sum of its observed and expected information, where kernels depend on
// their parameters linearly, and as good elsewhere for finding the way to the optimum.
//
//     A_ab = 1/2 u_a' P. u_b / s^2,  u_a = dK/dtheta_a c
//
// With a profiled scale of nu degrees of freedom, less (c'u_a)(c'u_b) / (2 nu s^4). One more pass over the kernel matrix, and
// one product of P with a column for each parameter: O(n^2), where either information alone takes O(n^3) for each.
#pragma once

#include "kernsel/criteria.hpp"
#include "state.hpp"

namespace kernsel {

// In the order of the gradient, and at the end in the logarithm of a factor of the noise.
Status average_information(const State& state, const Partials& partials, Evaluation& out);

}  // namespace kernsel

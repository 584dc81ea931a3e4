#pragma once

#include <vector>

#include "kernsel/support.hpp"

namespace kernsel {

// Coefficients near the solution of a problem, by an interior point method: a factorization of K + D for each of some twenty
// iterations, whatever the condition of K. Those that end at zero or at a bound are put there. Leaves `a` as it is if it does
// not get there: K is indefinite, or there is no memory for its factor.
Status near_solution(const Kernel& k, View<const double> X, const SupportProblem& problem, double largest,
                     std::vector<double>& a);

}  // namespace kernsel

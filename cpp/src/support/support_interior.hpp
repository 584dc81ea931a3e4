#pragma once

#include <vector>

#include "kernsel/support.hpp"

namespace kernsel {

// a <- coefficients near the solution of a problem, by an interior point method. Each of its iterations, of which there are
// about twenty whatever the condition of K, factorizes K + D for a diagonal D. Coefficients that end near zero or near a bound
// are set to it. `largest` is the largest diagonal element of K. If the method does not converge, K is indefinite, or there is
// no memory for the factor, `a` is not changed.
Status near_solution(const Kernel& k, View<const double> X, const SupportProblem& problem, double largest,
                     std::vector<double>& a);

}  // namespace kernsel

#pragma once

#include <vector>

#include "kernsel/support.hpp"

namespace kernsel {

// Returns feasible coefficients strictly between their bounds: zero, if these are symmetric.
std::vector<double> interior_start(const SupportProblem& problem);

// a <- coefficients near the solution of a problem, by an interior point method. Each of its iterations, of which there are
// about twenty whatever the condition of K, factorizes K + D for a diagonal D. Coefficients that end near zero or near a bound
// are set to it. K = k(X, X) + noise has this diagonal, and `product` is K times interior_start(). If the method does not
// converge, K is indefinite, or there is no memory for the factor, `a` is not changed.
Status near_solution(const Kernel& k, View<const double> X, const std::vector<double>& noise, const SupportProblem& problem,
                     const std::vector<double>& diagonal, const std::vector<double>& product, std::vector<double>& a);

}  // namespace kernsel

// The linear systems of the interior point method for support vectors (support_interior.cpp).
#pragma once

#include <memory>
#include <vector>

#include "kernsel/support.hpp"

namespace kernsel {

// With K = k(X, X) + noise, and the numbers `give` (the reciprocals of a diagonal, zero for points that do not move), finds the
// change `slope` of g = K a - y + b in a Newton step:
//
//     slope = K da + db,   da = give (h - slope),   sum (a + da) = sum if there is an intercept, otherwise db = 0
class NewtonSystem {
 public:
  virtual ~NewtonSystem() = default;
  virtual Status factorize(const std::vector<double>& give) = 0;
  virtual Status solve(const std::vector<double>& h, const std::vector<double>& a, std::vector<double>& slope) = 0;
  // g <- g at the end of a step of this length along the last solution.
  virtual void move(double length, const std::vector<double>& slope, std::vector<double>& g) = 0;
};

// Makes the system for coefficients `start`, at which g = K start - y. K has this diagonal, with noise. If its rank is far
// below the number of points, up to rounding, K = L L', and the step is one of the vector L'a and of b: where large
// coefficients cancel in K a, these keep g accurate.
Status newton_system(const Kernel& k, View<const double> X, const std::vector<double>& noise, const SupportProblem& problem,
                     const std::vector<double>& diagonal, const std::vector<double>& start,
                     std::unique_ptr<NewtonSystem>& system);

}  // namespace kernsel

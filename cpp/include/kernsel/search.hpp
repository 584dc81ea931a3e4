// The search for the minimum of an objective within its bounds, from several starts.
//
// It is a trust-region method whose steps are exact minima of a quadratic model in a box. The curvature of the model is the
// information of the objective, if that approximates its curvature (Newton's method). Otherwise it is a first guess, corrected
// by the changes of the gradient along the last steps (BFGS, a quasi-Newton method).
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "kernsel/objective.hpp"

namespace kernsel {

struct SearchOptions {
  double coarse = 0.1, fine = 0.01;  // tolerances of the value, in nats, for all descents and for the best one
  Index evaluations = 1000;          // the largest number of evaluations, of both objectives together
  double seconds = std::numeric_limits<double>::infinity();
  double first_radius = 1.5;
  Index polished = 1;    // how many of the best descents continue to `fine`, if there is no objective of a subset
  Index contenders = 3;  // how many of the points found on the subset are tried on all points, 1 to 3
  // The loss by which the results of the descents are compared, if there is no objective of a subset; the value if it is empty.
  // Only results whose value is near the least one are compared by it.
  std::function<double(const Trial&)> loss = {};
  // Called after each evaluation with the best criterion so far; false ends the search.
  std::function<bool(Index evaluations, Index points, double best)> progress = {};
};

enum class Ended { converged, evaluations, seconds, stopped, interrupted };

struct Optimum {
  Trial best;
  Ended ended = Ended::converged;
  Index evaluations = 0, evaluations_of_some = 0;  // the numbers of evaluations on all points, and on the subset
  std::vector<double> of_starts;                   // the criterion reached from each start; NaN if it could not be evaluated
  std::vector<double> curvature;                   // (count, count), the curvature at the best point in the last descent
};

// Searches from all `starts`, first with the objective `some` of a subset of the points, unless it is nullptr. If the search
// ends early, `out` has the best result so far. Fails if no start can be evaluated, with the status of the first.
Status search(Objective& all, Objective* some, const std::vector<std::vector<double>>& starts, const SearchOptions& options,
              Optimum& out);

}  // namespace kernsel

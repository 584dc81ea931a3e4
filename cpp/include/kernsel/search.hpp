// The search: from several starts down to the minimum of an objective within its bounds.
//
// A trust-region method whose steps are exact minima of a quadratic model in a box. Its curvature is the information of the
// objective where that is as good as the curvature (Newton's method); otherwise what is known of it at first, corrected by the
// changes of the gradient along the last steps (quasi-Newton, after Broyden, Fletcher, Goldfarb and Shanno).
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "kernsel/objective.hpp"

namespace kernsel {

struct SearchOptions {
  double coarse = 0.1, fine = 0.01;  // nats: when a descent has arrived, and when the best one has
  Index evaluations = 1000;          // at most, of either objective
  double seconds = std::numeric_limits<double>::infinity();
  double first_radius = 1.5;
  Index polished = 1;    // how many of the best descents go on to the end, if there is no objective of some points
  Index contenders = 3;  // how many places found on some of the points are tried on all: 1 to 3
  // Called after each evaluation with the best criterion so far; false ends the search.
  std::function<bool(Index evaluations, Index points, double best)> progress = {};
};

enum class Ended { converged, evaluations, seconds, stopped, interrupted };

struct Optimum {
  Trial best;
  Ended ended = Ended::converged;
  Index evaluations = 0, evaluations_of_some = 0;  // of all points, of some
  std::vector<double> of_starts;                   // the criterion that each start led to; NaN if it could not be evaluated
  std::vector<double> curvature;                   // (count, count), at the best, as the last descent has come to know it
};

// From all `starts`; first on `some` of the points unless it is nullptr. What is found is kept if the search ends early. Fails
// if no start can be evaluated, with the status of the first.
Status search(Objective& all, Objective* some, const std::vector<std::vector<double>>& starts, const SearchOptions& options,
              Optimum& out);

}  // namespace kernsel

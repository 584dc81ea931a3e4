// Choosing hyperparameters: the minimum of a criterion over what a kernel and a noise leave open.
//
// For likelihoods, a trust-region Newton method on logarithms with the average information for its curvature (criteria.hpp),
// from several starts, on some of the points first where there are many.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "kernsel/criteria.hpp"

namespace kernsel {

// Numbers x within bounds, and what they stand for.
struct Unknowns {
  std::vector<Index> place;  // for each hyperparameter of the kernel the number of its unknown, or -1: it stays as it is
  Index noise = -1;          // the unknown that is the logarithm of a factor of the noise, or -1: there is none
  std::vector<double> lower, upper;
  std::vector<double> reach;  // of a step, relative to others
  std::size_t count() const { return lower.size(); }
};

// A place of the search, and what is found there.
struct Trial {
  std::vector<double> x;
  double value = std::numeric_limits<double>::infinity();  // less is better
  std::vector<double> gradient;
  std::vector<double> information;  // (count, count); empty if the criterion is no likelihood
  double scale = 1.0;
  double residual_scale = 0.0;  // as in Evaluation
};

// A criterion as a function of the unknowns, to be minimized; minus the criterion where larger is better.
struct Objective {
  Kernel kernel;
  Problem problem;            // its noise is made of the two below
  std::vector<double> noise;  // of each point; times the unknown factor, if there is one
  double jitter = 0.0;        // added to the diagonal
  Criterion criterion;
  Folds folds;  // if there are any, instead of the criterion
  bool larger_is_better = true;
  Unknowns unknowns;
  // A kernel with these hyperparameters, if Kernel::with_theta() cannot make it; and terms of the unknowns alone that are added
  // to the criterion, with their gradient. Both may throw.
  std::function<Kernel(const std::vector<double>& theta)> make = {};
  std::function<double(const std::vector<double>& x, std::vector<double>& gradient)> prior = {};

  Status evaluate(const std::vector<double>& x, Order order, LowerTiles<double>& buffer, Trial& out) const;
};

struct SearchOptions {
  double coarse = 0.1, fine = 0.01;  // of the criterion: when a climb has arrived, and when the best one has
  Index evaluations = 1000;          // at most, of either objective
  double seconds = std::numeric_limits<double>::infinity();
  double first_radius = 1.5;
  Index polished = 1;  // how many of the best climbs go on to the end, if all points are few
  // Called after each evaluation; false ends the search.
  std::function<bool(Index evaluations, Index points, double best)> progress = {};
};

enum class Ended { converged, evaluations, seconds, stopped, interrupted };

struct Optimum {
  Trial best;
  Ended ended = Ended::converged;
  Index evaluations = 0, evaluations_of_some = 0;  // of all points, of some
  std::vector<double> of_starts;                   // the value that each start led to; infinity if it could not be evaluated
};

// From all `starts`; first on `some` of the points unless it is nullptr. What is found is kept if the search ends early. Fails
// if no start can be evaluated, with the status of the first.
Status search(const Objective& all, const Objective* some, const std::vector<std::vector<double>>& starts,
              const SearchOptions& options, LowerTiles<double>& buffer, Optimum& out);

}  // namespace kernsel

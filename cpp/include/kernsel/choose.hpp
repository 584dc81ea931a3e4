// Choosing: from data, a kernel and a criterion to the hyperparameters and the noise that are best by it.
//
//     Choosing problem{rbf({1.0, 1.0}), X, y};
//     problem.finds_noise = true;
//     Choice choice;
//     Status status = choose(problem, ChoosingOptions{}, choice);   // by leave-one-out errors, with starts and bounds from
//     data
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernsel/data.hpp"
#include "kernsel/search.hpp"

namespace kernsel {

// A criterion for some of the points, named by their rows; of criteria that are the same for any points, these do not matter.
using CriterionOf = std::function<Criterion(const std::vector<Index>& rows)>;

// What is to be chosen, and by what. All arrays must stay until the choice is made.
struct Choosing {
  Choosing(Kernel k, View<const double> points, View<const double> targets) : kernel(std::move(k)), X(points), y(targets) {}

  Kernel kernel;
  View<const double> X;             // (n, d)
  View<const double> y;             // (n, outputs)
  View<const double> trend = {};    // H, (n, q)
  const double* weights = nullptr;  // of the points, positive; the noise of a point is divided by its weight
  bool finds_amplitude = false;     // is there a factor of the kernel to be found, which is no hyperparameter of its own?
  bool finds_noise = false;         // is there a variance of noise to be found, the same for all points of one weight?
  std::vector<double> noise = {};   // variances that are known, of each point or one for all; none if it is empty
  double jitter = 0.0;              // added to the diagonal besides;
  bool automatic_jitter = true;     // or as much as rounding needs, if there is no noise of a known size
  CriterionOf criterion;            // the mean squared leave-one-out error if there is none
  // The criterion that does not change if kernel and noise are multiplied by a number, this one at the best of them, if it
  // exists: one amplitude is then not searched for, but known at each place.
  CriterionOf scale_free = {};
  bool same_for_any_points = true;  // may a search begin with some of the points?
  // All of the kernel's hyperparameters with starts and bounds from the data, if there is none.
  std::shared_ptr<const Space> space = nullptr;
  double variance = 0.0;  // of the targets, as starts see it; from the data if it is zero
  std::function<Kernel(const std::vector<double>& theta)> make = {};  // as in CriterionObjective
  std::function<double(const std::vector<double>& theta, std::vector<double>& gradient)> prior = {};  // of the space's theta
  Factor* factor = nullptr;  // what stands for K~; dense_factor() if there is none
};

struct ChoosingOptions {
  Index evaluations = 1000;
  double seconds = std::numeric_limits<double>::infinity();
  Index restarts = 0;   // random starts, beyond those that are read off the data
  bool seeded = false;  // is `seed` to move the quasi-random starts and to pick the points of the subset?
  std::uint64_t seed = 0;
  bool newton = true;         // for likelihoods; false treats their information as a first guess only
  Index many_points = 600;    // above which a search begins on some of them,
  Index subset_points = 400;  // so many
  bool profile = true;        // take the best factor of kernel and noise together where it is known
  std::function<bool(Index evaluations, Index points, double best)> progress = {};
};

struct Choice {
  std::vector<double> x;      // the unknowns that were found
  std::vector<double> theta;  // of the space
  double amplitude = 1.0;     // the factor of the kernel that was found
  double noise = 0.0;         // the variance that was found
  double jitter = 0.0;        // what was added to the diagonal throughout
  double scale = 1.0;         // of kernel and noise together, that is not in theta
  double criterion = 0.0;     // its value at the end; NaN if the search was interrupted before it came to all points
  bool profiled = false;      // was it the scale-free criterion that was evaluated?
  bool noise_at_bound = false;
  std::vector<double> gradient, information;  // in the unknowns
  // Which numbers of theta these are, the number after the last of theta for the amplitude; the noise is the last unknown, if
  // it was one.
  std::vector<Index> free;
  Ended ended = Ended::converged;
  Index evaluations = 0, evaluations_of_some = 0;
  std::vector<double> of_starts;
};

// A search step by step, for optimizers of the caller's.
class Chooser {
 public:
  Chooser(const Choosing& problem, ChoosingOptions options);
  ~Chooser();
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;

  Status prepare();                                        // first of all
  const std::vector<std::vector<double>>& starts() const;  // within the bounds
  const Domain& domain() const;
  Status evaluate(const std::vector<double>& x, Order order, Trial& out);  // on all points, by the criterion searched by
  Status run(Choice& out);                                                 // the whole search
  void finish(const Trial& best, Choice& out) const;                       // what a place stands for

 private:
  struct Content;
  Status search_all(Choice& out);
  std::unique_ptr<Content> content_;
};

Status choose(const Choosing& problem, const ChoosingOptions& options, Choice& out);

}  // namespace kernsel

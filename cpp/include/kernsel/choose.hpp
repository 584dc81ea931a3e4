// The choice of the hyperparameters of a kernel and of a noise variance by a criterion.
//
//     Choosing problem{rbf({1.0, 1.0}), X, y};
//     problem.finds_noise = true;
//     Choice choice;
//     Status status = choose(problem, ChoosingOptions{}, choice);
//
// By default the criterion is the mean squared leave-one-out error, and starts and bounds follow from the data.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernsel/data.hpp"
#include "kernsel/inference.hpp"
#include "kernsel/nystrom.hpp"
#include "kernsel/search.hpp"
#include "kernsel/vecchia.hpp"

namespace kernsel {

// Returns the criterion for a subset of the points, given their rows. Most criteria do not depend on the rows.
using CriterionOf = std::function<Criterion(const std::vector<Index>& rows)>;

// The problem: data, kernel, unknowns and criterion. All arrays must exist until the choice is made.
struct Choosing {
  Choosing(Kernel k, View<const double> points, View<const double> targets) : kernel(std::move(k)), X(points), y(targets) {}

  Kernel kernel;
  View<const double> X;             // (n, d)
  View<const double> y;             // (n, outputs)
  View<const double> trend = {};    // H, (n, q)
  const double* weights = nullptr;  // of the points, positive; the noise of a point is divided by its weight
  bool finds_amplitude = false;     // whether to find a factor of the kernel that is not one of its hyperparameters
  bool finds_noise = false;         // whether to find a noise variance, the same for all points (divided by their weights)
  // For observations y of a likelihood: its parameters, with their starts and bounds (if there are none, those that it proposes
  // for the data), of which those with equal bounds are not to be found. `noise` is then that of the latent function;
  // finds_noise and scale_free are not for them.
  std::shared_ptr<const Likelihood> likelihood = nullptr;
  std::vector<LikelihoodParameter> parameters = {};
  Inference inference = Inference::laplace;
  const double* sizes = nullptr;   // of observations (likelihood.hpp)
  std::vector<double> noise = {};  // known noise variances, one for each point or one for all; may be empty
  double jitter = 0.0;             // also added to the diagonal
  bool automatic_jitter = true;    // without known noise, use the jitter that rounding requires instead of `jitter`
  CriterionOf criterion;           // the mean squared leave-one-out error if it is empty
  // The criterion for the best common factor of kernel and noise, if there is a closed form. One amplitude is then computed
  // from it instead of being searched for.
  CriterionOf scale_free = {};
  bool same_for_any_points = true;  // whether the search may begin on a subset of the points
  // The unknowns with starts and bounds; if it is null, all hyperparameters of the kernel, with starts and bounds from the
  // data.
  std::shared_ptr<const Space> space = nullptr;
  double variance = 0.0;  // the variance of the targets for starts; computed from the data if it is zero
  std::function<Kernel(const std::vector<double>& theta)> make = {};  // as in CriterionObjective
  std::function<double(const std::vector<double>& theta, std::vector<double>& gradient)> prior = {};  // of the space's theta
  Factor* factor = nullptr;  // what stands for K~; dense_factor() if there is none
  // If it is given, it takes the place of `factor` for all points: the search begins on some of them with their whole kernel
  // matrix (ChoosingOptions::exact_points), and continues with neighbours from there.
  VecchiaFactor* approximation = nullptr;
  // The same for landmarks: the search continues on more and more of the points, with landmarks among them.
  NystromFactor* landmarks = nullptr;
  // What is expected of the hyperparameters (prior.hpp). With `spreads`, in increasing order, the length scales of a kernel are
  // expected to be like each other, with the one of these spreads for which the data are the most probable; an expectation of
  // this kind has no effect on kernels with one length scale. With `expects_all`, something is expected of all hyperparameters
  // but those that are `excepted` (for each number of theta, or empty), because `prior` tells it; the search then maximizes the
  // criterion, a likelihood, times these densities, and computes its integral over the hyperparameters (Choice::evidence).
  std::vector<double> spreads = {};
  bool expects_all = false;
  std::vector<bool> excepted = {};
};

struct ChoosingOptions {
  Index evaluations = 1000;
  double seconds = std::numeric_limits<double>::infinity();
  Index restarts = 0;   // the number of random starts, besides those that are derived from the data
  bool seeded = false;  // whether `seed` shifts the quasi-random starts and determines the points of the subset
  std::uint64_t seed = 0;
  bool newton = true;              // use Newton's method for likelihoods; false uses their information as a first guess only
  Index many_points = 600;         // with more points, the search begins on a subset
  Index subset_points = 400;       // the size of the subset
  std::vector<Index> subset = {};  // its points, in order, if they are not to be random
  Index exact_points = 2000;       // with an approximation, the number of points of the search before it
  Index search_points = 50000;  // with landmarks, the most points of the search; the criterion of all is evaluated at its end
  bool rough = false;           // end where 0.1 nats are to be gained: what is found is only a start for another search
  bool profile = true;          // use the closed form of the best common factor of kernel and noise, where there is one
  std::function<bool(Index evaluations, Index points, double best)> progress = {};
};

struct Choice {
  std::vector<double> x;                // the values of the unknowns that were found
  std::vector<double> theta;            // the values of the space's theta
  double amplitude = 1.0;               // the factor of the kernel that was found
  double noise = 0.0;                   // the noise variance that was found
  std::vector<double> likelihood = {};  // the parameters of the likelihood
  double jitter = 0.0;                  // the jitter that was added to the diagonal
  double scale = 1.0;                   // the common factor of kernel and noise that theta does not include
  double criterion = 0.0;               // its value at the end; NaN if the search ended before it evaluated all points
  bool profiled = false;                // whether the scale-free criterion was evaluated
  bool noise_at_bound = false;
  double spread = std::numeric_limits<double>::quiet_NaN();    // the one of the problem's spreads that was chosen
  double evidence = std::numeric_limits<double>::quiet_NaN();  // its logarithm, if all hyperparameters have expectations
  std::vector<double> gradient, information;                   // with respect to the unknowns
  // For each unknown but the noise its position in theta; theta.size() for the amplitude. The noise is the last unknown, if it
  // was to be found.
  std::vector<Index> free;
  Ended ended = Ended::converged;
  Index evaluations = 0, evaluations_of_some = 0;
  std::vector<double> of_starts;
};

// A search whose steps can be called one by one, for optimizers of the caller.
class Chooser {
 public:
  Chooser(const Choosing& problem, ChoosingOptions options);
  ~Chooser();
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;

  Status prepare();                                        // to be called first
  const std::vector<std::vector<double>>& starts() const;  // the starts, within the bounds
  const Domain& domain() const;
  Status evaluate(const std::vector<double>& x, Order order, Trial& out);  // the objective on all points
  Status run(Choice& out);                                                 // the whole search
  void finish(const Trial& best, Choice& out) const;                       // converts a trial to a choice

 private:
  struct Content;
  Status search_all(Choice& out);
  std::unique_ptr<Content> content_;
};

Status choose(const Choosing& problem, const ChoosingOptions& options, Choice& out);

}  // namespace kernsel

// Objectives: functions of bounded variables that a search (search.hpp) minimizes.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "kernsel/factor.hpp"
#include "kernsel/inference.hpp"
#include "kernsel/prior.hpp"

namespace kernsel {

// Bounds of the variables x, and the sizes of steps in each of them relative to the others (`reach`).
struct Domain {
  std::vector<double> lower, upper;
  std::vector<double> reach;
  std::size_t count() const { return lower.size(); }
};

// A point x of a search, and the objective at x. Values are in nats, like log likelihoods: differences far below one are not
// significant.
struct Trial {
  std::vector<double> x;
  double value = std::numeric_limits<double>::infinity();       // less is better
  double criterion = std::numeric_limits<double>::quiet_NaN();  // the criterion from which the value was computed
  std::vector<double> gradient;                                 // the gradient of the value
  std::vector<double> information;  // (count, count), positive semidefinite: see Objective; may be empty
  double scale = 1.0;
  double residual_scale = 0.0;  // as in Evaluation
};

class Objective {
 public:
  virtual ~Objective() = default;
  virtual const Domain& domain() const = 0;
  virtual Index points() const = 0;
  // Whether the information of trials approximates the curvature of the value, so that Newton's method uses it. Otherwise it is
  // a first guess that is corrected by the changes of the gradients (quasi-Newton method).
  virtual bool has_curvature() const = 0;
  virtual Status evaluate(const std::vector<double>& x, Order order, Trial& out) = 0;
};

// The meaning of the variables x for a kernel and a noise.
struct Unknowns {
  std::vector<Index> place;            // for each hyperparameter of the kernel the index of its unknown, or -1 if it is fixed
  Index amplitude = -1;                // the unknown that is the logarithm of a factor of the kernel, or -1
  Index noise = -1;                    // the unknown that is the logarithm of a factor of the noise, or -1
  std::vector<Index> likelihood = {};  // for each parameter of the likelihood the index of its unknown, or -1 if it is fixed
};

// A criterion as a function of the unknowns, for K~ = amplitude k(X, X) + diag(known + factor noise) + jitter I.
//
// The value is minus the criterion if larger is better; n/2 times its logarithm if it is positive; and otherwise n/2 times the
// criterion divided by its size at the first evaluation.
class CriterionObjective final : public Objective {
 public:
  Kernel kernel;
  Problem problem;            // its noise is computed from `noise`, `known` and `jitter`
  std::vector<double> noise;  // the variance of each point, multiplied by the unknown factor, if there is one
  std::vector<double> known;  // a variance of each point that is added; may be empty
  double jitter = 0.0;
  double amplitude = 1.0;  // a factor of the kernel, if it is not an unknown
  Criterion criterion;
  Unknowns unknowns;
  Domain bounds;
  // `make` returns the kernel with given hyperparameters, if Kernel::with_theta() cannot. `prior` returns a term that depends
  // on the unknowns alone and is added to the criterion, with its gradient. Both may throw.
  std::function<Kernel(const std::vector<double>& theta)> make = {};
  std::function<double(const std::vector<double>& x, std::vector<double>& gradient)> prior = {};

  // What is expected of the unknowns: its log density is subtracted from the value, but is no part of the criterion.
  Prior expected;
  bool newton = true;  // whether the information of a likelihood is used as its curvature

  explicit CriterionObjective(Kernel k, Factor& factor) : kernel(std::move(k)), factor_(&factor) {}
  // For observations of a likelihood.
  explicit CriterionObjective(Kernel k, LatentFactor& factor) : kernel(std::move(k)), factor_(&factor), latent_(&factor) {}
  const Domain& domain() const override { return bounds; }
  Index points() const override { return problem.X.rows; }
  bool has_curvature() const override { return newton && !latent_ && criterion.is_likelihood && adjustable(); }
  Status evaluate(const std::vector<double>& x, Order order, Trial& out) override;
  // Computes the kernel `k` and the noise variances of all points at x.
  Status assign(const std::vector<double>& x, Kernel& k, std::vector<double>& variances) const;

 private:
  // Whether the core can set the hyperparameters of the kernel, and differentiate it row by row.
  bool adjustable() const;
  void measure(Trial& out);

  // Gives the likelihood its parameters.
  void set_likelihood(const std::vector<double>& x);

  Factor* factor_;
  LatentFactor* latent_ = nullptr;  // the same, if it is one
  double unit_ = 0.0;               // the size at the first evaluation of a criterion whose logarithm is not used
};

// An objective that the caller defines, which is minimized. It may throw.
class FunctionObjective final : public Objective {
 public:
  std::function<void(const std::vector<double>& x, Order order, Trial& out)> function;
  Domain bounds;
  Index size = 0;                 // the number of points, for reports of progress
  std::vector<double> curvature;  // (count, count), a first guess; empty if there is none
  bool newton = false;            // whether the function's information approximates its curvature

  const Domain& domain() const override { return bounds; }
  Index points() const override { return size; }
  bool has_curvature() const override { return newton; }
  Status evaluate(const std::vector<double>& x, Order order, Trial& out) override;
};

}  // namespace kernsel

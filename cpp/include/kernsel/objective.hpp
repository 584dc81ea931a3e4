// Objectives: functions of bounded numbers, to be minimized by a search (search.hpp).
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "kernsel/factor.hpp"

namespace kernsel {

// Bounds of the numbers x, and how far a step may go in each of them, relative to the others.
struct Domain {
  std::vector<double> lower, upper;
  std::vector<double> reach;
  std::size_t count() const { return lower.size(); }
};

// A place of a search, and what was found there. Values are in nats, as of log likelihoods: differences far below one are
// nothing that data could tell.
struct Trial {
  std::vector<double> x;
  double value = std::numeric_limits<double>::infinity();       // less is better
  double criterion = std::numeric_limits<double>::quiet_NaN();  // as it is defined, before it became that value
  std::vector<double> gradient;                                 // of the value
  std::vector<double> information;  // (count, count), positive semidefinite: see Objective; may be empty
  double scale = 1.0;
  double residual_scale = 0.0;  // as in Evaluation
};

class Objective {
 public:
  virtual ~Objective() = default;
  virtual const Domain& domain() const = 0;
  virtual Index points() const = 0;
  // Is the information of its trials the curvature of the value, as good as? Newton's method then takes it for that. Otherwise
  // it is a first guess that is corrected by what the gradients do (quasi-Newton).
  virtual bool has_curvature() const = 0;
  virtual Status evaluate(const std::vector<double>& x, Order order, Trial& out) = 0;
};

// What of a kernel and a noise the numbers x are.
struct Unknowns {
  std::vector<Index> place;  // for each hyperparameter of the kernel the number of its unknown, or -1: it stays as it is
  Index amplitude = -1;      // the unknown that is the logarithm of a factor of the kernel, or -1
  Index noise = -1;          // the unknown that is the logarithm of a factor of the noise, or -1
};

// A criterion as a function of the unknowns, for K~ = amplitude k(X, X) + diag(known + factor noise) + jitter I.
//
// The value is minus the criterion where larger is better; otherwise n/2 times the logarithm of a criterion that is positive;
// and n/2 times others, relative to the size that they have where they are evaluated first.
class CriterionObjective final : public Objective {
 public:
  Kernel kernel;
  Problem problem;            // its noise is made of the three below
  std::vector<double> noise;  // of each point; times the unknown factor, if there is one
  std::vector<double> known;  // of each point, besides; may be empty
  double jitter = 0.0;
  double amplitude = 1.0;  // a factor of the kernel, if it is no unknown
  Criterion criterion;
  Unknowns unknowns;
  Domain bounds;
  // A kernel with these hyperparameters, if Kernel::with_theta() cannot make it; and terms of the unknowns alone that are added
  // to the criterion, with their gradient. Both may throw.
  std::function<Kernel(const std::vector<double>& theta)> make = {};
  std::function<double(const std::vector<double>& x, std::vector<double>& gradient)> prior = {};

  bool newton = true;  // may the information of a likelihood be taken for its curvature?

  explicit CriterionObjective(Kernel k, Factor& factor) : kernel(std::move(k)), factor_(&factor) {}
  const Domain& domain() const override { return bounds; }
  Index points() const override { return problem.X.rows; }
  bool has_curvature() const override { return newton && criterion.is_likelihood && adjustable(); }
  Status evaluate(const std::vector<double>& x, Order order, Trial& out) override;

 private:
  // Can the core make the kernel with other hyperparameters, and differentiate it row by row?
  bool adjustable() const;
  Status assign(const std::vector<double>& x, Kernel& k, std::vector<double>& variances) const;
  void measure(Trial& out);

  Factor* factor_;
  double unit_ = 0.0;  // of criteria that are no logarithms and have none, once it is known
};

// Any function of the caller's; larger values are worse. It may throw.
class FunctionObjective final : public Objective {
 public:
  std::function<void(const std::vector<double>& x, Order order, Trial& out)> function;
  Domain bounds;
  Index size = 0;                 // points, for those who watch
  std::vector<double> curvature;  // (count, count), a first guess; empty if there is none

  const Domain& domain() const override { return bounds; }
  Index points() const override { return size; }
  bool has_curvature() const override { return false; }
  Status evaluate(const std::vector<double>& x, Order order, Trial& out) override;
};

}  // namespace kernsel

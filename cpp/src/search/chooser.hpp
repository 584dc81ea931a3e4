// The state of a search for hyperparameters (kernsel/choose.hpp), which choose.cpp and alike.cpp compute with.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/random.hpp"
#include "kernsel/choose.hpp"

namespace kernsel {

// Copies of some rows of the data.
struct Rows {
  std::vector<double> X, y, trend, weights, sizes, noise, known;
  static View<const double> copy(View<const double> from, const std::vector<Index>& rows, std::vector<double>& to) {
    to.clear();
    for (Index k = 0; k < from.cols; ++k)
      for (const Index i : rows) to.push_back(from(i, k));
    return columns(static_cast<const double*>(to.data()), static_cast<Index>(rows.size()), from.cols);
  }
};

struct Chooser::Content {
  Content(const Choosing& p, ChoosingOptions o)
      : problem(p),
        options(std::move(o)),
        random(options.seed),
        own_factor(p.factor || approximates() ? nullptr : dense_factor()),
        factor(p.approximation ? p.approximation
               : p.landmarks   ? p.landmarks
               : p.factor      ? p.factor
                               : own_factor.get()),
        latent(p.likelihood ? latent_factor(p.inference, p.likelihood, *factor) : nullptr),
        began(std::chrono::steady_clock::now()) {}

  Choosing problem;
  ChoosingOptions options;
  Random random;
  std::unique_ptr<Factor> own_factor;  // nullptr if the caller has given a factor
  Factor* factor;
  std::unique_ptr<LatentFactor> latent;  // around it, for observations of a likelihood
  std::chrono::steady_clock::time_point began;

  Space space;
  Index n = 0;
  std::vector<double> rough;        // what stands for observations of a likelihood where the data tell starts
  double of_targets = 1.0;          // the variance of the targets
  double variance = 1.0;            // the same, or the value of the amplitude that is fixed
  std::vector<double> base, known;  // noise variances: to be multiplied by the unknown factor, and known ones
  double jitter = 0.0, least = 0.0;
  bool may_raise_jitter = false, noisy = false, few = false, profiled = false;
  std::vector<Index> factors;  // if the scale is profiled: positions of the amplitudes in theta, the first of which is fixed
  std::vector<Index> free;     // the positions in theta of the unknowns
  std::vector<LikelihoodParameter> parameters;  // of the likelihood, of which those that are to be found are the last unknowns
  double noise_lower = 0.0, noise_upper = 0.0;
  Domain domain;
  std::vector<std::vector<double>> starts;
  Index alike = 0;        // how many length scales may be alike
  double reported = 0.0;  // the criterion that reports of progress tell once only the spread is left to be chosen
  double spread = std::numeric_limits<double>::quiet_NaN();  // of length scales; NaN if they are not expected to be alike
  std::vector<Index> subset;
  Rows rows;
  std::unique_ptr<CriterionObjective> all, some;

  // Made once, in prepare(): the functions that make them may be the caller's, which must not be called after an interrupt.
  Criterion of_all, of_all_scale_free, of_subset, of_subset_scale_free;

  Status prepare();
  Status take_likelihood();
  // The targets from which starts and bounds are derived.
  View<const double> targets() const { return rough.empty() ? problem.y : vector(rough.data(), n); }
  void add_amplitude();
  Status prepare_noise();
  void bound(double inside);
  void make_starts();
  bool finds(std::size_t parameter) const { return parameters[parameter].lower < parameters[parameter].upper; }
  std::unique_ptr<CriterionObjective> objective(const std::vector<Index>* of, bool scale_free);
  Status find(const std::vector<std::vector<double>>& from, bool scale_free, bool on_subset, double seconds_left, Index left,
              Optimum& out);
  Status descend(const std::vector<std::vector<double>>& from, Objective* among, double seconds_left, Index left, Optimum& out);
  Status settle(Optimum& out);
  std::vector<double> proposed() const;
  std::vector<double> with_likelihood_of(const std::vector<double>& from, std::vector<double> x) const;
  std::vector<double> theta_of(const std::vector<double>& x) const;
  std::vector<double> x_of(const std::vector<double>& theta, double log_noise) const;
  double seconds() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    return std::max(options.seconds - passed.count(), 0.0);
  }
  double within(const Trial& best) const;
  double fine() const {
    if (approximates() || options.rough) return 0.1;
    return n <= 300 ? (all->has_curvature() ? 1e-10 : 1e-7) : 1e-5;
  }
  Prior expectations(bool of_all_unknowns) const;
  bool approximates() const { return problem.approximation || problem.landmarks; }
  bool integrates() const { return problem.expects_all && of_all.is_likelihood; }  // over the unknowns, for the evidence
  double integral_near(const Trial& at) const;
  double integral(const CriterionObjective& objective, const Trial& at, double with_spread);
  void leave_out_bounds(const std::vector<double>& x, std::vector<double>& gradient) const;
  Status best_spread(CriterionObjective& objective, bool climbs, double tolerance, double least_gain, Optimum& best,
                     double& most, double& of_first);
  Status go_on(CriterionObjective& objective, double tolerance, Optimum& found);
  Status consider_alike(Optimum& found);
  std::function<bool(Index, Index, double)> told_after(Index counted) const;
  Status evidence(const Choice& choice, double& out);

  // With an approximation (approximate.cpp, by_landmarks.cpp).
  Status find_approximately(Optimum& found);
  Status begin_on_some(Optimum& found);
  Status find_by_landmarks(Optimum& found);
  Status climb_with_landmarks(Optimum& found);
  void forget_approximation();
  Status find_on_some(Choice& out);
  std::vector<double> x_of(const Choice& of_some) const;
  Status refine(const std::vector<Index>& order, Index terms, bool is_last, Optimum& found);
  Status left_out_at(const std::vector<double>& x, const std::vector<Index>& order, VecchiaOptions of_terms, Trial& out);
};

}  // namespace kernsel

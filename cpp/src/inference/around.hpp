// What all inferences share: a likelihood, the factor around which they are, and the fit of sites by it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "kernsel/inference.hpp"

namespace kernsel {

class AroundFactor : public LatentFactor {
 public:
  AroundFactor(std::shared_ptr<const Likelihood> likelihood, Factor& factor, InferenceOptions options)
      : likelihood_(std::move(likelihood)), factor_(factor), options_(options) {}

  const Likelihood& likelihood() const override { return *likelihood_; }
  void set_likelihood(std::shared_ptr<const Likelihood> likelihood) override { likelihood_ = std::move(likelihood); }
  Index steps() const override { return steps_; }
  bool converged() const override { return converged_; }

  Status show(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit) override {
    return within_memory([&] { return show_all(k, problem, request, differentiable, fit); });
  }
  std::vector<double> trend_coefficients() const override { return factor_.trend_coefficients(); }
  Status pull(const Partials& partials, Gradient& out) override {
    return within_memory([&] { return pull_all(partials, out); });
  }
  Status pull_points(const Partials& partials, View<double> out) override {
    Partials all;
    const Status status = within_memory([&] { return with_implicit(partials, all); });
    return status.ok() ? factor_.pull_points(all, out) : status;
  }
  Status pull_landmarks(const Partials& partials, std::vector<double>& out) override {
    Partials all;
    const Status status = within_memory([&] { return with_implicit(partials, all); });
    return status.ok() ? factor_.pull_landmarks(all, out) : status;
  }
  Status information(const Partials& partials, std::vector<double>& out) override { return factor_.information(partials, out); }

 protected:
  virtual Status show_all(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit) = 0;
  virtual Status pull_all(const Partials& partials, Gradient& out) = 0;
  // Partial derivatives for the factor of which the pull has all that sites change, too.
  virtual Status with_implicit(const Partials& partials, Partials& all) = 0;

  // Takes a problem with one output. The least precision of a site is `least` over the mean of the kernel's diagonal, or
  // `least` times that of the most precise observation, if this is less.
  Status prepare(const Kernel& k, const Problem& problem, double least);
  // Fits targets z with the noise variances S and those of the problem; sets fit_.
  Status fit_targets(const Kernel& k, const std::vector<double>& targets, const std::vector<double>& noise,
                     const Request& request, bool differentiable);

  std::size_t n() const { return static_cast<std::size_t>(problem_.X.rows); }
  Observations observations() const { return {problem_.X.rows, y_.data(), problem_.sizes}; }

  std::shared_ptr<const Likelihood> likelihood_;
  Factor& factor_;
  InferenceOptions options_;
  Problem problem_;
  std::vector<double> y_;
  double least_ = 0.0;  // the least precision of a site
  Fit fit_;             // the factor's
  Index steps_ = 0;
  bool converged_ = false;

 private:
  std::vector<double> all_noise_;  // N + S
};

}  // namespace kernsel

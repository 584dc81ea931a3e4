// The factor of expectation propagation: how it finds sites (expectation_propagation.cpp) and differentiates what they show
// (expectation_propagation_gradient.cpp).
#pragma once

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "inference/propagated.hpp"
#include "kernsel/inference.hpp"

namespace kernsel {

// The least precision of a site, over that of the prior: z - r loses as many digits as S is larger than v.
constexpr double least_precision = 1e-7;

class ExpectationPropagation final : public LatentFactor {
 public:
  ExpectationPropagation(std::shared_ptr<const Likelihood> likelihood, Factor& factor, InferenceOptions options)
      : likelihood_(std::move(likelihood)), factor_(factor), options_(options) {}

  const Likelihood& likelihood() const override { return *likelihood_; }
  void set_likelihood(std::shared_ptr<const Likelihood> likelihood) override { likelihood_ = std::move(likelihood); }
  void begin_at(std::vector<double> latent) override {
    latent_ = std::move(latent);
    best_ = {};
  }
  const std::vector<double>& site_targets() const override { return targets_; }
  const std::vector<double>& site_noise() const override { return noise_; }
  const std::vector<double>& latent() const override { return latent_; }
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
    Adjoint of;
    const Status status = within_memory([&] { return differentiate(partials, of); });
    of.partials.unit = partials.unit;
    return status.ok() ? factor_.pull_points(of.partials, out) : status;
  }
  Status pull_landmarks(const Partials& partials, std::vector<double>& out) override {
    Adjoint of;
    const Status status = within_memory([&] { return differentiate(partials, of); });
    of.partials.unit = partials.unit;
    return status.ok() ? factor_.pull_landmarks(of.partials, out) : status;
  }
  Status information(const Partials& partials, std::vector<double>& out) override { return factor_.information(partials, out); }

 private:
  // Cavities with the moments of the likelihood over them.
  struct Cavities {
    std::vector<double> residual, spread;  // r and s^2
    std::vector<double> mean, variance;    // m and v
    std::vector<Moments> moments;
  };
  // Sites, the cavities of the posterior with them, and the sites that these imply.
  struct Sweep {
    std::vector<PropagatedSite> sites, next;
    Cavities cavities;
    double off =
        std::numeric_limits<double>::infinity();  // the largest difference of marginals with these and with the next sites
  };
  // A criterion's partial derivatives for the factor, and those in S and z where these occur in its formula.
  struct Adjoint {
    Partials partials;
    std::vector<double> noise, targets;
    bool of_sites = false;  // whether the sites' changes with the parameters count
  };

  std::size_t n() const { return static_cast<std::size_t>(problem_.X.rows); }
  Observations observations() const { return {problem_.X.rows, y_.data(), problem_.sizes}; }
  double spread(std::size_t i) const { return best_.cavities.spread[i]; }

  Status show_all(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit);
  Status prepare(const Kernel& k, const Problem& problem);
  Status fit_sites(const Kernel& k, const std::vector<PropagatedSite>& sites, const Request& request, bool differentiable);
  Status sweep(const Kernel& k, std::vector<PropagatedSite> sites, Sweep& out);
  Status start_with_laplace(const Kernel& k, std::vector<PropagatedSite>& out);
  Status start_again(std::vector<PropagatedSite>& out) const;
  Status sweep_until_fixed(const Kernel& k, std::vector<PropagatedSite> sites);
  Status find(const Kernel& k);
  Status find_cavities(const double* residual, const double* spread, Cavities& out) const;

  bool is_stationary(const Partials& partials) const;
  void add_cavities(const std::vector<double>& in_mean, const std::vector<double>& in_variance, Adjoint& to) const;
  Status pull_sites(const Partials& partials, std::vector<double>& in_noise, std::vector<double>& in_targets);
  Status differentiate(const Partials& partials, Adjoint& out);
  Status add_implicit(Adjoint& of);
  Status pull_all(const Partials& partials, Gradient& out);
  Status pull_parameter(const Partials& partials, bool of_sites, const std::vector<double>& in_noise,
                        const std::vector<double>& in_targets, Index p, double& out) const;

  std::shared_ptr<const Likelihood> likelihood_;
  Factor& factor_;
  InferenceOptions options_;
  Problem problem_;
  std::vector<double> y_, all_noise_;  // the observations, and N + S
  double least_ = 0.0;                 // the least precision of a site
  Sweep best_;                         // whose sites are the result
  bool shows_best_ = false;            // whether the factor's fit has them
  std::vector<double> noise_, targets_, latent_;
  Fit fit_;  // the factor's
  std::vector<double> squares_, log_density_;
  Cavities left_out_;  // of points whose log densities are asked for
  Index steps_ = 0;
  bool converged_ = false;
};

}  // namespace kernsel

// The factor of expectation propagation: how it finds sites (expectation_propagation.cpp) and differentiates what they show
// (expectation_propagation_gradient.cpp).
#pragma once

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "inference/around.hpp"
#include "inference/propagated.hpp"

namespace kernsel {

// The least precision of a site, over that of the prior: z - r loses as many digits as S is larger than v.
constexpr double least_precision = 1e-7;

class ExpectationPropagation final : public AroundFactor {
 public:
  using AroundFactor::AroundFactor;
  void begin_at(std::vector<double> latent) override {
    latent_ = std::move(latent);
    best_ = {};
  }
  const std::vector<double>& site_targets() const override { return targets_; }
  const std::vector<double>& site_noise() const override { return noise_; }
  const std::vector<double>& latent() const override { return latent_; }

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

  double spread(std::size_t i) const { return best_.cavities.spread[i]; }

  Status show_all(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit) override;
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
  Status with_implicit(const Partials& partials, Partials& all) override;
  Status pull_all(const Partials& partials, Gradient& out) override;
  Status pull_parameter(const Partials& partials, bool of_sites, const std::vector<double>& in_noise,
                        const std::vector<double>& in_targets, Index p, double& out) const;

  Sweep best_;               // whose sites are the result
  bool shows_best_ = false;  // whether the factor's fit has them
  std::vector<double> noise_, targets_, latent_;
  std::vector<double> squares_, log_density_;
  Cavities left_out_;  // of points whose log densities are asked for
};

}  // namespace kernsel

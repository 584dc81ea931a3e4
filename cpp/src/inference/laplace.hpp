// Laplace's approximation around any factor: how it finds the mode (laplace.cpp) and differentiates what it shows
// (laplace_gradient.cpp).
//
// The mode f solves F = c - g = 0, where P belongs to the noise N + S, and S, z and g are functions of f (sites.hpp).
// Newton's step from f is z - S P z. If K = K~ - N - S does not depend on S, dF/df = P (1 - S W) + W, which is W if V is W.
//
// A criterion J(K, S, z, r) has the derivatives that the factor pulls back while S and z do not change, and those by way of f.
// With u = dJ/dS S' + dJ/dz z' + dJ/dr r' for each point and the solution l of (dF/df)'l = u, these are the ones of -l'P z.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "inference/around.hpp"
#include "inference/sites.hpp"

namespace kernsel {

class Laplace final : public AroundFactor {
 public:
  using AroundFactor::AroundFactor;
  void begin_at(std::vector<double> latent) override { before_ = std::move(latent); }
  const std::vector<double>& site_targets() const override { return sites_.targets; }
  const std::vector<double>& site_noise() const override { return sites_.noise; }
  const std::vector<double>& latent() const override { return sites_.f; }

 private:
  // A point of Newton's method: latent values f, their coefficients a, f = K a but for the trend, and log p(y | f) - a'f / 2.
  struct Place {
    std::vector<double> f, a;
    double value = -std::numeric_limits<double>::infinity();
  };

  Status show_all(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit) override;
  Status find_mode(const Kernel& k);
  Status approach(const Kernel& k);
  Status climb(const Kernel& k, double goal);
  Status fit_sites(const Kernel& k, const Request& request, bool differentiable);
  Status step(const Kernel& k, const std::vector<double>& f, Place& next);
  // c, by which Newton's step is z - S c: P z; or if K~ - N depends on the noise the residual of each target that is left out
  // over its variance, which is the same for the whole matrix. P z of an approximation has errors that large S would multiply;
  // the prediction of a latent value from others has none of these.
  std::vector<double> coefficients() const;
  // Adds to partial derivatives those of sum_i weights_i c_i.
  void add_coefficients(const std::vector<double>& weights, Partials& to) const;
  Request with_coefficients(Request request) const;
  Status next_of_fit(const std::vector<double>& c, Place& out) const;
  Status measure(Place& place) const;
  Status search_line(const Place& from, Place& to, double slope, bool& found) const;
  Status polish(Place& here, double decrement, double goal, bool& done);
  double rounding(const Place& place) const;

  Status with_implicit(const Partials& partials, Partials& all) override;
  Status pull_all(const Partials& partials, Gradient& out) override;
  Status slopes_of_sites(const Partials& partials, std::vector<double>& in_noise, std::vector<double>& in_targets,
                         Gradient* direct);
  void slopes_in_latent(const std::vector<double>& in_noise, const std::vector<double>& in_targets, double in_factor,
                        std::vector<double>& u) const;
  std::size_t other(std::size_t i) const { return i < n() / 2 ? i + n() / 2 : i - n() / 2; }  // the other function's row
  Status solve_implicit(const std::vector<double>& u, std::vector<double>& lambda);
  Partials inner(const Partials& partials) const;

  Sites sites_;
  std::vector<double> before_;  // the mode of the fit before
  std::vector<double> squares_, log_density_;
  std::vector<Moments> moments_;
};

}  // namespace kernsel

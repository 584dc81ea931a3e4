#include <algorithm>
#include <limits>

#include "inference/krylov.hpp"
#include "inference/laplace.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

constexpr double implicit_tolerance = 1e-11;
constexpr std::size_t most_products = 200;

}  // namespace

// What the factor knows of partial derivatives: those of left-out log densities become those of residuals and variances.
Partials Laplace::inner(const Partials& partials) const {
  Partials out = partials;
  out.log_density.clear();
  out.log_factor = 0.0;
  out.unit = 1.0;
  if (!partials.log_density.empty()) {
    out.left_out.residual.resize(n(), 0.0);
    out.left_out.variance.resize(n(), 0.0);
  }
  for (std::size_t i = 0; i < partials.log_density.size(); ++i) {
    out.left_out.residual[i] -= partials.log_density[i] * moments_[i].first;
    out.left_out.variance[i] += partials.log_density[i] * moments_[i].in_variance();
  }
  if (!fit_.squares && !out.squares.empty()) {
    out.c.resize(n(), 0.0);
    for (std::size_t i = 0; i < n(); ++i) out.c[i] += out.squares[0] * sites_.targets[i];
    out.squares.clear();
  }
  return out;
}

void Laplace::add_coefficients(const Numbers& weights, Partials& to) const {
  Numbers& in_c = factor_.has_prior() ? to.c : to.left_out.residual;
  in_c.resize(n(), 0.0);
  if (!factor_.has_prior()) to.left_out.variance.resize(n(), 0.0);
  for (std::size_t i = 0; i < n(); ++i) {
    if (factor_.has_prior()) {
      in_c[i] += weights[i];
      continue;
    }
    const double part = weights[i] / fit_.left_out->variance[i];
    in_c[i] += part;
    to.left_out.variance[i] -= part * fit_.left_out->residual[i] / fit_.left_out->variance[i];
  }
}

// dJ/dS and dJ/dz. For a likelihood and a factor that inverts a sum these are known, and nothing is pulled back; otherwise
// `direct` is the gradient for given sites.
Status Laplace::slopes_of_sites(const Partials& partials, Numbers& in_noise, Numbers& in_targets, Gradient* direct) {
  in_noise.assign(n(), 0.0);
  in_targets.assign(n(), 0.0);
  if (direct) {
    const Status status = factor_.pull(inner(partials), *direct);
    if (!status.ok()) return status;
    in_noise = direct->noise;
    in_targets = direct->targets;
    for (std::size_t i = 0; i < n() && !fit_.squares && !partials.squares.empty(); ++i)  // z occurs in z'c itself, too
      in_targets[i] += partials.squares[0] * fit_.c(static_cast<Index>(i), 0);
  } else {
    const double square = partials.squares.empty() ? 0.0 : partials.squares[0];
    for (std::size_t i = 0; i < n(); ++i) {
      const double c = fit_.c(static_cast<Index>(i), 0);
      in_noise[i] = partials.log_det * fit_.precision[i] - square * c * c;
      in_targets[i] = 2.0 * square * c;
    }
  }
  for (std::size_t i = 0; i < partials.log_density.size(); ++i) {
    in_targets[i] += partials.log_density[i] * moments_[i].first;
    in_noise[i] -= partials.log_density[i] * moments_[i].in_variance();
  }
  return {};
}

// u = dJ/df by way of the sites, from the derivatives in S, z and the sum of r.
void Laplace::slopes_in_latent(const Numbers& in_noise, const Numbers& in_targets, double in_factor, Numbers& u) const {
  u.assign(n(), 0.0);
  for (std::size_t i = 0; i < n(); ++i) {
    u[i] += in_noise[i] * sites_.noise_slope[i] + in_targets[i] * sites_.target_slope[i] + in_factor * sites_.factor_slope[i];
    if (sites_.noise_cross.empty()) continue;
    u[other(i)] +=
        in_noise[i] * sites_.noise_cross[i] + in_targets[i] * sites_.target_cross[i] + in_factor * sites_.factor_cross[i];
  }
}

// Solves (dF/df)'l = u. Both sides are multiplied by S, so that the matrix is near the identity.
Status Laplace::solve_implicit(const Numbers& u, Numbers& lambda) {
  Numbers b(n());
  for (std::size_t i = 0; i < n(); ++i) b[i] = sites_.noise[i] * u[i];
  const bool exact = factor_.has_prior() &&
                     std::none_of(sites_.excess.begin(), sites_.excess.end(), [](double value) { return value != 0.0; });
  if (exact) {
    lambda = std::move(b);
    return {};
  }
  const bool solves = factor_.has_prior() && factor_.solves();
  const auto multiply = [&](const Numbers& v, Numbers& out) {
    Numbers in_noise(n()), in_targets;
    Status status;
    if (solves) {
      status = factor_.solve(v, in_targets);
      for (std::size_t i = 0; i < n() && status.ok(); ++i) in_noise[i] = -in_targets[i] * fit_.c(static_cast<Index>(i), 0);
    } else {
      Partials of;
      add_coefficients(v, of);
      Gradient found;
      status = factor_.pull(of, found);
      in_noise = found.noise;
      in_targets = found.targets;
    }
    if (!status.ok()) return status;
    slopes_in_latent(in_noise, in_targets, 0.0, out);
    for (std::size_t i = 0; i < n() && !sites_.first_cross.empty(); ++i) out[other(i)] -= sites_.first_cross[i] * v[i];
    for (std::size_t i = 0; i < n(); ++i)  // dg/df = -W = (excess - 1) / S
      out[i] = sites_.noise[i] * out[i] + (1.0 - sites_.excess[i]) * v[i];
    return status;
  };
  return solve_near_identity(multiply, b, implicit_tolerance, most_products, lambda);
}

// The partial derivatives of the criterion and of -l'P z together, for pulls by way of which no derivatives in sites are
// needed.
Status Laplace::with_implicit(const Partials& partials, Partials& all) {
  Gradient direct;
  Numbers in_noise, in_targets, u, lambda;
  Status status = slopes_of_sites(partials, in_noise, in_targets, &direct);
  if (!status.ok()) return status;
  slopes_in_latent(in_noise, in_targets, partials.log_factor, u);
  status = solve_implicit(u, lambda);
  all = inner(partials);
  all.unit = partials.unit;
  for (double& value : lambda) value = -value;
  if (status.ok()) add_coefficients(lambda, all);
  return status;
}

Status Laplace::pull_all(const Partials& partials, Gradient& out) {
  const bool is_likelihood = partials.c.empty() && partials.precision.empty() && partials.noise.empty() &&
                             partials.log_density.empty() && partials.left_out.residual.empty() &&
                             partials.left_out.variance.empty() && partials.left_out.density.empty() &&
                             (partials.missing == 0.0 || fit_.missing == 0.0) && fit_.precision &&
                             (problem_.trend.cols == 0 || partials.log_det == partials.log_det_trend);
  const bool once = is_likelihood && factor_.has_prior();
  Numbers in_noise, in_targets, u, lambda;
  Gradient direct, implicit;
  Status status = slopes_of_sites(partials, in_noise, in_targets, once ? nullptr : &direct);
  if (!status.ok()) return status;
  slopes_in_latent(in_noise, in_targets, partials.log_factor, u);
  status = solve_implicit(u, lambda);
  if (!status.ok()) return status;
  Partials of_mode;
  if (once) of_mode = inner(partials);
  Numbers less = lambda;
  for (double& value : less) value = -value;
  add_coefficients(less, of_mode);
  status = factor_.pull(of_mode, implicit);
  if (!status.ok()) return status;
  out.theta = implicit.theta;
  out.noise = implicit.noise;
  for (std::size_t p = 0; p < direct.theta.size(); ++p) out.theta[p] += direct.theta[p];
  for (std::size_t i = 0; i < direct.noise.size(); ++i) out.noise[i] += direct.noise[i];
  // What S and z add by way of -l'P z; dJ/dS and dJ/dz of the criterion are added to it.
  Numbers of_noise(n()), of_targets(n());
  if (once) {
    Numbers Pl(n());
    if (factor_.solves()) status = factor_.solve(lambda, Pl);
    for (std::size_t i = 0; i < n() && status.ok(); ++i) {
      if (!factor_.solves()) Pl[i] = in_targets[i] - implicit.targets[i];
      of_targets[i] = in_targets[i] - Pl[i];
      of_noise[i] = in_noise[i] + Pl[i] * fit_.c(static_cast<Index>(i), 0);
    }
  } else {
    for (std::size_t i = 0; i < n(); ++i) {
      of_targets[i] = in_targets[i] + implicit.targets[i];
      of_noise[i] = in_noise[i] + implicit.noise[i];
    }
  }
  const std::size_t parameters = likelihood_->parameters().size();
  out.likelihood.assign(parameters, 0.0);
  for (std::size_t p = 0; p < parameters && status.ok(); ++p) {
    SiteSlopes slopes;
    status = find_site_slopes(*likelihood_, observations(), problem_.weights, sites_, static_cast<Index>(p), slopes);
    for (std::size_t i = 0; i < n() && status.ok(); ++i)
      out.likelihood[p] += of_noise[i] * slopes.noise[i] + of_targets[i] * slopes.targets[i] +
                           partials.log_factor * slopes.log_factor[i] + lambda[i] * slopes.first[i];
    if (partials.log_density.empty() || !status.ok()) continue;
    Numbers mean(n()), variance(n()), own(n());
    for (std::size_t i = 0; i < n(); ++i) {
      mean[i] = sites_.targets[i] - fit_.left_out->residual[i];
      variance[i] = std::max(fit_.left_out->variance[i] - sites_.noise[i], std::numeric_limits<double>::min());
    }
    status = likelihood_->moments_slope(observations(), mean.data(), variance.data(), static_cast<Index>(p), own.data());
    for (std::size_t i = 0; i < n(); ++i) out.likelihood[p] += partials.log_density[i] * own[i];
  }
  if (partials.unit == 1.0) return status;
  for (Numbers* values : {&out.theta, &out.noise, &out.likelihood})
    for (double& value : *values) value *= partials.unit;
  return status;
}

}  // namespace kernsel

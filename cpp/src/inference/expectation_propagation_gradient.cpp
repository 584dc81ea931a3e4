// Derivatives of what expectation propagation shows.
//
// log Z is stationary in S, z, m and v, so that its derivatives are those of its first term. Other criteria J depend on the
// sites: J + l'(T(m, v) - (S, z)), with the map T to new sites, is stationary in S and z if l solves a linear system, with as
// many products by pulls as GMRES needs. Then the derivatives are those for sites that stay, J_m + T_m'l and J_v + T_v'l being
// those in cavities.
#include <algorithm>
#include <cmath>

#include "inference/expectation_propagation.hpp"
#include "inference/krylov.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

constexpr double known = 1e3 * std::numeric_limits<double>::epsilon();  // v / s^2 of a latent value whose site tells nothing
constexpr double implicit_tolerance = 1e-11;
constexpr std::size_t most_products = 200;

}  // namespace

// Whether the criterion is a multiple of log Z, at a fixed point that has the moments of all points.
bool ExpectationPropagation::is_stationary(const Partials& partials) const {
  const double multiple = partials.log_factor;
  if (!factor_.has_prior() || !partials.c.empty() || !partials.precision.empty() || !partials.noise.empty() ||
      !partials.log_density.empty() || !partials.left_out.residual.empty() || !partials.left_out.variance.empty() ||
      !partials.left_out.density.empty() || (partials.missing != 0.0 && fit_.missing != 0.0))
    return false;
  if (partials.squares.size() != 1 || partials.squares[0] != -0.5 * multiple || partials.log_det != -0.5 * multiple ||
      (problem_.trend.cols > 0 && partials.log_det_trend != -0.5 * multiple))
    return false;
  for (std::size_t i = 0; i < n(); ++i) {
    const double off = best_.cavities.variance[i] * (best_.cavities.moments[i].second + 1.0 / spread(i));
    if (best_.next[i].held && std::abs(off) > 10.0 * least_precision) return false;
  }
  return true;
}

// Adds the derivatives in the factor's fit, and in S and z, that follow from those in the means and the variances of cavities.
void ExpectationPropagation::add_cavities(const Numbers& in_mean, const Numbers& in_variance, Adjoint& to) const {
  const bool by_precision = factor_.has_prior();
  for (Numbers* values : {by_precision ? &to.partials.c : &to.partials.left_out.residual,
                          by_precision ? &to.partials.precision : &to.partials.left_out.variance})
    values->resize(n(), 0.0);
  for (std::size_t i = 0; i < n(); ++i) {
    const double in_residual = -in_mean[i], s2 = spread(i);
    if (by_precision) {
      to.partials.c[i] += in_residual * s2;
      to.partials.precision[i] -= s2 * (in_residual * best_.cavities.residual[i] + in_variance[i] * s2);
    } else {
      to.partials.left_out.residual[i] += in_residual;
      to.partials.left_out.variance[i] += in_variance[i];
    }
    to.targets[i] += in_mean[i];
    to.noise[i] -= in_variance[i];
  }
}

// The derivatives in S and z by way of the factor's fit: by products with P. and its squares, or by a pull.
Status ExpectationPropagation::pull_sites(const Partials& partials, Numbers& in_noise, Numbers& in_targets) {
  const bool knows_all = factor_.solves() && factor_.multiplies_squares() && partials.left_out.residual.empty() &&
                         partials.left_out.variance.empty() && partials.left_out.density.empty() && partials.squares.empty() &&
                         (problem_.trend.cols == 0 || partials.log_det == partials.log_det_trend);
  if (!knows_all) {
    Gradient found;
    const Status status = factor_.pull(partials, found);
    in_noise = std::move(found.noise);
    in_targets = std::move(found.targets);
    return status;
  }
  Status status;
  in_targets.assign(n(), 0.0);
  in_noise = partials.noise;
  in_noise.resize(n(), 0.0);
  if (!partials.c.empty()) status = factor_.solve(partials.c, in_targets);
  for (std::size_t i = 0; i < n(); ++i)
    in_noise[i] += partials.log_det * fit_.precision[i] - in_targets[i] * fit_.c(static_cast<Index>(i), 0);
  if (!status.ok() || partials.precision.empty()) return status;
  Numbers of_squares;
  status = factor_.multiply_squares(partials.precision, of_squares);
  for (std::size_t i = 0; i < n() && status.ok(); ++i) in_noise[i] -= of_squares[i];
  return status;
}

// The partial derivatives for the factor, with all that the sites add.
Status ExpectationPropagation::differentiate(const Partials& partials, Adjoint& out) {
  out.partials = partials;
  Partials& all = out.partials;
  all.unit = 1.0;
  all.log_density.clear();
  all.log_factor = all.slope_factor = 0.0;
  out.noise.assign(n(), 0.0);
  out.targets.assign(n(), 0.0);
  out.of_sites = !is_stationary(partials);
  const double square = !fit_.squares && !partials.squares.empty() ? partials.squares[0] : 0.0;
  if (!fit_.squares && !all.squares.empty()) {  // z'c, in which z occurs itself, too
    all.c.resize(n(), 0.0);
    for (std::size_t i = 0; i < n(); ++i) {
      all.c[i] += square * targets_[i];
      out.targets[i] += square * fit_.c(static_cast<Index>(i), 0);
    }
    all.squares.clear();
  }
  if (!out.of_sites) return {};
  const std::size_t count = partials.log_density.size();
  if (count > 0) {
    all.left_out.residual.resize(n(), 0.0);
    all.left_out.variance.resize(n(), 0.0);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double in_mean = partials.log_density[i] * left_out_.moments[i].first;
    const double in_variance = partials.log_density[i] * left_out_.moments[i].in_variance();
    all.left_out.residual[i] -= in_mean;
    all.left_out.variance[i] += in_variance;
    out.targets[i] += in_mean;
    out.noise[i] -= in_variance;
  }
  if (partials.log_factor != 0.0) {
    Numbers in_mean(n()), in_variance(n());
    for (std::size_t i = 0; i < n(); ++i) {
      const Moments& at = best_.cavities.moments[i];
      const double c = best_.cavities.residual[i] / spread(i), of_spread = 0.5 * (1.0 / spread(i) - c * c);
      in_mean[i] = partials.log_factor * (at.first - c);
      in_variance[i] = partials.log_factor * (at.in_variance() + of_spread);
      out.targets[i] += partials.log_factor * c;
      out.noise[i] += partials.log_factor * of_spread;
    }
    add_cavities(in_mean, in_variance, out);
  }
  return add_implicit(out);
}

// Adds what the sites' dependence on the cavities brings. The unknowns are derivatives in the means and variances of cavities,
// in units of standard deviations and variances.
Status ExpectationPropagation::add_implicit(Adjoint& of) {
  const std::size_t count = n();
  const Cavities& at = best_.cavities;
  std::vector<HigherMoments> higher(count);
  Status status = likelihood_->higher_moments(observations(), at.mean.data(), at.variance.data(), higher.data());
  if (!status.ok()) return status;
  std::vector<SiteInCavity> map(count);
  for (std::size_t i = 0; i < count; ++i)
    if (at.variance[i] > known * at.spread[i])  // a latent value that is known has a site that is
      map[i] = site_in_cavity(at.variance[i], at.moments[i], higher[i], best_.next[i].held, least_);
  const auto of_sites = [&](const Numbers& in_noise, const Numbers& in_targets, Numbers& out) {
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = std::sqrt(at.variance[i]) * (map[i].noise_in_mean * in_noise[i] + map[i].target_in_mean * in_targets[i]);
      out[count + i] = at.variance[i] * (map[i].noise_in_variance * in_noise[i] + map[i].target_in_variance * in_targets[i]);
    }
  };
  const auto add = [&](const Numbers& scaled, Adjoint& to) {
    Numbers in_mean(count), in_variance(count);
    for (std::size_t i = 0; i < count; ++i) {
      in_mean[i] = scaled[i] / std::sqrt(at.variance[i]);
      in_variance[i] = scaled[count + i] / at.variance[i];
    }
    add_cavities(in_mean, in_variance, to);
  };
  Numbers in_noise, in_targets, right(2 * count), solution;
  const auto pull_of = [&](const Adjoint& adjoint, Numbers& out) {
    const Status pulled = pull_sites(adjoint.partials, in_noise, in_targets);
    for (std::size_t i = 0; i < count && pulled.ok(); ++i) {
      in_noise[i] += adjoint.noise[i];
      in_targets[i] += adjoint.targets[i];
    }
    if (pulled.ok()) of_sites(in_noise, in_targets, out);
    return pulled;
  };
  status = pull_of(of, right);
  if (!status.ok()) return status;
  const auto multiply = [&](const Numbers& v, Numbers& out) {
    Adjoint adjoint;
    adjoint.noise.assign(count, 0.0);
    adjoint.targets.assign(count, 0.0);
    add(v, adjoint);
    const Status pulled = pull_of(adjoint, out);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = v[i] - out[i];
    return pulled;
  };
  status = solve_near_identity(multiply, right, implicit_tolerance, most_products, solution);
  if (status.ok()) add(solution, of);
  return status;
}

// Adds the derivative in parameter p of the likelihood.
Status ExpectationPropagation::pull_parameter(const Partials& partials, bool of_sites, const Numbers& in_noise,
                                              const Numbers& in_targets, Index p, double& out) const {
  Status status;
  const Cavities& at = best_.cavities;
  if (of_sites) {
    std::vector<Moments> slopes(n());
    status = likelihood_->moments_slopes(observations(), at.mean.data(), at.variance.data(), p, slopes.data());
    for (std::size_t i = 0; i < n() && status.ok(); ++i) {
      out += partials.log_factor * slopes[i].value;
      if (!(at.variance[i] > known * at.spread[i])) continue;
      const SiteInParameter site = site_in_parameter(at.variance[i], at.moments[i], slopes[i], best_.next[i].held, least_);
      out += in_noise[i] * site.noise + in_targets[i] * site.target;
    }
  } else {
    Numbers slopes(n());
    status = likelihood_->moments_slope(observations(), at.mean.data(), at.variance.data(), p, slopes.data());
    for (const double slope : slopes) out += partials.log_factor * slope;
  }
  if (partials.log_density.empty() || !status.ok()) return status;
  Numbers slopes(n());
  status = likelihood_->moments_slope(observations(), left_out_.mean.data(), left_out_.variance.data(), p, slopes.data());
  for (std::size_t i = 0; i < n(); ++i) out += partials.log_density[i] * slopes[i];
  return status;
}

Status ExpectationPropagation::with_implicit(const Partials& partials, Partials& all) {
  Adjoint of;
  const Status status = differentiate(partials, of);
  all = std::move(of.partials);
  all.unit = partials.unit;
  return status;
}

Status ExpectationPropagation::pull_all(const Partials& partials, Gradient& out) {
  Adjoint of;
  Status status = differentiate(partials, of);
  if (status.ok()) status = factor_.pull(of.partials, out);
  if (!status.ok()) return status;
  Numbers in_noise = out.noise, in_targets = out.targets;
  for (std::size_t i = 0; i < n(); ++i) {
    in_noise[i] += of.noise[i];
    in_targets[i] += of.targets[i];
  }
  out.likelihood.assign(likelihood_->parameters().size(), 0.0);
  for (std::size_t p = 0; p < out.likelihood.size() && status.ok(); ++p)
    status = pull_parameter(partials, of.of_sites, in_noise, in_targets, static_cast<Index>(p), out.likelihood[p]);
  if (partials.unit == 1.0) return status;
  for (Numbers* values : {&out.theta, &out.noise, &out.likelihood})
    for (double& value : *values) value *= partials.unit;
  return status;
}

}  // namespace kernsel

#include "inference/sites.hpp"

#include <cmath>

namespace kernsel {

namespace {

const double half_log_2pi = 0.5 * std::log(2.0 * 3.14159265358979323846);

double weight(const double* weights, std::size_t i) { return weights ? weights[i] : 1.0; }

// The derivatives in the other function's values. That of log p itself is the first derivative in the other's row.
Status find_crossed(const Likelihood& likelihood, const Observations& of, const double* weights, Sites& sites) {
  const auto n = static_cast<std::size_t>(of.count);
  std::vector<DensityCross> crossed(n);
  const Status status = likelihood.cross(of, sites.f.data(), crossed.data());
  for (std::vector<double>* values : {&sites.first_cross, &sites.noise_cross, &sites.target_cross, &sites.factor_cross})
    values->resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double w = weight(weights, i), g = sites.first[i], S = sites.noise[i];
    const double of_first = w * crossed[i].first, of_noise = sites.held[i] ? 0.0 : -w * crossed[i].precision * S * S;
    sites.first_cross[i] = of_first;
    sites.noise_cross[i] = of_noise;
    sites.target_cross[i] = of_noise * g + S * of_first;
    sites.factor_cross[i] = S * g * of_first + 0.5 * of_noise * (g * g + 1.0 / S);
  }
  return status;
}

}  // namespace

Status find_sites(const Likelihood& likelihood, const Observations& of, const double* weights, double least,
                  const std::vector<double>& f, Sites& out) {
  const auto n = static_cast<std::size_t>(of.count);
  std::vector<Density> densities(n);
  const Status status = likelihood.density(of, f.data(), densities.data());
  if (!status.ok()) return status;
  out.f = f;
  for (std::vector<double>* values : {&out.first, &out.noise, &out.targets, &out.log_factor, &out.noise_slope,
                                      &out.target_slope, &out.factor_slope, &out.excess})
    values->resize(n);
  out.held.resize(n);
  out.log_density = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const Density& at = densities[i];
    const double w = weight(weights, i), g = w * at.first, V = w * at.precision;
    const bool held = !(V > least);
    const double S = 1.0 / (held ? least : V), slope = held ? 0.0 : -w * at.slope * S * S;
    out.held[i] = held ? 1 : 0;
    out.first[i] = g;
    out.noise[i] = S;
    out.targets[i] = f[i] + S * g;
    out.log_factor[i] = w * at.value + 0.5 * S * g * g + 0.5 * std::log(S) + half_log_2pi;
    out.noise_slope[i] = slope;
    out.excess[i] = held || !likelihood.is_log_concave() ? 1.0 + S * w * at.second : 0.0;
    out.target_slope[i] = out.excess[i] + slope * g;
    out.factor_slope[i] = g * out.excess[i] + 0.5 * slope * (g * g + 1.0 / S);
    out.log_density += w * at.value;
  }
  return likelihood.is_of_two() ? find_crossed(likelihood, of, weights, out) : Status{};
}

Status find_site_slopes(const Likelihood& likelihood, const Observations& of, const double* weights, const Sites& sites,
                        Index p, SiteSlopes& out) {
  const auto n = static_cast<std::size_t>(of.count);
  std::vector<DensitySlope> slopes(n);
  const Status status = likelihood.density_slope(of, sites.f.data(), p, slopes.data());
  if (!status.ok()) return status;
  for (std::vector<double>* values : {&out.first, &out.noise, &out.targets, &out.log_factor}) values->resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double w = weight(weights, i), g = sites.first[i], S = sites.noise[i];
    out.first[i] = w * slopes[i].first;
    out.noise[i] = sites.held[i] ? 0.0 : -w * slopes[i].precision * S * S;
    out.targets[i] = out.noise[i] * g + S * out.first[i];
    out.log_factor[i] = w * slopes[i].value + S * g * out.first[i] + 0.5 * out.noise[i] * (g * g + 1.0 / S);
  }
  return {};
}

}  // namespace kernsel

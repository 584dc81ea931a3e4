// Laplace's sites: what stands for each observation, as a function of its latent value.
#pragma once

#include <vector>

#include "kernsel/likelihood.hpp"

namespace kernsel {

// With g = d log p / df and the precision V, which is at least `least`: S = 1 / V, z = f + S g, and the factor by which the
// density of z differs from that of the observation,
//
//     r = log p(y | f) - log N(z; f, S) = log p + S g^2 / 2 - log V / 2 + log(2 pi) / 2
//
// The weight of a point multiplies log p.
struct Sites {
  std::vector<double> f, first, noise, targets, log_factor;
  // The derivatives of S, z and r in f, and 1 - S W, for the second derivative -W of log p: zero where V is W.
  std::vector<double> noise_slope, target_slope, factor_slope, excess;
  // For a likelihood of two latent functions: the derivatives of g, S, z and r in the other function's value; empty otherwise.
  std::vector<double> first_cross, noise_cross, target_cross, factor_cross;
  std::vector<char> held;    // whether V is `least`
  double log_density = 0.0;  // sum_i log p(y_i | f_i)

  double total_factor() const {
    double sum = 0.0;
    for (const double value : log_factor) sum += value;
    return sum;
  }
};

Status find_sites(const Likelihood& likelihood, const Observations& of, const double* weights, double least,
                  const std::vector<double>& f, Sites& out);

// The derivatives of g, S, z and r with respect to parameter p of the likelihood, while f does not change.
struct SiteSlopes {
  std::vector<double> first, noise, targets, log_factor;
};
Status find_site_slopes(const Likelihood& likelihood, const Observations& of, const double* weights, const Sites& sites,
                        Index p, SiteSlopes& out);

}  // namespace kernsel

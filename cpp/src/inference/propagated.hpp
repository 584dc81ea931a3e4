// The sites of expectation propagation, as functions of the cavities.
#pragma once

#include <vector>

#include "kernsel/likelihood.hpp"

namespace kernsel {

// The cavity N(m, v) of a point is the posterior of its latent value without its own site, of precision tau and shift nu. The
// new site gives cavity times site the mean and the variance of cavity times likelihood: with the first and second derivatives
// d1 and d2 of log Z in m, Z = E p(y | f) over the cavity,
//
//     tau = -d2 / (1 + v d2),   nu = d1 + tau (m + v d1)
//
// If this precision is below `least` the site has the least one, and only the mean is right. Where log p is not concave, an
// observation far from its cavity makes f less certain than without it. No site does that whose noise is positive; that with
// the least precision leaves out all but the shift.
struct PropagatedSite {
  double precision = 0.0, shift = 0.0;
  bool held = false;
};
PropagatedSite propagated_site(double mean, double variance, const Moments& at, double least);

// How far the marginal with one site is from that with another: of the mean in standard deviations, or of the logarithm of the
// variance, whichever is larger.
double difference_of_marginals(double mean, double variance, const PropagatedSite& a, const PropagatedSite& b);

// The derivatives of S = 1 / tau and z = nu / tau of the new site in the mean and the variance of the cavity.
struct SiteInCavity {
  double noise_in_mean = 0.0, noise_in_variance = 0.0, target_in_mean = 0.0, target_in_variance = 0.0;
};
SiteInCavity site_in_cavity(double variance, const Moments& at, const HigherMoments& higher, bool held, double least);

// The same for a parameter of the likelihood, with respect to which `slope` has the derivatives of log Z, d1 and d2.
struct SiteInParameter {
  double noise = 0.0, target = 0.0;
};
SiteInParameter site_in_parameter(double variance, const Moments& at, const Moments& slope, bool held, double least);

}  // namespace kernsel

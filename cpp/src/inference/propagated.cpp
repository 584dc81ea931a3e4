#include "inference/propagated.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernsel {

namespace {

constexpr double rounding = std::numeric_limits<double>::epsilon();

}  // namespace

PropagatedSite propagated_site(double mean, double variance, const Moments& at, double least) {
  const double narrowed = std::max(1.0 + variance * at.second, rounding);
  const double wanted = std::max(-at.second, 0.0) / narrowed;
  PropagatedSite out;
  out.held = !(wanted > least);
  out.precision = out.held ? least : wanted;
  out.shift = at.first + out.precision * (mean + variance * at.first);
  return out;
}

double difference_of_marginals(double mean, double variance, const PropagatedSite& a, const PropagatedSite& b) {
  const double of_a = 1.0 + variance * a.precision, of_b = 1.0 + variance * b.precision;
  const double shift = (mean + variance * a.shift) / of_a - (mean + variance * b.shift) / of_b;
  return std::max(std::abs(shift) / std::sqrt(variance / of_a), std::abs(std::log(of_a / of_b)));
}

// Without `held`, S = -1 / d2 - v and z = m - d1 / d2; with it S is constant and z = m + (v + S) d1.
SiteInCavity site_in_cavity(double variance, const Moments& at, const HigherMoments& higher, bool held, double least) {
  const double d1 = at.first, d2 = at.second, d3 = higher.third;
  const double d1_in_variance = 0.5 * (d3 + 2.0 * d1 * d2);
  const double d2_in_variance = 0.5 * (higher.fourth + 2.0 * d2 * d2 + 2.0 * d1 * d3);
  if (held) {
    const double all = variance + 1.0 / least;
    return {0.0, 0.0, 1.0 + all * d2, d1 + all * d1_in_variance};
  }
  const double in_mean = d3 / (d2 * d2), in_variance = d2_in_variance / (d2 * d2);
  return {in_mean, in_variance - 1.0, d1 * in_mean, d1 * in_variance - d1_in_variance / d2};
}

SiteInParameter site_in_parameter(double variance, const Moments& at, const Moments& slope, bool held, double least) {
  if (held) return {0.0, (variance + 1.0 / least) * slope.first};
  const double noise = slope.second / (at.second * at.second);
  return {noise, at.first * noise - slope.first / at.second};
}

}  // namespace kernsel

// Further derivatives of log Z = log E p(y | f), f = m + s x, x ~ N(0, 1), by the quadrature of moments.cpp.
//
// With joint cumulants k under the density exp(g) of tilted.hpp, l = (log p)' and p' = d log p / dphi for a parameter phi,
//
//     d^3 log Z / dm^3 = k(l, x, x) / s^2,               d log Z / dphi = E p',
//     d^4 log Z / dm^4 = k(l, x, x, x) / s^3,            d^2 log Z / dphi dm = k(p', x) / s,
//                                                        d^3 log Z / dphi dm^2 = k(p', x, x) / s^2.
#include <algorithm>
#include <cmath>
#include <vector>

#include "likelihoods/rows.hpp"
#include "likelihoods/tilted.hpp"

namespace kernsel {

namespace {

// Integrals of exp(g) times powers of x, and times a function u(x) and these powers; x is measured from the maximum of g.
constexpr Index powers = 4, integrals = 2 * powers;

// Joint cumulants of u and one to three times x.
struct Cumulants {
  double mean = 0.0, one = 0.0, two = 0.0, three = 0.0;
};

Cumulants cumulants(const double* sums) {
  const double all = sums[0], a = sums[1] / all, b = sums[2] / all, *of_u = sums + powers;
  const double u0 = of_u[0] / all, u1 = of_u[1] / all, u2 = of_u[2] / all, u3 = of_u[3] / all;
  // Moments about the mean of x, of u less its own mean.
  const double v1 = u1 - a * u0;
  const double variance = b - a * a;
  const double v2 = u2 - 2.0 * a * u1 + a * a * u0 - variance * u0;
  const double third = sums[3] / all - 3.0 * a * b + 2.0 * a * a * a;
  const double v3 = u3 - 3.0 * a * u2 + 3.0 * a * a * u1 - a * a * a * u0 - third * u0;
  return {u0, v1, v2, v3 - 3.0 * v1 * variance};
}

Observations part(const Observations& of, Index begin, Index end) {
  return {end - begin, of.y + begin, of.size ? of.size + begin : nullptr};
}

// Calls take(row, deviation, cumulants) for each row of u, which `values`(tilted, count, row, x, densities, out) evaluates;
// `unit_of_u`(tilted, row) says what size u has where the density is large.
template <class Values, class Unit, class Take>
Status integrate_block(const Likelihood& likelihood, const Observations& of, const double* mean, const double* variance,
                       const Values& values, const Unit& unit_of_u, const Take& take) {
  Tilted tilted(likelihood, of, mean, variance);
  Status status = tilted.locate();
  if (!status.ok()) return status;
  std::vector<Density> found;
  std::vector<double> u, sums(static_cast<std::size_t>(of.count * integrals)), units;
  for (Index i = 0; i < of.count; ++i)
    for (const double unit : {1.0, unit_of_u(tilted, i)})
      for (Index p = 0; p < powers; ++p) units.push_back(unit * std::pow(tilted.width(i), static_cast<double>(p)));
  const auto evaluate = [&](Index count, const Index* row, const double* x, double* out) {
    u.resize(static_cast<std::size_t>(count));
    Status done = tilted.density(count, row, x, found);
    if (done.ok()) done = values(tilted, count, row, x, found.data(), u.data());
    for (Index k = 0; k < count && done.ok(); ++k) {
      const LatentPlace& mode = tilted.mode(row[k]);
      const double away = x[k] - mode.x;
      double weight = std::exp(found[static_cast<std::size_t>(k)].value - 0.5 * x[k] * x[k] - mode.g);
      const double value = weight > 0.0 ? u[static_cast<std::size_t>(k)] : 0.0;
      for (Index p = 0; p < powers; ++p, weight *= away) {
        out[k * integrals + p] = weight;
        out[k * integrals + powers + p] = weight * value;
      }
    }
    return done;
  };
  status = integrate(of.count, tilted.panels(), integrals, evaluate, units.data(), sums.data());
  for (Index i = 0; i < of.count && status.ok(); ++i) take(i, tilted.deviation(i), cumulants(sums.data() + i * integrals));
  return status;
}

}  // namespace

Status Likelihood::higher_moments(const Observations& of, const double* mean, const double* variance,
                                  HigherMoments* out) const {
  return for_blocks(of.count, !is_for_any_thread(), 8000.0, [&](Index begin, Index end) {
    const auto first = [](Tilted& tilted, Index count, const Index* row, const double*, const Density* at, double* u) {
      for (Index k = 0; k < count; ++k) u[k] = tilted.deviation(row[k]) * (at[k].first - tilted.mode(row[k]).first);
      return Status();
    };
    const auto unit = [](const Tilted& tilted, Index row) {
      return tilted.width(row) * std::max(1.0, std::abs(tilted.mode(row).x));
    };
    return integrate_block(*this, part(of, begin, end), mean + begin, variance + begin, first, unit,
                           [&](Index i, double s, const Cumulants& k) {
                             out[begin + i] = {k.two / (s * s * s), k.three / (s * s * s * s)};
                           });
  });
}

Status Likelihood::moments_slopes(const Observations& of, const double* mean, const double* variance, Index p,
                                  Moments* out) const {
  return for_blocks(of.count, !is_for_any_thread(), 8000.0, [&](Index begin, Index end) {
    std::vector<DensitySlope> slopes;
    const auto in_parameter = [&](Tilted& tilted, Index count, const Index* row, const double* x, const Density*, double* u) {
      slopes.resize(static_cast<std::size_t>(count));
      const Status done = tilted.at(
          count, row, x, [&](const Observations& at, const double* f) { return density_slope(at, f, p, slopes.data()); });
      for (Index k = 0; k < count && done.ok(); ++k) u[k] = slopes[static_cast<std::size_t>(k)].value;
      return done;
    };
    const auto unit = [](const Tilted& tilted, Index row) { return tilted.width(row); };
    return integrate_block(*this, part(of, begin, end), mean + begin, variance + begin, in_parameter, unit,
                           [&](Index i, double s, const Cumulants& k) {
                             out[begin + i] = {k.mean, k.one / s, k.two / (s * s)};
                           });
  });
}

}  // namespace kernsel

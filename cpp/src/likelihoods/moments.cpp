// Moments by quadrature: E p(y | f) over f = m + s x, x ~ N(0, 1), and its derivatives.
//
// With E, Cov and Var under the density exp(g), g(x) = log p(y | m + s x) - x^2 / 2 (tilted.hpp),
//
//     d log Z / dm = E (log p)' = E x / s,    d^2 log Z / dm^2 = Cov((log p)', x) / s = (Var x - 1) / s^2,
//
// which hold at kinks of log p, too. Nothing cancels in the former if the prior is narrow, in the latter if the observation is.
#include <algorithm>
#include <cmath>
#include <vector>

#include "likelihoods/rows.hpp"
#include "likelihoods/tilted.hpp"

namespace kernsel {

namespace {

constexpr double log_root_two_pi = 0.91893853320467274178;

Observations part(const Observations& of, Index begin, Index end) {
  return {end - begin, of.y + begin, of.size ? of.size + begin : nullptr};
}

Status moments_of_block(const Likelihood& likelihood, const Observations& of, const double* mean, const double* variance,
                        Moments* out) {
  constexpr Index functions = 5;
  Tilted tilted(likelihood, of, mean, variance);
  Status status = tilted.locate();
  if (!status.ok()) return status;
  std::vector<Density> found;
  std::vector<double> sums(static_cast<std::size_t>(of.count * functions)), units;
  for (Index i = 0; i < of.count; ++i) {
    const double width = tilted.width(i), first = std::max(1.0, std::abs(tilted.mode(i).x));
    units.insert(units.end(), {0.0, 0.0, 0.0, width * first, width * width * first});
  }
  const auto evaluate = [&](Index count, const Index* row, const double* x, double* values) {
    const Status done = tilted.density(count, row, x, found);
    for (Index k = 0; k < count && done.ok(); ++k) {
      const LatentPlace& mode = tilted.mode(row[k]);
      const Density& at = found[static_cast<std::size_t>(k)];
      const double p = std::exp(at.value - 0.5 * x[k] * x[k] - mode.g);
      const double first = p > 0.0 ? tilted.deviation(row[k]) * (at.first - mode.first) : 0.0, away = x[k] - mode.x;
      const double all[functions] = {p, p * away, p * away * away, p * first, p * first * away};
      std::copy_n(all, functions, values + k * functions);
    }
    return done;
  };
  status = integrate(of.count, tilted.panels(), functions, evaluate, units.data(), sums.data());
  if (!status.ok()) return status;
  for (Index i = 0; i < of.count; ++i) {
    const double s = tilted.deviation(i), *sum = sums.data() + i * functions;
    const LatentPlace& mode = tilted.mode(i);
    const double away = sum[1] / sum[0], first = sum[3] / sum[0];
    const double value = mode.g + std::log(sum[0]) - log_root_two_pi;
    if (s * s * mode.precision > 1.0)
      out[i] = {value, (mode.x + away) / s, (sum[2] / sum[0] - away * away - 1.0) / (s * s)};
    else
      out[i] = {value, mode.first + first / s, (sum[4] / sum[0] - away * first) / (s * s)};
  }
  // Without variance the observation alone remains.
  std::vector<Density> alone(static_cast<std::size_t>(of.count));
  if (std::none_of(variance, variance + of.count, [](double v) { return v == 0.0; })) return status;
  status = likelihood.density(of, mean, alone.data());
  for (Index i = 0; i < of.count && status.ok(); ++i) {
    const Density& at = alone[static_cast<std::size_t>(i)];
    if (variance[i] == 0.0) out[i] = {at.value, at.first, at.second};
  }
  return status;
}

Status slopes_of_block(const Likelihood& likelihood, const Observations& of, const double* mean, const double* variance,
                       Index p, double* out) {
  constexpr Index functions = 2;
  Tilted tilted(likelihood, of, mean, variance);
  Status status = tilted.locate();
  if (!status.ok()) return status;
  std::vector<Density> found;
  std::vector<DensitySlope> slopes;
  std::vector<double> sums(static_cast<std::size_t>(of.count * functions)), units;
  for (Index i = 0; i < of.count; ++i) units.insert(units.end(), {0.0, tilted.width(i)});
  const auto evaluate = [&](Index count, const Index* row, const double* x, double* values) {
    slopes.resize(static_cast<std::size_t>(count));
    Status done = tilted.density(count, row, x, found);
    if (!done.ok()) return done;
    done = tilted.at(count, row, x, [&](const Observations& at, const double* f) {
      return likelihood.density_slope(at, f, p, slopes.data());
    });
    for (Index k = 0; k < count && done.ok(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double weight = std::exp(found[at].value - 0.5 * x[k] * x[k] - tilted.mode(row[k]).g);
      values[k * functions] = weight;
      values[k * functions + 1] = weight > 0.0 ? weight * slopes[at].value : 0.0;
    }
    return done;
  };
  status = integrate(of.count, tilted.panels(), functions, evaluate, units.data(), sums.data());
  for (Index i = 0; i < of.count && status.ok(); ++i)
    out[i] = sums[static_cast<std::size_t>(i * functions + 1)] / sums[static_cast<std::size_t>(i * functions)];
  return status;
}

}  // namespace

Status Likelihood::moments(const Observations& of, const double* mean, const double* variance, Moments* out) const {
  return for_blocks(of.count, !is_for_any_thread(), 5000.0, [&](Index begin, Index end) {
    return moments_of_block(*this, part(of, begin, end), mean + begin, variance + begin, out + begin);
  });
}

Status Likelihood::moments_slope(const Observations& of, const double* mean, const double* variance, Index p,
                                 double* out) const {
  return for_blocks(of.count, !is_for_any_thread(), 8000.0, [&](Index begin, Index end) {
    return slopes_of_block(*this, part(of, begin, end), mean + begin, variance + begin, p, out + begin);
  });
}

}  // namespace kernsel

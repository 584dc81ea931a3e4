// Warped normal: g(y) = f + noise for an increasing function g. With r = (g(y) - f) / s, s^2 the noise,
//
//     log p = -r^2 / 2 - log s - log(2 pi) / 2 + log g'(y)
//
// is a parabola in f: Laplace's approximation and expectation propagation are exact. Over f ~ N(m, v) everything is the same
// with the noise s^2 + v. Quantiles of y are those of g(y) through the inverse of g; its mean and variance are integrals.
//
// Units make the mean of log g' over the observations that a model is fitted to zero, so that f has the unit of y. A restricted
// likelihood, which depends on the unit of f, is then comparable among warps and with none.
#include <algorithm>
#include <cmath>
#include <utility>

#include "likelihoods/pointwise.hpp"
#include "likelihoods/quadrature.hpp"
#include "likelihoods/special.hpp"
#include "likelihoods/spread.hpp"
#include "likelihoods/warps.hpp"

namespace kernsel {
namespace likelihoods {

namespace {

constexpr int powers_tried = 21;     // for the start of a search
constexpr double least_reach = 9.0;  // standard deviations beyond which the normal density is negligible
constexpr double most_reach = 38.0;  // and where it is zero
constexpr double infinity = std::numeric_limits<double>::infinity();

class WarpedNormal final : public Pointwise<WarpedNormal> {
 public:
  WarpedNormal(double log_noise, std::shared_ptr<const Warp> warp)
      : log_noise_(log_noise), noise_(std::exp(log_noise)), warp_(std::move(warp)) {}

  std::string name() const override { return warp_->name(); }
  std::vector<LikelihoodParameter> parameters() const override {
    std::vector<LikelihoodParameter> all = {scale_parameter("noise", log_noise_)};
    if (warp_->power()) all.push_back({"power", *warp_->power(), 0.0, 2.0, false});
    return all;
  }
  std::vector<double> arguments() const override {
    std::vector<double> all = {noise_};
    for (const double argument : warp_->arguments()) all.push_back(argument);
    return all;
  }
  std::shared_ptr<const Likelihood> with(const std::vector<double>& values) const override {
    return std::make_shared<WarpedNormal>(values[0], warp_->power() ? warp_->with_power(values[1]) : warp_);
  }
  // From the power that is the best for independent observations: as log g' is zero on average, that of the least variance.
  std::vector<LikelihoodParameter> start(const Observations& of) const override {
    std::vector<LikelihoodParameter> all = parameters();
    std::vector<double> z(static_cast<std::size_t>(of.count));
    double least = infinity;
    std::shared_ptr<const Warp> best = warp_;
    for (int k = 0; warp_->power() && k < powers_tried; ++k) {
      const std::shared_ptr<const Warp> tried = warp_->with_power(2.0 * k / (powers_tried - 1));
      double mean = 0.0, square = 0.0, log_slope = 0.0;
      for (Index i = 0; i < of.count; ++i) {
        const Warped at = tried->at(of.y[i]);
        z[static_cast<std::size_t>(i)] = at.z;
        mean += at.z / static_cast<double>(of.count);
        log_slope += at.log_slope / static_cast<double>(of.count);
      }
      for (const double value : z) square += (value - mean) * (value - mean) / static_cast<double>(of.count);
      const double log_variance = std::log(square) - 2.0 * log_slope;
      if (!(log_variance < least)) continue;
      least = log_variance;
      best = tried;
    }
    for (Index i = 0; i < of.count; ++i) z[static_cast<std::size_t>(i)] = best->at(of.y[i]).z;
    from_spread(all[0], {of.count, z.data(), nullptr}, 2.0);
    if (best->power()) all[1].value = *best->power();
    return all;
  }

  const char* fault(double y, double) const { return warp_->fault(y); }
  double rough_at(double y, double) const { return warp_->at(y).z; }

  Density density_at(double y, double, double f) const {
    const Warped at = warp_->at(y);
    return {log_normal_at(at, f, noise_), (at.z - f) / noise_, -1.0 / noise_, 0.0, 1.0 / noise_, 0.0};
  }
  DensitySlope slope_at(double y, double, double f, Index p) const {
    const Warped at = warp_->at(y);
    const double r = (at.z - f) / noise_;
    if (p == 0) return {0.5 * (r * (at.z - f) - 1.0), -r, -1.0 / noise_};
    return {at.log_slope_in_power - r * at.z_in_power, at.z_in_power / noise_, 0.0};
  }

  Status moments(const Observations& of, const double* mean, const double* variance, Moments* out) const override {
    return for_rows(of.count, 50.0, [&](Index i) {
      const Warped at = warp_->at(of.y[i]);
      const double all = noise_ + variance[i];
      out[i] = {log_normal_at(at, mean[i], all), (at.z - mean[i]) / all, -1.0 / all};
    });
  }
  Status moments_slope(const Observations& of, const double* mean, const double* variance, Index p,
                       double* out) const override {
    return for_rows(of.count, 50.0, [&](Index i) {
      const Warped at = warp_->at(of.y[i]);
      const double all = noise_ + variance[i], r = (at.z - mean[i]) / all;
      out[i] = p == 0 ? 0.5 * noise_ / all * (r * (at.z - mean[i]) - 1.0) : at.log_slope_in_power - r * at.z_in_power;
    });
  }

  Outcomes outcomes(double) const override { return warp_->outcomes(); }
  double probability_at(double y, double f, double) const { return up_to(y, f, noise_); }
  Conditional conditional_at(double f, double) const {
    Conditional out;
    const Status status = integrate_block(1, &f, nullptr, &out.mean, &out.variance);
    return status.ok() ? out : Conditional{infinity, infinity};
  }
  Status quantile(const Latent& at, const double* p, double* out) const override {
    return for_rows(at.count, 100.0, [&](Index i) { out[i] = quantile_of(p[i], at.f[i], noise_); });
  }

  Status predict(const LatentNormal& at, double* mean, double* variance) const override {
    return for_blocks(at.count, false, 8000.0, [&](Index begin, Index end) {
      return integrate_block(end - begin, at.mean + begin, at.variance + begin, mean + begin, variance + begin);
    });
  }
  Status predict_probability(const LatentNormal& at, const double* y, double* out) const override {
    return for_rows(at.count, 100.0, [&](Index i) { out[i] = up_to(y[i], at.mean[i], noise_ + at.variance[i]); });
  }
  Status predict_quantile(const LatentNormal& at, const double* p, double* out) const override {
    return for_rows(at.count, 100.0, [&](Index i) { out[i] = quantile_of(p[i], at.mean[i], noise_ + at.variance[i]); });
  }

 private:
  static double log_normal_at(const Warped& at, double f, double noise) {
    return log_normal_density((at.z - f) / std::sqrt(noise)) - 0.5 * std::log(noise) + at.log_slope;
  }

  double up_to(double y, double f, double noise) const {
    const Outcomes limits = warp_->outcomes();
    if (y < limits.lower) return 0.0;
    return y >= limits.upper ? 1.0 : normal_up_to((warp_->at(y).z - f) / std::sqrt(noise));
  }
  double quantile_of(double p, double f, double noise) const {
    return warp_->inverse(f + std::sqrt(noise) * normal_quantile(p));
  }

  // The mean and the variance of y for g(y) ~ N(mean, noise + variance), by integrals of the distance from the median of y.
  Status integrate_block(Index count, const double* mean, const double* variance, double* mean_out,
                         double* variance_out) const {
    std::vector<double> deviation, median, sums(static_cast<std::size_t>(2 * count)), units;
    std::vector<Panel> panels;
    for (Index i = 0; i < count; ++i) {
      deviation.push_back(std::sqrt(noise_ + (variance ? variance[i] : 0.0)));
      median.push_back(warp_->inverse(mean[i]));
      units.insert(units.end(), {std::abs(median.back()), median.back() * median.back()});
      const double end = std::min(least_reach + 2.0 * deviation.back() / warp_->unit(), most_reach);
      std::vector<double> ends = {-end, -3.5, 0.0, 3.5, end};
      for (const double kink : warp_->kinks()) ends.push_back(std::clamp((kink - mean[i]) / deviation.back(), -end, end));
      std::sort(ends.begin(), ends.end());
      for (std::size_t k = 0; k + 1 < ends.size() && std::isfinite(median.back()); ++k)
        if (ends[k] < ends[k + 1]) panels.push_back({i, ends[k], ends[k + 1]});
    }
    const auto evaluate = [&](Index nodes, const Index* row, const double* x, double* values) -> Status {
      for (Index k = 0; k < nodes; ++k) {
        const auto i = static_cast<std::size_t>(row[k]);
        const double away = warp_->inverse(mean[i] + deviation[i] * x[k]) - median[i],
                     density = std::exp(log_normal_density(x[k]));
        values[2 * k] = density * away;
        values[2 * k + 1] = density * away * away;
      }
      return {};
    };
    const Status status = integrate(count, std::move(panels), 2, evaluate, units.data(), sums.data());
    for (Index i = 0; i < count && status.ok(); ++i) {
      const double first = sums[static_cast<std::size_t>(2 * i)], second = sums[static_cast<std::size_t>(2 * i + 1)];
      mean_out[i] = median[static_cast<std::size_t>(i)] + first;
      const bool finite = std::isfinite(mean_out[i]) && std::isfinite(second);
      variance_out[i] = finite ? std::max(second - first * first, 0.0) : infinity;
    }
    return status;
  }

  double log_noise_, noise_;
  std::shared_ptr<const Warp> warp_;
};

template <class W, class... Arguments>
std::shared_ptr<const Likelihood> warped(double noise, const Arguments&... arguments) {
  return std::make_shared<WarpedNormal>(std::log(noise), std::make_shared<W>(arguments...));
}

}  // namespace

std::shared_ptr<const Likelihood> log_normal(double noise, double unit) { return warped<LogWarp>(noise, unit); }

std::shared_ptr<const Likelihood> logit_normal(double noise, double unit, double lower, double upper) {
  return warped<LogitWarp>(noise, unit, lower, upper);
}

std::shared_ptr<const Likelihood> box_cox(double noise, double unit, double power) {
  return warped<BoxCoxWarp>(noise, unit, power);
}

std::shared_ptr<const Likelihood> yeo_johnson(double noise, double unit, double location, double power) {
  return warped<YeoJohnsonWarp>(noise, unit, location, power);
}

std::shared_ptr<const Likelihood> spline_normal(double noise, const std::vector<double>& y, const std::vector<double>& z,
                                                const std::vector<double>& slopes) {
  return warped<SplineWarp>(noise, y, z, slopes);
}

}  // namespace likelihoods
}  // namespace kernsel

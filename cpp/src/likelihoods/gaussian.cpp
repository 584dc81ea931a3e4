// Gaussian: y = f + noise; and censored, where y is known only to be at or beyond a limit: with r = (y - f) / s, s^2 the noise,
//
//     log p = -r^2 / 2 - log s - log(2 pi) / 2 between the limits, log Phi(r) at the lower and log Phi(-r) at the upper one.
//
// Over f ~ N(m, v) everything is the same with the noise s^2 + v.
#include <algorithm>
#include <cmath>

#include "likelihoods/pointwise.hpp"
#include "likelihoods/special.hpp"
#include "likelihoods/spread.hpp"

namespace kernsel {
namespace likelihoods {

namespace {

class Gaussian final : public Pointwise<Gaussian> {
 public:
  Gaussian(double log_noise, double lower, double upper)
      : log_noise_(log_noise), noise_(std::exp(log_noise)), lower_(lower), upper_(upper) {}

  std::string name() const override { return std::isinf(lower_) && std::isinf(upper_) ? "gaussian" : "censored_gaussian"; }
  std::vector<LikelihoodParameter> parameters() const override { return {scale_parameter("noise", log_noise_)}; }
  std::vector<double> arguments() const override {
    return name() == "gaussian" ? std::vector<double>{noise_} : std::vector<double>{noise_, lower_, upper_};
  }
  std::shared_ptr<const Likelihood> with(const std::vector<double>& values) const override {
    return std::make_shared<Gaussian>(values[0], lower_, upper_);
  }
  std::vector<LikelihoodParameter> start(const Observations& of) const override {
    std::vector<LikelihoodParameter> all = parameters();
    from_spread(all[0], of, 2.0);
    return all;
  }

  const char* fault(double y, double) const {
    if (!std::isfinite(y)) return "y: expected finite numbers";
    return y >= lower_ && y <= upper_ ? nullptr : "y: expected numbers from the lower to the upper limit";
  }
  double rough_at(double y, double) const { return y; }

  Density density_at(double y, double, double f) const {
    const LogNormal at = in_f(y, f, noise_);
    return {at.value, at.first, at.second, at.third, -at.second, -at.third};
  }
  DensitySlope slope_at(double y, double, double f, Index) const { return in_log_noise(y, f, noise_); }

  Status moments(const Observations& of, const double* mean, const double* variance, Moments* out) const override {
    return for_rows(of.count, 50.0, [&](Index i) {
      const LogNormal at = in_f(of.y[i], mean[i], noise_ + variance[i]);
      out[i] = {at.value, at.first, at.second};
    });
  }
  Status moments_slope(const Observations& of, const double* mean, const double* variance, Index, double* out) const override {
    return for_rows(of.count, 50.0, [&](Index i) {
      const double all = noise_ + variance[i];
      out[i] = noise_ / all * in_log_noise(of.y[i], mean[i], all).value;
    });
  }

  Outcomes outcomes(double) const override { return {lower_, upper_, false}; }
  Conditional conditional_at(double f, double) const { return limited(f, noise_); }
  double probability_at(double y, double f, double) const { return up_to(y, f, noise_); }
  Status quantile(const Latent& at, const double* p, double* out) const override {
    return for_rows(at.count, 500.0, [&](Index i) { out[i] = quantile_of(p[i], at.f[i], noise_); });
  }

  Status predict(const LatentNormal& at, double* mean, double* variance) const override {
    return for_rows(at.count, 100.0, [&](Index i) {
      const Conditional of = limited(at.mean[i], noise_ + at.variance[i]);
      mean[i] = of.mean;
      variance[i] = of.variance;
    });
  }
  Status predict_probability(const LatentNormal& at, const double* y, double* out) const override {
    return for_rows(at.count, 50.0, [&](Index i) { out[i] = up_to(y[i], at.mean[i], noise_ + at.variance[i]); });
  }
  Status predict_quantile(const LatentNormal& at, const double* p, double* out) const override {
    return for_rows(at.count, 500.0, [&](Index i) { out[i] = quantile_of(p[i], at.mean[i], noise_ + at.variance[i]); });
  }

 private:
  // log p and its first three derivatives in f.
  LogNormal in_f(double y, double f, double noise) const {
    const double s = std::sqrt(noise), r = (y - f) / s;
    if (y > lower_ && y < upper_) return {log_normal_density(r) - 0.5 * std::log(noise), r / s, -1.0 / noise, 0.0};
    const double sign = y <= lower_ ? -1.0 : 1.0;
    const LogNormal at = log_normal_slopes(-sign * r);
    return {at.value, sign * at.first / s, at.second / noise, sign * at.third / (noise * s)};
  }

  DensitySlope in_log_noise(double y, double f, double noise) const {
    const double s = std::sqrt(noise), r = (y - f) / s;
    if (y > lower_ && y < upper_) return {0.5 * (r * r - 1.0), -r / s, -1.0 / noise};
    const double sign = y <= lower_ ? -1.0 : 1.0, z = -sign * r;
    const LogNormal at = log_normal_slopes(z);
    return {-0.5 * z * at.first, -0.5 * sign * (z * at.second + at.first) / s, (0.5 * z * at.third + at.second) / noise};
  }

  double up_to(double y, double f, double noise) const {
    if (y < lower_) return 0.0;
    return y >= upper_ ? 1.0 : normal_up_to((y - f) / std::sqrt(noise));
  }
  double quantile_of(double p, double f, double noise) const {
    return std::clamp(f + std::sqrt(noise) * normal_quantile(p), lower_, upper_);
  }

  // Mean and variance of a normal variable of which what is beyond a limit becomes the limit.
  Conditional limited(double f, double noise) const {
    const double s = std::sqrt(noise);
    double first = 0.0, second = 1.0;                // of the standardized variable
    const auto limit = [&](double z, double sign) {  // z times sign is the distance to the limit
      if (std::isinf(z)) return;
      const double density = std::exp(log_normal_density(z)), beyond = normal_up_to(-sign * z);
      first += z * beyond - sign * density;
      second += (z * z - 1.0) * beyond - sign * z * density;
    };
    limit((lower_ - f) / s, -1.0);
    limit((upper_ - f) / s, 1.0);
    return {std::clamp(f + s * first, lower_, upper_), noise * std::max(second - first * first, 0.0)};
  }

  double log_noise_, noise_, lower_, upper_;
};

}  // namespace

std::shared_ptr<const Likelihood> gaussian(double noise) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return std::make_shared<Gaussian>(std::log(noise), -infinity, infinity);
}

std::shared_ptr<const Likelihood> censored_gaussian(double noise, double lower, double upper) {
  return std::make_shared<Gaussian>(std::log(noise), lower, upper);
}

}  // namespace likelihoods
}  // namespace kernsel

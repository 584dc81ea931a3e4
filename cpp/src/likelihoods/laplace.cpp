// Laplace's distribution, whose median f is, and the asymmetric one, of which f is a quantile. y - f has the density
//
//     a b / (a + b) exp(-a r) for r > 0,    a b / (a + b) exp(b r) for r < 0
//
// with a = b = 1 / scale, or a = q / scale, b = (1 - q) / scale for the quantile q. The kink at 0 would leave Newton's steps
// without a curvature and without an end. So y has besides a normal error of the standard deviation w, a fifth of the lesser of
// 1 / a and 1 / b. Then with u = r / w - a w, v = -r / w - b w
//
//     p = a b / (a + b) (exp A + exp B),    A = a^2 w^2 / 2 - a r + log Phi(u),    B = b^2 w^2 / 2 + b r + log Phi(v),
//
// and over f ~ N(m, s^2) all is the same with w^2 + s^2. What f is the median or quantile of changes by less than 1e-3. log p
// is concave in f, but most of its curvature is within w of 0: its expectation stands for it, a multiple of 1 / scale^2.
#include <algorithm>
#include <cmath>

#include "likelihoods/pointwise.hpp"
#include "likelihoods/quadrature.hpp"
#include "likelihoods/special.hpp"
#include "likelihoods/spread.hpp"

namespace kernsel {
namespace likelihoods {

namespace {

constexpr double smoothing = 0.2;
constexpr double log_root_two_pi = 0.91893853320467274178;

// exp A, exp B and the derivatives of log p in r.
struct Smoothed {
  double log_above, log_below, value, first, second, third;
};

class Sides {
 public:
  Sides(double above, double below) : above_(above), below_(below), width_(smoothing / std::max(above, below)) {}

  double variance() const { return width_ * width_; }
  Conditional moments() const {
    return {1.0 / above_ - 1.0 / below_, 1.0 / (above_ * above_) + 1.0 / (below_ * below_) + variance()};
  }

  Smoothed at(double r, double variance) const {
    const double w = std::sqrt(variance), u = r / w - above_ * w, v = -r / w - below_ * w, all = above_ + below_;
    const LogNormal over = log_normal_slopes(u), under = log_normal_slopes(v);
    // For u < 0 large terms cancel in A = u^2 / 2 - r^2 / (2 w^2) + log Phi(u), and not in Phi / phi.
    const double rest = -0.5 * (r / w) * (r / w) - log_root_two_pi;
    const double a = u < 0.0 ? rest - std::log(over.first) : above_ * (0.5 * above_ * variance - r) + over.value;
    const double b = v < 0.0 ? rest - std::log(under.first) : below_ * (0.5 * below_ * variance + r) + under.value;
    const double p = logistic(a - b), q = logistic(b - a);
    const double apart = (over.first + under.first) / w - all, bend = (over.second - under.second) / variance;
    const double value = std::log(above_ * below_ / all) + std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
    return {a, b, value, below_ * q - above_ * p, -all * p * q * apart, -all * p * q * ((q - p) * apart * apart + bend)};
  }

  double up_to(double r, double variance) const {
    const Smoothed of = at(r, variance);
    const double all = above_ + below_;
    const double p =
        normal_up_to(r / std::sqrt(variance)) + (above_ * std::exp(of.log_below) - below_ * std::exp(of.log_above)) / all;
    return std::clamp(p, 0.0, 1.0);
  }

  // The expectation of the square of the first derivative.
  double information() const {
    const double w = width_, begin = -9.0 * w - 40.0 / below_, end = 9.0 * w + 40.0 / above_;
    std::vector<Panel> panels;
    for (const auto& [from, to] : {std::pair{begin, -4.0 * w}, {-4.0 * w, 0.0}, {0.0, 4.0 * w}, {4.0 * w, end}})
      panels.push_back({0, from, to});
    double out = 0.0;
    const double unit = 0.0;
    const Status status = integrate(
        1, std::move(panels), 1,
        [&](Index count, const Index*, const double* x, double* values) {
          for (Index k = 0; k < count; ++k) {
            const Smoothed of = at(x[k], variance());
            values[k] = std::exp(of.value) * of.first * of.first;
          }
          return Status();
        },
        &unit, &out);
    return status.ok() ? out : above_ * below_;
  }

 private:
  double above_, below_, width_;  // the rates at which the density falls on both sides, and w
};

class Laplace final : public Pointwise<Laplace> {
 public:
  // `quantile` is 0 for Laplace's own distribution.
  Laplace(double log_scale, double quantile, double unit_information = 0.0)
      : log_scale_(log_scale), quantile_(quantile), sides_(sides(std::exp(log_scale), quantile)) {
    unit_information_ = unit_information > 0.0 ? unit_information : sides(1.0, quantile).information();
    information_ = unit_information_ * std::exp(-2.0 * log_scale);
  }

  std::string name() const override { return quantile_ == 0.0 ? "laplace" : "asymmetric_laplace"; }
  std::vector<LikelihoodParameter> parameters() const override { return {scale_parameter("scale", log_scale_)}; }
  std::vector<double> arguments() const override {
    const double scale = std::exp(log_scale_);
    return quantile_ == 0.0 ? std::vector<double>{scale} : std::vector<double>{scale, quantile_};
  }
  std::shared_ptr<const Likelihood> with(const std::vector<double>& values) const override {
    return std::make_shared<Laplace>(values[0], quantile_, unit_information_);
  }
  std::vector<LikelihoodParameter> start(const Observations& of) const override {
    std::vector<LikelihoodParameter> all = parameters();
    from_spread(all[0], of, 1.0);
    return all;
  }
  bool is_log_concave() const override { return false; }  // it is, but `precision` is not minus the second derivative

  const char* fault(double y, double) const { return std::isfinite(y) ? nullptr : "y: expected finite numbers"; }
  double rough_at(double y, double) const { return y; }

  Density density_at(double y, double, double f) const {
    const Smoothed at = sides_.at(y - f, sides_.variance());
    return {at.value, -at.first, at.second, -at.third, information_, 0.0};
  }
  // r / scale and the logarithm of the scale determine log p.
  DensitySlope slope_at(double y, double, double f, Index) const {
    const double r = y - f;
    const Smoothed at = sides_.at(r, sides_.variance());
    return {-1.0 - r * at.first, at.first + r * at.second, -2.0 * information_};
  }

  Status moments(const Observations& of, const double* mean, const double* variance, Moments* out) const override {
    return for_rows(of.count, 200.0, [&](Index i) {
      const Smoothed at = sides_.at(of.y[i] - mean[i], sides_.variance() + variance[i]);
      out[i] = {at.value, -at.first, at.second};
    });
  }

  Outcomes outcomes(double) const override { return {}; }
  Conditional conditional_at(double f, double) const {
    const Conditional of = sides_.moments();
    return {f + of.mean, of.variance};
  }
  double probability_at(double y, double f, double) const { return sides_.up_to(y - f, sides_.variance()); }

  Status predict(const LatentNormal& at, double* mean, double* variance) const override {
    const Conditional of = sides_.moments();
    return for_rows(at.count, 5.0, [&](Index i) {
      mean[i] = at.mean[i] + of.mean;
      variance[i] = at.variance[i] + of.variance;
    });
  }
  Status predict_probability(const LatentNormal& at, const double* y, double* out) const override {
    return for_rows(at.count, 200.0,
                    [&](Index i) { out[i] = sides_.up_to(y[i] - at.mean[i], sides_.variance() + at.variance[i]); });
  }

 private:
  static Sides sides(double scale, double quantile) {
    return quantile == 0.0 ? Sides(1.0 / scale, 1.0 / scale) : Sides(quantile / scale, (1.0 - quantile) / scale);
  }

  double log_scale_, quantile_;
  Sides sides_;
  double unit_information_, information_;  // at scale 1, and at its own
};

}  // namespace

std::shared_ptr<const Likelihood> laplace(double scale) { return std::make_shared<Laplace>(std::log(scale), 0.0); }
std::shared_ptr<const Likelihood> asymmetric_laplace(double scale, double quantile) {
  return std::make_shared<Laplace>(std::log(scale), quantile);
}

}  // namespace likelihoods
}  // namespace kernsel

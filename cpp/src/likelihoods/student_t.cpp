// Student's t: y = f + s t with nu degrees of freedom. With r = (y - f) / s and w = 1 + r^2 / nu,
//
//     log p = log Gamma((nu + 1) / 2) - log Gamma(nu / 2) - log(nu pi) / 2 - log s - (nu + 1) / 2 log w,
//
// which is not concave in f. The expected information is (nu + 1) / ((nu + 3) s^2), whatever f is.
#include <cmath>

#include "likelihoods/pointwise.hpp"
#include "likelihoods/special.hpp"
#include "likelihoods/spread.hpp"

namespace kernsel {
namespace likelihoods {

namespace {

constexpr double log_pi = 1.14472988584940017414;

class StudentT final : public Pointwise<StudentT> {
 public:
  StudentT(double log_scale, double log_freedom)
      : log_scale_(log_scale),
        log_freedom_(log_freedom),
        scale_(std::exp(log_scale)),
        freedom_(std::exp(log_freedom)),
        log_factor_(log_rising(0.5 * freedom_, 0.5) - 0.5 * (log_freedom_ + log_pi) - log_scale_) {}

  std::string name() const override { return "student_t"; }
  // By default df is searched for where y has a variance: with heavier tails estimates of f are much less efficient.
  std::vector<LikelihoodParameter> parameters() const override {
    return {scale_parameter("scale", log_scale_), {"df", log_freedom_, std::log(2.1), std::log(1e3), true}};
  }
  std::shared_ptr<const Likelihood> with(const std::vector<double>& values) const override {
    return std::make_shared<StudentT>(values[0], values[1]);
  }
  std::vector<LikelihoodParameter> start(const Observations& of) const override {
    std::vector<LikelihoodParameter> all = parameters();
    from_spread(all[0], of, 1.0);
    return all;
  }
  bool is_log_concave() const override { return false; }

  const char* fault(double y, double) const { return std::isfinite(y) ? nullptr : "y: expected finite numbers"; }
  double rough_at(double y, double) const { return y; }

  Density density_at(double y, double, double f) const {
    const Scaled at = scaled(y, f);
    const double nu = freedom_, a = (nu + 1.0) / (nu * scale_), b = a / scale_, c = 2.0 * b / (nu * scale_);
    const double value = log_factor_ - 0.5 * (nu + 1.0) * at.log_w;
    const double precision = (nu + 1.0) / ((nu + 3.0) * scale_ * scale_);
    return {value, a * at.r * at.u, b * at.u * (at.part - at.u), c * at.r * at.u * at.u * (at.part - 3.0 * at.u), precision,
            0.0};
  }

  DensitySlope slope_at(double y, double, double f, Index p) const {
    const Scaled at = scaled(y, f);
    const double nu = freedom_, a = (nu + 1.0) / (nu * scale_), precision = 1.0 / ((nu + 3.0) * scale_ * scale_);
    if (p == 0) return {(nu + 1.0) * at.part - 1.0, -2.0 * a * at.r * at.u * at.u, -2.0 * (nu + 1.0) * precision};
    const double value = 0.5 * (nu * digamma_rise(0.5 * nu, 0.5) - 1.0 - nu * at.log_w + (nu + 1.0) * at.part);
    return {value, at.r * at.u * (a * at.part - 1.0 / (nu * scale_)), 2.0 * nu / (nu + 3.0) * precision};
  }

  Outcomes outcomes(double) const override { return {}; }
  Conditional conditional_at(double f, double) const {
    const double nu = freedom_;
    return {f, nu > 2.0 ? scale_ * scale_ * nu / (nu - 2.0) : std::numeric_limits<double>::infinity()};
  }
  double probability_at(double y, double f, double) const {
    const Scaled at = scaled(y, f);
    const double beyond = 0.5 * incomplete_beta(0.5 * freedom_, 0.5, at.u, at.part);
    return at.r > 0.0 ? 1.0 - beyond : beyond;
  }

 private:
  struct Scaled {
    double r, log_w, u, part;  // u = 1 / w and part = 1 - u
  };
  Scaled scaled(double y, double f) const {
    const double r = (y - f) / scale_, over = std::abs(r) / std::sqrt(freedom_), square = over * over, u = 1.0 / (1.0 + square);
    return {r, over < 1e100 ? std::log1p(square) : 2.0 * std::log(over), u, over < 1.0 ? square * u : 1.0 - u};
  }

  double log_scale_, log_freedom_, scale_, freedom_, log_factor_;
};

}  // namespace

std::shared_ptr<const Likelihood> student_t(double scale, double degrees_of_freedom) {
  return std::make_shared<StudentT>(std::log(scale), std::log(degrees_of_freedom));
}

}  // namespace likelihoods
}  // namespace kernsel

// Gamma: positive y of mean exp f and shape k = a w, where w is the weight: the mean of w observations of shape a is such a y.
// With g = y exp(-f),
//
//     log p = k log k - log Gamma(k) + k (log g - g) - log y.
#include <cmath>

#include "likelihoods/pointwise.hpp"
#include "likelihoods/special.hpp"

namespace kernsel {
namespace likelihoods {

namespace {

class Gamma final : public Pointwise<Gamma> {
 public:
  explicit Gamma(double log_shape) : log_shape_(log_shape), shape_(std::exp(log_shape)) {}

  std::string name() const override { return "gamma"; }
  std::vector<LikelihoodParameter> parameters() const override {
    return {{"shape", log_shape_, std::log(1e-3), std::log(1e6), true}};
  }
  std::shared_ptr<const Likelihood> with(const std::vector<double>& values) const override {
    return std::make_shared<Gamma>(values[0]);
  }

  const char* fault(double y, double) const { return is_positive(y) ? nullptr : "y: expected positive, finite numbers"; }
  const char* size_fault(double weight) const {
    return is_positive(weight) ? nullptr : "weight: expected positive, finite numbers";
  }
  double rough_at(double y, double) const { return std::log(y); }

  Density density_at(double y, double weight, double f) const {
    const double k = shape_ * weight, log_y = std::log(y), g = std::exp(log_y - f), bend = k * g;
    const double constant = k * std::log(k) - log_gamma(k) - log_y;
    return {constant + k * (log_y - f) - bend, bend - k, -bend, bend, bend, -bend};
  }

  DensitySlope slope_at(double y, double weight, double f, Index) const {
    const double k = shape_ * weight, log_g = std::log(y) - f, bend = k * std::exp(log_g);
    return {k * (log_g + 1.0 + std::log(k) - digamma(k)) - bend, bend - k, bend};
  }

  Outcomes outcomes(double) const override { return {0.0, std::numeric_limits<double>::infinity(), false}; }
  Conditional conditional_at(double f, double weight) const {
    const double mean = std::exp(f);
    return {mean, mean * (mean / (shape_ * weight))};
  }
  double probability_at(double y, double f, double weight) const {
    const double k = shape_ * weight;
    return y > 0.0 ? lower_gamma(k, k * std::exp(std::log(y) - f)) : 0.0;
  }

  Status predict(const LatentNormal& at, double* mean, double* variance) const override {
    return for_rows(at.count, 50.0, [&](Index i) {
      const double v = at.variance[i];
      mean[i] = std::exp(at.mean[i] + 0.5 * v);
      variance[i] = mean[i] * mean[i] * (std::expm1(v) + std::exp(v) / (shape_ * at.size_of(i)));
    });
  }

 private:
  double log_shape_, shape_;
};

}  // namespace

std::shared_ptr<const Likelihood> gamma(double shape) { return std::make_shared<Gamma>(std::log(shape)); }

}  // namespace likelihoods
}  // namespace kernsel

// Negative binomial: counts of mean mu = e exp f, e the exposure, and variance mu + mu^2 / r. With q = mu / (r + mu),
//
//     log p = log Gamma(y + r) - log Gamma(r) - log y! + r log(1 - q) + y log q,
//
// which is concave in f: its second derivative is -(y + r) q (1 - q).
#include <cmath>

#include "likelihoods/pointwise.hpp"
#include "likelihoods/special.hpp"

namespace kernsel {
namespace likelihoods {

namespace {

class NegativeBinomial final : public Pointwise<NegativeBinomial> {
 public:
  explicit NegativeBinomial(double log_shape) : log_shape_(log_shape), shape_(std::exp(log_shape)) {}

  std::string name() const override { return "negative_binomial"; }
  std::vector<LikelihoodParameter> parameters() const override {
    return {{"shape", log_shape_, std::log(1e-3), std::log(1e6), true}};
  }
  std::shared_ptr<const Likelihood> with(const std::vector<double>& values) const override {
    return std::make_shared<NegativeBinomial>(values[0]);
  }

  const char* fault(double y, double) const { return is_count(y) ? nullptr : "y: expected counts, whole numbers from 0 on"; }
  const char* size_fault(double size) const {
    return is_positive(size) ? nullptr : "exposure: expected positive, finite numbers";
  }
  double rough_at(double y, double size) const { return std::log((y + 0.5) / size); }

  Density density_at(double y, double size, double f) const {
    const double u = f + std::log(size) - log_shape_, q = logistic(u), rest = logistic(-u), r = shape_;
    const double of_y = y > 0.0 ? log_rising(r, y) - log_factorial(y) - y * softplus(-u) : 0.0;
    const double second = -(y + r) * q * rest, third = second * (rest - q);
    return {of_y - r * softplus(u), y * rest - r * q, second, third, -second, -third};
  }

  // In log r, of which u is one minus.
  DensitySlope slope_at(double y, double size, double f, Index) const {
    const double u = f + std::log(size) - log_shape_, q = logistic(u), rest = logistic(-u), r = shape_;
    const double bend = q * rest;
    return {r * digamma_rise(r, y) - r * softplus(u) + r * q - y * rest, (y + r) * bend - r * q,
            r * bend - (y + r) * bend * (rest - q)};
  }

  Outcomes outcomes(double) const override { return {0.0, std::numeric_limits<double>::infinity(), true}; }
  Conditional conditional_at(double f, double size) const {
    const double mean = size * std::exp(f);
    return {mean, mean + mean * (mean / shape_)};
  }
  double probability_at(double y, double f, double size) const {
    const double u = f + std::log(size) - log_shape_;
    return y < 0.0 ? 0.0 : incomplete_beta(shape_, std::floor(y) + 1.0, logistic(-u), logistic(u));
  }

  Status predict(const LatentNormal& at, double* mean, double* variance) const override {
    return for_rows(at.count, 50.0, [&](Index i) {
      const double v = at.variance[i];
      mean[i] = at.size_of(i) * std::exp(at.mean[i] + 0.5 * v);
      variance[i] = mean[i] + mean[i] * mean[i] * (std::expm1(v) + std::exp(v) / shape_);
    });
  }

 private:
  double log_shape_, shape_;
};

}  // namespace

std::shared_ptr<const Likelihood> negative_binomial(double shape) {
  return std::make_shared<NegativeBinomial>(std::log(shape));
}

}  // namespace likelihoods
}  // namespace kernsel

// Poisson: log p = y log(e exp f) - e exp f - log y!, where e is the exposure.
#include <cmath>

#include "likelihoods/pointwise.hpp"
#include "likelihoods/special.hpp"

namespace kernsel {
namespace likelihoods {

namespace {

constexpr double half_log_two_pi = 0.91893853320467274178;

class Poisson final : public Pointwise<Poisson> {
 public:
  std::string name() const override { return "poisson"; }
  std::shared_ptr<const Likelihood> with(const std::vector<double>&) const override { return std::make_shared<Poisson>(); }

  const char* fault(double y, double) const { return is_count(y) ? nullptr : "y: expected counts, whole numbers from 0 on"; }
  const char* size_fault(double size) const {
    return is_positive(size) ? nullptr : "exposure: expected positive, finite numbers";
  }
  double rough_at(double y, double size) const { return std::log((y + 0.5) / size); }

  Density density_at(double y, double size, double f) const {
    const double mean = size * std::exp(f);
    return {y > 0.0 ? value_at(y, f + std::log(size) - std::log(y)) : -mean, y - mean, -mean, -mean, mean, mean};
  }

  Outcomes outcomes(double) const override { return {0.0, std::numeric_limits<double>::infinity(), true}; }
  Conditional conditional_at(double f, double size) const { return {size * std::exp(f), size * std::exp(f)}; }
  double probability_at(double y, double f, double size) const {
    return y < 0.0 ? 0.0 : upper_gamma(std::floor(y) + 1.0, size * std::exp(f));
  }

  // exp(f) is lognormal.
  Status predict(const LatentNormal& at, double* mean, double* variance) const override {
    return for_rows(at.count, 50.0, [&](Index i) {
      const double v = at.variance[i];
      mean[i] = at.size_of(i) * std::exp(at.mean[i] + 0.5 * v);
      variance[i] = mean[i] + (v > 0.0 ? mean[i] * mean[i] * std::expm1(v) : 0.0);
    });
  }

 private:
  // By Stirling's formula for y!, after which nothing large cancels: t = log(mean / y).
  static double value_at(double y, double t) {
    return y * (t - std::expm1(t)) - 0.5 * std::log(y) - half_log_two_pi - stirling_rest(y);
  }
};

}  // namespace

std::shared_ptr<const Likelihood> poisson() { return std::make_shared<Poisson>(); }

}  // namespace likelihoods
}  // namespace kernsel

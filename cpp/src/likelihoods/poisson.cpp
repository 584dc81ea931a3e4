// Poisson: log p = y log(e exp f) - e exp f - log y!, where e is the exposure.
#include <algorithm>
#include <cmath>

#include "kernsel/likelihood.hpp"
#include "likelihoods/special.hpp"

namespace kernsel {
namespace likelihoods {

namespace {

class Poisson final : public Likelihood {
 public:
  std::string name() const override { return "poisson"; }
  std::shared_ptr<const Likelihood> with(const std::vector<double>&) const override { return std::make_shared<Poisson>(); }

  Status check(const Observations& of) const override {
    for (Index i = 0; i < of.count; ++i) {
      if (!is_count(of.y[i])) return wrong_row(i, "poisson: y must be counts, whole numbers from 0 on");
      if (!is_positive(of.size_of(i))) return wrong_row(i, "poisson: the exposure must be positive and finite");
    }
    return {};
  }

  void rough(const Observations& of, double* f) const override {
    for (Index i = 0; i < of.count; ++i) f[i] = std::log((of.y[i] + 0.5) / of.size_of(i));
  }

  Status density(const Observations& of, const double* f, Density* out) const override {
    for (Index i = 0; i < of.count; ++i) {
      const double y = of.y[i], size = of.size_of(i), mean = size * std::exp(f[i]);
      const double at = y > 0.0 ? y * (f[i] + std::log(size)) : 0.0;
      out[i] = {at - mean - log_factorial(y), y - mean, -mean, -mean, mean, mean};
    }
    return {};
  }

  double mean(double f, double size) const override { return size * std::exp(f); }
  double variance(double f, double size) const override { return size * std::exp(f); }
  double probability_up_to(double y, double f, double size) const override {
    return y < 0.0 ? 0.0 : upper_gamma(std::floor(y) + 1.0, size * std::exp(f));
  }
  double quantile(double p, double f, double size) const override { return least_count(*this, p, f, size); }
  bool is_discrete() const override { return true; }
};

}  // namespace

std::shared_ptr<const Likelihood> poisson() { return std::make_shared<Poisson>(); }

}  // namespace likelihoods
}  // namespace kernsel

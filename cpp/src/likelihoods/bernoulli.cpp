// Bernoulli: y is 1 with probability F(f), otherwise 0. log p = log F(s f), s = 1 or -1, with F the logistic function or Phi.
#include <algorithm>
#include <cmath>

#include "likelihoods/pointwise.hpp"
#include "likelihoods/special.hpp"

namespace kernsel {
namespace likelihoods {

namespace {

template <class T>
class Bernoulli : public Pointwise<T> {
 public:
  std::shared_ptr<const Likelihood> with(const std::vector<double>&) const override { return std::make_shared<T>(); }

  const char* fault(double y, double) const { return y == 0.0 || y == 1.0 ? nullptr : "y: expected 0 or 1"; }

  Outcomes outcomes(double) const override { return {0.0, 1.0, true}; }
  Conditional conditional_at(double f, double) const { return {T::up_to(f), T::up_to(f) * T::up_to(-f)}; }
  double probability_at(double y, double f, double) const { return y < 0.0 ? 0.0 : y < 1.0 ? T::up_to(-f) : 1.0; }
};

class Logit final : public Bernoulli<Logit> {
 public:
  std::string name() const override { return "bernoulli_logit"; }
  static double up_to(double f) { return logistic(f); }
  double rough_at(double y, double) const { return y > 0.0 ? 1.0 : -1.0; }
  Density density_at(double y, double, double f) const {
    const double rest = std::exp(-std::abs(f)), larger = 1.0 / (1.0 + rest), smaller = rest * larger;
    const double one = f > 0.0 ? larger : smaller, zero = f > 0.0 ? smaller : larger;
    const double bend = one * zero, slope = bend * (zero - one);
    const double value = std::min(y > 0.0 ? f : -f, 0.0) - std::log1p(rest);
    return {value, y > 0.0 ? zero : -one, -bend, -slope, bend, slope};
  }
};

class Probit final : public Bernoulli<Probit> {
 public:
  std::string name() const override { return "bernoulli_probit"; }
  static double up_to(double f) { return normal_up_to(f); }
  double rough_at(double y, double) const { return y > 0.0 ? 0.6 : -0.6; }
  Density density_at(double y, double, double f) const {
    const double sign = y > 0.0 ? 1.0 : -1.0;
    const LogNormal at = log_normal_slopes(sign * f);
    return {at.value, sign * at.first, at.second, sign * at.third, -at.second, -sign * at.third};
  }

  // E Phi(f) = Phi(m / sqrt(1 + v)).
  Status moments(const Observations& of, const double* mean, const double* variance, Moments* out) const override {
    return for_rows(of.count, 50.0, [&](Index i) {
      const double scale = (of.y[i] > 0.0 ? 1.0 : -1.0) / std::sqrt(1.0 + variance[i]);
      const LogNormal at = log_normal_slopes(scale * mean[i]);
      out[i] = {at.value, scale * at.first, scale * scale * at.second};
    });
  }
  Status predict(const LatentNormal& at, double* mean, double* variance) const override {
    return for_rows(at.count, 50.0, [&](Index i) {
      const double f = at.mean[i] / std::sqrt(1.0 + at.variance[i]);
      mean[i] = up_to(f);
      variance[i] = up_to(f) * up_to(-f);
    });
  }
};

}  // namespace

std::shared_ptr<const Likelihood> bernoulli_logit() { return std::make_shared<Logit>(); }
std::shared_ptr<const Likelihood> bernoulli_probit() { return std::make_shared<Probit>(); }

}  // namespace likelihoods
}  // namespace kernsel

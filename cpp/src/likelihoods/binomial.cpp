// Binomial: y of n trials succeed, each with probability q = 1 / (1 + exp(-f)). log p = log (n over y) + y log q + (n - y)
// log(1 - q).
#include <cmath>

#include "likelihoods/pointwise.hpp"
#include "likelihoods/special.hpp"

namespace kernsel {
namespace likelihoods {

namespace {

class Binomial final : public Pointwise<Binomial> {
 public:
  std::string name() const override { return "binomial"; }
  std::shared_ptr<const Likelihood> with(const std::vector<double>&) const override { return std::make_shared<Binomial>(); }

  const char* fault(double y, double trials) const {
    return is_count(y) && y <= trials ? nullptr : "y: expected counts of successes, whole numbers from 0 to the trials";
  }
  const char* size_fault(double trials) const {
    return is_count(trials) && trials > 0.0 ? nullptr : "trials: expected whole numbers from 1 on";
  }
  double rough_at(double y, double trials) const { return std::log((y + 0.5) / (trials - y + 0.5)); }

  Density density_at(double y, double trials, double f) const {
    const double one = logistic(f), zero = logistic(-f), bend = trials * one * zero, failures = trials - y;
    const double ways = log_factorial(trials) - log_factorial(y) - log_factorial(failures);
    const double of_y = y > 0.0 ? y * softplus(-f) : 0.0, of_rest = failures > 0.0 ? failures * softplus(f) : 0.0;
    const double slope = bend * (zero - one);
    return {ways - of_y - of_rest, y * zero - failures * one, -bend, -slope, bend, slope};
  }

  Outcomes outcomes(double trials) const override { return {0.0, trials, true}; }
  Conditional conditional_at(double f, double trials) const {
    return {trials * logistic(f), trials * logistic(f) * logistic(-f)};
  }
  double probability_at(double y, double f, double trials) const {
    const double count = std::floor(y);
    if (count < 0.0) return 0.0;
    return count >= trials ? 1.0 : incomplete_beta(trials - count, count + 1.0, logistic(-f), logistic(f));
  }
};

}  // namespace

std::shared_ptr<const Likelihood> binomial() { return std::make_shared<Binomial>(); }

}  // namespace likelihoods
}  // namespace kernsel

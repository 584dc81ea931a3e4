// Beta: y between 0 and 1 of mean q = 1 / (1 + exp(-f)): Beta(a, b) with a = c q, b = c (1 - q), c the concentration.
//
//     log p = log Gamma(c) - log Gamma(a) - log Gamma(b) + (a - 1) log y + (b - 1) log(1 - y)
//
// is not concave in f. With A_k = a^k psi_k(a), which stay finite where a vanishes, and q' = 1 - q, D = d/df has
//
//     D log Gamma(a) = q' A_1,    D A_1 = q' (A_1 + A_2),    D A_2 = q' (2 A_2 + A_3),
//
// and the same for b with -f in the place of f. The expected information is q'^2 A_2(a) + q^2 A_2(b).
#include <cmath>

#include "likelihoods/pointwise.hpp"
#include "likelihoods/special.hpp"

namespace kernsel {
namespace likelihoods {

namespace {

// log Gamma(a) for a = c / (1 + exp(-f)), and the first derivatives of log Gamma times powers of a.
struct Shape {
  double log_gamma_of, first, second, third;
};

Shape shape_at(double concentration, double log_concentration, double f) {
  const double a = concentration * logistic(f), square = a * a;
  return {log_gamma(1.0 + a) - log_concentration + softplus(-f), a * digamma(1.0 + a) - 1.0, square * trigamma(1.0 + a) + 1.0,
          square * a * tetragamma(1.0 + a) - 2.0};
}

class Beta final : public Pointwise<Beta> {
 public:
  explicit Beta(double log_concentration) : log_c_(log_concentration), c_(std::exp(log_concentration)) {}

  std::string name() const override { return "beta"; }
  std::vector<LikelihoodParameter> parameters() const override {
    return {{"concentration", log_c_, std::log(1e-2), std::log(1e6), true}};
  }
  std::shared_ptr<const Likelihood> with(const std::vector<double>& values) const override {
    return std::make_shared<Beta>(values[0]);
  }
  bool is_log_concave() const override { return false; }

  const char* fault(double y, double) const {
    return y > 0.0 && y < 1.0 ? nullptr : "y: expected numbers between 0 and 1, neither of which has a density";
  }
  double rough_at(double y, double) const { return std::log(y) - std::log1p(-y); }

  Density density_at(double y, double, double f) const {
    const double q = logistic(f), rest = logistic(-f), log_y = std::log(y), log_rest = std::log1p(-y);
    const Shape a = shape_at(c_, log_c_, f), b = shape_at(c_, log_c_, -f);
    const double line = c_ * q * rest * (log_y - log_rest), bend = q * rest;
    const double value =
        log_gamma(c_) - a.log_gamma_of - b.log_gamma_of + (c_ * q - 1.0) * log_y + (c_ * rest - 1.0) * log_rest;
    const double precision = rest * rest * a.second + q * q * b.second;
    const double slope = rest * rest * (rest * (2.0 * a.second + a.third) - 2.0 * q * a.second) -
                         q * q * (q * (2.0 * b.second + b.third) - 2.0 * rest * b.second);
    return {value,
            line - rest * a.first + q * b.first,
            (rest - q) * line - second_of(a, q, rest) - second_of(b, rest, q),
            (1.0 - 6.0 * bend) * line - third_of(a, q, rest) + third_of(b, rest, q),
            precision,
            slope};
  }

  // In log c, which moves a and b as much.
  DensitySlope slope_at(double y, double, double f, Index) const {
    const double q = logistic(f), rest = logistic(-f), log_y = std::log(y), log_rest = std::log1p(-y);
    const Shape a = shape_at(c_, log_c_, f), b = shape_at(c_, log_c_, -f);
    return {c_ * digamma(c_) - a.first - b.first + c_ * (q * log_y + rest * log_rest),
            c_ * q * rest * (log_y - log_rest) - rest * (a.first + a.second) + q * (b.first + b.second),
            rest * rest * (2.0 * a.second + a.third) + q * q * (2.0 * b.second + b.third)};
  }

  Outcomes outcomes(double) const override { return {0.0, 1.0, false}; }
  Conditional conditional_at(double f, double) const {
    const double q = logistic(f);
    return {q, q * logistic(-f) / (1.0 + c_)};
  }
  double probability_at(double y, double f, double) const {
    const double a = c_ * logistic(f), b = c_ * logistic(-f), vanishing = 1e-300;
    if (!(y > 0.0) || y >= 1.0) return y >= 1.0 ? 1.0 : 0.0;
    if (a < vanishing || b < vanishing) return a < vanishing ? 1.0 : 0.0;
    return incomplete_beta(a, b, y, 1.0 - y);
  }

 private:
  // The second and third derivatives of log Gamma(a) in f, or of log Gamma(b) in -f.
  static double second_of(const Shape& a, double q, double rest) { return rest * (rest * (a.first + a.second) - q * a.first); }
  static double third_of(const Shape& a, double q, double rest) {
    return rest * ((q * q - q * rest) * a.first - 3.0 * q * rest * (a.first + a.second) +
                   rest * rest * (a.first + 3.0 * a.second + a.third));
  }

  double log_c_, c_;
};

}  // namespace

std::shared_ptr<const Likelihood> beta(double concentration) { return std::make_shared<Beta>(std::log(concentration)); }

}  // namespace likelihoods
}  // namespace kernsel

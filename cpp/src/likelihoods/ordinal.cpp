// Ordinal: classes 0, 1, ..., m in an order, divided by thresholds t_1 < ... < t_m. With F the logistic function,
//
//     P(y <= k) = F(t_(k+1) - f),    log p = log F(b) + log F(-a) + log(1 - exp(a - b)),    a = t_y - f, b = t_(y+1) - f,
//
// where the first class has no a and the last no b. Parameters are t_1 and the logarithms of the steps between thresholds.
#include <algorithm>
#include <cmath>

#include "likelihoods/pointwise.hpp"
#include "likelihoods/special.hpp"

namespace kernsel {
namespace likelihoods {

namespace {

class Ordinal final : public Pointwise<Ordinal> {
 public:
  explicit Ordinal(std::vector<double> values) : values_(std::move(values)), thresholds_(values_) {
    for (std::size_t j = 1; j < values_.size(); ++j) thresholds_[j] = thresholds_[j - 1] + std::exp(values_[j]);
  }

  std::string name() const override { return "ordinal"; }
  std::vector<LikelihoodParameter> parameters() const override { return listed(values_); }
  std::vector<double> arguments() const override { return thresholds_; }
  std::shared_ptr<const Likelihood> with(const std::vector<double>& values) const override {
    return std::make_shared<Ordinal>(values);
  }
  // Thresholds by which classes are as frequent as in the data where f is 0.
  std::vector<LikelihoodParameter> start(const Observations& of) const override {
    std::vector<double> values;
    double before = 0.0;
    for (std::size_t j = 0; j < values_.size(); ++j) {
      const auto up_to = std::count_if(of.y, of.y + of.count, [&](double y) { return y <= static_cast<double>(j); });
      const double below = static_cast<double>(up_to) + 0.5, above = static_cast<double>(of.count - up_to) + 0.5;
      const double threshold = std::log(below / above);
      values.push_back(j == 0 ? threshold : std::log(std::max(threshold - before, 0.1)));
      before = j == 0 ? threshold : before + std::exp(values.back());
    }
    return listed(values);
  }

  const char* fault(double y, double) const {
    return is_count(y) && y <= last() ? nullptr : "y: expected classes, whole numbers from 0 to n_classes - 1";
  }
  double rough_at(double y, double) const { return std::log((y + 0.5) / (last() - y + 0.5)); }

  Density density_at(double y, double, double f) const {
    const Ends ends = ends_of(y, f);
    Density out;
    if (ends.lower) add(out, logistic(ends.a), logistic(-ends.a), -softplus(ends.a), 1.0);
    if (ends.upper) add(out, logistic(ends.b), logistic(-ends.b), -softplus(-ends.b), -1.0);
    if (ends.lower && ends.upper) out.value += std::log(-std::expm1(ends.a - ends.b));
    out.precision = -out.second;
    out.slope = -out.third;
    return out;
  }

  DensitySlope slope_at(double y, double size, double f, Index p) const {
    const Ends ends = ends_of(y, f);
    if (p == 0) {  // moves all thresholds: like -f
      const Density at = density_at(y, size, f);
      return {-at.first, -at.second, at.third};
    }
    DensitySlope out;
    const double apart = ends.lower && ends.upper ? 1.0 / std::expm1(ends.b - ends.a) : 0.0;
    const auto bend = [](double x) { return logistic(x) * logistic(-x); };
    const auto twist = [&](double x) { return bend(x) * (logistic(-x) - logistic(x)); };
    const auto k = static_cast<Index>(y);
    if (ends.upper && k >= p) {
      out.value += logistic(-ends.b) + apart;
      out.first += bend(ends.b);
      out.precision += twist(ends.b);
    }
    if (ends.lower && k - 1 >= p) {
      out.value -= logistic(ends.a) + apart;
      out.first += bend(ends.a);
      out.precision += twist(ends.a);
    }
    const double step = std::exp(values_[static_cast<std::size_t>(p)]);
    return {step * out.value, step * out.first, step * out.precision};
  }

  Outcomes outcomes(double) const override { return {0.0, last(), true}; }
  Conditional conditional_at(double f, double) const {
    double mean = 0.0, square = 0.0;
    for (std::size_t j = 0; j < thresholds_.size(); ++j) {
      const double beyond = logistic(f - thresholds_[j]);
      mean += beyond;
      square += static_cast<double>(2 * j + 1) * beyond;
    }
    return {mean, std::max(square - mean * mean, 0.0)};
  }
  double probability_at(double y, double f, double) const {
    if (y < 0.0) return 0.0;
    return y >= last() ? 1.0 : logistic(thresholds_[static_cast<std::size_t>(y)] - f);
  }

 private:
  struct Ends {
    double a = 0.0, b = 0.0;
    bool lower = false, upper = false;  // whether there is a, and b
  };
  Ends ends_of(double y, double f) const {
    const auto k = static_cast<std::size_t>(y);
    Ends out;
    out.lower = k > 0;
    out.upper = k < thresholds_.size();
    if (out.lower) out.a = thresholds_[k - 1] - f;
    if (out.upper) out.b = thresholds_[k] - f;
    return out;
  }

  // Adds log F(b), if sign is -1, or log F(-a), if it is 1: `one` is F there, `zero` is 1 - F.
  static void add(Density& to, double one, double zero, double value, double sign) {
    to.value += value;
    to.first += sign > 0.0 ? one : -zero;
    to.second -= one * zero;
    to.third += one * zero * (zero - one);
  }

  double last() const { return static_cast<double>(thresholds_.size()); }

  static std::vector<LikelihoodParameter> listed(const std::vector<double>& values) {
    std::vector<LikelihoodParameter> out = {{"threshold", values[0], -30.0, 30.0, false}};
    for (std::size_t j = 1; j < values.size(); ++j)
      out.push_back({"step_" + std::to_string(j), values[j], std::log(1e-3), std::log(30.0), true});
    return out;
  }

  std::vector<double> values_, thresholds_;  // as parameters, and themselves
};

}  // namespace

std::shared_ptr<const Likelihood> ordinal(const std::vector<double>& thresholds) {
  std::vector<double> values = thresholds;
  for (std::size_t j = 1; j < values.size(); ++j) values[j] = std::log(thresholds[j] - thresholds[j - 1]);
  return std::make_shared<Ordinal>(std::move(values));
}

}  // namespace likelihoods
}  // namespace kernsel

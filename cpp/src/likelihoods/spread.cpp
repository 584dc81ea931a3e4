#include "likelihoods/spread.hpp"

#include <algorithm>
#include <cmath>

namespace kernsel {

namespace {

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<Index>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// If half of the values are equal, the standard deviation; 1 if all are.
double spread_of(const Observations& of) {
  if (of.count == 0) return 1.0;
  std::vector<double> values(of.y, of.y + of.count);
  const double middle = median(values);
  double square = 0.0;
  for (double& value : values) {
    value = std::abs(value - middle);
    square += value * value / static_cast<double>(of.count);
  }
  const double half = median(values);
  if (half > 0.0) return half / 0.6744897501960817;
  return square > 0.0 ? std::sqrt(square) : 1.0;
}

}  // namespace

LikelihoodParameter scale_parameter(const char* name, double logarithm) { return {name, logarithm, -345.0, 345.0, true}; }

void from_spread(LikelihoodParameter& parameter, const Observations& of, double power) {
  const double log_spread = std::log(spread_of(of));
  parameter.spread_power = power;
  parameter.value = power * (log_spread - std::log(3.0));
  parameter.lower = power * (log_spread - std::log(1e4));
  parameter.upper = power * (log_spread + std::log(10.0));
}

}  // namespace kernsel

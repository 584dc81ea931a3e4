// The Matern kernel of any smoothness nu, as a table: f(a) = 2^(1-nu) / Gamma(nu) a^nu K_nu(a) with a = (2 nu s)^(1/2), where s
// is a squared distance in units of the length scales.
//
// Bessel functions are slow, and f is needed for millions of distances at one nu. Its logarithm is therefore tabulated once for
// each nu, by polynomials on quarters of octaves of a. The values at the nodes come from f as a mixture of Gaussians over u ~
// Gamma(nu),
//     f(a) = E exp(-a^2 / (4u)),    df/ds = -(nu/2) E exp(-a^2 / (4u)) / u,
// integrated over log u by the trapezoidal rule, which converges exponentially here and adds positive terms only. There is no
// cancellation, no recurrence, and no special case for whole or half-integer nu.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace kernsel {

class MaternTable {
 public:
  static constexpr double smallest_nu = 1e-6, largest_nu = 100.0;  // integrals for smaller nu take too long
  static std::shared_ptr<const MaternTable> of(double nu);         // returns the table for nu, from a cache
  explicit MaternTable(double nu);

  // log f(a), a >= 0.
  double log_value(double a) const {
    if (a < smallest) return small_log_value(a);
    if (!(a < largest)) return -HUGE_VAL;
    const Interval& at = interval(a);
    return polynomial(at.value, (a - at.center) * at.scale);
  }
  // log(-df/ds / f), a > 0.
  double log_rate(double a) const {
    if (a < smallest) return small_log_rate(a);
    if (!(a < largest)) return 0.0;
    const Interval& at = interval(a);
    return polynomial(at.rate, (a - at.center) * at.scale);
  }

 private:
  static constexpr int terms = 15;
  static constexpr int first_octave = -32, octaves = 43;
  static constexpr double smallest = 0x1p-32, largest = 0x1p11;

  struct Interval {
    double center, scale;
    std::array<double, terms> value, rate;  // coefficients of log_value and log_rate, highest power first
  };

  static double polynomial(const std::array<double, terms>& c, double t) {
    double sum = c[0];
    for (std::size_t i = 1; i < c.size(); ++i) sum = sum * t + c[i];
    return sum;
  }
  // The exponent and the first two bits of the mantissa of a are the number of its interval.
  const Interval& interval(double a) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &a, sizeof bits);
    return intervals_[static_cast<std::size_t>((bits >> 50) - ((1023 + first_octave) * 4))];
  }
  double small_log_value(double a) const;
  double small_log_rate(double a) const;

  double nu_;
  std::vector<Interval> intervals_;
};

}  // namespace kernsel

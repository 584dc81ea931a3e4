#include "likelihoods/special.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "likelihoods/legendre.hpp"

namespace kernsel {

namespace {

constexpr double pi = 3.14159265358979323846, log_two_pi = 1.83787706640934548356;
constexpr double euler = 0.57721566490153286061;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double large = 12.0;  // from which on asymptotic series are exact

// zeta(k) - 1 for k = 2, 3, ...
constexpr double zeta_less_one[] = {
    0.6449340668482264,    0.2020569031595943,     0.08232323371113819,   0.03692775514336993,   0.01734306198444914,
    0.008349277381922827,  0.00407735619794434,    0.0020083928260822143, 0.0009945751278180853, 0.0004941886041194645,
    0.0002460865533080483, 0.00012271334757848915, 6.124813505870483e-05, 3.058823630702049e-05, 1.528225940865187e-05,
    7.637197637899763e-06, 3.81729326499984e-06,   1.908212716553939e-06, 9.539620338727962e-07, 4.769329867878064e-07,
    2.38450502727733e-07,  1.1921992596531106e-07, 5.960818905125948e-08, 2.980350351465228e-08, 1.4901554828365043e-08,
    7.45071178983543e-09,  3.725334024788457e-09,  1.862659723513049e-09};

// log Gamma(2 + z) for |z| <= 1/2, by its Taylor series.
double log_gamma_near_two(double z) {
  double sum = 0.0, power = 1.0;
  for (int k = 2; k < 30; ++k) {
    power *= -z;
    sum += zeta_less_one[k - 2] * power / k;
  }
  return z * (1.0 - euler - sum);
}

// What Stirling's formula leaves of log Gamma(x), x >= `large`.
double rest_of_large(double x) {
  const double r = 1.0 / x, s = r * r;
  return r * (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s * (1.0 / 1188 - s * (691.0 / 360360))))));
}

// What log x leaves of digamma(x), x >= `large`.
double digamma_rest(double x) {
  const double r = 1.0 / x, s = r * r;
  return -0.5 * r -
         s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * (691.0 / 32760))))));
}

// log q - (q - 1) for a ratio q = 1 + t > 0.
double log_less_line(double ratio, double t) {
  if (std::abs(t) > 0.3) return std::log(ratio) - t;
  // With u = t / (2 + t), log(1 + t) = 2 (u + u^3 / 3 + ...), and t = 2 u + u t.
  const double u = t / (2.0 + t), square = u * u;
  double sum = 0.0;
  for (int k = 27; k >= 3; k -= 2) sum = (sum + 1.0 / k) * square;
  return u * (2.0 * sum - t);
}

// x^a exp(-x) / Gamma(a): with the exponent measured from its maximum, nothing large cancels.
double gamma_power(double a, double x) {
  return std::sqrt(a / (2.0 * pi)) * std::exp(a * log_less_line(x / a, (x - a) / a) - stirling_rest(a));
}

// The integral of gamma_power(a, t) / t from x away from a, for large a. With t = a + z sqrt(a), its logarithm falls like
// -z^2 / 2, so that it is negligible after 80 = z^2 - z_0^2.
double gamma_tail(double a, double x) {
  const double root = std::sqrt(a), from = (x - a) / root, sign = from < 0.0 ? -1.0 : 1.0, least = std::abs(from);
  if (least > 1e3) return 0.0;  // and its square may overflow
  double end = std::sqrt(least * least + 80.0) + 2.0;
  if (sign < 0.0) end = std::min(end, root * (1.0 - 1e-12));
  constexpr int pieces = 4;
  const double width = (end - least) / pieces;
  const LegendreRule& rule = legendre_rule();
  double sum = 0.0;
  for (int piece = 0; piece < pieces; ++piece)
    for (int k = 0; k < LegendreRule::size; ++k) {
      const double z = sign * (least + width * (piece + rule.node[k])), t = a + z * root;
      sum += rule.weight[k] * gamma_power(a, t) / t;
    }
  return sum * width * root;
}

constexpr double large_shape = 200.0;  // from which on integrals are evaluated as such
constexpr double far = 1e5;            // exp(-x) x^a is zero for an x that is as many times a
constexpr int most_terms = 2000;
constexpr double tiny = 1e-290;

double gamma_series(double a, double x) {
  double term = 1.0 / a, sum = term;
  for (int k = 1; k < most_terms && term > sum * 1e-17; ++k) sum += term *= x / (a + k);
  return sum * gamma_power(a, x);
}

// Lentz's evaluation of b0 + a1 / (b1 + a2 / (b2 + ...)), where terms(k) returns the pair (a_k, b_k).
template <class F>
double continued_fraction(double b0, const F& terms) {
  double value = b0 == 0.0 ? tiny : b0, c = value, d = 0.0;
  for (int k = 1; k < most_terms; ++k) {
    const auto [a, b] = terms(k);
    d = b + a * d;
    c = b + a / c;
    d = 1.0 / (d == 0.0 ? tiny : d);
    if (c == 0.0) c = tiny;
    const double factor = c * d;
    value *= factor;
    if (std::abs(factor - 1.0) < 1e-16) break;
  }
  return value;
}

struct Pair {
  double a, b;
};

double gamma_fraction(double a, double x) {
  return gamma_power(a, x) / continued_fraction(x + 1.0 - a, [&](int k) { return Pair{-k * (k - a), x + 2.0 * k + 1.0 - a}; });
}

// The incomplete beta function for an x that is not above (a + 1) / (a + b + 2), by x^a (1 - x)^b / B(a, b), its exponent
// measured from the maximum at x = a / (a + b).
double beta_fraction(double a, double b, double x, double rest) {
  const double n = a + b, t = (x * b - rest * a) / a, u = (rest * a - x * b) / b;
  const double rests = stirling_rest(n) - stirling_rest(a) - stirling_rest(b);
  const double power = std::sqrt(a * (b / n) / (2.0 * pi)) *
                       std::exp(a * log_less_line(x * (n / a), t) + b * log_less_line(rest * (n / b), u) + rests);
  const double fraction = continued_fraction(1.0, [&](int k) {
    const double m = k / 2, c = a + 2.0 * m;
    return Pair{x * (k % 2 ? -(a + m) / c * ((n + m) / (c + 1.0)) : m / (c - 1.0) * ((b - m) / c)), 1.0};
  });
  return std::min(power / (a * fraction), 1.0);
}

}  // namespace

double log_gamma(double x) {
  if (!(x > 0.0)) return std::isnan(x) ? x : infinity;
  if (x >= large) return (x - 0.5) * std::log(x) - x + 0.5 * log_two_pi + rest_of_large(x);
  if (x < 0.5) return log_gamma(1.0 + x) - std::log(x);
  if (x < 1.5) return log_gamma_near_two(x - 1.0) - std::log1p(x - 1.0);
  double product = 1.0;
  while (x > 2.5) product *= x -= 1.0;
  return log_gamma_near_two(x - 2.0) + std::log(product);
}

double stirling_rest(double x) {
  return x >= large ? rest_of_large(x) : log_gamma(x) - ((x - 0.5) * std::log(x) - x + 0.5 * log_two_pi);
}

double log_factorial(double count) { return log_gamma(count + 1.0); }

double digamma(double x) {
  double below = 0.0;
  for (; x < large; x += 1.0) below += 1.0 / x;
  return std::log(x) + digamma_rest(x) - below;
}

double trigamma(double x) {
  double below = 0.0;
  for (; x < large; x += 1.0) below += 1.0 / (x * x);
  const double r = 1.0 / x, s = r * r;
  const double rest = s * (1.0 / 6 - s * (1.0 / 30 - s * (1.0 / 42 - s * (1.0 / 30 - s * (5.0 / 66 - s * (691.0 / 2730))))));
  return r * (1.0 + 0.5 * r + rest) + below;
}

double tetragamma(double x) {
  double below = 0.0;
  for (; x < large; x += 1.0) below += 2.0 / (x * x * x);
  const double r = 1.0 / x, s = r * r;
  const double rest = s * (0.5 - s * (1.0 / 6 - s * (1.0 / 6 - s * (3.0 / 10 - s * (5.0 / 6 - s * (691.0 / 210))))));
  return -s * (1.0 + r + rest) - below;
}

double log_rising(double x, double count) {
  if (x < large) return log_gamma(x + count) - log_gamma(x);
  return (x - 0.5) * std::log1p(count / x) + count * std::log(x + count) - count + rest_of_large(x + count) - rest_of_large(x);
}

double digamma_rise(double x, double count) {
  if (x < large) return digamma(x + count) - digamma(x);
  return std::log1p(count / x) + digamma_rest(x + count) - digamma_rest(x);
}

double lower_gamma(double a, double x) {
  if (!(x > 0.0)) return std::isnan(x) ? x : 0.0;
  if (a == infinity) return 0.0;
  if (x == infinity || x > far * (a + 1.0)) return 1.0;
  if (a >= large_shape) return x < a ? gamma_tail(a, x) : 1.0 - gamma_tail(a, x);
  return x < a + 1.0 ? std::min(gamma_series(a, x), 1.0) : 1.0 - gamma_fraction(a, x);
}

double upper_gamma(double a, double x) {
  if (!(x > 0.0)) return std::isnan(x) ? x : 1.0;
  if (a == infinity) return 1.0;
  if (x == infinity || x > far * (a + 1.0)) return 0.0;
  if (a >= large_shape) return x < a ? 1.0 - gamma_tail(a, x) : gamma_tail(a, x);
  return x < a + 1.0 ? std::max(1.0 - gamma_series(a, x), 0.0) : gamma_fraction(a, x);
}

double incomplete_beta(double a, double b, double x, double rest) {
  if (!(x > 0.0)) return std::isnan(x) ? x : 0.0;
  if (!(rest > 0.0)) return 1.0;
  const bool above = x * (a + b + 2.0) > a + 1.0;
  return above ? 1.0 - beta_fraction(b, a, rest, x) : beta_fraction(a, b, x, rest);
}

double log_normal_density(double x) { return -0.5 * (x * x + log_two_pi); }

double normal_up_to(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }

double log_normal(double x) {
  if (x > 0.0) return std::log1p(-normal_up_to(-x));
  return x > -30.0 ? std::log(normal_up_to(x)) : log_normal_slopes(x).value;
}

LogNormal log_normal_slopes(double x) {
  if (x > -6.0) {
    const double value = log_normal(x), first = std::exp(log_normal_density(x) - value);
    const double excess = first + x, second = -first * excess;
    return {value, first, second, -second * excess - first * (second + 1.0)};
  }
  // phi(x) / Phi(x) = t + e for t = -x, e = 1 / (t + g), g = 2 / (t + 3 / (t + 4 / ...)).
  const double t = -x, g = 2.0 / continued_fraction(t, [&](int k) { return Pair{k + 2.0, t}; });
  const double e = 1.0 / (t + g), first = t + e;
  return {log_normal_density(x) - std::log(first), first, -first * e, first * e * (2.0 * e - g)};
}

double normal_quantile(double p) {
  if (!(p > 0.0)) return p == 0.0 ? -infinity : std::numeric_limits<double>::quiet_NaN();
  if (p > 0.5) return p < 1.0 ? -normal_quantile(1.0 - p) : p == 1.0 ? infinity : std::numeric_limits<double>::quiet_NaN();
  // log Phi is concave and grows: from the left, Newton's steps only approach the root.
  const double goal = std::log(p);
  double x = -std::sqrt(std::max(-2.0 * goal - 1.0, 0.0)) - 1.0;
  for (int step = 0; step < 50; ++step) {
    const LogNormal at = log_normal_slopes(x);
    const double move = (goal - at.value) / at.first;
    x += move;
    if (std::abs(move) <= 1e-15 * std::max(std::abs(x), 1e-2)) break;
  }
  return x;
}

double logistic(double f) {
  if (f >= 0.0) return 1.0 / (1.0 + std::exp(-f));
  const double e = std::exp(f);
  return e / (1.0 + e);
}

double softplus(double f) { return std::max(f, 0.0) + std::log1p(std::exp(-std::abs(f))); }

}  // namespace kernsel

#include "kernels/nodes/matern_table.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

#include <map>
#include <mutex>

namespace kernsel {

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double negligible = -42.0;  // terms below e^-42 < 1e-18 of the largest are left out

struct Logarithms {
  double value, rate;  // the logarithms of f and of -df/ds / f
};

// Integrates over v, u = u_0 e^v, where u_0 is the peak of the integrand over log u; relative to the peak it is exp(nu v - u_0
// (e^v - 1) - w (e^-v - 1)), w = a^2 / (4 u_0). The peak value is taken relative to that for a = 0, which is at u = nu.
Logarithms integrate(double nu, double a) {
  const double curvature = std::sqrt(nu * nu + a * a);
  const double shift = a * a / (2.0 * (curvature + nu));  // u_0 - nu
  const double u = nu + shift, w = a * a / (4.0 * u);
  const double step = std::min(0.15, 0.5 / std::sqrt(curvature));
  long double sum = 1.0L, over_u = 1.0L;  // long double, since the sums have many terms
  for (const double direction : {step, -step}) {
    for (int j = 1;; ++j) {
      const double v = direction * j, term = nu * v - u * std::expm1(v) - w * std::expm1(-v);
      if (term < negligible && term - v < std::log(static_cast<double>(over_u)) + negligible) break;
      sum += std::exp(term);
      over_u += std::exp(term - v);
    }
  }
  // Gamma(nu) is integrated in the same way, so that errors cancel, except for small nu, where its integral has a long tail.
  double log_gamma = std::lgamma(nu) - nu * std::log(nu) + nu;
  if (nu > 2.0) {
    const double width = std::min(0.15, 0.5 / std::sqrt(nu));
    long double all = 1.0L;
    for (const double direction : {width, -width}) {
      for (int j = 1;; ++j) {
        const double v = direction * j, term = nu * (v - std::expm1(v));
        if (term < negligible) break;
        all += std::exp(term);
      }
    }
    log_gamma = std::log(static_cast<double>(width * all));
  }
  const double log_value = nu * std::log1p(shift / nu) - shift - w + std::log(static_cast<double>(step * sum)) - log_gamma;
  return {log_value, std::log(nu / 2.0 / u * static_cast<double>(over_u / sum))};
}

// 1 - f(a) = E (1 - exp(-a^2 / (4u))) over u ~ Gamma(nu), u = nu e^v: for small a, where the difference 1 - f would lose
// digits.
double one_minus_value(double nu, double a) {
  const double step = std::min(0.15, 0.5 / std::sqrt(nu)), w = a * a / (4.0 * nu);
  long double sum = -std::expm1(-w), all = 1.0L;
  for (const double direction : {step, -step}) {
    for (int j = 1;; ++j) {
      const double v = direction * j, term = nu * (v - std::expm1(v));
      if (term < negligible) break;
      const double weight = std::exp(term);
      sum += weight * -std::expm1(-w * std::exp(-v));
      all += weight;
    }
  }
  return static_cast<double>(sum / all);
}

Logarithms log_matern(double nu, double a) {
  Logarithms at = integrate(nu, a);
  if (at.value > -0.7) at.value = std::log1p(-one_minus_value(nu, a));
  return at;
}

// The i-th Chebyshev point of [-1, 1].
double node(std::size_t i, std::size_t count) {
  return std::cos(pi * (static_cast<double>(i) + 0.5) / static_cast<double>(count));
}

// Returns the polynomial in t that has these values at the Chebyshev points node(i), highest power first.
template <std::size_t terms>
std::array<double, terms> fit(std::array<double, terms> values) {
  std::array<double, terms> result{};
  // Rounding errors are proportional to the values that are fitted. These are therefore differences from the value in the
  // middle, which is added at the end.
  const double middle = values[terms / 2];
  for (double& value : values) value -= middle;
  std::array<double, terms> before{}, now{};  // Chebyshev polynomials in powers of t, lowest power first
  before[0] = 1.0;
  now[1] = 1.0;
  for (std::size_t n = 0; n < terms; ++n) {
    double c = 0.0;
    for (std::size_t i = 0; i < terms; ++i)
      c += values[i] * std::cos(pi * static_cast<double>(n) * (static_cast<double>(i) + 0.5) / terms);
    c *= (n == 0 ? 1.0 : 2.0) / terms;
    for (std::size_t p = 0; p < terms; ++p) result[terms - 1 - p] += c * before[p];
    std::array<double, terms> next{};
    for (std::size_t p = 0; p + 1 < terms; ++p) next[p + 1] = 2.0 * now[p];
    for (std::size_t p = 0; p < terms; ++p) next[p] -= before[p];
    before = now;
    now = next;
  }
  result[terms - 1] += middle;
  return result;
}

}  // namespace

MaternTable::MaternTable(double nu) : nu_(nu) {
  for (int octave = first_octave; octave < first_octave + octaves; ++octave) {
    for (int quarter = 0; quarter < 4; ++quarter) {
      Interval interval{};
      const double half = std::ldexp(0.125, octave);
      interval.center = std::ldexp(1.0 + 0.25 * quarter, octave) + half;
      interval.scale = 1.0 / half;
      std::array<double, terms> values{}, rates{};
      for (std::size_t i = 0; i < terms; ++i) {
        const double a = interval.center + half * node(i, terms);
        const Logarithms f = log_matern(nu, a);
        values[i] = f.value;
        rates[i] = f.rate;
      }
      interval.value = fit(values);
      interval.rate = fit(rates);
      intervals_.push_back(interval);
    }
  }
}

// For a below the table and nu < 0.9, f = 1 - Gamma(1-nu) / Gamma(1+nu) (a/2)^(2 nu) in double precision; for larger nu, f = 1.
double MaternTable::small_log_value(double a) const {
  if (a == 0.0 || nu_ >= 0.9) return 0.0;
  return std::log1p(-std::exp(std::lgamma(1.0 - nu_) - std::lgamma(1.0 + nu_) + 2.0 * nu_ * std::log(a / 2.0)));
}

// The rate for that f, which grows as a^(2 nu - 2) towards 0. For nu >= 0.9, gradients multiply it by s < 1e-19, so that the
// rate at the beginning of the table is good enough.
double MaternTable::small_log_rate(double a) const {
  if (nu_ >= 0.9) return log_rate(smallest);
  const double change = std::lgamma(1.0 - nu_) - std::lgamma(1.0 + nu_) + 2.0 * nu_ * std::log(a / 2.0) + std::log(nu_);
  return change + std::log(2.0 * nu_) - 2.0 * std::log(a) - small_log_value(a);
}

namespace {

std::mutex mutex;
std::map<double, std::shared_ptr<const MaternTable>> known;

#if defined(__unix__) || defined(__APPLE__)
// Without this, a child of fork() might find the mutex locked by a thread that does not exist there.
[[maybe_unused]] const int fork_handler = pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
#endif

}  // namespace

std::shared_ptr<const MaternTable> MaternTable::of(double nu) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = known.find(nu);
    if (found != known.end()) return found->second;
  }
  auto table = std::make_shared<const MaternTable>(nu);
  const std::lock_guard<std::mutex> lock(mutex);
  if (known.size() > 64) known.clear();  // kernels hold the tables that they use
  return known.emplace(nu, std::move(table)).first->second;
}

}  // namespace kernsel

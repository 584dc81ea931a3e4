// Bernoulli: y is 1 with probability F(f), otherwise 0. log p = log F(s f), s = 1 or -1, with F the logistic function or Phi.
#include <algorithm>
#include <cmath>
#include <vector>

#include "likelihoods/legendre.hpp"
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

constexpr double log_root_two_pi = 0.91893853320467274178;

// Variances for which logistic_moments() takes few nodes, and those of wide_logistic_moments().
bool is_moderate(double variance) { return variance > 1e-6 && variance < 10.0; }
bool is_wide(double variance) { return variance >= 10.0 && variance <= 1e12; }

// Moments of y = 1 over f = m + d, d ~ N(0, v), by the trapezoidal rule. With the step h its error is exp(-2 pi^2 v / h^2) for
// the normal density, exp(-30) here, and exp(pi^2 / (2 v) - 2 pi^2 / h) for the poles of the logistic function at i pi and -i
// pi, exp(-36) here, which the derivatives have with a higher order. Without its small factor u the integrand is largest at
// some d between 0 and v, with it between -v and v for positive m, between 0 and 2 v otherwise.
Moments logistic_moments(double m, double v) {
  constexpr double pi = 3.14159265358979323846;
  const double s = std::sqrt(v), h = std::min(0.8 * s, 2.0 * pi * pi / (36.0 + 0.5 * pi * pi / v));
  const double begin = -7.5 * s - (m > 0.0 ? v : 0.0);
  const auto steps = static_cast<int>(std::ceil((15.0 * s + 2.0 * v) / h));
  double all = 0.0, first = 0.0, away = 0.0, both = 0.0;
  for (int k = 0; k <= steps; ++k) {
    const double d = begin + k * h, f = m + d, rest = std::exp(-std::abs(f)), larger = 1.0 / (1.0 + rest);
    const double one = f > 0.0 ? larger : rest * larger, zero = f > 0.0 ? rest * larger : larger;
    // p, or where it may be tiny p exp(-m); and (log p)' = zero = 1 - one, or there -one.
    const double p = m > 0.0 ? one : f > 0.0 ? larger * std::exp(-m) : larger * std::exp(d);
    const double weight = p * std::exp(-0.5 * d * d / v), u = m > 0.0 ? zero : -one;
    all += weight;
    first += weight * u;
    away += weight * d;
    both += weight * u * d;
  }
  const double mean = first / all, value = std::log(all * h / (s * std::sqrt(2.0 * pi)));
  return {m > 0.0 ? value : value + m, m > 0.0 ? mean : mean + 1.0, (both / all - mean * away / all) / v};
}

constexpr double reach = 38.0;  // beyond which the logistic function is exp(f) or 1 up to rounding

// Gauss-Legendre panels from -reach to reach, for a normal density times the logistic function p, and q = 1 - p.
struct WideRule {
  static constexpr int panels = 11, size = panels * LegendreRule::size;
  double node[size], log_mass[size], p[size], q[size];
};

WideRule make_wide_rule() {
  const LegendreRule& panel = legendre_rule();
  WideRule rule{};
  constexpr double width = 2.0 * reach / WideRule::panels;
  for (int k = 0; k < WideRule::size; ++k) {
    const int at = k / LegendreRule::size, i = k % LegendreRule::size;
    const double f = -reach + width * (at + panel.node[i]);
    rule.node[k] = f;
    rule.p[k] = logistic(f);
    rule.q[k] = logistic(-f);
    rule.log_mass[k] = std::log(width * panel.weight[i]) - softplus(-f);
  }
  return rule;
}

// The logarithm of the integral of exp(times f - (f - m)^2 / (2 v)) / s over side f > reach, s = sqrt(v), side 1 or -1.
double log_tail(double side, double times, double m, double v) {
  const double s = std::sqrt(v), z = (reach - side * (m + times * v)) / s, end = (reach - side * m) / s;
  const LogNormal at = log_normal_slopes(-z);
  if (z <= 0.0) return times * (m + 0.5 * times * v) + at.value + log_root_two_pi;
  return side * times * reach - 0.5 * end * end - std::log(at.first);
}

// Moments of y = 1 over f ~ N(m, v) of large v: by the rule for |f| < reach, in closed form beyond. With means over p times the
// normal density, the derivatives of log E p are E q and Var q - E p q.
Moments wide_logistic_moments(double m, double v) {
  static const WideRule rule = make_wide_rule();
  const double s = std::sqrt(v), left = log_tail(-1.0, 1.0, m, v), right = log_tail(1.0, 0.0, m, v);
  double terms[WideRule::size], largest = std::max(left, right);
  for (int k = 0; k < WideRule::size; ++k) {
    const double x = (rule.node[k] - m) / s;
    terms[k] = rule.log_mass[k] - 0.5 * x * x - std::log(s);
    largest = std::max(largest, terms[k]);
  }
  double all = 0.0, p = 0.0, q = 0.0, pp = 0.0, qq = 0.0, pq = 0.0;
  const auto add = [&](double mass, double one, double zero) {
    all += mass;
    p += mass * one;
    q += mass * zero;
    pp += mass * one * one;
    qq += mass * zero * zero;
    pq += mass * one * zero;
  };
  for (int k = 0; k < WideRule::size; ++k) add(std::exp(terms[k] - largest), rule.p[k], rule.q[k]);
  const double of_p = std::exp(std::min(log_tail(-1.0, 2.0, m, v) - left, 0.0));
  const double of_q = std::exp(std::min(log_tail(1.0, -1.0, m, v) - right, 0.0));
  add(std::exp(left - largest), of_p, 1.0 - of_p);
  add(std::exp(right - largest), 1.0 - of_q, of_q);
  for (double* sum : {&p, &q, &pp, &qq, &pq}) *sum /= all;
  const double variance = p < q ? pp - p * p : qq - q * q;  // of q and of p: the smaller one loses fewer digits
  return {largest + std::log(all) - log_root_two_pi, q, variance - pq};
}

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

  Status moments(const Observations& of, const double* mean, const double* variance, Moments* out) const override {
    std::vector<Index> others;
    std::vector<double> y, m, v;
    for (Index i = 0; i < of.count; ++i) {
      if (is_moderate(variance[i]) || is_wide(variance[i])) continue;
      others.push_back(i);
      y.push_back(of.y[i]);
      m.push_back(mean[i]);
      v.push_back(variance[i]);
    }
    std::vector<Moments> found(others.size());
    Status status;
    if (!others.empty())
      status = Likelihood::moments({static_cast<Index>(y.size()), y.data()}, m.data(), v.data(), found.data());
    for (std::size_t k = 0; k < others.size() && status.ok(); ++k) out[others[k]] = found[k];
    if (!status.ok()) return status;
    return for_rows(of.count, 500.0, [&](Index i) {
      if (!is_moderate(variance[i]) && !is_wide(variance[i])) return;
      const double sign = of.y[i] > 0.0 ? 1.0 : -1.0;
      const Moments at = is_wide(variance[i]) ? wide_logistic_moments(sign * mean[i], variance[i])
                                              : logistic_moments(sign * mean[i], variance[i]);
      out[i] = {at.value, sign * at.first, at.second};
    });
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

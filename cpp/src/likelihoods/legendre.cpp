#include "likelihoods/legendre.hpp"

#include <cmath>

namespace kernsel {

namespace {

constexpr int n = LegendreRule::size;

// The Legendre polynomials P_0, ..., P_n at t.
void polynomials(double t, double* p) {
  p[0] = 1.0;
  p[1] = t;
  for (int k = 2; k <= n; ++k) p[k] = ((2 * k - 1) * t * p[k - 1] - (k - 1) * p[k - 2]) / k;
}

LegendreRule make() {
  LegendreRule rule{};
  double p[n + 1];
  for (int i = 0; i < n; ++i) {
    double t = -std::cos(3.14159265358979323846 * (i + 0.75) / (n + 0.5)), slope = 0.0;
    for (int step = 0; step < 10; ++step) {
      polynomials(t, p);
      slope = n * (p[n - 1] - t * p[n]) / (1.0 - t * t);
      t -= p[n] / slope;
    }
    polynomials(t, p);
    rule.node[i] = 0.5 * (1.0 + t);
    rule.weight[i] = 1.0 / ((1.0 - t * t) * slope * slope);
    for (int k = 0; k < 2; ++k) rule.last[k][i] = (2 * (n - 2 + k) + 1) * rule.weight[i] * p[n - 2 + k];
  }
  return rule;
}

}  // namespace

const LegendreRule& legendre_rule() {
  static const LegendreRule rule = make();
  return rule;
}

}  // namespace kernsel

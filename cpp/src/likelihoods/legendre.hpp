// The Gauss-Legendre rule from 0 to 1, and how well it resolves a function.
#pragma once

namespace kernsel {

struct LegendreRule {
  static constexpr int size = 20;
  double node[size], weight[size];
  // The last two coefficients of a function's Legendre series are sums of its values at the nodes with these weights. If they
  // are small the rule, which is exact for twice as many coefficients, is exact; or nearly so, if the function has a kink.
  double last[2][size];
};

const LegendreRule& legendre_rule();

}  // namespace kernsel

// A fit, with all that does not depend on the criterion.
#pragma once

#include <memory>
#include <vector>

#include "kernsel/criteria.hpp"
#include "program.hpp"
#include "tall.hpp"

namespace kernsel {

// The trend: V with P_H = P - V V'.
struct Trend {
  Tall V;
  std::vector<double> R;  // (q, q), upper, by columns: H'PH = R'R
  Index q = 0;
  double log_det = 0.0;  // log det H'PH - log det H'H: the same for any basis
};

// B <- B - V (V' other)
void project(const Trend& trend, View<const double> other, Index n, Tall& B);

struct State {
  State(const Kernel& kernel, const Problem& given, LowerTiles<double>& buffer)
      : k(kernel), problem(given), P(buffer), n(given.X.rows), m(given.y.cols) {}

  const Kernel& k;
  const Problem& problem;
  LowerTiles<double>& P;  // first L
  std::unique_ptr<Program<double>> program;
  Index n, m, padded = 0;
  Tall c;
  Trend trend;
  std::vector<double> noise, precision;
  double log_det = 0.0;
};

// What is wrong with a problem; the fit up to c, with L in P's place; then the diagonal of P., and with `whole` P in place of
// L. Where it is divided by, `strict`, it must not be zero.
Status check(const Problem& problem);
Status start(State& state, bool differentiated);
Status find_precision(State& state, bool whole, bool strict);
void report(const State& state, Evaluation& out);

}  // namespace kernsel

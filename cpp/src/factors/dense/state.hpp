// A fit by the whole kernel matrix, with all that does not depend on the criterion.
#pragma once

#include <memory>
#include <vector>

#include "factors/trend.hpp"
#include "kernels/program.hpp"
#include "kernsel/factor.hpp"
#include "tiles/tall.hpp"

namespace kernsel {

struct State {
  State(Kernel kernel, const Problem& given, LowerTiles<double>& buffer)
      : k(std::move(kernel)), problem(given), P(buffer), n(given.X.rows), m(given.y.cols) {}

  Kernel k;
  Problem problem;
  LowerTiles<double>& P;  // first L
  std::unique_ptr<Program<double>> program;
  Index n, m, padded = 0;
  Tall c;
  Trend trend;
  std::vector<double> noise, precision;
  double log_det = 0.0;
};

// The fit up to c, with L in P's place; then the diagonal of P., and with `whole` P in place of L. Where it is divided by,
// `strict`, it must not be zero.
Status start(State& state, bool differentiable);
Status find_precision(State& state, bool whole, bool strict);

}  // namespace kernsel

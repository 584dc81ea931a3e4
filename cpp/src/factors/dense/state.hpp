// The quantities of a fit by the whole kernel matrix (fit.hpp), none of which depends on the criterion.
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
  LowerTiles<double>& P;  // the Cholesky factor L of K~, or P after find_precision() with `whole`
  std::unique_ptr<Program<double>> program;
  Index n, m, padded = 0;
  Tall c;
  Trend trend;
  std::vector<double> noise, precision;
  double log_det = 0.0;
};

// start() computes all but the diagonal of P., and leaves L in state.P. find_precision() computes this diagonal, and with
// `whole` replaces L with all of P. With `strict`, for callers that divide by the diagonal, it fails if an entry is zero to
// rounding.
Status start(State& state, bool differentiable);
Status find_precision(State& state, bool whole, bool strict);

}  // namespace kernsel

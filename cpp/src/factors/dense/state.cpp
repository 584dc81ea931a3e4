#include "factors/dense/state.hpp"

#include <cmath>

#include "kernels/programs.hpp"
#include "kernsel/cholesky.hpp"
#include "kernsel/gram.hpp"

namespace kernsel {

Status start(State& state, bool differentiable) {
  const Problem& problem = state.problem;
  const Index n = state.n;
  state.noise.resize(static_cast<std::size_t>(n));
  Status status = gram_noise(state.k, problem.X, vector(state.noise.data(), n));
  for (Index i = 0; i < n && problem.noise.rows > 0; ++i)
    state.noise[static_cast<std::size_t>(i)] += problem.noise(problem.noise.rows == 1 ? 0 : i, 0);
  if (status.ok()) status = state.P.resize(n);
  if (!status.ok()) return status;
  state.program = std::make_unique<Program<double>>(state.k, problem.X, problem.X, true, state.P.tile());
  status = state.program->status();
  if (status.ok() && differentiable) status = state.program->keep_values();
  if (status.ok()) status = factorize<double>(*state.program, problem.noise, state.P);
  if (!status.ok()) return status;
  state.padded = padded_size(state.P);
  state.log_det = log_determinant(state.P);
  status = make_trend(state.P, problem.trend, state.padded, state.trend);
  if (status.ok()) status = state.c.resize(state.padded, state.m);
  if (!status.ok()) return status;
  for (Index k = 0; k < state.m; ++k)
    for (Index i = 0; i < n; ++i) state.c(i, k) = problem.y(i, k);
  status = solve<double>(state.P, state.c.view(n));
  project(state.trend, problem.y, n, state.c);
  return status;
}

Status find_precision(State& state, bool whole, bool strict) {
  const Index n = state.n;
  state.precision.resize(static_cast<std::size_t>(n));
  Status status = whole ? invert(state.P) : inverse_diagonal<double>(state.P, vector(state.precision.data(), n));
  for (Index i = 0; i < n && status.ok(); ++i) {
    double& p = state.precision[static_cast<std::size_t>(i)];
    if (whole) p = state.P.at(i, i);
    const double all = p;
    for (Index j = 0; j < state.trend.q; ++j) p -= state.trend.V(i, j) * state.trend.V(i, j);
    if (strict && !(p > 1e-10 * all))
      status = Status::invalid("trend: a point has leverage one: without it the trend is not determined");
  }
  return status;
}

}  // namespace kernsel

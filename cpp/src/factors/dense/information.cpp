#include "factors/dense/information.hpp"

#include "base/parallel.hpp"
#include "kernels/programs.hpp"
#include "kernsel/gram.hpp"
#include "tiles/tall.hpp"

namespace kernsel {

namespace {

double dot(Index n, const double* a, const double* b) {
  double sum = 0.0;
  for (Index i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

Status average_information(const State& state, const Partials& partials, std::vector<double>& out) {
  const Index n = state.n, m = state.m, parameters = state.k.parameters(), p = parameters + 1;
  Tall U, PU;
  Status status = U.resize(state.padded, p * m);
  if (!status.ok()) return status;
  for (Index j = 0; j < m && status.ok(); ++j) {
    const View<const double> c = vector(state.c.column(j), n);
    const View<double> u{U.column(j * p), n, parameters, 1, state.padded};
    status = state.program->has_rows() ? tangents(*state.program, c, u) : tangents(state.k, state.problem.X, c, u);
    const View<const double>& noise = state.problem.unknown_noise.rows > 0 ? state.problem.unknown_noise : state.problem.noise;
    for (Index i = 0; i < n && noise.rows > 0; ++i) U(i, j * p + parameters) = noise(noise.rows == 1 ? 0 : i, 0) * c(i, 0);
  }
  if (status.ok()) status = multiply_symmetric(state.P, U, PU);
  if (!status.ok()) return status;
  project(state.trend, U.view(n), n, PU);

  out.assign(static_cast<std::size_t>(p * p), 0.0);
  const auto at = [&](Index a, Index b) -> double& { return out[static_cast<std::size_t>(a + b * p)]; };
  std::vector<double> slopes(static_cast<std::size_t>(p), 0.0);  // c'u_a / s^2, summed over the outputs that share s
  const auto subtract = [&](double freedom) {
    for (Index b = 0; b < p; ++b)
      for (Index a = 0; a < p; ++a)
        at(a, b) -= 0.5 * slopes[static_cast<std::size_t>(a)] * slopes[static_cast<std::size_t>(b)] / freedom;
    slopes.assign(static_cast<std::size_t>(p), 0.0);
  };
  for (Index j = 0; j < m; ++j) {
    const double variance = partials.variance[static_cast<std::size_t>(j)];
    for (Index a = 0; a < p; ++a)
      slopes[static_cast<std::size_t>(a)] += dot(n, state.c.column(j), U.column(j * p + a)) / variance;
    const double cost = static_cast<double>(p * p) * (2.0 + 0.5 * static_cast<double>(n));
    status = run_jobs(p, cost, [&](Jobs& jobs, Index b) {
      if (!jobs.poll()) return;
      for (Index a = 0; a < p; ++a) at(a, b) += 0.5 * dot(n, U.column(j * p + a), PU.column(j * p + b)) / variance;
    });
    if (!status.ok()) return status;
    if (partials.profiled == Profiled::each) subtract(partials.freedom);
  }
  if (partials.profiled == Profiled::shared) subtract(partials.freedom * static_cast<double>(m));
  return {};
}

}  // namespace kernsel

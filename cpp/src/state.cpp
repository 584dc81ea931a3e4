#include "state.hpp"

#include <cmath>

#include "kernsel/factor.hpp"
#include "kernsel/gram.hpp"
#include "programs.hpp"

namespace kernsel {

namespace {

// Upper triangular R with U'U = R'R, U overwritten by its orthonormal columns; twice is enough.
Status orthonormalize(View<double> U, std::vector<double>& R) {
  const Index q = U.cols;
  R.assign(static_cast<std::size_t>(q * q), 0.0);
  for (Index k = 0; k < q; ++k) {
    double before = 0.0, norm = 0.0;
    for (Index r = 0; r < U.rows; ++r) before += U(r, k) * U(r, k);
    for (int pass = 0; pass < 2; ++pass)
      for (Index j = 0; j < k; ++j) {
        double dot = 0.0;
        for (Index r = 0; r < U.rows; ++r) dot += U(r, j) * U(r, k);
        for (Index r = 0; r < U.rows; ++r) U(r, k) -= dot * U(r, j);
        R[static_cast<std::size_t>(j + k * q)] += dot;
      }
    for (Index r = 0; r < U.rows; ++r) norm += U(r, k) * U(r, k);
    if (!(norm > before * 1e-24)) return Status::invalid("trend: its columns are linearly dependent");
    norm = std::sqrt(norm);
    R[static_cast<std::size_t>(k + k * q)] = norm;
    for (Index r = 0; r < U.rows; ++r) U(r, k) /= norm;
  }
  return {};
}

Status make_trend(const LowerTiles<double>& L, View<const double> H, Index padded, Trend& out) {
  const Index n = L.size(), q = out.q = H.cols;
  if (q == 0) return {};
  if (q > n) return Status::invalid("trend: there are more columns than points");
  Tall U;
  Status status = U.resize(padded, q);
  if (status.ok()) status = out.V.resize(padded, q);
  if (!status.ok()) return status;
  const auto fill = [&](Tall& to) {
    for (Index k = 0; k < q; ++k)
      for (Index r = 0; r < n; ++r) to(r, k) = H(r, k);
  };
  fill(U);
  status = orthonormalize(U.view(n), out.R);
  for (Index k = 0; k < q && status.ok(); ++k) out.log_det -= 2.0 * std::log(out.R[static_cast<std::size_t>(k + k * q)]);
  fill(U);
  fill(out.V);
  if (status.ok()) status = solve_lower<double>(L, U.view(n));
  if (status.ok()) status = orthonormalize(U.view(n), out.R);
  if (status.ok()) status = solve<double>(L, out.V.view(n));
  if (!status.ok()) return status;
  for (Index k = 0; k < q; ++k) {  // V = P H R^-1
    const double pivot = out.R[static_cast<std::size_t>(k + k * q)];
    out.log_det += 2.0 * std::log(pivot);
    for (Index j = 0; j < k; ++j) {
      const double factor = out.R[static_cast<std::size_t>(j + k * q)];
      for (Index r = 0; r < n; ++r) out.V(r, k) -= factor * out.V(r, j);
    }
    for (Index r = 0; r < n; ++r) out.V(r, k) /= pivot;
  }
  return {};
}

// R^-1 (V'y): the coefficients of the trend.
std::vector<double> coefficients(const Trend& trend, View<const double> y) {
  std::vector<double> beta(static_cast<std::size_t>(trend.q * y.cols));
  for (Index k = 0; k < y.cols; ++k)
    for (Index j = trend.q - 1; j >= 0; --j) {
      double sum = 0.0;
      for (Index r = 0; r < y.rows; ++r) sum += trend.V(r, j) * y(r, k);
      for (Index l = j + 1; l < trend.q; ++l)
        sum -= trend.R[static_cast<std::size_t>(j + l * trend.q)] * beta[static_cast<std::size_t>(l + k * trend.q)];
      beta[static_cast<std::size_t>(j + k * trend.q)] = sum / trend.R[static_cast<std::size_t>(j + j * trend.q)];
    }
  return beta;
}

}  // namespace

void project(const Trend& trend, View<const double> other, Index n, Tall& B) {
  for (Index k = 0; k < B.columns(); ++k)
    for (Index j = 0; j < trend.q; ++j) {
      const double* v = trend.V.column(j);
      double dot = 0.0;
      for (Index r = 0; r < n; ++r) dot += v[r] * other(r, k);
      for (Index r = 0; r < n; ++r) B(r, k) -= dot * v[r];
    }
}

Status check(const Problem& problem) {
  const Index n = problem.X.rows;
  if (n == 0) return Status::invalid("evaluate: there are no points");
  if (problem.y.rows != n || problem.y.cols == 0) return Status::invalid("evaluate: y must have one row for each point");
  if (problem.noise.rows > 1 && problem.noise.rows != n)
    return Status::invalid("evaluate: give one noise variance, or one for each point");
  if (problem.trend.cols > 0 && problem.trend.rows != n)
    return Status::invalid("evaluate: the trend must have one row for each point");
  return {};
}

Status start(State& state, bool differentiated) {
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
  if (status.ok() && differentiated) status = state.program->keep_values();
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

void report(const State& state, Evaluation& out) {
  out.beta = coefficients(state.trend, state.problem.y);
  out.c.clear();
  for (Index k = 0; k < state.m; ++k) out.c.insert(out.c.end(), state.c.column(k), state.c.column(k) + state.n);
  out.precision = state.precision;
  out.noise = state.noise;
  out.log_det = state.log_det;
  out.dof = out.residual_scale = state.precision.empty() ? std::nan("") : 0.0;
  double weights = 0.0;
  for (std::size_t i = 0; i < state.precision.size(); ++i) {
    const auto row = static_cast<Index>(i);
    const double weight = state.problem.weights ? state.problem.weights[i] : 1.0;
    out.dof += 1.0 - state.noise[i] * state.precision[i];
    weights += weight * static_cast<double>(state.m);
    for (Index k = 0; k < state.m; ++k) out.residual_scale += weight * state.c(row, k) * state.c(row, k) / state.precision[i];
  }
  if (!state.precision.empty()) out.residual_scale /= weights;
}

}  // namespace kernsel

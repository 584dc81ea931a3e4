#include "factors/trend.hpp"

#include <algorithm>
#include <cmath>

#include "kernsel/cholesky.hpp"

namespace kernsel {

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
  out.log_det = 0.0;
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

bool independent(View<const double> H) {
  if (H.cols == 0) return true;
  if (H.cols > H.rows) return false;
  std::vector<double> copy, R;
  for (Index k = 0; k < H.cols; ++k)
    for (Index r = 0; r < H.rows; ++r) copy.push_back(H(r, k));
  return orthonormalize(columns(copy.data(), H.rows, H.cols), R).ok();
}

void project(const Trend& trend, View<const double> other, Index n, Tall& B) {
  for (Index k = 0; k < B.columns(); ++k)
    for (Index j = 0; j < trend.q; ++j) {
      const double* v = trend.V.column(j);
      double dot = 0.0;
      for (Index r = 0; r < n; ++r) dot += v[r] * other(r, k);
      for (Index r = 0; r < n; ++r) B(r, k) -= dot * v[r];
    }
}

}  // namespace kernsel

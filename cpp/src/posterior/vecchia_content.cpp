#include "posterior/vecchia_content.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/memory.hpp"

namespace kernsel {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<double> by_rows(View<const double> from) {
  std::vector<double> copy;
  copy.reserve(at(from.rows * from.cols));
  for (Index i = 0; i < from.rows; ++i)
    for (Index j = 0; j < from.cols; ++j) copy.push_back(from(i, j));
  return copy;
}

Status VecchiaPosterior::Content::take(const Conditioning& given, VecchiaOptions wanted, Index neighbours) {
  if (given.X.rows == 0 || given.y.rows != given.X.rows || given.y.cols == 0)
    return Status::invalid("condition: y must have one row for each point");
  if (given.noise.rows > 1 && given.noise.rows != given.X.rows)
    return Status::invalid("condition: give one noise variance, or one for each point");
  if (std::min(neighbours, given.X.rows) > VecchiaOptions::most_neighbours)
    return Status::invalid("Vecchia's approximation: expected 500 neighbours at most");
  if (wanted.neighbours < 1 || neighbours < 1)
    return Status::invalid("Vecchia's approximation: expected at least one neighbour");
  n = given.X.rows;
  d = given.X.cols;
  m = given.y.cols;
  Status status = kernel.check(d);
  if (!status.ok()) return status;
  return within_memory([&] {
    X = by_rows(given.X);
    y = by_rows(given.y);
    noise.assign(at(n), 0.0);
    for (Index i = 0; i < n && given.noise.rows > 0; ++i) noise[at(i)] = given.noise(given.noise.rows == 1 ? 0 : i, 0);
    options = std::move(wanted);
    options.terms.clear();
    predict_neighbours = neighbours;
    basis = given.trend;
    q = basis.count(d);
    H.assign(at(n * q), 0.0);
    return basis.write(points(), rows(H.data(), n, q));
  });
}

Status VecchiaPosterior::Content::estimate_trend() const {
  const std::unique_ptr<VecchiaFactor> factor = vecchia_factor(options);
  Request request;
  request.coefficients = false;
  Fit fit;
  const Status status = factor->show(kernel, problem(), request, false, fit);
  if (!status.ok()) return status;
  const Numbers found = factor->trend_coefficients();
  beta.resize(at(q * m));
  for (Index j = 0; j < q; ++j)
    for (Index k = 0; k < m; ++k) beta[at(j * m + k)] = found[at(j + k * q)];
  R = factor->trend_triangle();
  return {};
}

Status VecchiaPosterior::Content::require_trend() const {
  const std::lock_guard<std::mutex> lock(making);
  if (has_trend || q == 0) return {};
  const Status status = within_memory([&] { return estimate_trend(); });
  has_trend = status.ok();
  if (!has_trend) {
    beta.clear();
    R.clear();
  }
  return status;
}

Status VecchiaPosterior::Content::require_tree() const {
  const std::lock_guard<std::mutex> lock(making);
  if (has_tree) return {};
  const Status status = tree.build(kernel, points());
  has_tree = status.ok();
  return status;
}

Status VecchiaPosterior::Content::prepare(View<const double> Z) const {
  if (Z.cols != d) return Status::invalid("Z: expected as many columns as the model has");
  for (Index i = 0; i < Z.rows; ++i)
    for (Index j = 0; j < d; ++j)
      if (!std::isfinite(Z(i, j))) return Status::invalid("Z: expected finite coordinates");
  Status status = require_trend();
  if (status.ok()) status = require_tree();
  if (!status.ok() || q == 0) return status;
  const std::lock_guard<std::mutex> lock(making);
  if (has_rest) return {};
  return within_memory([&] {
    rest = y;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < q; ++j)
        for (Index k = 0; k < m; ++k) rest[at(i * m + k)] -= H[at(i * q + j)] * beta[at(j * m + k)];
    has_rest = true;
    return Status{};
  });
}

Status VecchiaPosterior::Content::sets_of(View<const double> Z, Index neighbours, bool predecessors, Sets& out) const {
  out.neighbours = std::min(neighbours, predecessors ? n + Z.rows - 1 : n);
  out.last.resize(at(Z.rows));
  for (Index i = 0; i < Z.rows; ++i) out.last[at(i)] = static_cast<std::int32_t>(n + i);
  return tree.nearest(Z, out.neighbours, predecessors, out.of);
}

void VecchiaPosterior::Content::solve_transposed(double* x) const {
  for (Index j = 0; j < q; ++j) {
    for (Index l = 0; l < j; ++l) x[j] -= R[at(l + j * q)] * x[l];
    x[j] /= R[at(j + j * q)];
  }
}

void VecchiaPosterior::Content::solve(double* x) const {
  for (Index j = q - 1; j >= 0; --j) {
    for (Index l = j + 1; l < q; ++l) x[j] -= R[at(j + l * q)] * x[l];
    x[j] /= R[at(j + j * q)];
  }
}

std::vector<double> VecchiaPosterior::Content::widths() const {
  Numbers out;
  for (Index j = 0; j < d; ++j) {
    double least = X[at(j)], most = least;
    for (Index i = 0; i < n; ++i) {
      least = std::min(least, X[at(i * d + j)]);
      most = std::max(most, X[at(i * d + j)]);
    }
    out.push_back(most - least);
  }
  return out;
}

}  // namespace kernsel

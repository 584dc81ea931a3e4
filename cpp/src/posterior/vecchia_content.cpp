#include "posterior/vecchia_content.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/memory.hpp"
#include "factors/landmarks.hpp"

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
    Status found = choose();
    if (!found.ok()) return found;
    return make_columns();
  });
}

// The landmarks are those of the options, or chosen here once and for all.
Status VecchiaPosterior::Content::choose() {
  if (options.inducing < 0 || options.inducing > VecchiaOptions::most_inducing)
    return Status::invalid("Vecchia's approximation: expected 2000 inducing points at most");
  if (options.inducing > 0 && options.landmarks.empty()) {
    std::vector<Index> chosen;
    const Status status = choose_landmarks(kernel, points(), options.inducing, options.seed, chosen);
    if (!status.ok()) return status;
    for (const Index i : chosen) options.landmarks.insert(options.landmarks.end(), X.data() + i * d, X.data() + (i + 1) * d);
  }
  if (options.inducing == 0) options.landmarks.clear();
  if (static_cast<Index>(options.landmarks.size()) % std::max<Index>(d, 1) != 0)
    return Status::invalid("Vecchia's approximation: expected landmarks with as many columns as the points");
  inducing.set(options.landmarks, d);
  w = inducing.count() + q;
  return {};
}

Status VecchiaPosterior::Content::make_columns() {
  const Status status = inducing.empty() ? Status{} : inducing.factorize(kernel);
  if (!status.ok()) return status;
  D.assign(at(n * w), 0.0);
  return write_columns(points(), D.data());
}

Status VecchiaPosterior::Content::write_columns(View<const double> Z, double* out) const {
  const Index features = inducing.count();
  if (features == 0) return basis.write(Z, rows(out, Z.rows, q));
  Status status = inducing.write(kernel, Z, out, w);
  Numbers functions(at(Z.rows * q));  // functions of the caller write to arrays without gaps
  if (status.ok()) status = basis.write(Z, rows(functions.data(), Z.rows, q));
  for (Index i = 0; i < Z.rows && status.ok(); ++i) std::copy_n(functions.data() + i * q, q, out + i * w + features);
  return status;
}

Status VecchiaPosterior::Content::estimate_trend() const {
  const std::unique_ptr<VecchiaFactor> factor = vecchia_factor(options);
  Request request;
  request.coefficients = false;
  Fit fit;
  const Status status = factor->show(kernel, problem(), request, false, fit);
  if (!status.ok()) return status;
  const Numbers found = factor->coefficients();
  beta.resize(at(w * m));
  for (Index j = 0; j < w; ++j)
    for (Index k = 0; k < m; ++k) beta[at(j * m + k)] = found[at(j + k * w)];
  R = factor->triangle();
  return {};
}

Status VecchiaPosterior::Content::require_trend() const {
  const std::lock_guard<std::mutex> lock(making);
  if (has_trend || w == 0) return {};
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
  if (!status.ok() || w == 0) return status;
  const std::lock_guard<std::mutex> lock(making);
  if (has_rest) return {};
  return within_memory([&] {
    rest = y;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < w; ++j)
        for (Index k = 0; k < m; ++k) rest[at(i * m + k)] -= D[at(i * w + j)] * beta[at(j * m + k)];
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
  for (Index j = 0; j < w; ++j) {
    for (Index l = 0; l < j; ++l) x[j] -= R[at(l + j * w)] * x[l];
    x[j] /= R[at(j + j * w)];
  }
}

void VecchiaPosterior::Content::solve(double* x) const {
  for (Index j = w - 1; j >= 0; --j) {
    for (Index l = j + 1; l < w; ++l) x[j] -= R[at(j + l * w)] * x[l];
    x[j] /= R[at(j + j * w)];
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

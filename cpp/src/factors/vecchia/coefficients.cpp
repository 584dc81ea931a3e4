// The coefficients of the trend and of inducing points, M beta = sum eta t, by the sets of the likelihood.
#include <algorithm>
#include <cmath>

#include "factors/trend.hpp"
#include "factors/vecchia/state.hpp"

namespace kernsel {

std::vector<double> Vecchia::coefficients() const {
  Numbers out;
  for (Index j = 0; j < beta_.rows(); ++j) out.insert(out.end(), beta_.row(j), beta_.row(j) + columns());
  return out;
}

std::vector<double> Vecchia::trend_coefficients() const {
  Numbers out;
  for (Index j = 0; j < beta_.rows(); ++j) out.insert(out.end(), beta_.row(j) + inducing_.count(), beta_.row(j) + columns());
  return out;
}

Status Vecchia::estimate() {
  const Status status = tiled() ? estimate_with_inducing() : estimate_trend();
  if (!status.ok() || q_ == 0) return status;
  const Index features = inducing_.count();
  Numbers H(at(n_ * q_)), R;
  for (Index i = 0; i < n_; ++i)
    for (Index l = 0; l < q_; ++l) H[at(i + l * n_)] = problem_.trend(i, l);
  const Status dependent = kernsel::orthonormalize(kernsel::columns(H.data(), n_, q_), R);
  for (Index l = 0; l < q_ && dependent.ok(); ++l)
    log_det_trend_ += 2.0 * std::log(R_[at((features + l) * (columns() + 1))] / R[at(l * (q_ + 1))]);
  return dependent;
}

// beta and R from the sets: the least squares of t against eta.
Status Vecchia::estimate_trend() {
  const Index count = before_.count();
  Numbers E(at(count * q_));
  for (Index i = 0; i < count; ++i)
    for (Index l = 0; l < q_; ++l) E[at(i + l * count)] = shown_before_.eta.row(i)[l];
  Status status = orthonormalize(kernsel::columns(E.data(), count, q_), R_);
  if (status.ok()) status = inverse_.resize(q_, q_, false);
  if (!status.ok()) return status;
  inverse_of_triangle();
  for (Index j = 0; j < m_; ++j)
    for (Index l = q_ - 1; l >= 0; --l) {
      double sum = 0.0;
      for (Index i = 0; i < count; ++i) sum += E[at(i + l * count)] * shown_before_.t[at(i * m_ + j)];
      for (Index h = l + 1; h < q_; ++h) sum -= R_[at(l + h * q_)] * beta_.row(j)[h];
      beta_.row(j)[l] = sum / R_[at(l * (q_ + 1))];
    }
  return {};
}

// M^-1 of a trend alone.
void Vecchia::inverse_of_triangle() {
  Numbers root(at(q_ * q_), 0.0);  // R^-1, upper
  for (Index c = 0; c < q_; ++c)
    for (Index r = c; r >= 0; --r) {
      double sum = r == c ? 1.0 : 0.0;
      for (Index l = r + 1; l <= c; ++l) sum -= R_[at(r + l * q_)] * root[at(l + c * q_)];
      root[at(r + c * q_)] = sum / R_[at(r + r * q_)];
    }
  for (Index a = 0; a < q_; ++a)
    for (Index b = 0; b < q_; ++b)
      for (Index l = std::max(a, b); l < q_; ++l) inverse_.row(b)[a] += root[at(a + l * q_)] * root[at(b + l * q_)];
}

// With E = [E_F E_H] the rows eta, M_FF = I + E_F'E_F = L L', which is well conditioned from below. The functions of the trend
// are orthogonalized to the features, with their identity below them, and then among each other, so that functions that
// features nearly explain lose no more digits than they must:
//
//     rest = [E_H; 0] - [E_F; I] M_FF^-1 E_F'E_H = Q R_HH,   R = [L' L^-1 E_F'E_H; 0 R_HH]
//     beta_H = R_HH^-1 Q'[t; 0],   beta_F = M_FF^-1 (E_F't - E_F'E_H beta_H)
Status Vecchia::estimate_with_inducing() {
  const Index count = before_.count(), features = inducing_.count(), width = columns();
  const PointRows& E = shown_before_.eta;
  PointRows M, right, L, root;
  Status status = M.resize(width, width, true);
  if (status.ok()) status = add_products(E, {0, count}, E, 0, true, M);
  if (status.ok()) mirror(M);
  if (status.ok()) status = L_features_.resize(features, features, true);
  if (status.ok()) status = right.resize(m_, width, true);
  if (status.ok()) status = add_weighted(E, {0, count}, shown_before_.t.data(), m_, right);
  if (status.ok()) status = L.resize(width, width, true);
  if (!status.ok()) return status;
  for (Index f = 0; f < features; ++f) {
    std::copy_n(M.row(f), features, L_features_.row(f));
    L_features_.row(f)[f] += 1.0;
  }
  status = factorize(L_features_);
  if (!status.ok()) return status;
  const auto solve = [&](double* x, bool transposed) {  // x <- L^-1 x, or L^-T x
    for (Index step = 0; step < features; ++step) {
      const Index f = transposed ? features - 1 - step : step;
      const double* column = L_features_.row(f);
      for (Index l = f + 1; l < features && transposed; ++l) x[f] -= column[l] * x[l];
      x[f] /= column[f];
      for (Index l = f + 1; l < features && !transposed; ++l) x[l] -= column[l] * x[f];
    }
  };
  for (Index f = 0; f < features; ++f) {
    std::copy_n(L_features_.row(f) + f, features - f, L.row(f) + f);
    log_det_ += 2.0 * std::log(L_features_.row(f)[f]);
  }
  PointRows explained;  // M_FF^-1 E_F'E_H, a function's coefficients in each row
  Numbers rest(at((count + features) * q_), 0.0), R;
  status = explained.resize(q_, width, true);
  for (Index h = 0; h < q_ && status.ok(); ++h) {
    double *x = explained.row(h), *column = rest.data() + h * (count + features);
    std::copy_n(M.row(features + h), features, x);
    solve(x, false);
    for (Index f = 0; f < features; ++f) L.row(f)[features + h] = x[f];
    solve(x, true);
    for (Index i = 0; i < count; ++i) column[i] = E.row(i)[features + h] - E.dot(E.row(i), x);
    for (Index f = 0; f < features; ++f) column[count + f] = -x[f];
  }
  if (status.ok() && q_ > 0) status = orthonormalize(kernsel::columns(rest.data(), count + features, q_), R);
  if (!status.ok()) return status;
  for (Index h = 0; h < q_; ++h)
    for (Index l = h; l < q_; ++l) L.row(features + h)[features + l] = R[at(h + l * q_)];
  for (Index j = 0; j < m_; ++j) {
    double *beta = beta_.row(j), *trend = beta + features;
    for (Index h = q_ - 1; h >= 0; --h) {
      double sum = 0.0;
      for (Index i = 0; i < count; ++i) sum += rest[at(i + h * (count + features))] * shown_before_.t[at(i * m_ + j)];
      for (Index l = h + 1; l < q_; ++l) sum -= R[at(h + l * q_)] * trend[l];
      trend[h] = sum / R[at(h * (q_ + 1))];
    }
    std::copy_n(right.row(j), features, beta);
    for (Index h = 0; h < q_; ++h)
      for (Index f = 0; f < features; ++f) beta[f] -= M.row(features + h)[f] * trend[h];
    solve(beta, false);
    solve(beta, true);
  }
  for (Index c = 0; c < width; ++c)
    for (Index r = c; r < width; ++r) R_[at(c + r * width)] = L.row(c)[r];
  for (Index j = width; j < L.stride(); ++j) L.row(j)[j] = 1.0;  // the padding
  status = invert_transposed(L, root);
  return status.ok() ? invert_product(L, root, inverse_) : status;
}

// Adds what the log determinants contribute to the derivatives with respect to M.
Status Vecchia::add_log_dets(const Partials& partials, PointRows& of_M) const {
  for (Index c = 0; c < columns(); ++c)
    for (Index r = 0; r < columns(); ++r) of_M.row(c)[r] += partials.log_det_trend * inverse_.row(c)[r];
  const double of_features = partials.log_det - partials.log_det_trend;  // log det M_FF is a part of log det K~
  if (!tiled() || of_features == 0.0) return {};
  PointRows root, inverse;
  Status status = invert_transposed(L_features_, root);
  if (status.ok()) status = invert_product(L_features_, root, inverse);
  for (Index c = 0; c < inducing_.count() && status.ok(); ++c)
    for (Index r = 0; r < inducing_.count(); ++r) of_M.row(c)[r] += of_features * inverse.row(c)[r];
  return status;
}

}  // namespace kernsel

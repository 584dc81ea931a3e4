#include "factors/vecchia/inducing.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"
#include "kernsel/gram.hpp"

namespace kernsel {

namespace {

constexpr Index rows_at_a_time = 4096;  // for which k(X, Z) is stored

}  // namespace

void Inducing::set(std::vector<double> landmarks, Index columns) {
  landmarks_ = std::move(landmarks);
  columns_ = columns;
}

// K_ZZ is between two sets of points: it has no noise that the kernel may contain.
Status Inducing::factorize(const Kernel& k) {
  const Index m = count();
  PointRows L;
  Status status = L.resize(m, m, true);
  if (status.ok()) status = cross_gram<double>(k, points(), points(), View<double>{L.row(0), m, m, 1, L.stride()});
  if (!status.ok()) return status;
  for (Index j = 0; j < m; ++j) L.row(j)[j] *= 1.0 + jitter;
  status = kernsel::factorize(L);
  if (status.ok()) status = invert_transposed(L, inverse_transposed_);
  if (status.ok()) status = inverse_.resize(m, m, true);
  for (Index c = 0; c < m && status.ok(); ++c)
    for (Index r = c; r < m; ++r) inverse_.row(c)[r] = inverse_transposed_.row(r)[c];
  return status;
}

Status Inducing::write(const Kernel& k, View<const double> X, double* out, Index stride) const {
  const Index m = count();
  PointRows cross, features;
  Status status = cross.resize(std::min(rows_at_a_time, X.rows), m, true);
  if (status.ok()) status = features.resize(cross.rows(), m, true);
  for (Index begin = 0; begin < X.rows && status.ok(); begin += rows_at_a_time) {
    const Index size = std::min(rows_at_a_time, X.rows - begin);
    const View<double> values{cross.row(0), size, m, cross.stride(), 1};
    status = cross_gram<double>(k, X.block(begin, 0, size, X.cols), points(), values);
    if (status.ok()) status = multiply(inverse_, cross, {0, size}, features, 0);
    for (Index i = 0; i < size && status.ok(); ++i) std::copy_n(features.row(i), m, out + (begin + i) * stride);
  }
  return status;
}

Status Inducing::pull_rows(PointRows& G) const {
  PointRows some;
  Status status = some.resize(std::min(rows_at_a_time, G.rows()), G.width(), true);
  for (Index begin = 0; begin < G.rows() && status.ok(); begin += rows_at_a_time) {
    const Index size = std::min(rows_at_a_time, G.rows() - begin);
    status = multiply(inverse_transposed_, G, {begin, size}, some, 0);
    std::copy_n(some.row(0), size * some.stride(), G.row(begin));
  }
  return status;
}

// With T = F'G, which is symmetric since F O has the same F F' for any rotation O,
//
//     dJ/dk(X, Z) = G L^-1,   dJ/dK_ZZ = -L^-T T L^-1 / 2
Status Inducing::pull(const Kernel& k, View<const double> X, const PointRows& F, PointRows& G, std::vector<double>& gradient,
                      View<double> of_points) const {
  const Index m = count();
  PointRows T, half, of_K;
  Status status = T.resize(m, m, true);
  if (status.ok()) status = half.resize(m, m, true);
  if (status.ok()) status = of_K.resize(m, m, true);
  if (status.ok()) status = add_products(F, {0, X.rows}, G, 0, false, T);
  if (status.ok()) status = multiply(inverse_transposed_, T, {0, m}, half, 0);  // L^-T T, by columns
  if (!status.ok()) return status;
  for (Index c = 0; c < m; ++c)
    for (Index r = 0; r < c; ++r) std::swap(half.row(c)[r], half.row(r)[c]);
  status = multiply(inverse_transposed_, half, {0, m}, of_K, 0);  // L^-T (L^-T T)' = L^-T T L^-1
  if (status.ok()) status = pull_rows(G);
  if (!status.ok()) return status;
  for (Index c = 0; c < m; ++c) {
    for (Index r = 0; r < m; ++r) of_K.row(c)[r] *= -0.5;
    of_K.row(c)[c] *= 1.0 + jitter;
  }
  std::vector<double> of_landmarks(gradient.size()), of_cross(gradient.size());
  status =
      pullback<double>(k, points(), points(), View<const double>{of_K.row(0), m, m, 1, of_K.stride()}, of_landmarks.data());
  if (status.ok())
    status = pullback<double>(k, X, points(), View<const double>{G.row(0), X.rows, m, G.stride(), 1}, of_cross.data());
  if (status.ok() && of_points.rows > 0) {
    std::vector<double> of_rows(static_cast<std::size_t>(X.rows * X.cols));
    const View<double> added = rows(of_rows.data(), X.rows, X.cols);
    status = pullback_points<double>(k, X, points(), View<const double>{G.row(0), X.rows, m, G.stride(), 1}, added);
    for (Index i = 0; i < X.rows && status.ok(); ++i)
      for (Index j = 0; j < X.cols; ++j) of_points(i, j) += added(i, j);
  }
  for (std::size_t p = 0; p < gradient.size() && status.ok(); ++p) gradient[p] += of_cross[p] + of_landmarks[p];
  return status;
}

}  // namespace kernsel

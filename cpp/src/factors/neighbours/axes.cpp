#include "factors/neighbours/axes.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"

namespace kernsel {

namespace {

constexpr Index most_columns = 100, sample_size = 20000, rows_of_a_job = 1024;

// Jacobi's method: rotates one pair of coordinates after the other, so that their covariance becomes zero. S and V are (d, d);
// S is the covariance, and V <- its eigenvectors in columns. An accuracy of single precision is enough for axes, but V has to
// be orthogonal, which it is up to rounding errors after any number of rotations.
void diagonalize(Index d, double* S, double* V) {
  constexpr int most_sweeps = 12;
  const View<double> s = rows(S, d, d), v = rows(V, d, d);
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j) v(i, j) = i == j ? 1.0 : 0.0;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool rotated = false;
    for (Index p = 0; p < d; ++p)
      for (Index q = p + 1; q < d; ++q) {
        if (!(std::fabs(s(p, q)) > 1e-8 * std::sqrt(std::fabs(s(p, p) * s(q, q))))) continue;
        rotated = true;
        const double cotangent = (s(q, q) - s(p, p)) / (2.0 * s(p, q));  // of twice the angle
        const double tangent = std::copysign(1.0, cotangent) / (std::fabs(cotangent) + std::hypot(cotangent, 1.0));
        const double c = 1.0 / std::hypot(tangent, 1.0), sine = c * tangent;
        const auto turn = [&](double& a, double& b) {
          const double before = a;
          a = c * before - sine * b;
          b = sine * before + c * b;
        };
        for (Index k = 0; k < d; ++k) turn(s(k, p), s(k, q));
        for (Index k = 0; k < d; ++k) turn(s(p, k), s(q, k));
        for (Index k = 0; k < d; ++k) turn(v(k, p), v(k, q));
      }
    if (!rotated) return;
  }
}

}  // namespace

void PrincipalAxes::find(View<const double> X) {
  axes_.clear();
  const Index d = X.cols, step = X.rows / sample_size + 1;
  if (d > most_columns || X.rows < 2) return;
  const double count = static_cast<double>((X.rows + step - 1) / step);
  mean_.assign(static_cast<std::size_t>(d), 0.0);
  for (Index i = 0; i < X.rows; i += step)
    for (Index k = 0; k < d; ++k) mean_[static_cast<std::size_t>(k)] += X(i, k) / count;
  std::vector<double> covariance(static_cast<std::size_t>(d * d), 0.0), x(static_cast<std::size_t>(d));
  for (Index i = 0; i < X.rows; i += step) {
    for (Index k = 0; k < d; ++k) x[static_cast<std::size_t>(k)] = X(i, k) - mean_[static_cast<std::size_t>(k)];
    for (Index k = 0; k < d; ++k)
      for (Index l = 0; l < d; ++l)
        covariance[static_cast<std::size_t>(k * d + l)] += x[static_cast<std::size_t>(k)] * x[static_cast<std::size_t>(l)];
  }
  axes_.resize(covariance.size());
  diagonalize(d, covariance.data(), axes_.data());
  const auto is_finite = [](double number) { return std::isfinite(number); };
  if (!std::all_of(axes_.begin(), axes_.end(), is_finite)) axes_.clear();  // the covariance has overflowed
}

Status PrincipalAxes::rotate(View<const double> X, Memory& memory, View<const double>& rotated) const {
  rotated = X;
  if (empty()) return {};
  const Index n = X.rows, d = X.cols;
  const Status status = memory.reserve(static_cast<std::size_t>(std::max<Index>(n * d, 1)) * sizeof(double));
  if (!status.ok()) return status;
  const View<double> to = rows(static_cast<double*>(memory.data()), n, d);
  rotated = to;
  const double cost = static_cast<double>(n * d) * static_cast<double>(d);
  return run_jobs((n + rows_of_a_job - 1) / rows_of_a_job, cost, [&](Jobs&, Index job) {
    for (Index i = job * rows_of_a_job; i < std::min(n, (job + 1) * rows_of_a_job); ++i) {
      double* const row = &to(i, 0);
      std::fill(row, row + d, 0.0);
      for (Index k = 0; k < d; ++k) {
        const double x = X(i, k) - mean_[static_cast<std::size_t>(k)];
        const double* const axis = axes_.data() + k * d;
        for (Index l = 0; l < d; ++l) row[l] += x * axis[l];
      }
    }
  });
}

}  // namespace kernsel

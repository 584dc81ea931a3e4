// With A = Q T' Z', u = Z'x and w = Q'b, the problem is |T'u - w|^2 + ridge |u|^2 in as many unknowns as the rank. With the QR
// factorization [T'; ridge^(1/2) I] = [B; B_2] S, the fitted values are Q B B'w, and the leverages the squared norms of the
// rows of Q B.
#include "kernsel/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "paths/householder.hpp"

namespace kernsel {

namespace {

constexpr double nearly_one = 1.0 - 1e-10;  // from this leverage on, 1 - leverage is mostly rounding errors

std::vector<double> by_columns(View<const double> from, double factor) {
  std::vector<double> out(static_cast<std::size_t>(from.rows * from.cols));
  copy(from, factor, columns(out.data(), from.rows, from.cols));
  return out;
}

// x <- R^-1 x and x <- R^-T x, for the upper triangle of the first `size` rows and columns of R.
void solve_upper(const Padded& R, Index size, double* x) {
  for (Index j = size; j-- > 0;) {
    x[j] /= R(j, j);
    for (Index i = 0; i < j; ++i) x[i] -= R(i, j) * x[j];
  }
}
void solve_upper_transposed(const Padded& R, Index size, double* x) {
  for (Index j = 0; j < size; ++j) {
    for (Index i = 0; i < j; ++i) x[j] -= R(i, j) * x[i];
    x[j] /= R(j, j);
  }
}

class Solver {
 public:
  Status run(View<const double> A, View<const double> b, double ridge, View<const double> free, LeastSquares& out) {
    const double a_size = largest_of(A), b_size = largest_of(b);
    if (!std::isfinite(a_size)) return Status::invalid("A: expected finite numbers");
    if (!std::isfinite(b_size)) return Status::invalid("b: expected finite numbers");
    if (!(ridge >= 0.0) || !std::isfinite(ridge)) return Status::invalid("ridge: expected a finite number, not negative");
    if ((b.cols > 0 && b.rows != A.rows) || (free.cols > 0 && free.rows != A.rows))
      return Status::invalid("b, free: expected one row for each row of A");
    n_ = A.rows;
    d_ = A.cols;
    m_ = b.cols;
    a_unit_ = power_of_two(a_size);
    b_unit_ = power_of_two(b_size);
    root_ = std::sqrt(ridge) / a_unit_;
    Status status = decompose(A);
    if (status.ok()) status = leverages(free, out);
    if (status.ok()) status = solve(b, out);
    if (status.ok()) leave_out(out);
    return status;
  }

 private:
  // A, divided by its unit, is Q T' Z': by a QR factorization with pivoting, and another one of the transpose of its R.
  Status decompose(View<const double> A) {
    Padded R;
    Status status = R.resize(n_, d_);
    if (!status.ok()) return status;
    copy(A, 1.0 / a_unit_, R.view());
    const double tolerance = static_cast<double>(std::max(n_, d_)) * std::numeric_limits<double>::epsilon();
    status = factorize_pivoted_qr(R, tolerance, left_);
    rank_ = left_.rank;
    if (status.ok()) status = T_.resize(d_, rank_);
    if (!status.ok()) return status;
    for (Index j = 0; j < d_; ++j)
      for (Index i = 0; i <= std::min(j, rank_ - 1); ++i) T_(left_.order[static_cast<std::size_t>(j)], i) = R(i, j);
    return factorize_qr(T_, right_);
  }

  // [T'; ridge^(1/2) I], or [T; ridge^(1/2) I], = Q R.
  Status factorize_with_ridge(bool transposed, Padded& R, QR& out) const {
    Status status = R.resize(2 * rank_, rank_);
    if (!status.ok()) return status;
    for (Index j = 0; j < rank_; ++j) {
      for (Index i = 0; i <= j; ++i) (transposed ? R(j, i) : R(i, j)) = T_(i, j);
      R(rank_ + j, j) = root_;
    }
    return factorize_qr(R, out);
  }

  Status leverages(View<const double> free, LeastSquares& out) {
    Status status = columns_of_q(left_.H, rank_, Q_);
    Padded product;
    if (status.ok() && root_ > 0.0) {
      Padded B;
      status = factorize_with_ridge(true, S_, small_);
      if (status.ok()) status = columns_of_q(small_.H, rank_, B);
      if (status.ok()) status = product.resize(n_, rank_);
      if (!status.ok()) return status;
      tile_kernels<double>().multiply_nn(product.stride(), rank_, rank_, 1.0, Q_.data(), Q_.stride(), B.data(), B.stride(),
                                         product.data(), product.stride());
    }
    if (!status.ok()) return status;
    const Padded& rows = root_ > 0.0 ? product : Q_;
    out.rank = rank_;
    out.leverage.assign(static_cast<std::size_t>(n_), 0.0);
    for (Index j = 0; j < rank_; ++j)
      for (Index i = 0; i < n_; ++i) out.leverage[static_cast<std::size_t>(i)] += rows(i, j) * rows(i, j);
    for (Index j = 0; j < free.cols; ++j)
      for (Index i = 0; i < n_; ++i) out.leverage[static_cast<std::size_t>(i)] += free(i, j) * free(i, j);
    for (double& lever : out.leverage) lever = std::min(lever, 1.0);
    return status;
  }

  // Coefficients and residuals. Residuals are computed from the part of Q'b that is not fitted, and not as b - A x, so that
  // small ones are accurate.
  Status solve(View<const double> b, LeastSquares& out) {
    Padded rest, x;
    Status status = rest.resize(n_, m_);
    if (status.ok()) status = x.resize(d_, m_);
    if (status.ok()) status = w_.resize(rank_, m_);
    if (!status.ok()) return status;
    copy(b, 1.0 / b_unit_, rest.view());
    status = apply(left_.H, true, rest);
    if (!status.ok()) return status;
    for (Index k = 0; k < m_; ++k)
      for (Index i = 0; i < rank_; ++i) {
        w_(i, k) = x(i, k) = rest(i, k);
        rest(i, k) = 0.0;
      }
    if (root_ > 0.0) {
      Padded both;
      status = both.resize(2 * rank_, m_);
      if (!status.ok()) return status;
      copy(w_.view(), 1.0, both.view().block(0, 0, rank_, m_));
      status = apply(small_.H, true, both);
      if (!status.ok()) return status;
      for (Index k = 0; k < m_; ++k) {
        std::copy_n(both.column(k), rank_, x.column(k));
        solve_upper(S_, rank_, x.column(k));
        std::fill_n(both.column(k), rank_, 0.0);
      }
      status = apply(small_.H, false, both);
      if (!status.ok()) return status;
      copy(both.view().block(0, 0, rank_, m_), 1.0, rest.view().block(0, 0, rank_, m_));
    } else {
      for (Index k = 0; k < m_; ++k) solve_upper_transposed(T_, rank_, x.column(k));
    }
    status = apply(right_.H, false, x);
    if (status.ok()) status = apply(left_.H, false, rest);
    if (!status.ok()) return status;
    out.coefficients = by_columns(x.view(), b_unit_ / a_unit_);
    out.residuals = by_columns(rest.view(), b_unit_);
    const auto alone = [](double lever) { return lever > nearly_one; };
    if (root_ > 0.0 && std::any_of(out.leverage.begin(), out.leverage.end(), alone))
      status = factorize_with_ridge(false, S_, small_);  // from now on S'S = T'T + ridge I
    return status;
  }

  void leave_out(LeastSquares& out) {
    out.left_out = out.residuals;
    out.press.assign(static_cast<std::size_t>(m_), 0.0);
    // (AA' + ridge I)^-1 on the range of A is Q S^-1 S^-T Q', with S = T if there is no ridge.
    const Padded& S = root_ > 0.0 ? S_ : T_;
    std::vector<double> f(static_cast<std::size_t>(rank_));
    bool solved = false;
    for (Index i = 0; i < n_; ++i) {
      const double lever = out.leverage[static_cast<std::size_t>(i)];
      if (lever <= nearly_one) {
        for (Index k = 0; k < m_; ++k) out.left_out[static_cast<std::size_t>(i + k * n_)] /= 1.0 - lever;
        continue;
      }
      for (Index k = 0; k < m_ && !solved; ++k) solve_upper_transposed(S, rank_, w_.column(k));
      solved = true;
      double square = 0.0;
      for (Index j = 0; j < rank_; ++j) f[static_cast<std::size_t>(j)] = Q_(i, j);
      solve_upper_transposed(S, rank_, f.data());
      for (const double entry : f) square += entry * entry;
      for (Index k = 0; k < m_; ++k) {
        double sum = 0.0;
        for (Index j = 0; j < rank_; ++j) sum += f[static_cast<std::size_t>(j)] * w_(j, k);
        out.left_out[static_cast<std::size_t>(i + k * n_)] = b_unit_ * (sum / square);
      }
    }
    for (Index k = 0; k < m_; ++k)
      for (Index i = 0; i < n_; ++i) {
        const double residual = out.left_out[static_cast<std::size_t>(i + k * n_)];
        out.press[static_cast<std::size_t>(k)] += residual * residual;
      }
  }

  Index n_ = 0, d_ = 0, m_ = 0, rank_ = 0;
  double a_unit_ = 1.0, b_unit_ = 1.0, root_ = 0.0;
  QR left_, right_, small_;
  Padded Q_, T_, S_, w_;
};

}  // namespace

Status least_squares(View<const double> A, View<const double> b, double ridge, LeastSquares& out, View<const double> free) {
  return within_memory([&]() -> Status { return Solver().run(A, b, ridge, free, out); });
}

Status leverage(View<const double> A, double ridge, View<double> out) {
  return within_memory([&]() -> Status {
    LeastSquares found;
    const Status status = least_squares(A, {}, ridge, found);
    if (!status.ok()) return status;
    for (Index i = 0; i < out.rows; ++i) out(i, 0) = found.leverage[static_cast<std::size_t>(i)];
    return status;
  });
}

}  // namespace kernsel

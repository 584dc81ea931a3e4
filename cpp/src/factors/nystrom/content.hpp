// What an evaluation by landmarks consists of, and the order in which rows are processed.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/parallel.hpp"
#include "factors/nystrom/form.hpp"
#include "factors/nystrom/small_groups.hpp"
#include "kernsel/nystrom.hpp"
#include "tiles/point_rows.hpp"

namespace kernsel {

struct NystromBlocks::Content {
  using Numbers = std::vector<double>;
  static constexpr double jitter = 1e-10;        // of the diagonal of K_ZZ
  static constexpr Index rows_at_a_time = 1024;  // of which the values of the kernel are stored

  std::optional<Kernel> kernel;
  Numbers Z;                              // (m, d), by rows
  Index m = 0, d = 0, q = 0;              // landmarks, columns, functions of the trend
  PointRows inverse, inverse_transposed;  // L^-1 and L^-T, (w, w), by columns; zero for the trend

  // The results of the first pass. A *raw* row is (k_i, h_i), the values of the kernel at the landmarks, and of the trend.
  double log_det = 0.0, log_det_trend = 0.0;
  Numbers squares;                  // y'c of each output
  Numbers moments;                  // D'N^-1 D, (w, w)
  Numbers units;                    // (w): ones for features, one over the size of each function of the trend
  PointRows root, root_transposed;  // R^-1 and R^-T, (w, w), by columns, for columns D multiplied by `units`
  PointRows T, T_transposed;        // t_i = T raw_i, by columns
  PointRows coefficients, of_raw;   // w_t = sum t_i y_i / N_i, a row for each output; and T'w_t

  // Those of the third.
  NystromTotals totals;
  bool has_Psi = false;
  PointRows of_c, of_c_raw;  // w_G = sum t_i G_c,i / N_i, a row for each output; and T'w_G
  PointRows Psi;             // sum g_i / N_i^2 t_i t_i', (w, w)
  Numbers of_missing;        // sum dJ/de_i f_i f_i', (m, m); empty for zeros
  std::unique_ptr<NystromForm> form;

  Index width() const { return m + q; }
  Index outputs() const { return static_cast<Index>(squares.size()); }
  View<const double> landmarks() const { return rows(Z.data(), m, d); }

  Status solve(const NystromSums& sums);
  Status solve_targets(const NystromSums& sums);
  Status solve_partials(const NystromPartialSums& sums);
  // c and P.ii of `count` rows from `begin` on, whose raw rows are given; t <- t_i.
  Status show(const RowBlock& block, const Numbers& noise, Index begin, Index count, const PointRows& raw,
              View<double> c) const;
  Status show_precision(const Numbers& noise, Index begin, Index count, const PointRows& raw, PointRows& t,
                        View<double> precision) const;
  // The same as of NystromBlocks, for rows of which the first are in groups, too, unless this is nullptr.
  Status add_partials(const RowBlock& block, const NystromPartials& partials, const SmallGroups* groups,
                      NystromPartialSums& sums) const;
  Status pull(const RowBlock& block, const NystromPartials& partials, const SmallGroups* groups, double* theta,
              const NystromRowGradient& of_rows, View<double> landmarks) const;
  Status pull_landmarks(double* theta, View<double> of_Z) const;
  // Adds the derivatives that follow from the adjoint of K_ZZ, S_ZZ for a matrix S, (w, w); and from that of raw rows, W, for
  // the points X.
  Status pull_square(PointRows& S, double* theta, View<double> of_Z) const;
  Status pull_values(View<const double> X, const PointRows& W, double* theta, View<double> points, View<double> of_Z) const;
  Status make_form();
  // The same for 2 T'Psi T, if Psi is definite.
  Status make_form_of_Psi();
  // S <- M S M', for a symmetric matrix S and an upper triangular one M, all (w, w); `half` is memory for it.
  Status sandwich(const PointRows& M, PointRows& S, PointRows& half) const;

  Status check(const RowBlock& block, bool targets) const;
  // Writes the noise of all rows, that of the kernel included.
  Status write_noise(const RowBlock& block, Numbers& noise) const;
  // Row i of `raw` <- raw_i, for `count` rows from `begin` on.
  Status write_raw(View<const double> X, View<const double> trend, Index begin, Index count, PointRows& raw) const;
  // out_i <- k(x_i, x_i) without the kernel's noise.
  Status write_diagonal(View<const double> X, Numbers& out) const;

  // The rows with which each part of n rows begins, and n. Groups, which end before `ends`, are not divided.
  static std::vector<Index> parts(Index n, const std::vector<Index>& ends);
  static Index most_rows(const std::vector<Index>& parts);  // of a part

  // Calls f(begin, count, raw) for all rows, some at a time.
  template <class F>
  Status for_rows(View<const double> X, View<const double> trend, const std::vector<Index>& parts, const F& f) const {
    PointRows raw;
    Status status = raw.resize(most_rows(parts), width(), true);
    for (std::size_t part = 1; part < parts.size() && status.ok(); ++part) {
      const Index begin = parts[part - 1], count = parts[part] - begin;
      status = write_raw(X, trend, begin, count, raw);
      if (status.ok()) status = f(begin, count, raw);
    }
    return status;
  }
  template <class F>
  Status for_rows(View<const double> X, View<const double> trend, const F& f) const {
    return for_rows(X, trend, parts(X.rows, {}), f);
  }
};

// Calls f(i) for i = 0, ..., count - 1, each of which takes about `cost` nanoseconds.
template <class F>
Status for_each_row(Index count, double cost, const F& f) {
  constexpr Index rows_of_a_job = 64;
  return run_jobs((count + rows_of_a_job - 1) / rows_of_a_job, cost * static_cast<double>(count), [&](Jobs&, Index job) {
    for (Index i = job * rows_of_a_job; i < std::min((job + 1) * rows_of_a_job, count); ++i) f(i);
  });
}

// out <- A', for a square matrix.
inline void transpose(const PointRows& A, PointRows& out) {
  for (Index i = 0; i < A.width(); ++i)
    for (Index j = 0; j < A.width(); ++j) out.row(j)[i] = A.row(i)[j];
}

}  // namespace kernsel

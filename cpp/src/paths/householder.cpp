#include "paths/householder.hpp"

#include <algorithm>
#include <numeric>

#include "base/parallel.hpp"

namespace kernsel {

namespace {

constexpr Index columns_of_a_job = 8;

// The time in nanoseconds in which one thread reflects that many entries.
double cost_of(Index entries) { return 0.5 * static_cast<double>(entries); }

void reflect_column(const double* v, double tau, Index k, Index stride, double* column) {
  add_from(k, stride, -tau * dot_from(k, stride, v, column), v, column);
}

// Calls f(begin, end) for blocks of the columns from `first` to `last`, on several threads if `cost` is large enough.
template <class F>
Status for_columns(Index first, Index last, double cost, const F& f) {
  if (first >= last) return {};
  return run_jobs((last - first + columns_of_a_job - 1) / columns_of_a_job, cost, [&](Jobs&, Index job) {
    const Index begin = first + job * columns_of_a_job;
    f(begin, std::min(last, begin + columns_of_a_job));
  });
}

Status factorize(Padded& A, bool pivoting, double tolerance, QR& out) {
  const Index n = A.rows(), d = A.cols(), most = std::min(n, d), stride = A.stride();
  Status status = out.H.v.resize(n, most);
  if (!status.ok()) return status;
  out.H.tau.clear();
  out.order.clear();
  std::vector<double> norm, before;  // of each column below row k: updated, and as last computed from the entries
  if (pivoting) {
    out.order.resize(static_cast<std::size_t>(d));
    std::iota(out.order.begin(), out.order.end(), Index{0});
    for (Index j = 0; j < d; ++j) norm.push_back(std::sqrt(dot_from(0, stride, A.column(j), A.column(j))));
    before = norm;
  }
  double first = 0.0;
  for (Index k = 0; k < most; ++k) {
    if (k % 64 == 63 && asked_to_stop()) {
      status.code = Code::interrupted;
      return status;
    }
    if (pivoting) {
      const Index best = std::max_element(norm.begin() + k, norm.end()) - norm.begin();
      const auto here = static_cast<std::size_t>(k), there = static_cast<std::size_t>(best);
      if (k == 0) first = norm[there];
      if (!(norm[there] > tolerance * first)) break;
      if (best != k) {
        std::swap_ranges(A.column(k), A.column(k) + stride, A.column(best));
        std::swap(out.order[here], out.order[there]);
        norm[there] = norm[here];
        before[there] = before[here];
      }
    }
    double* const v = out.H.v.column(k);
    double tau = 0.0;
    const double entry = reflect(k, n, A.column(k), v, tau);
    out.H.tau.push_back(tau);
    status = for_columns(k + 1, d, cost_of((n - k) * (d - k)), [&](Index begin, Index end) {
      for (Index j = begin; j < end; ++j) {
        double* const column = A.column(j);
        reflect_column(v, tau, k, stride, column);
        if (!pivoting) continue;
        // The norm below row k follows from the norm before by subtracting the entry in row k. If it is much smaller than the
        // norm that was last computed from the entries, rounding errors dominate, and it is computed anew.
        double &left = norm[static_cast<std::size_t>(j)], &old = before[static_cast<std::size_t>(j)];
        if (left == 0.0) continue;
        const double part = std::abs(column[k]) / left, remains = std::max(0.0, (1.0 - part) * (1.0 + part));
        if (remains * (left / old) * (left / old) > 1e-8) {
          left *= std::sqrt(remains);
        } else {
          double sum = 0.0;
          for (Index i = k + 1; i < n; ++i) sum += column[i] * column[i];
          left = old = std::sqrt(sum);
        }
      }
    });
    if (!status.ok()) return status;
    A(k, k) = entry;
    std::fill(A.column(k) + k + 1, A.column(k) + n, 0.0);
  }
  out.rank = out.H.count();
  return status;
}

}  // namespace

double reflect(Index k, Index n, const double* x, double* v, double& tau) {
  v[k] = 1.0;
  tau = 0.0;
  double largest = 0.0, below = 0.0;
  for (Index i = k + 1; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  if (largest == 0.0) return x[k];
  // Computed in a unit in which squares neither vanish nor overflow: if tau were not 2 / |v|^2, H would not be orthogonal.
  const double unit = power_of_two(std::max(largest, std::abs(x[k]))), first = x[k] / unit;
  for (Index i = k + 1; i < n; ++i) below += (x[i] / unit) * (x[i] / unit);
  const double entry = -std::copysign(std::sqrt(first * first + below), first), pivot = first - entry;
  for (Index i = k + 1; i < n; ++i) v[i] = x[i] / unit / pivot;
  tau = -pivot / entry;
  return unit * entry;
}

Status apply(const Reflections& H, bool reversed, Padded& B) {
  const Index count = H.count(), stride = B.stride();
  return for_columns(0, B.cols(), cost_of(count * B.rows() * B.cols()), [&](Index begin, Index end) {
    for (Index step = 0; step < count; ++step) {
      const Index k = reversed ? step : count - 1 - step;
      for (Index j = begin; j < end; ++j)
        reflect_column(H.v.column(k), H.tau[static_cast<std::size_t>(k)], k, stride, B.column(j));
    }
  });
}

Status factorize_qr(Padded& A, QR& out) { return factorize(A, false, 0.0, out); }
Status factorize_pivoted_qr(Padded& A, double tolerance, QR& out) { return factorize(A, true, tolerance, out); }

Status columns_of_q(const Reflections& H, Index count, Padded& out) {
  const Status status = out.resize(H.v.rows(), count);
  if (!status.ok()) return status;
  for (Index j = 0; j < count; ++j) out(j, j) = 1.0;
  return apply(H, false, out);
}

}  // namespace kernsel

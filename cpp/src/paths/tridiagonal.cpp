#include "paths/tridiagonal.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "paths/householder.hpp"

namespace kernsel {

namespace {

constexpr Index panel_width = 32;  // columns between updates of the whole matrix; a multiple of the padding
constexpr Index columns_of_a_job = 64;
constexpr std::size_t rotations_at_a_time = std::size_t{1} << 17;

Status interrupted() {
  Status status;
  status.code = Code::interrupted;
  return status;
}

// w <- A v in the rows from `first` on, for symmetric A, and v that is zero in the rows before.
Status multiply_symmetric(const Padded& A, Index first, const double* v, double* w) {
  const Index n = A.rows();
  const double cost = 0.15 * static_cast<double>((n - first) * (n - first));
  return run_jobs((n - first + columns_of_a_job - 1) / columns_of_a_job, cost, [&](Jobs&, Index job) {
    const Index begin = first + job * columns_of_a_job;
    for (Index j = begin; j < std::min(n, begin + columns_of_a_job); ++j) w[j] = dot_from(first, A.stride(), A.column(j), v);
  });
}

}  // namespace

// Columns are reduced in panels. Within a panel, A is the matrix before the panel, and H_k ... H_1 A H_1 ... H_k = A - V W' - W
// V' after k of its reflections, whose vectors v are the columns of V. The matrix is updated at the end of the panel, by two
// products.
Status tridiagonalize(Padded& A, Tridiagonal& out) {
  const Index n = A.rows(), stride = A.stride();
  out.diagonal.assign(static_cast<std::size_t>(n), 0.0);
  out.beside.assign(static_cast<std::size_t>(std::max<Index>(n - 1, 0)), 0.0);
  out.tau.assign(static_cast<std::size_t>(n), 0.0);
  Padded W, column;
  Status status = W.resize(n, panel_width);
  if (status.ok()) status = column.resize(n, 1);
  if (!status.ok()) return status;
  const TileKernels<double>& kernels = tile_kernels<double>();
  for (Index begin = 0; begin < n; begin += panel_width) {
    if (asked_to_stop()) return interrupted();
    const Index end = std::min(n, begin + panel_width);
    std::fill_n(W.data(), stride * panel_width, 0.0);
    for (Index k = begin; k < end; ++k) {
      // Column k of A - V W' - W V', with the reflections of this panel so far.
      double* const x = column.data();
      std::copy_n(A.column(k), stride, x);
      for (Index j = begin; j < k; ++j) {
        add_from(k, stride, -W(k, j - begin), A.column(j), x);
        add_from(k, stride, -A(k, j), W.column(j - begin), x);
      }
      out.diagonal[static_cast<std::size_t>(k)] = x[k];
      double* const v = A.column(k);
      std::fill_n(v, stride, 0.0);
      if (k + 1 == n) break;
      double& tau = out.tau[static_cast<std::size_t>(k)];
      out.beside[static_cast<std::size_t>(k)] = reflect(k + 1, n, x, v, tau);
      if (tau == 0.0) continue;
      // w <- tau (A - V W' - W V') v, and then w <- w - (tau / 2) (w'v) v
      double* const w = W.column(k - begin);
      status = multiply_symmetric(A, k + 1, v, w);
      if (!status.ok()) return status;
      for (Index j = begin; j < k; ++j) {
        const double with_w = dot_from(k + 1, stride, W.column(j - begin), v), with_v = dot_from(k + 1, stride, A.column(j), v);
        add_from(k + 1, stride, -with_w, A.column(j), w);
        add_from(k + 1, stride, -with_v, W.column(j - begin), w);
      }
      std::fill_n(w, k + 1, 0.0);
      for (Index i = k + 1; i < n; ++i) w[i] *= tau;
      add_from(k + 1, stride, -0.5 * tau * dot_from(k + 1, stride, w, v), v, w);
    }
    if (end == n) break;
    const Index rest = n - end;
    const double cost = 0.2 * static_cast<double>(rest * rest * panel_width) / 4.0;
    status = run_jobs((rest + columns_of_a_job - 1) / columns_of_a_job, cost, [&](Jobs&, Index job) {
      const Index first = end + job * columns_of_a_job, width = std::min(columns_of_a_job, n - first);
      double* const C = A.column(first) + end;
      kernels.multiply_nt(stride - end, width, panel_width, -1.0, A.column(begin) + end, stride, W.data() + first, stride, C,
                          stride);
      kernels.multiply_nt(stride - end, width, panel_width, -1.0, W.data() + end, stride, A.column(begin) + first, stride, C,
                          stride);
    });
    if (!status.ok()) return status;
  }
  return status;
}

// Implicit QL steps. A step is a rotation of the last two rows and columns that would annihilate the entry beside the diagonal
// in the last column of T - shift I, and then rotations that chase the entry it makes beyond the three diagonals up and out of
// the matrix.
Status diagonalize(Tridiagonal& T, const std::function<Status(const Rotations&)>& apply) {
  std::vector<double>&d = T.diagonal, &e = T.beside;
  const std::size_t n = d.size();
  double norm = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    norm = std::max(norm, std::abs(d[i]) + (i + 1 < n ? std::abs(e[i]) : 0.0) + (i > 0 ? std::abs(e[i - 1]) : 0.0));
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const auto negligible = [&](std::size_t i) {
    return std::abs(e[i]) <= eps * std::max(0.25 * norm, std::abs(d[i]) + std::abs(d[i + 1]));
  };
  Rotations rotations;
  for (std::size_t first = 0; first < n; ++first) {
    for (int step = 0;; ++step) {
      std::size_t last = first;
      while (last + 1 < n && !negligible(last)) ++last;
      if (last + 1 < n) e[last] = 0.0;
      if (last == first) break;
      if (step == 60) return Status::invalid("symmetric_eigen: no convergence");
      // The eigenvalue of the first two rows and columns that is nearer to the first entry of the diagonal.
      const double half = 0.5 * (d[first + 1] - d[first]);
      const double shift = d[first] - e[first] * (e[first] / (half + std::copysign(std::hypot(half, e[first]), half)));
      const std::size_t begin = rotations.cosines.size(), count = last - first;
      rotations.sweeps.push_back({static_cast<Index>(first), static_cast<Index>(count), begin});
      rotations.cosines.resize(begin + count);
      rotations.sines.resize(begin + count);
      double x = d[last] - shift, z = e[last - 1];
      for (std::size_t i = last; i-- > first;) {
        const double r = std::hypot(x, z), c = r > 0.0 ? x / r : 1.0, s = r > 0.0 ? z / r : 0.0;
        if (i + 1 < last) e[i + 1] = r;
        const double sum = s * (d[i] - d[i + 1]) + 2.0 * c * e[i], moved = s * sum;
        d[i] -= moved;
        d[i + 1] += moved;
        e[i] = c * sum - e[i];
        if (i > first) {
          x = e[i];
          z = s * e[i - 1];
          e[i - 1] *= c;
        }
        rotations.cosines[begin + i - first] = c;
        rotations.sines[begin + i - first] = s;
      }
      if (rotations.cosines.size() < rotations_at_a_time) continue;
      if (asked_to_stop()) return interrupted();
      const Status status = apply(rotations);
      if (!status.ok()) return status;
      rotations = {};
    }
  }
  return rotations.sweeps.empty() ? Status{} : apply(rotations);
}

}  // namespace kernsel

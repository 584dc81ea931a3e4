// Singular values by one-sided Jacobi rotations. A, or A' if A is wide, is Q R P' with pivoting, which sorts the rows of R by
// size. Rotations J of pairs of columns of R' make these orthogonal in a few sweeps: R' J = W diag(s), so that R = J diag(s)
// W'. The pairs of a sweep are divided into rounds of disjoint pairs, which are the same for any number of threads.
#include <algorithm>
#include <numeric>

#include "base/parallel.hpp"
#include "kernsel/decomposition.hpp"
#include "paths/householder.hpp"

namespace kernsel {

namespace {

constexpr int most_sweeps = 60;

// Makes columns i and j of M orthogonal by a rotation, which is also applied to J. False if they already are.
bool rotate_pair(Padded& M, Padded& J, Index i, Index j) {
  double *const a = M.column(i), *const b = M.column(j);
  const double aa = dot_from(0, M.stride(), a, a), bb = dot_from(0, M.stride(), b, b), ab = dot_from(0, M.stride(), a, b);
  const double tolerance = std::sqrt(static_cast<double>(M.rows())) * std::numeric_limits<double>::epsilon();
  if (!(std::abs(ab) > tolerance * std::sqrt(aa) * std::sqrt(bb)) || ab == 0.0) return false;
  // tan of the angle: the smaller root of t^2 + 2 zeta t - 1.
  const double zeta = (bb - aa) / (2.0 * ab);
  const double t = std::copysign(1.0 / (std::abs(zeta) + std::hypot(1.0, zeta)), zeta);
  const double c = 1.0 / std::hypot(1.0, t), s = c * t;
  for (Padded* both : {&M, &J}) {
    double *const x = both->column(i), *const y = both->column(j);
    for (Index r = 0; r < both->rows(); ++r) {
      const double left = x[r];
      x[r] = c * left - s * y[r];
      y[r] = s * left + c * y[r];
    }
  }
  return true;
}

}  // namespace

Status singular_values(View<const double> A, View<double> s, View<double> U) {
  return within_memory([&]() -> Status {
    const Index n = A.rows, d = A.cols, k = std::min(n, d);
    if (s.rows != k || U.rows != n || U.cols != k)
      return Status::invalid("singular_values: expected A (n, d), s (k) and U (n, k), k = min(n, d)");
    const double largest = largest_of(A);
    if (!std::isfinite(largest)) return Status::invalid("singular_values: expected finite numbers");
    const double unit = power_of_two(largest);
    const bool tall = n >= d;
    Padded R, M, J, result;
    QR qr;
    Status status = R.resize(std::max(n, d), k);
    if (!status.ok()) return status;
    copy(tall ? A : A.transposed(), 1.0 / unit, R.view());
    status = factorize_pivoted_qr(R, 0.0, qr);
    if (status.ok()) status = M.resize(k, k);
    if (status.ok()) status = J.resize(k, k);
    if (!status.ok()) return status;
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i <= std::min(j, qr.rank - 1); ++i) M(j, i) = R(i, j);
      J(j, j) = 1.0;
    }
    const Index players = k + k % 2, pairs = players / 2;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      std::atomic<bool> moved{false};
      for (Index round = 0; round + 1 < players; ++round) {
        // The columns meet as players in a round-robin tournament: the last one stays, and the others move on by one place.
        const auto player = [&](Index place) { return place == players - 1 ? place : (place + round) % (players - 1); };
        status = run_jobs((pairs + 7) / 8, 2.0 * static_cast<double>(pairs * k), [&](Jobs&, Index job) {
          for (Index pair = 8 * job; pair < std::min(pairs, 8 * job + 8); ++pair) {
            const Index a = player(pair), b = player(players - 1 - pair);
            if (std::max(a, b) < k && rotate_pair(M, J, std::min(a, b), std::max(a, b))) moved = true;
          }
        });
        if (!status.ok()) return status;
        if (round % 64 == 0 && asked_to_stop()) {
          status.code = Code::interrupted;
          return status;
        }
      }
      if (!moved) break;
      if (sweep + 1 == most_sweeps) return Status::invalid("singular_values: no convergence");
    }
    std::vector<double> sizes;
    for (Index j = 0; j < k; ++j) sizes.push_back(std::sqrt(dot_from(0, M.stride(), M.column(j), M.column(j))));
    std::vector<Index> order(static_cast<std::size_t>(k));
    std::iota(order.begin(), order.end(), Index{0});
    const auto size = [&](Index j) { return sizes[static_cast<std::size_t>(j)]; };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return size(a) > size(b); });
    // Left singular vectors: those of R if A is tall, and otherwise those of R', in the order of A's rows.
    status = result.resize(n, k);
    if (!status.ok()) return status;
    for (Index j = 0; j < k; ++j) {
      const Index from = order[static_cast<std::size_t>(j)];
      s(j, 0) = unit * size(from);
      if (size(from) == 0.0) continue;
      for (Index i = 0; i < k; ++i) {
        if (tall) {
          result(i, j) = J(i, from);
        } else {
          result(qr.order[static_cast<std::size_t>(i)], j) = M(i, from) / size(from);
        }
      }
    }
    if (tall) status = apply(qr.H, false, result);
    if (status.ok()) copy(result.view(), 1.0, U);
    return status;
  });
}

}  // namespace kernsel

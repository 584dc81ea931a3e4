#include "search/box.hpp"

#include <cmath>
#include <cstddef>

#include "kernsel/cholesky.hpp"

namespace kernsel {

namespace {

enum class Held : char { no, below, above };

constexpr std::size_t many = 64;  // from so many unknowns on, the factorization in tiles is faster

// Solves A x = b in place, A (n, n) positive definite by columns.
Status solve_positive(std::size_t n, std::vector<double>& A, std::vector<double>& b) {
  if (n >= many) {
    const auto size = static_cast<Index>(n);
    LowerTiles<double> L;
    Status status = L.resize(size);
    if (status.ok())
      status = factorize<double>(ArraySource<double>(columns(static_cast<const double*>(A.data()), size, size)), L);
    return status.ok() ? solve<double>(L, vector(b.data(), size)) : status;
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < k; ++j)
      for (std::size_t i = k; i < n; ++i) A[i + k * n] -= A[i + j * n] * A[k + j * n];
    if (!(A[k + k * n] > 0.0)) {
      Status status;
      status.code = Code::not_positive_definite;
      return status;
    }
    const double pivot = std::sqrt(A[k + k * n]);
    for (std::size_t i = k; i < n; ++i) A[i + k * n] /= pivot;
  }
  for (std::size_t k = 0; k < n; ++k) {
    b[k] /= A[k + k * n];
    for (std::size_t i = k + 1; i < n; ++i) b[i] -= A[i + k * n] * b[k];
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t i = k + 1; i < n; ++i) b[k] -= A[i + k * n] * b[i];
    b[k] /= A[k + k * n];
  }
  return {};
}

}  // namespace

Status minimize_in_box(const std::vector<double>& H, const std::vector<double>& g, const std::vector<double>& lower,
                       const std::vector<double>& upper, const std::function<bool()>& go_on, std::vector<double>& s) {
  const std::size_t n = g.size();
  std::vector<double> slope = g;
  s.assign(n, 0.0);
  std::vector<Held> held(n, Held::no);
  for (std::size_t i = 0; i < n; ++i) {  // hold those at a bound that the descent would leave
    if (lower[i] >= 0.0 && g[i] > 0.0) held[i] = Held::below;
    if (upper[i] <= 0.0 && g[i] < 0.0) held[i] = Held::above;
    if (lower[i] >= upper[i]) held[i] = g[i] > 0.0 ? Held::below : Held::above;
  }
  for (std::size_t round = 0; round < 10 * n + 10 && go_on(); ++round) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < n; ++i)
      if (held[i] == Held::no) open.push_back(i);
    const std::size_t count = open.size();
    std::vector<double> A(count * count), step(count);
    for (std::size_t b = 0; b < count; ++b) {
      step[b] = -slope[open[b]];
      for (std::size_t a = 0; a < count; ++a) A[a + b * count] = H[open[a] + n * open[b]];
    }
    const Status status = solve_positive(count, A, step);
    if (status.code == Code::not_positive_definite) return {};
    if (!status.ok()) return status;
    // Move along the step, but only as far as the first bound.
    double length = 1.0;
    std::size_t stopper = n;
    for (std::size_t a = 0; a < count; ++a) {
      const std::size_t i = open[a];
      const double bound = step[a] > 0.0 ? upper[i] : lower[i];
      if (step[a] == 0.0 || s[i] + step[a] == bound || (s[i] + step[a] < bound) == (step[a] > 0.0)) continue;
      const double most = (bound - s[i]) / step[a];
      if (most < length || stopper == n) {
        length = most < 1.0 ? most : 1.0;
        stopper = i;
      }
    }
    for (std::size_t a = 0; a < count; ++a) {
      const std::size_t i = open[a];
      s[i] += length * step[a];
      if (i == stopper) {
        held[i] = step[a] > 0.0 ? Held::above : Held::below;
        s[i] = step[a] > 0.0 ? upper[i] : lower[i];
      }
    }
    slope = g;
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) slope[i] += H[i + n * j] * s[j];
    if (stopper < n) continue;
    // The minimum for these bounds is found. Release the one from which the steepest descent leads inside, if there is one.
    std::size_t freed = n;
    double steepest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      if (held[i] == Held::no || !(lower[i] < upper[i])) continue;
      const double gain = held[i] == Held::below ? -slope[i] : slope[i];
      if (gain > steepest) {
        steepest = gain;
        freed = i;
      }
    }
    if (freed == n) return {};
    held[freed] = Held::no;
  }
  return {};
}

}  // namespace kernsel

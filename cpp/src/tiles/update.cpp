// Updates of a Cholesky factor in O(n^2) when one row is added to the matrix or removed.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernsel/cholesky.hpp"
#include "kernsel/runtime.hpp"

namespace kernsel {

template <class T>
Status append(LowerTiles<T>& L, View<const T> a, T alpha) {
  if (a.rows != L.size() || a.cols != 1) return Status::invalid("append: the new row must have one entry for each old one");
  std::vector<T> l(static_cast<std::size_t>(L.size()));
  for (Index i = 0; i < L.size(); ++i) l[static_cast<std::size_t>(i)] = a(i, 0);
  Status status = solve_lower(L, vector(l.data(), L.size()));
  if (!status.ok()) return status;
  double pivot = static_cast<double>(alpha);
  for (const T x : l) pivot -= static_cast<double>(x) * static_cast<double>(x);
  if (!(pivot > 0.0) || !std::isfinite(pivot)) {
    status.code = Code::not_positive_definite;
    status.pivot = L.size();
    status.value = pivot;
    return status;
  }
  status = L.grow();
  if (!status.ok()) return status;
  const Index n = L.size() - 1;
  for (Index i = 0; i < n; ++i) L.at(n, i) = l[static_cast<std::size_t>(i)];
  L.at(n, n) = static_cast<T>(std::sqrt(pivot));
  return status;
}

// When row i of L is removed, the rows below it must still account for L(:, i) L(:, i)': a rank-one update of the triangle
// below, by one rotation for each of its columns. Each element moves up by one row, and those of columns after i also to the
// left by one column.
template <class T>
Status remove(LowerTiles<T>& L, Index i) {
  const Index n = L.size();
  if (i < 0 || i >= n) return Status::invalid("remove: there is no such row");
  std::vector<T> v(static_cast<std::size_t>(n));
  for (Index r = i + 1; r < n; ++r) v[static_cast<std::size_t>(r)] = L.at(r, i);
  const Index tile = L.tile();
  // Calls f(first row, last row, pointer to the first) for each contiguous part of column `col` from row `from` on; the last
  // row is not included.
  const auto stretches = [&](Index from, Index col, const auto& f) {
    for (Index r = from; r < n; r = (r / tile + 1) * tile) f(r, std::min((r / tile + 1) * tile, n), &L.at(r, col));
  };
  const auto move_up = [&](Index from, Index col, Index to_col) {
    stretches(from, col, [&](Index first, Index last, const T* column) {
      L.at(first - 1, to_col) = column[0];
      std::copy(column + 1, column + (last - first), &L.at(first, to_col));
    });
  };
  for (Index col = 0; col < i; ++col) move_up(i + 1, col, col);
  for (Index k = i + 1; k < n; ++k) {
    const T old = L.at(k, k), x = v[static_cast<std::size_t>(k)];
    const T root = std::hypot(old, x);
    const T c = root / old, s = x / old;
    L.at(k, k) = root;
    stretches(k + 1, k, [&](Index first, Index last, T* column) {
      T* rest = v.data() + first;
      for (Index q = 0; q < last - first; ++q) {
        column[q] = (column[q] + s * rest[q]) / c;
        rest[q] = c * rest[q] - s * column[q];
      }
    });
    move_up(k, k, k - 1);
  }
  L.shrink();
  return {};
}

template Status append<float>(LowerTiles<float>&, View<const float>, float);
template Status append<double>(LowerTiles<double>&, View<const double>, double);
template Status remove<float>(LowerTiles<float>&, Index);
template Status remove<double>(LowerTiles<double>&, Index);

}  // namespace kernsel

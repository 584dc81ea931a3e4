// Cholesky factorization A = L L' of a symmetric positive definite matrix; solutions, determinants and inverses from L.
//
// All functions work on LowerTiles, in place where possible. The floating-point operations on an element do not depend on the
// number of threads, so that results are the same to the bit.
#pragma once

#include "kernsel/tiles.hpp"

namespace kernsel {

// The source of the tiles of A: an array, or a kernel (gram.hpp). fill() is called once for each lower tile, from several
// threads, just before the tile is used, so that A itself is never stored.
template <class T>
class TileSource {
 public:
  virtual ~TileSource() = default;
  // Writes the `height` x `width` tile whose first element is A(row, col), by columns that are `stride` elements apart.
  // row >= col, both multiples of the tile size. Rows up to the next multiple of LowerTiles<T>::padding may be written. A
  // failure ends the factorization.
  virtual Status fill(Index row, Index col, Index height, Index width, T* tile, Index stride) const = 0;
};

// The lower triangle of an array, in any order of storage, and a vector `noise` that is added to its diagonal: one number for
// all rows, one for each row, or none.
template <class T>
class ArraySource final : public TileSource<T> {
 public:
  explicit ArraySource(View<const T> A, View<const T> noise = {}) : A_(A), noise_(noise) {}
  Status fill(Index row, Index col, Index height, Index width, T* tile, Index stride) const override;

 private:
  View<const T> A_, noise_;
};

// Computes L from A in n^3/3 flops; `L` must have the size of A. On failure the status has the pivot, and the contents of L are
// undefined.
template <class T>
Status factorize(const TileSource<T>& A, LowerTiles<T>& L);

// Sets L to the lower triangle of `A`, without a factorization.
template <class T>
Status assign_lower(const TileSource<T>& A, LowerTiles<T>& L);

// B <- A^-1 B, and B <- L^-1 B: 2 n^2 and n^2 flops for each column.
template <class T>
Status solve(const LowerTiles<T>& L, View<T> B);
template <class T>
Status solve_lower(const LowerTiles<T>& L, View<T> B);

// out <- b'A^-1 b = |L^-1 b|^2 for each column b of B, which is not changed: n^2 flops for each column.
template <class T>
Status inverse_quadratic(const LowerTiles<T>& L, View<const T> B, View<T> out);

// Returns how many right-hand sides of n rows should be solved at once if there are many: so many that L is read seldom, and so
// few that they take little memory compared with L.
Index columns_at_a_time(Index n);

// log det A = 2 sum log L_ii.
template <class T>
double log_determinant(const LowerTiles<T>& L);

// Compute A^-1 in 2/3 n^3 flops: `inverse` writes both triangles to an array, `invert` overwrites L (lower tiles; diagonal
// tiles have both triangles). If `invert` fails, the contents of L are undefined.
template <class T>
Status inverse(const LowerTiles<T>& L, View<T> out);
template <class T>
Status invert(LowerTiles<T>& L);

// The diagonal of A^-1, |L^-1 e_i|^2, in n^3/3 flops and O(n tile) memory.
template <class T>
Status inverse_diagonal(const LowerTiles<T>& L, View<T> out);

// P diag(g) P for symmetric P in lower tiles, whose diagonal tiles have both triangles: n^3 flops. The result is not stored:
// `sink` is called once for each of its lower tiles, from several threads.
template <class T>
class TileSink {
 public:
  virtual ~TileSink() = default;
  virtual void take(Index row, Index col, Index height, Index width, const T* tile, Index stride) = 0;
};

template <class T>
Status weighted_square(const LowerTiles<T>& P, View<const T> g, TileSink<T>& sink);

// Update L to the factor of A with one more row, [A a; a' alpha], or of A without row and column i, in O(n^2).
// If `append` fails, L is unchanged.
template <class T>
Status append(LowerTiles<T>& L, View<const T> a, T alpha);
template <class T>
Status remove(LowerTiles<T>& L, Index i);

// Write lower tiles to an array: as a triangle with zeros above the diagonal, or as both triangles of a symmetric matrix.
template <class T>
Status unpack_lower(const LowerTiles<T>& tiles, View<T> out);
template <class T>
Status unpack_symmetric(const LowerTiles<T>& tiles, View<T> out);

}  // namespace kernsel

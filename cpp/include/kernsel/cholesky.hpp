// Cholesky factorization A = L L' of a symmetric positive definite matrix, and what follows from L.
//
// Everything works on LowerTiles, in place where it can. The floating-point operations on an element never depend on the number
// of threads: results are the same to the bit.
#pragma once

#include "kernsel/tiles.hpp"

namespace kernsel {

// Where the tiles of A come from: an array, or a kernel (gram.hpp). Called once for each lower tile, from several threads,
// just before the tile is used, so that A itself is never stored.
template <class T>
class TileSource {
 public:
  virtual ~TileSource() = default;
  // Writes the `height` x `width` tile whose first element is A(row, col), by columns, `stride` apart. row >= col, both
  // multiples of the tile size. Room up to the next multiple of LowerTiles<T>::padding may be written. A failure ends the
  // factorization.
  virtual Status fill(Index row, Index col, Index height, Index width, T* tile, Index stride) const = 0;
};

// The lower triangle of an array, in any order of storage, and what is added to its diagonal: one number for all rows, one for
// each, or none.
template <class T>
class ArraySource final : public TileSource<T> {
 public:
  explicit ArraySource(View<const T> A, View<const T> noise = {}) : A_(A), noise_(noise) {}
  Status fill(Index row, Index col, Index height, Index width, T* tile, Index stride) const override;

 private:
  View<const T> A_, noise_;
};

// L from A in n^3/3 flops; `L` has the size of A. On failure the status has the pivot, and L is of no use.
template <class T>
Status factorize(const TileSource<T>& A, LowerTiles<T>& L);

// L as it is given: `A` is read as the lower triangle of L.
template <class T>
Status assign_lower(const TileSource<T>& A, LowerTiles<T>& L);

// B <- A^-1 B, and B <- L^-1 B: 2 n^2 and n^2 flops for each column.
template <class T>
Status solve(const LowerTiles<T>& L, View<T> B);
template <class T>
Status solve_lower(const LowerTiles<T>& L, View<T> B);

// b'A^-1 b = |L^-1 b|^2 of each column b of B, which is left as it is: n^2 flops for each.
template <class T>
Status inverse_quadratic(const LowerTiles<T>& L, View<const T> B, View<T> out);

// How many right-hand sides of n rows to take at a time where there are many: enough for all threads to read L seldom, in
// memory that is small beside L.
Index columns_at_a_time(Index n);

// log det A = 2 sum log L_ii.
template <class T>
double log_determinant(const LowerTiles<T>& L);

// A^-1 to an array (both triangles), or in place of L (lower tiles, diagonal tiles whole): 2/3 n^3 flops. If `invert` fails, L
// is of no use.
template <class T>
Status inverse(const LowerTiles<T>& L, View<T> out);
template <class T>
Status invert(LowerTiles<T>& L);

// The diagonal of A^-1, |L^-1 e_i|^2, in n^3/3 flops and O(n tile) memory.
template <class T>
Status inverse_diagonal(const LowerTiles<T>& L, View<T> out);

// P diag(g) P for symmetric P in lower tiles, diagonal tiles whole: n^3 flops. The result exists one tile at a time: `sink`
// sees each of the lower tiles once, from several threads.
template <class T>
class TileSink {
 public:
  virtual ~TileSink() = default;
  virtual void take(Index row, Index col, Index height, Index width, const T* tile, Index stride) = 0;
};

template <class T>
Status weighted_square(const LowerTiles<T>& P, View<const T> g, TileSink<T>& sink);

// The factor of A with one row more, A_n+1 = [A a; a' alpha], or without row and column i: O(n^2).
// A failed append leaves L as it was.
template <class T>
Status append(LowerTiles<T>& L, View<const T> a, T alpha);
template <class T>
Status remove(LowerTiles<T>& L, Index i);

// Lower tiles to an array: the triangle with zeros above, or both halves of a symmetric matrix.
template <class T>
Status unpack_lower(const LowerTiles<T>& tiles, View<T> out);
template <class T>
Status unpack_symmetric(const LowerTiles<T>& tiles, View<T> out);

}  // namespace kernsel

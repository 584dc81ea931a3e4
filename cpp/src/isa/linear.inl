// Products, factorization and triangular solves of tiles. All use one kind of loop: a block of Rows packets x Cols columns of
// the result stays in registers while the loop runs along the inner dimension. Operands are read from the tiles in place; these
// are small and contiguous, so that packed copies would not help.
//
// The order of summation over the inner dimension is the same for every element, whichever register block it belongs to.

// acc(r, c) = sum_p A(r, p) B(p, c), where B(p, c) is stored at B[c + p ldb] if Transposed, otherwise at B[p + c ldb].
template <class T, int Rows, int Cols, bool Transposed>
KERNSEL_INLINE void accumulate(Index k, const T* A, Index lda, const T* B, Index ldb, Accumulators<T, Rows, Cols>& acc) {
  using P = typename Pack<T>::type;
#pragma GCC unroll 8
  for (int c = 0; c < Cols; ++c)
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) acc.v[c][r] = simd::pset1<P>(T(0));
  for (Index p = 0; p < k; ++p) {
    P a[Rows];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) a[r] = simd::pload<P>(A + r * Pack<T>::size);
    // Prefetches the part of B that the next columns of the result need. The loop reads a short piece of each column of B, a
    // pattern that hardware does not prefetch; waiting for it took a quarter of the time of large matrices.
    if (Transposed) simd::prefetch(B + 64 / sizeof(T));
#pragma GCC unroll 8
    for (int c = 0; c < Cols; ++c) {
      const P b = simd::pset1<P>(Transposed ? B[c] : B[c * ldb]);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) acc.v[c][r] = simd::pmadd(a[r], b, acc.v[c][r]);
    }
    A += lda;
    B += Transposed ? ldb : 1;
  }
}

template <class T, int Rows, int Cols, bool Transposed>
KERNSEL_INLINE void multiply_block(Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T* C, Index ldc) {
  using P = typename Pack<T>::type;
  Accumulators<T, Rows, Cols> acc;
  accumulate<T, Rows, Cols, Transposed>(k, A, lda, B, ldb, acc);
  const P factor = simd::pset1<P>(alpha);
#pragma GCC unroll 8
  for (int c = 0; c < Cols; ++c)
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
      T* to = C + r * Pack<T>::size + c * ldc;
      simd::pstore(to, simd::pmadd(factor, acc.v[c][r], simd::pload<P>(to)));
    }
}

// C += alpha A B, or alpha A B' if Transposed, for one strip of Rows packets across n columns.
template <class T, int Rows, bool Transposed>
KERNSEL_INLINE void multiply_strip(Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T* C, Index ldc) {
  const Index step = Transposed ? 1 : ldb;
  Index c = 0;
  for (; c + tile_columns <= n; c += tile_columns)
    multiply_block<T, Rows, tile_columns, Transposed>(k, alpha, A, lda, B + c * step, ldb, C + c * ldc, ldc);
  for (; c < n; ++c) multiply_block<T, Rows, 1, Transposed>(k, alpha, A, lda, B + c * step, ldb, C + c * ldc, ldc);
}

// Divides the rows from `first` to `last` into strips, with as many packets as fit, and calls f.run<Rows>(row) for each.
template <class T, class F>
KERNSEL_INLINE void for_strips(Index first, Index last, const F& f) {
  constexpr Index size = Pack<T>::size;
  Index row = first;
  for (; row + tile_packets * size <= last; row += tile_packets * size) f.template run<tile_packets>(row);
  if (tile_packets > 2 && row + 2 * size <= last) {
    f.template run<2>(row);
    row += 2 * size;
  }
  for (; row < last; row += size) f.template run<1>(row);
}

template <class T, bool Transposed, bool Lower>
struct MultiplyRows {
  Index n, k;
  T alpha;
  const T* A;
  Index lda;
  const T* B;
  Index ldb;
  T* C;
  Index ldc;

  template <int Rows>
  KERNSEL_INLINE void run(Index row) const {
    Index width = n;
    if (Lower) {  // columns up to the last row of the strip, rounded up to whole register tiles
      const Index end = (row + Rows * Pack<T>::size + tile_columns - 1) / tile_columns * tile_columns;
      if (end < width) width = end;
    }
    multiply_strip<T, Rows, Transposed>(width, k, alpha, A + row, lda, B, ldb, C + row, ldc);
  }
};

template <class T>
void multiply_nt(Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T* C, Index ldc) {
  for_strips<T>(0, m, MultiplyRows<T, true, false>{n, k, alpha, A, lda, B, ldb, C, ldc});
}

template <class T>
void multiply_lower(Index n, Index k, T alpha, const T* A, Index lda, T* C, Index ldc) {
  for_strips<T>(0, n, MultiplyRows<T, true, true>{n, k, alpha, A, lda, A, lda, C, ldc});
}

template <class T>
void multiply_nn(Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T* C, Index ldc) {
  for_strips<T>(0, m, MultiplyRows<T, false, false>{n, k, alpha, A, lda, B, ldb, C, ldc});
}

// Solves for tile_columns columns from c on, in registers: X(:, c..) <- (X(:, c..) - sum over solved columns) T^-1, where T is
// the triangle at the diagonal. Forward: T = L', and the solved columns are those before c. Backward: T = L, and they are those
// after it.
template <class T, bool Forward>
struct SolveColumns {
  Index n, c;
  const T* L;
  Index ldl;
  const T* triangle;  // L(c.., c..), or a copy of it
  Index ldt;
  const T* inverse_pivots;  // 1 / L(c + i, c + i)
  T* X;
  Index ldx;
  bool update;  // whether the sum over solved columns still has to be subtracted

  template <int Rows>
  KERNSEL_INLINE void run(Index row) const {
    using P = typename Pack<T>::type;
    constexpr Index size = Pack<T>::size;
    Accumulators<T, Rows, tile_columns> x;
    T* target = X + row + c * ldx;
    if (update) {
      if (Forward)
        accumulate<T, Rows, tile_columns, true>(c, X + row, ldx, L + c, ldl, x);
      else {
        const Index after = c + tile_columns;
        accumulate<T, Rows, tile_columns, false>(n - after, X + row + after * ldx, ldx, L + after + c * ldl, ldl, x);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < tile_columns; ++i)
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
        const P old = simd::pload<P>(target + r * size + i * ldx);
        x.v[i][r] = update ? simd::psub(old, x.v[i][r]) : old;
      }
#pragma GCC unroll 8
    for (int step = 0; step < tile_columns; ++step) {
      const int i = Forward ? step : tile_columns - 1 - step;
#pragma GCC unroll 8
      for (int before = 0; before < step; ++before) {
        const int e = Forward ? before : tile_columns - 1 - before;
        const P minus_l = simd::pset1<P>(-(Forward ? triangle[i + e * ldt] : triangle[e + i * ldt]));
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) x.v[i][r] = simd::pmadd(x.v[e][r], minus_l, x.v[i][r]);
      }
      const P pivot = simd::pset1<P>(inverse_pivots[i]);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
        x.v[i][r] = simd::pmul(x.v[i][r], pivot);
        simd::pstore(target + r * size + i * ldx, x.v[i][r]);
      }
    }
  }
};

// Solves for all columns of a strip, tile_columns at a time: the strip of X stays in the first-level cache.
template <class T, bool Forward>
struct SolveRows {
  Index n;
  const T* L;
  Index ldl;
  const T* inverse_pivots;
  T* X;
  Index ldx;

  template <int Rows>
  KERNSEL_INLINE void run(Index row) const {
    for (Index step = 0; step < n; step += tile_columns) {
      const Index c = Forward ? step : n - tile_columns - step;
      const T* triangle = L + c + c * ldl;
      SolveColumns<T, Forward>{n, c, L, ldl, triangle, ldl, inverse_pivots + c, X, ldx, true}.template run<Rows>(row);
    }
  }
};

template <class T, bool Forward>
KERNSEL_INLINE void solve_tile(Index m, Index n, const T* L, Index ldl, T* X, Index ldx) {
  T inverse_pivots[largest_tile];
  for (Index i = 0; i < n; ++i) inverse_pivots[i] = T(1) / L[i + i * ldl];
  for_strips<T>(0, m, SolveRows<T, Forward>{n, L, ldl, inverse_pivots, X, ldx});
}

template <class T>
void solve_transposed(Index m, Index n, const T* L, Index ldl, T* X, Index ldx) {
  solve_tile<T, true>(m, n, L, ldl, X, ldx);
}

template <class T>
void solve(Index m, Index n, const T* L, Index ldl, T* X, Index ldx) {
  solve_tile<T, false>(m, n, L, ldl, X, ldx);
}

// Cholesky factorization of the tile_columns x tile_columns block at D, written to `block` with block[c][r] = L(r, c). Returns
// the failing column, whose pivot is stored in *pivot, or -1.
template <class T>
KERNSEL_INLINE int factorize_block(const T* D, Index ldd, T (&block)[tile_columns][tile_columns], T* inverse_pivots, T* pivot) {
  for (int c = 0; c < tile_columns; ++c)
    for (int r = c; r < tile_columns; ++r) block[c][r] = D[r + c * ldd];
#pragma GCC unroll 8
  for (int c = 0; c < tile_columns; ++c) {
    const T value = block[c][c];
    if (!(value > T(0)) || value > Eigen::NumTraits<T>::highest()) {
      *pivot = value;
      return c;
    }
    const T root = Eigen::numext::sqrt(value);
    inverse_pivots[c] = T(1) / root;
    block[c][c] = root;
#pragma GCC unroll 8
    for (int r = c + 1; r < tile_columns; ++r) block[c][r] *= inverse_pivots[c];
#pragma GCC unroll 8
    for (int e = c + 1; e < tile_columns; ++e)
#pragma GCC unroll 8
      for (int r = e; r < tile_columns; ++r) block[e][r] -= block[c][r] * block[c][e];
  }
  return -1;
}

// Left-looking, tile_columns columns at a time: subtracts the contributions of earlier columns, factorizes the small diagonal
// block in scalar arithmetic, and solves for the rows below it in registers.
template <class T>
Index factorize(Index n, T* A, Index lda, T* pivot) {
  constexpr Index size = Pack<T>::size;
  constexpr Index head = tile_columns > size ? tile_columns : size;  // rows of the packets that contain the diagonal block
  for (Index c = 0; c < n; c += tile_columns) {
    const Index first = c / size * size;
    const Index rest = first + head;
    for_strips<T>(first, rest, MultiplyRows<T, true, false>{tile_columns, c, T(-1), A, lda, A + c, lda, A + c * lda, lda});
    T block[tile_columns][tile_columns], inverse_pivots[tile_columns];
    const int failed = factorize_block<T>(A + c + c * lda, lda, block, inverse_pivots, pivot);
    if (failed >= 0) return c + failed;
    SolveColumns<T, true> below{n, c, A, lda, &block[0][0], tile_columns, inverse_pivots, A, lda, false};
    if (c + tile_columns < rest)
      for_strips<T>(first, rest, below);  // these packets also contain rows below the block; the block is overwritten later
    below.update = true;
    for_strips<T>(rest, n, below);
    for (int i = 0; i < tile_columns; ++i)
      for (int r = i; r < tile_columns; ++r) A[c + r + (c + i) * lda] = block[i][r];
  }
  return -1;
}

template <class T>
void transpose(Index m, Index n, const T* A, Index lda, T* B, Index ldb) {
  using P = typename Pack<T>::type;
  constexpr int size = static_cast<int>(Pack<T>::size);
  Index j = 0;
  for (; j + size <= n; j += size) {
    Index i = 0;
    for (; i + size <= m; i += size) {
      simd::PacketBlock<P, size> block;
#pragma GCC unroll 16
      for (int c = 0; c < size; ++c) block.packet[c] = simd::ploadu<P>(A + i + (j + c) * lda);
      simd::ptranspose(block);
#pragma GCC unroll 16
      for (int r = 0; r < size; ++r) simd::pstoreu(B + j + (i + r) * ldb, block.packet[r]);
    }
    for (; i < m; ++i)
      for (Index c = j; c < j + size; ++c) B[c + i * ldb] = A[i + c * lda];
  }
  for (; j < n; ++j)
    for (Index i = 0; i < m; ++i) B[j + i * ldb] = A[i + j * lda];
}

// Kernels of the distance between points, by direct differences: (x - z)^2 is never negative, is the same for (x, z) and (z, x)
// to the last bit, and is exactly zero between equal points. The product form |x|^2 - 2 x'z + |z|^2 would halve the arithmetic
// and lose all three.

// acc(r, c) = sum_k w_k (x_rk - z_ck)^2
template <class T, int Rows, bool Weighted>
KERNSEL_INLINE void squared_distances(const PointTile<T>& points, Index row, Index col,
                                      Accumulators<T, Rows, tile_columns>& acc) {
  using P = typename Pack<T>::type;
  const T* x = points.X + row;
  const T* z = points.Z + col;
#pragma GCC unroll 8
  for (int c = 0; c < tile_columns; ++c)
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) acc.v[c][r] = simd::pset1<P>(T(0));
  for (Index k = 0; k < points.dimension; ++k) {
    P a[Rows], w;
    if (Weighted) w = simd::pset1<P>(points.weights[k]);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) a[r] = simd::pload<P>(x + r * Pack<T>::size);
#pragma GCC unroll 8
    for (int c = 0; c < tile_columns; ++c) {
      const P b = simd::pset1<P>(z[c]);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
        const P t = simd::psub(a[r], b);
        acc.v[c][r] = simd::pmadd(Weighted ? simd::pmul(t, w) : t, t, acc.v[c][r]);
      }
    }
    x += points.height;
    z += points.width;
  }
}

template <class T, bool Weighted>
struct RbfRows {
  const PointTile<T>& points;
  T scale;
  T* K;

  template <int Rows>
  KERNSEL_INLINE void run(Index row) const {
    using P = typename Pack<T>::type;
    const P factor = simd::pset1<P>(T(-0.5) * scale);
    for (Index col = 0; col < points.width; col += tile_columns) {
      Accumulators<T, Rows, tile_columns> acc;
      squared_distances<T, Rows, Weighted>(points, row, col, acc);
#pragma GCC unroll 8
      for (int c = 0; c < tile_columns; ++c)
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r)
          simd::pstore(K + row + r * Pack<T>::size + (col + c) * points.height,
                       exp_of_negative<T>(simd::pmul(factor, acc.v[c][r])));
    }
  }
};

template <class T>
void rbf(const PointTile<T>& points, T scale, T* K) {
  if (points.weights)
    for_strips<T>(0, points.height, RbfRows<T, true>{points, scale, K});
  else
    for_strips<T>(0, points.height, RbfRows<T, false>{points, scale, K});
}

// The products M = W K of a register tile stay in registers while k runs over the columns of the points.
template <class T>
struct RbfPullbackRows {
  const PointTile<T>& points;
  const T* W;
  const T* K;
  T* sums;  // (d) packets

  template <int Rows>
  KERNSEL_INLINE void run(Index row) const {
    using P = typename Pack<T>::type;
    constexpr Index size = Pack<T>::size;
    for (Index col = 0; col < points.width; col += tile_columns) {
      P M[tile_columns][Rows];
#pragma GCC unroll 8
      for (int c = 0; c < tile_columns; ++c)
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
          const Index at = row + r * size + (col + c) * points.height;
          M[c][r] = simd::pmul(simd::pload<P>(W + at), simd::pload<P>(K + at));
        }
      const T* x = points.X + row;
      const T* z = points.Z + col;
      for (Index k = 0; k < points.dimension; ++k) {
        P chain[Rows];
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) chain[r] = simd::pset1<P>(T(0));
        P a[Rows];
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) a[r] = simd::pload<P>(x + r * size);
#pragma GCC unroll 8
        for (int c = 0; c < tile_columns; ++c) {
          const P b = simd::pset1<P>(z[c]);
#pragma GCC unroll 4
          for (int r = 0; r < Rows; ++r) {
            const P t = simd::psub(a[r], b);
            chain[r] = simd::pmadd(simd::pmul(t, M[c][r]), t, chain[r]);
          }
        }
        P total = simd::pload<P>(sums + k * size);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) total = simd::padd(total, chain[r]);
        simd::pstore(sums + k * size, total);
        x += points.height;
        z += points.width;
      }
    }
  }
};

template <class T>
void rbf_pullback(const PointTile<T>& points, const T* W, const T* K, double* gradient) {
  using P = typename Pack<T>::type;
  constexpr Index size = Pack<T>::size;
  constexpr Index columns_at_once = 64;
  alignas(64) T sums[columns_at_once * Pack<T>::size];
  for (Index first = 0; first < points.dimension; first += columns_at_once) {
    PointTile<T> part = points;
    part.X += first * points.height;
    part.Z += first * points.width;
    part.dimension = points.dimension - first < columns_at_once ? points.dimension - first : columns_at_once;
    fill<T>(part.dimension * size, T(0), sums);
    for_strips<T>(0, points.height, RbfPullbackRows<T>{part, W, K, sums});
    for (Index k = 0; k < part.dimension; ++k) {
      const double weight = points.weights ? static_cast<double>(points.weights[first + k]) : 1.0;
      gradient[first + k] += weight * static_cast<double>(simd::predux(simd::pload<P>(sums + k * size)));
    }
  }
}

// What kernels see of two points: their weighted squared distance, inner product, or signed difference. And the derivatives:
// from weights on the elements of a tile to the columns, to the rows, or to the points.
//
// Distances are sums of squared differences: (x - z)^2 is never negative, is the same for (x, z) and (z, x) to the last bit,
// and is exactly zero for equal points. The form |x|^2 - 2 x'z + |z|^2 would halve the arithmetic and lose these three
// properties.

// Returns `sum` plus the term of one column of the points.
template <class T, Metric M, bool Weighted>
KERNSEL_INLINE typename Pack<T>::type add_term(const typename Pack<T>::type& x, const typename Pack<T>::type& z,
                                               const typename Pack<T>::type& weight, const typename Pack<T>::type& sum) {
  using P = typename Pack<T>::type;
  if (M == Metric::squared_distance) {
    const P t = simd::psub(x, z);
    return simd::pmadd(Weighted ? simd::pmul(t, weight) : t, t, sum);
  }
  if (M == Metric::difference) {
    const P t = simd::psub(x, z);
    return Weighted ? simd::pmadd(t, weight, sum) : simd::padd(t, sum);
  }
  if (Weighted) return simd::pmadd(simd::pmul(x, z), weight, sum);  // x z first, so that (z, x) gives the same bits
  return simd::pmadd(x, z, sum);
}

// Limits squared distances, so that no kernel multiplies zero by infinity.
template <class T, Metric M>
KERNSEL_INLINE typename Pack<T>::type bounded(const typename Pack<T>::type& s) {
  if (M != Metric::squared_distance) return s;
  return simd::pmin(s, simd::pset1<typename Pack<T>::type>(static_cast<T>(sizeof(T) == 8 ? 1e300 : 1e36)));
}

template <class T, Metric M, bool Weighted>
struct MetricRows {
  const PointTile<T>& points;
  T scale;
  T* out;

  template <int Rows>
  KERNSEL_INLINE void run(Index row) const {
    using P = typename Pack<T>::type;
    constexpr Index size = Pack<T>::size;
    const P factor = simd::pset1<P>(scale);
    for (Index col = 0; col < points.width; col += tile_columns) {
      Accumulators<T, Rows, tile_columns> acc;
#pragma GCC unroll 8
      for (int c = 0; c < tile_columns; ++c)
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) acc.v[c][r] = simd::pset1<P>(T(0));
      const T* x = points.X + row;
      const T* z = points.Z + col;
      for (Index k = 0; k < points.dimension; ++k) {
        P a[Rows];
        const P weight = simd::pset1<P>(Weighted ? points.weights[k] : T(1));
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) a[r] = simd::pload<P>(x + r * size);
#pragma GCC unroll 8
        for (int c = 0; c < tile_columns; ++c) {
          const P b = simd::pset1<P>(z[c]);
#pragma GCC unroll 4
          for (int r = 0; r < Rows; ++r) acc.v[c][r] = add_term<T, M, Weighted>(a[r], b, weight, acc.v[c][r]);
        }
        x += points.height;
        z += points.width;
      }
#pragma GCC unroll 8
      for (int c = 0; c < tile_columns; ++c)
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r)
          simd::pstore(out + row + r * size + (col + c) * points.height, bounded<T, M>(simd::pmul(factor, acc.v[c][r])));
    }
  }
};

template <class T, Metric M>
KERNSEL_INLINE void metric_of(const PointTile<T>& points, T scale, T* out) {
  if (points.weights)
    for_strips<T>(0, points.height, MetricRows<T, M, true>{points, scale, out});
  else
    for_strips<T>(0, points.height, MetricRows<T, M, false>{points, scale, out});
}

template <class T>
void metric(Metric which, const PointTile<T>& points, T scale, T* out) {
  switch (which) {
    case Metric::squared_distance:
      return metric_of<T, Metric::squared_distance>(points, scale, out);
    case Metric::inner_product:
      return metric_of<T, Metric::inner_product>(points, scale, out);
    case Metric::difference:
      return metric_of<T, Metric::difference>(points, scale, out);
  }
}

// The metric between each point of X and itself, by the same operations as in a tile, so that the results agree to the bit.
template <class T, Metric M, bool Weighted>
KERNSEL_INLINE void metric_diagonal_of(const PointTile<T>& points, T scale, T* out) {
  using P = typename Pack<T>::type;
  for_packets(points.height, out, [&](Index row) {
    P sum = simd::pset1<P>(T(0));
    for (Index k = 0; k < points.dimension; ++k) {
      const P x = simd::pload<P>(points.X + row + k * points.height);
      sum = add_term<T, M, Weighted>(x, x, simd::pset1<P>(Weighted ? points.weights[k] : T(1)), sum);
    }
    return simd::pmul(simd::pset1<P>(scale), sum);
  });
}

template <class T>
void metric_diagonal(Metric which, const PointTile<T>& points, T scale, T* out) {
  if (which != Metric::inner_product) return fill<T>(points.height, T(0), out);
  if (points.weights) return metric_diagonal_of<T, Metric::inner_product, true>(points, scale, out);
  return metric_diagonal_of<T, Metric::inner_product, false>(points, scale, out);
}

// The loop over the columns k of the points is inside the one over register tiles, so that the weights G of a register tile are
// loaded once.
template <class T, Metric M>
struct MetricPullbackRows {
  const PointTile<T>& points;
  const T* G;
  T* sums;  // (d) packets

  template <int Rows>
  KERNSEL_INLINE void run(Index row) const {
    using P = typename Pack<T>::type;
    constexpr Index size = Pack<T>::size;
    for (Index col = 0; col < points.width; col += tile_columns) {
      P g[tile_columns][Rows];
#pragma GCC unroll 8
      for (int c = 0; c < tile_columns; ++c)
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) g[c][r] = simd::pload<P>(G + row + r * size + (col + c) * points.height);
      const T* x = points.X + row;
      const T* z = points.Z + col;
      for (Index k = 0; k < points.dimension; ++k) {
        P chain[Rows], a[Rows];
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
          chain[r] = simd::pset1<P>(T(0));
          a[r] = simd::pload<P>(x + r * size);
        }
#pragma GCC unroll 8
        for (int c = 0; c < tile_columns; ++c) {
          const P b = simd::pset1<P>(z[c]);
#pragma GCC unroll 4
          for (int r = 0; r < Rows; ++r) chain[r] = add_term<T, M, true>(a[r], b, g[c][r], chain[r]);
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
void metric_pullback(Metric which, const PointTile<T>& points, const T* G, double* gradient) {
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
    switch (which) {
      case Metric::squared_distance:
        for_strips<T>(0, points.height, MetricPullbackRows<T, Metric::squared_distance>{part, G, sums});
        break;
      case Metric::inner_product:
        for_strips<T>(0, points.height, MetricPullbackRows<T, Metric::inner_product>{part, G, sums});
        break;
      case Metric::difference:
        for_strips<T>(0, points.height, MetricPullbackRows<T, Metric::difference>{part, G, sums});
        break;
    }
    for (Index k = 0; k < part.dimension; ++k) {
      const double weight = points.weights ? static_cast<double>(points.weights[first + k]) : 1.0;
      gradient[first + k] += weight * static_cast<double>(simd::predux(simd::pload<P>(sums + k * size)));
    }
  }
}

// out_ik = w_k sum_j G_ij d(term_k(i, j))/dx_ik, where term_k has no weight: the gradient in the points of X for weights G on a
// tile.
template <class T, Metric M>
struct MetricPointsRows {
  const PointTile<T>& points;
  const T* G;
  T* out;

  template <int Rows>
  KERNSEL_INLINE void run(Index row) const {
    using P = typename Pack<T>::type;
    constexpr Index size = Pack<T>::size;
    for (Index k = 0; k < points.dimension; ++k) {
      const T* z = points.Z + k * points.width;
      const T weight = points.weights ? points.weights[k] : T(1);
      const P factor = simd::pset1<P>(M == Metric::squared_distance ? T(2) * weight : weight);
      P x[Rows], sum[Rows];
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
        x[r] = simd::pload<P>(points.X + row + r * size + k * points.height);
        sum[r] = simd::pset1<P>(T(0));
      }
      for (Index c = 0; c < points.width; ++c) {
        const P b = simd::pset1<P>(z[c]);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
          const P g = simd::pload<P>(G + row + r * size + c * points.height);
          if (M == Metric::squared_distance) sum[r] = simd::pmadd(g, simd::psub(x[r], b), sum[r]);
          if (M == Metric::inner_product) sum[r] = simd::pmadd(g, b, sum[r]);
          if (M == Metric::difference) sum[r] = simd::padd(g, sum[r]);
        }
      }
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) simd::pstore(out + row + r * size + k * points.height, simd::pmul(factor, sum[r]));
    }
  }
};

template <class T>
void metric_points(Metric which, const PointTile<T>& points, const T* G, T* out) {
  switch (which) {
    case Metric::squared_distance:
      return for_strips<T>(0, points.height, MetricPointsRows<T, Metric::squared_distance>{points, G, out});
    case Metric::inner_product:
      return for_strips<T>(0, points.height, MetricPointsRows<T, Metric::inner_product>{points, G, out});
    case Metric::difference:
      return for_strips<T>(0, points.height, MetricPointsRows<T, Metric::difference>{points, G, out});
  }
}

// out_ik = w_k sum_j G_ij term_k(i, j), where term_k has no weight.
template <class T, Metric M>
struct MetricRowSums {
  const PointTile<T>& points;
  const T* G;
  T* out;

  template <int Rows>
  KERNSEL_INLINE void run(Index row) const {
    using P = typename Pack<T>::type;
    constexpr Index size = Pack<T>::size;
    for (Index k = 0; k < points.dimension; ++k) {
      const T* z = points.Z + k * points.width;
      P x[Rows], sum[Rows];
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
        x[r] = simd::pload<P>(points.X + row + r * size + k * points.height);
        sum[r] = simd::pset1<P>(T(0));
      }
      for (Index c = 0; c < points.width; ++c) {
        const P b = simd::pset1<P>(z[c]);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r)
          sum[r] = add_term<T, M, true>(x[r], b, simd::pload<P>(G + row + r * size + c * points.height), sum[r]);
      }
      const P weight = simd::pset1<P>(points.weights ? points.weights[k] : T(1));
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) simd::pstore(out + row + r * size + k * points.height, simd::pmul(weight, sum[r]));
    }
  }
};

template <class T>
void metric_rows(Metric which, const PointTile<T>& points, const T* G, T* out) {
  switch (which) {
    case Metric::squared_distance:
      return for_strips<T>(0, points.height, MetricRowSums<T, Metric::squared_distance>{points, G, out});
    case Metric::inner_product:
      return for_strips<T>(0, points.height, MetricRowSums<T, Metric::inner_product>{points, G, out});
    case Metric::difference:
      return for_strips<T>(0, points.height, MetricRowSums<T, Metric::difference>{points, G, out});
  }
}

// Products of one-dimensional Matern kernels, as in kriging: prod_k m(a_k), a_k = w_k |x_k - z_k|, with
//     m(a) = exp(-a),    (1 + a) exp(-a),    (1 + a + a^2/3) exp(-a)
// for smoothness 1/2, 3/2 and 5/2. The a_k are added up, so that one exponential is needed for each pair of points.

// The polynomial that multiplies exp(-a) in m(a), for smoothness 3/2 and 5/2.
template <class T, MaternOrder Order>
KERNSEL_INLINE typename Pack<T>::type matern_polynomial(const typename Pack<T>::type& a) {
  const auto linear = simd::padd(constant_packet<T>(1), a);
  return Order == MaternOrder::three_halves ? linear : simd::pmadd(simd::pmul(a, a), constant_packet<T>(1.0 / 3.0), linear);
}

template <class T, MaternOrder Order>
// -m'(a) / (a m(a)), for smoothness 3/2 and 5/2.
KERNSEL_INLINE typename Pack<T>::type matern_ratio(const typename Pack<T>::type& a) {
  const auto one = constant_packet<T>(1), linear = simd::padd(one, a);
  if (Order == MaternOrder::three_halves) return simd::pdiv(one, linear);
  return simd::pdiv(linear, simd::pmadd(constant_packet<T>(3), linear, simd::pmul(a, a)));
}

template <class T, MaternOrder Order>
// -a m'(a) / m(a), the derivative of log m in log l, where a is proportional to 1 / l.
KERNSEL_INLINE typename Pack<T>::type matern_change(const typename Pack<T>::type& a) {
  if (Order == MaternOrder::half) return a;
  return simd::pmul(simd::pmul(a, a), matern_ratio<T, Order>(a));
}

// Limits a so that its square is finite: otherwise far points would multiply zero by infinity.
template <class T>
KERNSEL_INLINE typename Pack<T>::type bounded_change(const typename Pack<T>::type& a) {
  return simd::pmin(a, constant_packet<T>(sizeof(T) == 8 ? 1e150 : 1e18));
}

template <class T, MaternOrder Order>
struct ProductMaternRows {
  const PointTile<T>& points;
  T* K;

  template <int Rows>
  KERNSEL_INLINE void run(Index row) const {
    using P = typename Pack<T>::type;
    constexpr Index size = Pack<T>::size;
    constexpr int columns = tile_columns / 2;  // each entry needs two accumulators, the sum and the product
    for (Index col = 0; col < points.width; col += columns) {
      Accumulators<T, Rows, columns> sum, product;
#pragma GCC unroll 8
      for (int c = 0; c < columns; ++c)
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
          sum.v[c][r] = simd::pset1<P>(T(0));
          product.v[c][r] = simd::pset1<P>(T(1));
        }
      for (Index k = 0; k < points.dimension; ++k) {
        const P weight = simd::pset1<P>(points.weights[k]);
#pragma GCC unroll 8
        for (int c = 0; c < columns; ++c) {
          const P z = simd::pset1<P>(points.Z[col + c + k * points.width]);
#pragma GCC unroll 4
          for (int r = 0; r < Rows; ++r) {
            const P x = simd::pload<P>(points.X + row + r * size + k * points.height);
            const P a = bounded_change<T>(simd::pmul(weight, simd::pabs(simd::psub(x, z))));
            sum.v[c][r] = simd::padd(sum.v[c][r], a);
            if (Order != MaternOrder::half) product.v[c][r] = simd::pmul(product.v[c][r], matern_polynomial<T, Order>(a));
          }
        }
      }
#pragma GCC unroll 8
      for (int c = 0; c < columns; ++c)
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
          const P decay = exp_of_negative<T>(simd::pnegate(sum.v[c][r]));
          // For far points the polynomial may overflow where the exponential is zero.
          const P value = zero_where_zero<T>(decay, simd::pmul(product.v[c][r], decay));
          simd::pstore(K + row + r * size + (col + c) * points.height, value);
        }
    }
  }
};

template <class T, MaternOrder Order>
KERNSEL_INLINE void product_matern_pullback_of(const PointTile<T>& points, const T* W, const T* K, double* gradient) {
  using P = typename Pack<T>::type;
  for (Index k = 0; k < points.dimension; ++k) {
    const P weight = simd::pset1<P>(points.weights[k]);
    const T* x = points.X + k * points.height;
    P total = simd::pset1<P>(T(0));
    for (Index c = 0; c < points.width; ++c) {
      const P z = simd::pset1<P>(points.Z[c + k * points.width]);
      for (Index r = 0; r < points.height; r += Pack<T>::size) {
        const Index at = r + c * points.height;
        const P a = bounded_change<T>(simd::pmul(weight, simd::pabs(simd::psub(simd::pload<P>(x + r), z))));
        const P value = simd::pmul(simd::pload<P>(W + at), simd::pload<P>(K + at));
        total = simd::pmadd(value, matern_change<T, Order>(a), total);
      }
    }
    gradient[k] += static_cast<double>(simd::predux(total));
  }
}

template <class T>
void product_matern(MaternOrder order, const PointTile<T>& points, T* K) {
  switch (order) {
    case MaternOrder::half:
      return for_strips<T>(0, points.height, ProductMaternRows<T, MaternOrder::half>{points, K});
    case MaternOrder::three_halves:
      return for_strips<T>(0, points.height, ProductMaternRows<T, MaternOrder::three_halves>{points, K});
    case MaternOrder::five_halves:
      return for_strips<T>(0, points.height, ProductMaternRows<T, MaternOrder::five_halves>{points, K});
  }
}

template <class T>
void product_matern_pullback(MaternOrder order, const PointTile<T>& points, const T* W, const T* K, double* gradient) {
  switch (order) {
    case MaternOrder::half:
      return product_matern_pullback_of<T, MaternOrder::half>(points, W, K, gradient);
    case MaternOrder::three_halves:
      return product_matern_pullback_of<T, MaternOrder::three_halves>(points, W, K, gradient);
    case MaternOrder::five_halves:
      return product_matern_pullback_of<T, MaternOrder::five_halves>(points, W, K, gradient);
  }
}

// out_ik = sum_j W_ij dK_ij/dx_ik. For smoothness 1/2, the kernel has a kink where two points share a coordinate; the slope
// there is taken as 0.
template <class T, MaternOrder Order>
KERNSEL_INLINE void product_matern_points_of(const PointTile<T>& points, const T* W, const T* K, T* out) {
  using P = typename Pack<T>::type;
  for (Index k = 0; k < points.dimension; ++k) {
    const P weight = simd::pset1<P>(points.weights[k]);
    for (Index r = 0; r < points.height; r += Pack<T>::size) {
      const P x = simd::pload<P>(points.X + r + k * points.height);
      P total = simd::pset1<P>(T(0));
      for (Index c = 0; c < points.width; ++c) {
        const Index at = r + c * points.height;
        const P t = simd::psub(x, simd::pset1<P>(points.Z[c + k * points.width]));
        const P value = simd::pmul(simd::pload<P>(W + at), simd::pload<P>(K + at));
        const P a = bounded_change<T>(simd::pmul(weight, simd::pabs(t)));
        P slope;
        if (Order == MaternOrder::half)
          slope = zero_where_zero<T>(t, simd::pdiv(t, simd::pabs(t)));
        else
          slope = simd::pmul(simd::pmul(weight, t), matern_ratio<T, Order>(a));
        total = simd::pmadd(value, slope, total);
      }
      simd::pstore(out + r + k * points.height, simd::pmul(simd::pnegate(weight), total));
    }
  }
}

template <class T>
void product_matern_points(MaternOrder order, const PointTile<T>& points, const T* W, const T* K, T* out) {
  switch (order) {
    case MaternOrder::half:
      return product_matern_points_of<T, MaternOrder::half>(points, W, K, out);
    case MaternOrder::three_halves:
      return product_matern_points_of<T, MaternOrder::three_halves>(points, W, K, out);
    case MaternOrder::five_halves:
      return product_matern_points_of<T, MaternOrder::five_halves>(points, W, K, out);
  }
}

// out_ik = sum_j W_ij dK_ij/dlog l_k.
template <class T, MaternOrder Order>
struct ProductMaternRowSums {
  const PointTile<T>& points;
  const T* W;
  const T* K;
  T* out;

  template <int Rows>
  KERNSEL_INLINE void run(Index row) const {
    using P = typename Pack<T>::type;
    constexpr Index size = Pack<T>::size;
    for (Index k = 0; k < points.dimension; ++k) {
      const P weight = simd::pset1<P>(points.weights[k]);
      P x[Rows], sum[Rows];
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
        x[r] = simd::pload<P>(points.X + row + r * size + k * points.height);
        sum[r] = simd::pset1<P>(T(0));
      }
      for (Index c = 0; c < points.width; ++c) {
        const P z = simd::pset1<P>(points.Z[c + k * points.width]);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
          const Index at = row + r * size + c * points.height;
          const P a = bounded_change<T>(simd::pmul(weight, simd::pabs(simd::psub(x[r], z))));
          const P value = simd::pmul(simd::pload<P>(W + at), simd::pload<P>(K + at));
          sum[r] = simd::pmadd(value, matern_change<T, Order>(a), sum[r]);
        }
      }
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) simd::pstore(out + row + r * size + k * points.height, sum[r]);
    }
  }
};

template <class T>
void product_matern_rows(MaternOrder order, const PointTile<T>& points, const T* W, const T* K, T* out) {
  switch (order) {
    case MaternOrder::half:
      return for_strips<T>(0, points.height, ProductMaternRowSums<T, MaternOrder::half>{points, W, K, out});
    case MaternOrder::three_halves:
      return for_strips<T>(0, points.height, ProductMaternRowSums<T, MaternOrder::three_halves>{points, W, K, out});
    case MaternOrder::five_halves:
      return for_strips<T>(0, points.height, ProductMaternRowSums<T, MaternOrder::five_halves>{points, W, K, out});
  }
}

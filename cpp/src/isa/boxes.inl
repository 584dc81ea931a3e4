// The squared distances of points from a box, sum_k max(lower_k - x_k, x_k - upper_k, 0)^2, as a walk through a tree of boxes
// needs them.
template <class T>
void box_distances(Index count, Index dimension, const T* X, const T* lower, const T* upper, T* out) {
  using P = typename Pack<T>::type;
  constexpr Index size = Pack<T>::size;
  constexpr int packs = 4;
  const P zero = simd::pset1<P>(T(0));
  for (Index row = 0; row < count; row += packs * size) {
    const Index left = (count - row) / size;
    const int used = left < packs ? static_cast<int>(left) : packs;
    P sum[packs] = {zero, zero, zero, zero};
    for (Index k = 0; k < dimension; ++k) {
      const P from = simd::pset1<P>(lower[k]), to = simd::pset1<P>(upper[k]);
      const T* const x = X + row + k * count;
#pragma GCC unroll 4
      for (int p = 0; p < packs; ++p) {
        const P here = simd::pload<P>(x + (p < used ? p : 0) * size);
        const P gap = simd::pmax(simd::pmax(simd::psub(from, here), simd::psub(here, to)), zero);
        sum[p] = simd::pmadd(gap, gap, sum[p]);
      }
    }
#pragma GCC unroll 4
    for (int p = 0; p < packs; ++p)
      if (p < used) simd::pstore(out + row + p * size, sum[p]);
  }
}

// The squared distances of the points of a bucket from some queries, and the smallest of each query. See table.hpp.
template <class T, int Queries>
KERNSEL_INLINE void distances_from_bucket(Index height, Index dimension, const T* points, const T* X, Index ldx,
                                          const signed char* which, T* out, T* nearest) {
  using P = typename Pack<T>::type;
  constexpr Index size = Pack<T>::size;
  constexpr int packs = 4;
  const P largest = simd::pset1<P>(static_cast<T>(sizeof(T) == 8 ? 1e300 : 1e36));
  P least[Queries];
#pragma GCC unroll 2
  for (int q = 0; q < Queries; ++q) least[q] = largest;
  for (Index row = 0; row < height; row += packs * size) {
    const Index left = (height - row) / size;
    const int used = left < packs ? static_cast<int>(left) : packs;
    Accumulators<T, packs, Queries> sum;
#pragma GCC unroll 2
    for (int q = 0; q < Queries; ++q)
#pragma GCC unroll 4
      for (int p = 0; p < packs; ++p) sum.v[q][p] = simd::pset1<P>(T(0));
    for (Index k = 0; k < dimension; ++k) {
      P x[packs];
#pragma GCC unroll 4
      for (int p = 0; p < packs; ++p) x[p] = simd::pload<P>(points + row + (p < used ? p : 0) * size + k * height);
#pragma GCC unroll 2
      for (int q = 0; q < Queries; ++q) {
        const P z = simd::pset1<P>(X[which[q] + k * ldx]);
#pragma GCC unroll 4
        for (int p = 0; p < packs; ++p) {
          const P t = simd::psub(x[p], z);
          sum.v[q][p] = simd::pmadd(t, t, sum.v[q][p]);
        }
      }
    }
#pragma GCC unroll 2
    for (int q = 0; q < Queries; ++q)
#pragma GCC unroll 4
      for (int p = 0; p < packs; ++p) {
        const P distance = simd::pmin(sum.v[q][p], largest);
        least[q] = simd::pmin(least[q], distance);
        if (p < used) simd::pstore(out + q * height + row + p * size, distance);
      }
  }
#pragma GCC unroll 2
  for (int q = 0; q < Queries; ++q) nearest[q] = simd::predux_min(least[q]);
}

template <class T>
void bucket_distances(Index height, Index dimension, const T* points, const T* X, Index ldx, Index count,
                      const signed char* which, T* out, T* nearest) {
  Index q = 0;
  for (; q + 2 <= count; q += 2)
    distances_from_bucket<T, 2>(height, dimension, points, X, ldx, which + q, out + q * height, nearest + q);
  if (q < count) distances_from_bucket<T, 1>(height, dimension, points, X, ldx, which + q, out + q * height, nearest + q);
}

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

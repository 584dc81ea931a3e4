// Elementwise operations and sums on contiguous tiles. Counts are multiples of the padding, and pointers are aligned to it.

template <class T, class F>
KERNSEL_INLINE void for_packets(Index count, T* out, const F& f) {
  for (Index i = 0; i < count; i += Pack<T>::size) simd::pstore(out + i, f(i));
}

template <class T>
void fill(Index count, T value, T* out) {
  using P = typename Pack<T>::type;
  for_packets(count, out, [=](Index) { return simd::pset1<P>(value); });
}

template <class T>
void add(Index count, const T* a, const T* b, T* out) {
  using P = typename Pack<T>::type;
  for_packets(count, out, [=](Index i) { return simd::padd(simd::pload<P>(a + i), simd::pload<P>(b + i)); });
}

template <class T>
void multiply(Index count, const T* a, const T* b, T* out) {
  using P = typename Pack<T>::type;
  for_packets(count, out, [=](Index i) { return simd::pmul(simd::pload<P>(a + i), simd::pload<P>(b + i)); });
}

template <class T>
void multiply_add(Index count, const T* a, const T* b, T* out) {
  using P = typename Pack<T>::type;
  for_packets(count, out,
              [=](Index i) { return simd::pmadd(simd::pload<P>(a + i), simd::pload<P>(b + i), simd::pload<P>(out + i)); });
}

template <class T>
void scale(Index count, T factor, const T* a, T* out) {
  using P = typename Pack<T>::type;
  const P f = simd::pset1<P>(factor);
  for_packets(count, out, [=](Index i) { return simd::pmul(f, simd::pload<P>(a + i)); });
}

// Sums over packets: f(i, s) returns s plus the term of the packet at i. Four independent partial sums hide the latency of
// additions.
template <class T, class F>
KERNSEL_INLINE double reduce(Index count, const F& f) {
  using P = typename Pack<T>::type;
  constexpr Index size = Pack<T>::size;
  P chain[4];
  for (int q = 0; q < 4; ++q) chain[q] = simd::pset1<P>(T(0));
  Index i = 0;
  for (; i + 4 * size <= count; i += 4 * size)
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) chain[q] = f(i + q * size, chain[q]);
  for (; i < count; i += size) chain[0] = f(i, chain[0]);
  return static_cast<double>(simd::predux(simd::padd(simd::padd(chain[0], chain[1]), simd::padd(chain[2], chain[3]))));
}

template <class T>
double sum(Index count, const T* a) {
  using P = typename Pack<T>::type;
  return reduce<T>(count, [=](Index i, P so_far) { return simd::padd(so_far, simd::pload<P>(a + i)); });
}

template <class T>
double dot(Index count, const T* a, const T* b) {
  using P = typename Pack<T>::type;
  return reduce<T>(count, [=](Index i, P so_far) { return simd::pmadd(simd::pload<P>(a + i), simd::pload<P>(b + i), so_far); });
}

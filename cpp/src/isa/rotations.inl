// Rotations of neighbouring columns (see rotate in table.hpp), as a step of the implicit QL method for eigenvectors needs them.
// The column that two successive rotations have in common stays in registers.

template <class T, int packs>
KERNSEL_INLINE void rotate_rows(Index count, const T* c, const T* s, T* Z, Index ldz) {
  using P = typename Pack<T>::type;
  constexpr Index size = Pack<T>::size;
  P shared[packs];
#pragma GCC unroll 8
  for (int q = 0; q < packs; ++q) shared[q] = simd::pload<P>(Z + count * ldz + q * size);
  for (Index k = count; k-- > 0;) {
    const P cosine = simd::pset1<P>(c[k]), sine = simd::pset1<P>(s[k]);
    T* const column = Z + k * ldz;
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) {
      const P left = simd::pload<P>(column + q * size);
      simd::pstore(column + ldz + q * size, simd::pmadd(sine, left, simd::pmul(cosine, shared[q])));
      shared[q] = simd::psub(simd::pmul(cosine, left), simd::pmul(sine, shared[q]));
    }
  }
#pragma GCC unroll 8
  for (int q = 0; q < packs; ++q) simd::pstore(Z + q * size, shared[q]);
}

template <class T>
void rotate(Index height, Index count, const T* c, const T* s, T* Z, Index ldz) {
  constexpr Index size = Pack<T>::size;
  Index row = 0;
  for (; row + 4 * size <= height; row += 4 * size) rotate_rows<T, 4>(count, c, s, Z + row, ldz);
  for (; row < height; row += size) rotate_rows<T, 1>(count, c, s, Z + row, ldz);
}

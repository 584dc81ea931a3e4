// Copies that bypass the caches, for results that are larger than these: the processor then does not read a cache line before
// it is overwritten.

KERNSEL_INLINE void store_past_caches(double* to, const Pack<double>::type& value) {
#if defined(__AVX512F__)
  _mm512_stream_pd(to, value);
#elif defined(__AVX__)
  _mm256_stream_pd(to, value);
#elif defined(__SSE2__)
  _mm_stream_pd(to, value);
#else
  simd::pstore(to, value);
#endif
}

KERNSEL_INLINE void store_past_caches(float* to, const Pack<float>::type& value) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, value);
#elif defined(__AVX__)
  _mm256_stream_ps(to, value);
#elif defined(__SSE2__)
  _mm_stream_ps(to, value);
#else
  simd::pstore(to, value);
#endif
}

// B = A, column by column. Only whole cache lines of B bypass the caches.
template <class T>
void stream(Index m, Index n, const T* A, Index lda, T* B, Index ldb) {
  using P = typename Pack<T>::type;
  constexpr Index size = Pack<T>::size;
  constexpr Index line = 64 / static_cast<Index>(sizeof(T));
  for (Index c = 0; c < n; ++c) {
    const T* from = A + c * lda;
    T* to = B + c * ldb;
    const Index offset = (reinterpret_cast<Index>(to) & 63) / static_cast<Index>(sizeof(T));
    const Index head = (line - offset) % line;
    Index i = 0;
    for (; i < head && i < m; ++i) to[i] = from[i];
    for (; i + line <= m; i += line)
#pragma GCC unroll 4
      for (Index q = 0; q < line; q += size) store_past_caches(to + i + q, simd::ploadu<P>(from + i + q));
    for (; i < m; ++i) to[i] = from[i];
  }
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// exp(x), within 1 ULP (tests/python/_solve/test_gram.py). Results below the smallest normal number are replaced by zero.
//
// With x = n log 2 + r, |r| <= log(2)/2, it is exp(x) = 2^n (1 + r + r^2 q(r)); the bits of 2^n are set directly. The
// polynomials q are near-minimax fits of (exp(r) - 1 - r) / r^2, made with mpmath.chebyfit on 1.0005 [-log(2)/2, log(2)/2];
// their relative errors are 1.3e-17 (double) and 7.8e-9 (float).

template <class T>
struct ExponentialConstants;

template <>
struct ExponentialConstants<double> {
  using Integer = unsigned long long;
  static constexpr int mantissa_bits = 52;
  static constexpr double rounding =
      6755399441055744.0 + 1023;  // 1.5 * 2^52 + bias: the low bits of the sum are the biased exponent of 2^n
  static constexpr double lowest = -708.39;
  static constexpr double highest = 709.43;              // up to here n <= 1023
  static constexpr double log2_high = 0x1.62e42fefap-1;  // has so few bits that its product with n is exact
  static constexpr double log2_low = 0x1.cf79abc9e3b3ap-40;
  static constexpr int terms = 10;
  static constexpr double q[terms] = {
      0x1.af38d53857513p-26, 0x1.2891a8c1d838dp-22, 0x1.71de0d9c145d0p-19, 0x1.a019b8ef67c6cp-16, 0x1.a01a01a7c8d47p-13,
      0x1.6c16c17893833p-10, 0x1.11111111109adp-7,  0x1.5555555553d4fp-5,  0x1.5555555555556p-3,  0x1.0000000000001p-1};
};

template <>
struct ExponentialConstants<float> {
  using Integer = unsigned;
  static constexpr int mantissa_bits = 23;
  static constexpr float rounding = 12582912.0f + 127;
  static constexpr float lowest = -87.33f;
  static constexpr float highest = 88.37f;
  static constexpr float log2_high = 0x1.62e4p-1f;
  static constexpr float log2_low = 0x1.7f7d1cp-20f;
  static constexpr int terms = 5;
  static constexpr float q[terms] = {1.3926213466332444e-3f, 8.363202971575855e-3f, 0.04166655443768594f, 0.16666576845993977f,
                                     0.5f};
};

// The bits of each number shifted to the left, as a number: the low bits become those of the exponent.
#if !defined(_MSC_VER) || defined(__clang__)
template <class T>
KERNSEL_INLINE typename Pack<T>::type low_bits_as_exponent(const typename Pack<T>::type& x) {
  using P = typename Pack<T>::type;
  typedef typename ExponentialConstants<T>::Integer Bits __attribute__((vector_size(sizeof(P))));
  return (P)((Bits)x << ExponentialConstants<T>::mantissa_bits);
}
#else  // MSVC has no operators for vectors
template <class T>
KERNSEL_INLINE typename Pack<T>::type low_bits_as_exponent(const typename Pack<T>::type& x) {
  using Constants = ExponentialConstants<T>;
  constexpr int size = static_cast<int>(Pack<T>::size);
  union {
    alignas(64) T numbers[size];
    typename Constants::Integer bits[size];
  } both;
  simd::pstore(both.numbers, x);
  for (int i = 0; i < size; ++i) both.bits[i] <<= Constants::mantissa_bits;
  return simd::pload<typename Pack<T>::type>(both.numbers);
}
#endif

// exp(x) where the result is a normal number, and meaningless numbers elsewhere.
template <class T>
KERNSEL_INLINE typename Pack<T>::type exp_within_range(const typename Pack<T>::type& x) {
  using P = typename Pack<T>::type;
  using Constants = ExponentialConstants<T>;
  const P rounding = simd::pset1<P>(Constants::rounding);
  const P shifted = simd::pmadd(x, simd::pset1<P>(T(1.4426950408889634)), rounding);
  const P n = simd::psub(shifted, rounding);
  P r = simd::pmadd(n, simd::pset1<P>(-Constants::log2_high), x);
  r = simd::pmadd(n, simd::pset1<P>(-Constants::log2_low), r);
  P q = simd::pset1<P>(Constants::q[0]);
#pragma GCC unroll 16
  for (int i = 1; i < Constants::terms; ++i) q = simd::pmadd(q, r, simd::pset1<P>(Constants::q[i]));
  const P exp_r = simd::padd(simd::pset1<P>(T(1)), simd::pmadd(simd::pmul(r, r), q, r));
  return simd::pmul(exp_r, low_bits_as_exponent<T>(shifted));  // NaN stays NaN
}

template <class T>
// exp(x) for x up to `highest`, and zero where the result would not be a normal number.
KERNSEL_INLINE typename Pack<T>::type exp_of_negative(const typename Pack<T>::type& x) {
  using P = typename Pack<T>::type;
  const P lowest = simd::pset1<P>(ExponentialConstants<T>::lowest);
  return simd::pselect(simd::pcmp_lt(x, lowest), simd::pset1<P>(T(0)), exp_within_range<T>(x));
}

// exp(x) for any x: zero where the result would not be a normal number, infinity above `highest`.
template <class T>
KERNSEL_INLINE typename Pack<T>::type exp_of_any(const typename Pack<T>::type& x) {
  using P = typename Pack<T>::type;
  const P highest = simd::pset1<P>(ExponentialConstants<T>::highest);
  const P infinity = simd::pset1<P>(Eigen::NumTraits<T>::infinity());
  return simd::pselect(simd::pcmp_lt(highest, x), infinity, exp_of_negative<T>(x));
}

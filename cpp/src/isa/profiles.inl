// Profiles: kernels as functions of one number, k = f(s). s is a squared distance in units of the length scales, an inner
// product, or a signed difference in periods.
//
// A profile has value(s, p) = f(s), slope(s, k, p) = df/ds, and, if it has a hyperparameter p[0], parameter(s, k, p), the
// derivative of f in log p[0]. All work on packets; k is the value. At s = 0, the slope of kernels of a distance r = s^(1/2)
// may be infinite or need a division by zero. It is then replaced by 0, without effect on gradients: these multiply the slope
// by s or by a difference of coordinates.

template <class T>
KERNSEL_INLINE typename Pack<T>::type constant_packet(double value) {
  return simd::pset1<typename Pack<T>::type>(static_cast<T>(value));
}

template <class T>
KERNSEL_INLINE typename Pack<T>::type zero_where_zero(const typename Pack<T>::type& s, const typename Pack<T>::type& value) {
  const auto zero = constant_packet<T>(0);
  return simd::pselect(simd::pcmp_eq(s, zero), zero, value);
}

// log(1 + x), accurate also for small x: dividing by the rounded sum minus 1 corrects for the rounding of 1 + x.
template <class T>
KERNSEL_INLINE typename Pack<T>::type log_of_one_plus(const typename Pack<T>::type& x) {
  const auto one = constant_packet<T>(1);
  const auto sum = simd::padd(one, x);
  const auto rounded = simd::psub(sum, one);
  return simd::pselect(simd::pcmp_eq(rounded, constant_packet<T>(0)), x, simd::pmul(x, simd::pdiv(simd::plog(sum), rounded)));
}

template <class T>
struct NoParameters {
  using P = typename Pack<T>::type;
  static constexpr int parameters = 0;
  static KERNSEL_INLINE P parameter(const P& s, const P&, const T*) { return s; }
};

// exp(-s/2)
template <class T>
struct RbfProfile : NoParameters<T> {
  using P = typename Pack<T>::type;
  static KERNSEL_INLINE P value(const P& s, const T*) { return exp_of_negative<T>(simd::pmul(constant_packet<T>(-0.5), s)); }
  static KERNSEL_INLINE P slope(const P&, const P& k, const T*) { return simd::pmul(constant_packet<T>(-0.5), k); }
};

// exp(-r), r = s^(1/2)
template <class T>
struct ExponentialProfile : NoParameters<T> {
  using P = typename Pack<T>::type;
  static KERNSEL_INLINE P value(const P& s, const T*) { return exp_of_negative<T>(simd::pnegate(simd::psqrt(s))); }
  static KERNSEL_INLINE P slope(const P& s, const P& k, const T*) {
    return zero_where_zero<T>(s, simd::pdiv(k, simd::pmul(constant_packet<T>(-2), simd::psqrt(s))));
  }
};

// (1 + a) exp(-a), a = (3 s)^(1/2)
template <class T>
struct Matern32Profile : NoParameters<T> {
  using P = typename Pack<T>::type;
  static KERNSEL_INLINE P a(const P& s) { return simd::psqrt(simd::pmul(constant_packet<T>(3), s)); }
  static KERNSEL_INLINE P value(const P& s, const T*) {
    return simd::pmul(simd::padd(constant_packet<T>(1), a(s)), exp_of_negative<T>(simd::pnegate(a(s))));
  }
  static KERNSEL_INLINE P slope(const P& s, const P&, const T*) {
    return simd::pmul(constant_packet<T>(-1.5), exp_of_negative<T>(simd::pnegate(a(s))));
  }
};

// (1 + a + a^2/3) exp(-a), a = (5 s)^(1/2)
template <class T>
struct Matern52Profile : NoParameters<T> {
  using P = typename Pack<T>::type;
  static KERNSEL_INLINE P a(const P& s) { return simd::psqrt(simd::pmul(constant_packet<T>(5), s)); }
  static KERNSEL_INLINE P value(const P& s, const T*) {
    const P root = a(s);
    const P polynomial = simd::padd(constant_packet<T>(1), simd::pmadd(constant_packet<T>(5.0 / 3.0), s, root));
    return simd::pmul(polynomial, exp_of_negative<T>(simd::pnegate(root)));
  }
  static KERNSEL_INLINE P slope(const P& s, const P&, const T*) {
    const P root = a(s);
    return simd::pmul(simd::pmul(constant_packet<T>(-5.0 / 6.0), simd::padd(constant_packet<T>(1), root)),
                      exp_of_negative<T>(simd::pnegate(root)));
  }
};

// (1 + q)^-alpha, q = s / (2 alpha), p = (alpha). For alpha = 1, where many searches begin, no logarithm is needed.
template <class T>
struct RationalQuadraticProfile {
  using P = typename Pack<T>::type;
  static constexpr int parameters = 1;
  static KERNSEL_INLINE P q(const P& s, const T* p) { return simd::pmul(simd::pset1<P>(T(0.5) / p[0]), s); }
  static KERNSEL_INLINE P value(const P& s, const T* p) {
    if (p[0] == T(1)) return simd::pdiv(constant_packet<T>(1), simd::padd(constant_packet<T>(1), q(s, p)));
    return exp_of_negative<T>(simd::pmul(simd::pset1<P>(-p[0]), log_of_one_plus<T>(q(s, p))));
  }
  static KERNSEL_INLINE P slope(const P& s, const P& k, const T* p) {
    return simd::pdiv(simd::pmul(constant_packet<T>(-0.5), k), simd::padd(constant_packet<T>(1), q(s, p)));
  }
  static KERNSEL_INLINE P parameter(const P& s, const P& k, const T* p) {
    const P ratio = q(s, p);
    const P change = simd::psub(simd::pdiv(ratio, simd::padd(constant_packet<T>(1), ratio)), log_of_one_plus<T>(ratio));
    return simd::pmul(simd::pmul(simd::pset1<P>(p[0]), k), change);
  }
};

// sin(pi v) and cos(pi v), where v is u minus the nearest integer. Both differ from those of u by the same sign, which cancels
// in their products and squares. The polynomials are near-minimax fits in v^2 on [0, 1/4] of sin(pi v)/v and cos(pi v), made
// with mpmath.chebyfit.
template <class T>
struct SineConstants;

template <>
struct SineConstants<double> {
  static constexpr int terms = 9;
  static constexpr double rounding = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double sine[terms] = {0x1.9d462020fcc78p-21, -0x1.6f7acdb8f6580p-16, 0x1.e8f3675ee37ddp-12,
                                         -0x1.e3074dfaf87afp-8, 0x1.5078348551854p-4,   -0x1.32d2cce627c86p-1,
                                         0x1.466bc6775aa7dp+1,  -0x1.4abbce625be52p+2,  0x1.921fb54442d18p+1};
  static constexpr double cosine[terms] = {0x1.1678f9078a9b3p-18, -0x1.b6957b54dd389p-14, 0x1.f9d254582ac30p-10,
                                           -0x1.a6d1efc8c38bep-6, 0x1.e1f506813a321p-3,   -0x1.55d3c7e3bfbf5p+0,
                                           0x1.03c1f081b5992p+2,  -0x1.3bd3cc9be45dbp+2,  0x1.0000000000000p+0};
};

template <>
struct SineConstants<float> {
  static constexpr int terms = 6;
  static constexpr float rounding = 12582912.0f;
  static constexpr float sine[terms] = {-0.00702830386f, 0.0820503502f, -0.599252187f, 2.55016332f, -5.16771276f, 3.14159265f};
  static constexpr float cosine[terms] = {-0.0243959321f, 0.234937069f, -1.33521195f, 4.05870915f, -4.93480214f, 1.0f};
};

template <class T>
KERNSEL_INLINE void sine_and_cosine(const typename Pack<T>::type& u, typename Pack<T>::type& sine,
                                    typename Pack<T>::type& cosine) {
  using P = typename Pack<T>::type;
  using Constants = SineConstants<T>;
  const P rounding = simd::pset1<P>(Constants::rounding);
  const P rest = simd::psub(u, simd::psub(simd::padd(u, rounding), rounding));
  const P square = simd::pmul(rest, rest);
  sine = simd::pset1<P>(Constants::sine[0]);
  cosine = simd::pset1<P>(Constants::cosine[0]);
#pragma GCC unroll 16
  for (int i = 1; i < Constants::terms; ++i) {
    sine = simd::pmadd(sine, square, simd::pset1<P>(Constants::sine[i]));
    cosine = simd::pmadd(cosine, square, simd::pset1<P>(Constants::cosine[i]));
  }
  sine = simd::pmul(sine, rest);
}

// exp(-2 sin(pi r)^2 / l^2), where r = s^(1/2) is a distance in periods; p = (l)
template <class T>
struct PeriodicProfile {
  using P = typename Pack<T>::type;
  static constexpr int parameters = 1;
  static KERNSEL_INLINE P value(const P& s, const T* p) {
    P sine, cosine;
    sine_and_cosine<T>(simd::psqrt(s), sine, cosine);
    return exp_of_negative<T>(simd::pmul(simd::pset1<P>(T(-2) / (p[0] * p[0])), simd::pmul(sine, sine)));
  }
  static KERNSEL_INLINE P slope(const P& s, const P& k, const T* p) {
    P sine, cosine;
    const P r = simd::psqrt(s);
    sine_and_cosine<T>(r, sine, cosine);
    const P factor = simd::pset1<P>(static_cast<T>(-2.0 * 3.14159265358979323846) / (p[0] * p[0]));
    return zero_where_zero<T>(s, simd::pdiv(simd::pmul(simd::pmul(factor, k), simd::pmul(sine, cosine)), r));
  }
  static KERNSEL_INLINE P parameter(const P& s, const P& k, const T* p) {
    P sine, cosine;
    sine_and_cosine<T>(simd::psqrt(s), sine, cosine);
    return simd::pmul(simd::pmul(simd::pset1<P>(T(4) / (p[0] * p[0])), k), simd::pmul(sine, sine));
  }
};

// cos(2 pi u), u a signed difference in periods: 1 - 2 sin(pi u)^2
template <class T>
struct CosineProfile : NoParameters<T> {
  using P = typename Pack<T>::type;
  static KERNSEL_INLINE P value(const P& u, const T*) {
    P sine, cosine;
    sine_and_cosine<T>(u, sine, cosine);
    return simd::psub(simd::pmul(cosine, cosine), simd::pmul(sine, sine));
  }
  static KERNSEL_INLINE P slope(const P& u, const P&, const T*) {
    P sine, cosine;
    sine_and_cosine<T>(u, sine, cosine);
    return simd::pmul(constant_packet<T>(-4.0 * 3.14159265358979323846), simd::pmul(sine, cosine));
  }
};

// x^n for a whole number n >= 0 that is the same for all elements, by repeated squaring.
template <class T>
KERNSEL_INLINE typename Pack<T>::type whole_power(typename Pack<T>::type x, Index n) {
  auto result = constant_packet<T>(1);
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = simd::pmul(result, x);
    if (n > 1) x = simd::pmul(x, x);
  }
  return result;
}

// Wendland's functions, which are zero for r >= 1, r = s^(1/2), and 2 q times differentiable in r. p = (j), where
// j = floor(d/2) + q + 1 for points of d columns:
//     q = 0: (1-r)^j,    q = 1: (1-r)^(j+1) (1 + (j+1) r),    q = 2: (1-r)^(j+2) (1 + (j+2) r + (j+1)(j+3)/3 r^2)
template <class T, int q>
struct WendlandProfile : NoParameters<T> {
  using P = typename Pack<T>::type;
  static KERNSEL_INLINE P inside(const P& s) {
    return simd::pmax(simd::psub(constant_packet<T>(1), simd::psqrt(s)), constant_packet<T>(0));
  }
  static KERNSEL_INLINE P value(const P& s, const T* p) {
    const P power = whole_power<T>(inside(s), static_cast<Index>(p[0]) + q);
    const P r = simd::psqrt(s), one = constant_packet<T>(1);
    if (q == 0) return power;
    const P linear = simd::pmadd(simd::pset1<P>(p[0] + T(q)), r, one);
    if (q == 1) return simd::pmul(power, linear);
    return simd::pmul(power, simd::pmadd(simd::pset1<P>((p[0] + T(1)) * (p[0] + T(3)) / T(3)), s, linear));
  }
  static KERNSEL_INLINE P slope(const P& s, const P&, const T* p) {
    const P r = simd::psqrt(s);
    const P power = whole_power<T>(inside(s), static_cast<Index>(p[0]) + q - 1);
    if (q == 0) return zero_where_zero<T>(s, simd::pdiv(simd::pmul(simd::pset1<P>(T(-0.5) * p[0]), power), r));
    if (q == 1) return simd::pmul(simd::pset1<P>(T(-0.5) * (p[0] + T(1)) * (p[0] + T(2))), power);
    const P linear = simd::pmadd(simd::pset1<P>(p[0] + T(1)), r, constant_packet<T>(1));
    return simd::pmul(simd::pset1<P>((p[0] + T(3)) * (p[0] + T(4)) / T(-6)), simd::pmul(linear, power));
  }
};

// (c + s)^n; p = (c, n)
template <class T>
struct PolynomialProfile {
  using P = typename Pack<T>::type;
  static constexpr int parameters = 1;
  static KERNSEL_INLINE P value(const P& s, const T* p) {
    return whole_power<T>(simd::padd(simd::pset1<P>(p[0]), s), static_cast<Index>(p[1]));
  }
  static KERNSEL_INLINE P slope(const P& s, const P&, const T* p) {
    return simd::pmul(simd::pset1<P>(p[1]), whole_power<T>(simd::padd(simd::pset1<P>(p[0]), s), static_cast<Index>(p[1]) - 1));
  }
  static KERNSEL_INLINE P parameter(const P& s, const P& k, const T* p) {
    return simd::pmul(simd::pset1<P>(p[0]), slope(s, k, p));
  }
};

// tanh(c + s); p = (c). Since c may be negative or zero, parameter() is the derivative in c itself.
template <class T>
struct SigmoidProfile {
  using P = typename Pack<T>::type;
  static constexpr int parameters = 1;
  // For t = c + s and e = exp(-2 |t|), tanh |t| = (1 - e) / (1 + e), with the sign of t. For |t| < 0.3, where 1 - e would lose
  // digits, a series is used.
  static KERNSEL_INLINE P value(const P& s, const T* p) {
    const P t = simd::padd(simd::pset1<P>(p[0]), s), size = simd::pabs(t), one = constant_packet<T>(1);
    const P e = exp_of_negative<T>(simd::pmul(constant_packet<T>(-2), size));
    const P large = simd::pdiv(simd::psub(one, e), simd::padd(one, e));
    const P square = simd::pmul(t, t);
    P small = constant_packet<T>(tanh_series[0]);
#pragma GCC unroll 16
    for (int i = 1; i < tanh_terms; ++i) small = simd::pmadd(small, square, constant_packet<T>(tanh_series[i]));
    const P signed_large = simd::pselect(simd::pcmp_lt(t, constant_packet<T>(0)), simd::pnegate(large), large);
    return simd::pselect(simd::pcmp_lt(size, constant_packet<T>(0.3)), simd::pmul(small, t), signed_large);
  }
  static KERNSEL_INLINE P slope(const P&, const P& k, const T*) {
    const P one = constant_packet<T>(1);
    return simd::pmul(simd::psub(one, k), simd::padd(one, k));
  }
  static KERNSEL_INLINE P parameter(const P& s, const P& k, const T* p) { return slope(s, k, p); }
  // The Taylor coefficients of tanh(t) / t in powers of t^2, the highest power first. For |t| < 0.3, the truncation error is
  // less than 5e-18.
  static constexpr int tanh_terms = 12;
  static constexpr double tanh_series[tanh_terms] = {
      -0.0000392783238833168341, 0.0000969153795692945033, -0.000239129114243552481, 0.000590027440945585981,
      -0.00145583438705131827,   0.00359212803657248102,   -0.00886323552990219657,  0.0218694885361552028,
      -0.0539682539682539683,    0.133333333333333333,     -0.333333333333333333,    1.0};
};

// s^e for s >= 0 and any e > 0; p = (e)
template <class T>
struct PowerProfile : NoParameters<T> {
  using P = typename Pack<T>::type;
  static KERNSEL_INLINE P value(const P& s, const T* p) {
    return zero_where_zero<T>(s, exp_of_any<T>(simd::pmul(simd::pset1<P>(p[0]), simd::plog(s))));
  }
  static KERNSEL_INLINE P slope(const P& s, const P& k, const T* p) {
    return zero_where_zero<T>(s, simd::pdiv(simd::pmul(simd::pset1<P>(p[0]), k), s));
  }
};

// exp(s)
template <class T>
struct ExpProfile : NoParameters<T> {
  using P = typename Pack<T>::type;
  static KERNSEL_INLINE P value(const P& s, const T*) { return exp_of_any<T>(s); }
  static KERNSEL_INLINE P slope(const P&, const P& k, const T*) { return k; }
};

// c_0 + c_1 s + ... + c_n s^n; p = (n, c_0, ..., c_n)
template <class T>
struct SeriesProfile : NoParameters<T> {
  using P = typename Pack<T>::type;
  static KERNSEL_INLINE P value(const P& s, const T* p) {
    Index i = static_cast<Index>(p[0]) + 1;
    P sum = simd::pset1<P>(p[i]);
    for (--i; i > 0; --i) sum = simd::pmadd(sum, s, simd::pset1<P>(p[i]));
    return sum;
  }
  static KERNSEL_INLINE P slope(const P& s, const P&, const T* p) {
    P sum = constant_packet<T>(0);
    for (Index i = static_cast<Index>(p[0]); i > 0; --i)
      sum = simd::pmadd(sum, s, simd::pset1<P>(static_cast<T>(i) * p[i + 1]));
    return sum;
  }
};

template <class T, class F>
void profile_tile(Index count, const T* p, const T* s, T* out) {
  using P = typename Pack<T>::type;
  for_packets(count, out, [=](Index i) { return F::value(simd::pload<P>(s + i), p); });
}

template <class T, class F>
// G = W df/ds for `count` elements, and *gradient += the sum of W times the derivative in the hyperparameter, if there is one.
void profile_pullback_tile(Index count, const T* p, const T* s, const T* k, const T* W, T* G, double* gradient) {
  using P = typename Pack<T>::type;
  P sum = constant_packet<T>(0);
  for (Index i = 0; i < count; i += Pack<T>::size) {
    const P si = simd::pload<P>(s + i), ki = simd::pload<P>(k + i), w = simd::pload<P>(W + i);
    simd::pstore(G + i, simd::pmul(w, F::slope(si, ki, p)));
    if (F::parameters > 0) sum = simd::pmadd(w, F::parameter(si, ki, p), sum);
  }
  if (F::parameters > 0) *gradient += static_cast<double>(simd::predux(sum));
}

// Calls call.run<F>() with the struct F of a profile.
template <class T, class Call>
KERNSEL_INLINE void with_profile(Profile which, const Call& call) {
#define KERNSEL_CASE_OF_PROFILE(name, ...) \
  case Profile::name:                      \
    return call.template run<__VA_ARGS__>();
  switch (which) { KERNSEL_PROFILES(KERNSEL_CASE_OF_PROFILE) }
#undef KERNSEL_CASE_OF_PROFILE
}

template <class T>
struct ProfileCall {
  Index count;
  const T* p;
  const T* s;
  T* out;
  template <class F>
  KERNSEL_INLINE void run() const {
    profile_tile<T, F>(count, p, s, out);
  }
};

template <class T>
struct ProfilePullbackCall {
  Index count;
  const T* p;
  const T* s;
  const T* k;
  const T* W;
  T* G;
  double* gradient;
  template <class F>
  KERNSEL_INLINE void run() const {
    profile_pullback_tile<T, F>(count, p, s, k, W, G, gradient);
  }
};

template <class T>
void profile(Profile which, Index count, const T* p, const T* s, T* out) {
  with_profile<T>(which, ProfileCall<T>{count, p, s, out});
}

template <class T>
void profile_pullback(Profile which, Index count, const T* p, const T* s, const T* k, const T* W, T* G, double* gradient) {
  with_profile<T>(which, ProfilePullbackCall<T>{count, p, s, k, W, G, gradient});
}

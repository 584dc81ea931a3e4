// Minimizes the dual of a support vector machine, a'Ka/2 - a'y + epsilon |a|_1 with lower_i <= a_i <= upper_i, over the
// coefficients of a few points, one or two of them at a time (see SupportBlock in table.hpp).
//
// The objective has kinks where coefficients are zero. With G = Ka - y, its derivative in a_i is G_i + up_i if a_i rises, and
// down_i - G_i if it falls, where up_i and down_i are +-epsilon, or infinity at a bound. If the sum of the coefficients is
// fixed, a step raises the one with the least derivative, and lowers the one that decreases the quadratic objective most with
// it.

template <class T>
struct SupportStep {
  T length, decrease;
};

// Minimizes the objective along a line of this slope and curvature. At `first` and `second`, a coefficient becomes zero, and
// the slope increases by 2 epsilon; at `end`, a coefficient reaches its bound.
template <class T>
KERNSEL_INLINE SupportStep<T> support_step(T slope, T curvature, T epsilon, T first, T second, T end) {
  T at = T(0), decrease = T(0);
  if (second < first) {
    const T other = first;
    first = second;
    second = other;
  }
  for (int segment = 0; segment < 3; ++segment) {
    const T kink = segment == 0 ? first : segment == 1 ? second : end;
    const T until = kink < end ? kink : end;
    const T room = until - at;
    const T wish = curvature * room > -slope ? -slope / curvature : room;
    decrease -= wish * (slope + curvature * wish / 2);
    if (wish < room) return {at + wish, decrease};
    slope += curvature * room + 2 * epsilon;
    at = until;
    if (at == end || !(slope < T(0))) break;
  }
  return {at, decrease};
}

template <class T>
// Sets up_i and down_i.
KERNSEL_INLINE void support_offsets(const SupportBlock<T>& block, Index i) {
  const T a = block.a[i], infinity = Eigen::NumTraits<T>::infinity();
  block.up[i] = a >= block.upper[i] ? infinity : a >= T(0) ? block.epsilon : -block.epsilon;
  block.down[i] = a <= block.lower[i] ? infinity : a > T(0) ? -block.epsilon : block.epsilon;
}

// Returns the index of the first element that is equal to `value`, or `size` if there is none because `value` is NaN.
template <class T>
KERNSEL_INLINE Index support_place(Index size, const T* values, T value) {
  Index i = 0;
  while (i < size && values[i] != value) ++i;
  return i;
}

template <class T>
// Changes a_i by `step`.
KERNSEL_INLINE void support_move(const SupportBlock<T>& block, Index i, T step, T kink, T end) {
  T& a = block.a[i];
  const T bound = step < T(0) ? block.lower[i] : block.upper[i];
  const T length = step < T(0) ? -step : step;
  a = length == end ? bound : length == kink ? T(0) : a + step;  // exactly zero, or at the bound
  support_offsets(block, i);
}

template <class T>
void support_block(SupportBlock<T>& block) {
  using P = typename Pack<T>::type;
  constexpr Index size = Pack<T>::size;
  const T infinity = Eigen::NumTraits<T>::infinity();
  const P zero = simd::pset1<P>(T(0)), least_curvature = simd::pset1<P>(block.least_curvature);
  for (Index i = 0; i < block.size; ++i) support_offsets(block, i);
  block.decrease = T(0);
  block.indefinite = false;
  for (block.iterations = 0; block.iterations < block.most; ++block.iterations) {
    P up = simd::pset1<P>(infinity), down = up;
    for (Index i = 0; i < block.size; i += size) {
      const P G = simd::pload<P>(block.G + i);
      const P rise = simd::padd(G, simd::pload<P>(block.up + i));
      const P fall = simd::psub(simd::pload<P>(block.down + i), G);
      simd::pstore(block.rise + i, rise);
      up = simd::pmin(up, rise);
      down = simd::pmin(down, fall);
    }
    const T steepest_up = simd::predux_min(up), steepest_down = simd::predux_min(down);
    if (block.paired) {
      if (!(steepest_up + steepest_down < -block.tolerance)) break;
      const Index i = support_place(block.size, block.rise, steepest_up);
      if (i == block.size) break;
      const T* Ki = block.K + i * block.stride;
      const P lead = simd::pset1<P>(steepest_up), own = simd::pset1<P>(block.diagonal[i]), two = simd::pset1<P>(T(2));
      P most = zero;
      for (Index j = 0; j < block.size; j += size) {
        const P fall = simd::psub(simd::pload<P>(block.down + j), simd::pload<P>(block.G + j));
        const P slope = simd::pmin(simd::padd(lead, fall), zero);
        const P curvature =
            simd::psub(simd::padd(own, simd::pload<P>(block.diagonal + j)), simd::pmul(two, simd::pload<P>(Ki + j)));
        const P gain = simd::pdiv(simd::pmul(slope, slope), simd::pmax(curvature, least_curvature));
        simd::pstore(block.gain + j, gain);
        most = simd::pmax(most, gain);
      }
      const Index j = support_place(block.size, block.gain, simd::predux_max(most));
      if (j == block.size) break;
      const T* Kj = block.K + j * block.stride;
      const T ai = block.a[i], aj = block.a[j];
      const T kink_i = ai < T(0) ? -ai : infinity, kink_j = aj > T(0) ? aj : infinity;
      const T end_i = block.upper[i] - ai, end_j = aj - block.lower[j];
      const T curvature = block.diagonal[i] + block.diagonal[j] - 2 * Ki[j];
      block.indefinite = block.indefinite || curvature < -1000 * block.least_curvature;
      const SupportStep<T> step = support_step(steepest_up + block.down[j] - block.G[j], curvature, block.epsilon, kink_i,
                                               kink_j, end_i < end_j ? end_i : end_j);
      if (!(step.length > T(0)) || i == j) break;  // only rounding errors are left
      support_move(block, i, step.length, kink_i, end_i);
      support_move(block, j, -step.length, kink_j, end_j);
      const T by_i = block.a[i] - ai, by_j = block.a[j] - aj;  // the changes after rounding
      if (by_i == T(0) && by_j == T(0)) break;
      block.decrease += step.decrease;
      const P times_i = simd::pset1<P>(by_i), times_j = simd::pset1<P>(by_j);
      for (Index k = 0; k < block.size; k += size) {
        const P some = simd::pmadd(times_i, simd::pload<P>(Ki + k), simd::pload<P>(block.G + k));
        simd::pstore(block.G + k, simd::pmadd(times_j, simd::pload<P>(Kj + k), some));
      }
    } else {
      if (!(steepest_up < -block.tolerance || steepest_down < -block.tolerance)) break;
      P most = zero;
      for (Index j = 0; j < block.size; j += size) {
        const P rise = simd::pload<P>(block.rise + j);
        const P fall = simd::psub(simd::pload<P>(block.down + j), simd::pload<P>(block.G + j));
        const P slope = simd::pmin(simd::pmin(rise, fall), zero);
        const P gain = simd::pdiv(simd::pmul(slope, slope), simd::pmax(simd::pload<P>(block.diagonal + j), least_curvature));
        simd::pstore(block.gain + j, gain);
        most = simd::pmax(most, gain);
      }
      const Index i = support_place(block.size, block.gain, simd::predux_max(most));
      if (i == block.size) break;
      const T a = block.a[i], fall = block.down[i] - block.G[i];
      const bool rises = block.rise[i] < fall;
      const T sign = rises ? T(1) : T(-1);
      block.indefinite = block.indefinite || block.diagonal[i] < T(0);
      const T kink = sign * a < T(0) ? -sign * a : infinity, end = rises ? block.upper[i] - a : a - block.lower[i];
      const SupportStep<T> step =
          support_step(rises ? block.rise[i] : fall, block.diagonal[i], block.epsilon, kink, infinity, end);
      if (!(step.length > T(0))) break;
      support_move(block, i, sign * step.length, kink, end);
      const T by = block.a[i] - a;
      if (by == T(0)) break;
      block.decrease += step.decrease;
      const T* Ki = block.K + i * block.stride;
      const P length = simd::pset1<P>(by);
      for (Index k = 0; k < block.size; k += size)
        simd::pstore(block.G + k, simd::pmadd(length, simd::pload<P>(Ki + k), simd::pload<P>(block.G + k)));
    }
  }
}

// out += sum_k factors_k rows_k. The rows must be aligned, but not `out`.
template <class T>
void combine(Index count, Index terms, const T* const* rows, const T* factors, T* out) {
  using P = typename Pack<T>::type;
  constexpr Index size = Pack<T>::size, together = 4;
  Index i = 0;
  for (; i + together * size <= count; i += together * size) {
    P sum[together];
#pragma GCC unroll 4
    for (Index q = 0; q < together; ++q) sum[q] = simd::ploadu<P>(out + i + q * size);
    for (Index k = 0; k < terms; ++k) {
      const P factor = simd::pset1<P>(factors[k]);
#pragma GCC unroll 4
      for (Index q = 0; q < together; ++q) sum[q] = simd::pmadd(factor, simd::pload<P>(rows[k] + i + q * size), sum[q]);
    }
#pragma GCC unroll 4
    for (Index q = 0; q < together; ++q) simd::pstoreu(out + i + q * size, sum[q]);
  }
  for (; i < count; i += size) {
    P sum = simd::ploadu<P>(out + i);
    for (Index k = 0; k < terms; ++k) sum = simd::pmadd(simd::pset1<P>(factors[k]), simd::pload<P>(rows[k] + i), sum);
    simd::pstoreu(out + i, sum);
  }
}

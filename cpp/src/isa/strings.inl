// Gap-weighted subsequences of one string and of several other strings, one string in each lane (see SubsequenceBlock in
// table.hpp).
//
// Let S_q(i, j) be the sum of decay^(number of tokens left out) over all common subsequences of q tokens whose last token is at
// i in one string, s, and at j in the other, t. Then
//
//     D_q(i, j) = sum_{k <= i, l <= j} decay^(i - k + j - l) S_q(k, l) = decay D_q(i - 1, j) + R,
//     R = sum_{l <= j} decay^(j - l) S_q(i, l),         S_{q+1}(i, j) = [s_i = t_j] D_q(i - 1, j - 1).
//
// All terms are nonnegative, also those of the derivatives in log decay, so that nothing cancels.

// For one token s_i: computes S_{q+1}(i, .) from S_q(i, .), and D_q(i, .) from D_q(i - 1, .), in place. S_1 is [s_i = t_j]
// (`first`); the S of the longest subsequences are added to the results (`last`). With `slopes`, the derivatives follow the
// values in D and S.
template <class T, bool slopes, bool first, bool last>
void subsequence_sweep(const SubsequenceBlock<T>& block, T token, T* D) {
  using P = typename Pack<T>::type;
  constexpr Index size = Pack<T>::size, lanes = 64 / static_cast<Index>(sizeof(T)), packs = lanes / size;
  const Index row = block.width * lanes;
  T* const S = block.room;
  const P here = simd::pset1<P>(token), decay = simd::pset1<P>(block.decay), one = simd::pset1<P>(T(1)),
          zero = simd::pset1<P>(T(0));
  P sum[packs], sum_slope[packs], R[packs], R_slope[packs], before[packs], before_slope[packs];
#pragma GCC unroll 8
  for (Index q = 0; q < packs; ++q) {
    R[q] = R_slope[q] = before[q] = before_slope[q] = zero;
    sum[q] = simd::pload<P>(block.value + q * size);
    sum_slope[q] = slopes ? simd::pload<P>(block.slope + q * size) : zero;
  }
  for (Index j = 0; j < row; j += lanes) {
#pragma GCC unroll 8
    for (Index q = 0; q < packs; ++q) {
      const Index at = j + q * size;
      const P same = simd::pcmp_eq(here, simd::pload<P>(block.t + at));
      const P above = simd::pload<P>(D + at);
      const P came = first ? simd::pand(same, one) : simd::pload<P>(S + at);
      if (slopes) {
        const P above_slope = simd::pload<P>(D + row + at);
        const P came_slope = first ? zero : simd::pload<P>(S + row + at);
        R_slope[q] = simd::pmadd(decay, simd::padd(R_slope[q], R[q]), came_slope);
        simd::pstore(D + row + at, simd::pmadd(decay, simd::padd(above_slope, above), R_slope[q]));
        const P next_slope = simd::pand(same, before_slope[q]);
        if (last) {
          sum_slope[q] = simd::padd(sum_slope[q], next_slope);
        } else {
          simd::pstore(S + row + at, next_slope);
        }
        before_slope[q] = above_slope;
      }
      R[q] = simd::pmadd(decay, R[q], came);
      simd::pstore(D + at, simd::pmadd(decay, above, R[q]));
      const P next = simd::pand(same, before[q]);
      if (last) {
        sum[q] = simd::padd(sum[q], next);
      } else {
        simd::pstore(S + at, next);
      }
      before[q] = above;
    }
  }
#pragma GCC unroll 8
  for (Index q = 0; q < packs; ++q) {
    simd::pstore(block.value + q * size, sum[q]);
    if (slopes) simd::pstore(block.slope + q * size, sum_slope[q]);
  }
}

// Adds the number of tokens that are equal to `token`, for subsequences of one token.
template <class T>
void subsequence_matches(const SubsequenceBlock<T>& block, T token) {
  using P = typename Pack<T>::type;
  constexpr Index size = Pack<T>::size, lanes = 64 / static_cast<Index>(sizeof(T));
  const P here = simd::pset1<P>(token), one = simd::pset1<P>(T(1));
  for (Index q = 0; q < lanes; q += size) {
    P sum = simd::pload<P>(block.value + q);
    for (Index j = 0; j < block.width; ++j)
      sum = simd::padd(sum, simd::pand(simd::pcmp_eq(here, simd::pload<P>(block.t + j * lanes + q)), one));
    simd::pstore(block.value + q, sum);
  }
}

template <class T, bool slopes>
void subsequence_row(const SubsequenceBlock<T>& block, T token) {
  const Index row = block.width * (64 / static_cast<Index>(sizeof(T))) * (slopes ? 2 : 1);
  const Index levels = block.length - 1;
  T* D = block.room + row;
  if (levels == 0) return subsequence_matches(block, token);
  if (levels == 1) return subsequence_sweep<T, slopes, true, true>(block, token, D);
  subsequence_sweep<T, slopes, true, false>(block, token, D);
  for (Index q = 1; q < levels - 1; ++q) subsequence_sweep<T, slopes, false, false>(block, token, D + q * row);
  subsequence_sweep<T, slopes, false, true>(block, token, D + (levels - 1) * row);
}

template <class T>
void subsequences(const SubsequenceBlock<T>& block) {
  for (Index i = 0; i < block.rows; ++i) {
    if (block.slope) {
      subsequence_row<T, true>(block, block.s[i]);
    } else {
      subsequence_row<T, false>(block, block.s[i]);
    }
  }
}

// What an instruction set provides: one table of tile kernels for each scalar type.
//
// All matrices are column-major. Sizes marked with * are multiples of LowerTiles<T>::padding, and their pointers and strides
// are aligned in the same way, so that tile kernels need no code for edges. No tile kernel allocates memory, throws, or uses
// threads.
#pragma once

#include "kernsel/view.hpp"

namespace kernsel {

// What a kernel sees of two points: sum_k w_k (x_k - z_k)^2, sum_k w_k x_k z_k, or sum_k w_k (x_k - z_k).
enum class Metric { squared_distance, inner_product, difference };

// Kernels as functions of one number with parameters p. Each name is followed by the struct in profiles.inl that has its
// formula, for numbers of type T.
#define KERNSEL_PROFILES(PROFILE)                          \
  PROFILE(rbf, RbfProfile<T>)                              \
  PROFILE(exponential, ExponentialProfile<T>)              \
  PROFILE(matern32, Matern32Profile<T>)                    \
  PROFILE(matern52, Matern52Profile<T>)                    \
  PROFILE(rational_quadratic, RationalQuadraticProfile<T>) \
  PROFILE(periodic, PeriodicProfile<T>)                    \
  PROFILE(cosine, CosineProfile<T>)                        \
  PROFILE(wendland0, WendlandProfile<T, 0>)                \
  PROFILE(wendland1, WendlandProfile<T, 1>)                \
  PROFILE(wendland2, WendlandProfile<T, 2>)                \
  PROFILE(sigmoid, SigmoidProfile<T>)                      \
  PROFILE(power, PowerProfile<T>)                          \
  PROFILE(exp, ExpProfile<T>)                              \
  PROFILE(series, SeriesProfile<T>)                        \
  PROFILE(polynomial, PolynomialProfile<T>)

#define KERNSEL_NAME_OF_PROFILE(name, ...) name,
enum class Profile { KERNSEL_PROFILES(KERNSEL_NAME_OF_PROFILE) };
#undef KERNSEL_NAME_OF_PROFILE

// The smoothness of one-dimensional Matern kernels that are multiplied over the columns (product_matern.inl).
enum class MaternOrder { half, three_halves, five_halves };

// One block of `height` points of X and one of `width` points of Z, with d columns each, and the weights of the columns.
template <class T>
struct PointTile {
  Index height;      // *
  Index width;       // *
  Index dimension;   // d
  const T* X;        // (height, d), columns `height` apart
  const T* Z;        // (width, d), columns `width` apart
  const T* weights;  // (d), or nullptr for ones
};

// The dual of a support vector machine for a few points while the coefficients of all others are fixed (support.inl). Arrays
// have `size`* entries; the bounds of the padding are zero.
template <class T>
struct SupportBlock {
  Index size;
  const T* K;  // (size, size), symmetric, columns `stride`* apart
  Index stride;
  const T* diagonal;
  const T *lower, *upper;  // lower <= 0 <= upper
  T epsilon;
  bool paired;  // whether the sum of the coefficients is fixed
  T tolerance;  // the derivative along a step at which to stop
  T least_curvature;
  Index most;  // the maximal number of iterations
  T* a;
  T* G;                        // Ka - y, the gradient without the term epsilon |a|
  T *up, *down, *rise, *gain;  // memory for `size`* numbers each
  T decrease;                  // the decrease of the objective
  Index iterations;
  bool indefinite;  // whether a curvature was negative: K is indefinite
};

// Gap-weighted subsequences that a string s has in common with each of 64 / sizeof(T) other strings t, one in each "lane"
// (strings.inl). Unknown tokens and those after the end of a string are NaN. A block may be computed in parts, some rows at a
// time.
template <class T>
struct SubsequenceBlock {
  Index rows;
  const T* s;  // (rows)
  Index width;
  const T* t;    // (lanes, width)
  Index length;  // the number of tokens of the subsequences
  T decay;
  T* room;   // length arrays of (lanes, width), twice as many with slopes; all zero before the first row
  T* value;  // (lanes), += sum of decay^(tokens left out)
  T* slope;  // (lanes), += its derivative in log decay; or nullptr
};

template <class T>
struct TileKernels {
  // multiply_nt: C += alpha A B'. multiply_lower: C += alpha A A', on and below the diagonal. multiply_nn: C += alpha A B. C is
  // m* x n (n* x n for multiply_lower), and k is the inner dimension.
  void (*multiply_nt)(Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T* C, Index ldc);
  void (*multiply_lower)(Index n, Index k, T alpha, const T* A, Index lda, T* C, Index ldc);
  void (*multiply_nn)(Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T* C, Index ldc);

  // Overwrites the lower triangle of A by L, A = L L'; the part above the diagonal is undefined afterwards. Returns -1, or the
  // first column whose pivot, stored in *pivot, is not positive and finite.
  Index (*factorize)(Index n, T* A, Index lda, T* pivot);
  // X <- X L^-T and X <- X L^-1; X is m* x n*, with n of LowerTiles<T>::largest_tile at most.
  void (*solve_transposed)(Index m, Index n, const T* L, Index ldl, T* X, Index ldx);
  void (*solve)(Index m, Index n, const T* L, Index ldl, T* X, Index ldx);

  // B = A' for A of m x n, of any size and alignment.
  void (*transpose)(Index m, Index n, const T* A, Index lda, T* B, Index ldb);

  // B = A, of any size and alignment, past the caches: for outputs that are larger than these.
  void (*stream)(Index m, Index n, const T* A, Index lda, T* B, Index ldb);

  // metric: S = scale times the metric, a contiguous tile. metric_diagonal: the same for each point of X and itself.
  // metric_pullback: gradient_k += sum_ij G_ij times the k-th term of the metric (without scale), for weights G on a tile.
  void (*metric)(Metric which, const PointTile<T>& points, T scale, T* S);
  void (*metric_diagonal)(Metric which, const PointTile<T>& points, T scale, T* S);  // (height)
  void (*metric_pullback)(Metric which, const PointTile<T>& points, const T* G, double* gradient);
  // out_ik = sum_j G_ij times the k-th term of the metric; out is (height, d).
  void (*metric_rows)(Metric which, const PointTile<T>& points, const T* G, T* out);
  // out = dJ/dX for G = dJ/dS (without scale); out is (height, d).
  void (*metric_points)(Metric which, const PointTile<T>& points, const T* G, T* out);

  // product_matern: K = prod_k m(w_k |x_k - z_k|). product_matern_pullback: gradient_k += sum_ij W_ij dK_ij/dlog l_k, where w_k
  // is proportional to 1 / l_k. product_matern_rows: the same sums for each row i alone. product_matern_points: sum_j W_ij
  // dK_ij/dX.
  void (*product_matern)(MaternOrder order, const PointTile<T>& points, T* K);
  void (*product_matern_pullback)(MaternOrder order, const PointTile<T>& points, const T* W, const T* K, double* gradient);
  void (*product_matern_rows)(MaternOrder order, const PointTile<T>& points, const T* W, const T* K, T* out);    // (height, d)
  void (*product_matern_points)(MaternOrder order, const PointTile<T>& points, const T* W, const T* K, T* out);  // (height, d)

  // profile: k = f(s) for `count`* numbers; k may be s. profile_pullback: for weights W = dJ/dk, G = W df/ds and *gradient +=
  // sum W dk/dlog p_0.
  void (*profile)(Profile which, Index count, const T* p, const T* s, T* k);
  void (*profile_pullback)(Profile which, Index count, const T* p, const T* s, const T* k, const T* W, T* G, double* gradient);

  // Elementwise operations and sums of `count`* numbers; `out` may be one of the inputs.
  void (*fill)(Index count, T value, T* out);
  void (*add)(Index count, const T* a, const T* b, T* out);
  void (*multiply)(Index count, const T* a, const T* b, T* out);
  void (*multiply_add)(Index count, const T* a, const T* b, T* out);  // out += a b
  void (*scale)(Index count, T factor, const T* a, T* out);
  double (*sum)(Index count, const T* a);
  double (*dot)(Index count, const T* a, const T* b);
  void (*combine)(Index count, Index terms, const T* const* rows, const T* factors, T* out);  // out += sum_k factors_k rows_k

  void (*support_block)(SupportBlock<T>& block);
  void (*subsequences)(const SubsequenceBlock<T>& block);

  // Rotations of neighbouring columns of Z, (height*, count + 1), from the last pair to the first (rotations.inl):
  // (z_k, z_{k+1}) <- (c_k z_k - s_k z_{k+1}, s_k z_k + c_k z_{k+1}) for k = count - 1, ..., 0.
  void (*rotate)(Index height, Index count, const T* c, const T* s, T* Z, Index ldz);

  // out = the squared distances of `count`* points X, (count, d), from the box with the ends `lower` and `upper`, (d).
  void (*box_distances)(Index count, Index dimension, const T* X, const T* lower, const T* upper, T* out);
  // out_iq = the squared distance of point i of `height`* points, (height, d), from the query that is row which_q of X, (ldx,
  // d), and nearest_q = the smallest of column q. The same bits as those of `metric`.
  void (*bucket_distances)(Index height, Index dimension, const T* points, const T* X, Index ldx, Index count,
                           const signed char* which, T* out, T* nearest);
};

struct InstructionSet {
  const char* name;
  TileKernels<float> single_precision;
  TileKernels<double> double_precision;
};

// The instruction set in use, which is chosen at the first call (detect.cpp).
const InstructionSet& instruction_set();

template <class T>
const TileKernels<T>& tile_kernels();
template <>
inline const TileKernels<float>& tile_kernels<float>() {
  return instruction_set().single_precision;
}
template <>
inline const TileKernels<double>& tile_kernels<double>() {
  return instruction_set().double_precision;
}

}  // namespace kernsel

// Linear least squares by Householder QR with column pivoting: leverage, leave-one-out, minimum norm, ridge.
//
// For any shape and rank of A, (n, d). With the orthogonal decomposition A = Q T' Z' (Q and Z with orthonormal columns, T upper
// triangular, as many columns as the rank) and ridge >= 0, x minimizes |A x - b|^2 + ridge |x|^2; it is the solution of minimum
// norm where there are many. Singular directions below max(n, d) eps times the largest column of R count as zero.
#pragma once

#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

struct LeastSquares {
  Index rank = 0;
  std::vector<double> leverage;      // (n), a_i' (A'A + ridge I)^+ a_i, between 0 and 1
  std::vector<double> coefficients;  // (d, m), by columns
  std::vector<double> residuals;     // (n, m), b - A x
  // (n, m): b_i minus its prediction by the solution of all other rows, residual_i / (1 - leverage_i). Rows of leverage one,
  // which no others explain, are predicted by the solution of minimum norm: ((AA')^+ b)_i / ((AA')^+)_ii.
  std::vector<double> left_out;
  std::vector<double> press;  // (m), the sums of squares of `left_out`
};

// b is (n, m). `free`, (n, q), has orthonormal columns that are fitted exactly and never penalized, if there are any; A and b
// must be orthogonal to them. Centred A and b, and the column 1 / n^(1/2), make an intercept, which is estimated anew where a
// row is left out. About 4 n d min(n, d) operations.
Status least_squares(View<const double> A, View<const double> b, double ridge, LeastSquares& out, View<const double> free = {});

// The leverages alone, to `out`, (n).
Status leverage(View<const double> A, double ridge, View<double> out);

}  // namespace kernsel

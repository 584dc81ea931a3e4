// Linear least squares and ridge regression by Householder QR with column pivoting, with leverages and leave-one-out residuals.
//
// x minimizes |A x - b|^2 + ridge |x|^2 with ridge >= 0, for A, (n, d), of any shape and rank; it has minimum norm if there are
// many solutions. It is computed from the orthogonal decomposition A = Q T' Z', where Q and Z have orthonormal columns, as many
// as the rank, and T is upper triangular. Directions below max(n, d) eps times the largest column of R count as zero.
#pragma once

#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

struct LeastSquares {
  Index rank = 0;
  std::vector<double> leverage;      // (n), a_i' (A'A + ridge I)^+ a_i, between 0 and 1
  std::vector<double> coefficients;  // (d, m), by columns
  std::vector<double> residuals;     // (n, m), b - A x
  // (n, m): b_i minus its prediction by the solution for all other rows, residual_i / (1 - leverage_i). For rows of leverage
  // one the other rows do not determine it, and it is that of the minimum-norm solution, ((AA')^+ b)_i / ((AA')^+)_ii.
  std::vector<double> left_out;
  std::vector<double> press;  // (m), the sums of squares of `left_out`
};

// Solves for b, (n, m), in about 4 n d min(n, d) operations. `free`, (n, q), has orthonormal columns that are added to the
// model and not penalized, if there are any; A and b must be orthogonal to them. Their coefficients are estimated again for
// each row that is left out. For an intercept, A and b are centred, and `free` is the column 1 / n^(1/2).
Status least_squares(View<const double> A, View<const double> b, double ridge, LeastSquares& out, View<const double> free = {});

// The leverages alone, to `out`, (n).
Status leverage(View<const double> A, double ridge, View<double> out);

}  // namespace kernsel

// The trend: a mean h(x)'beta whose coefficients are estimated by generalized least squares.
//
// It enters a fit as a change of low rank, P. = P - V V' (the notation is that of fit.hpp).
#pragma once

#include <vector>

#include "tiles/tall.hpp"

namespace kernsel {

struct Trend {
  Tall V;                 // (n, q): P H R^-1
  std::vector<double> R;  // (q, q), upper, by columns: H'PH = R'R
  Index q = 0;
  double log_det = 0.0;  // log det H'PH - log det H'H: the same for any basis
};

// Computes the trend of H, (n, q), from the Cholesky factor L of K~. V has `padded` rows, of which the first n are used. Fails
// if the columns of H are linearly dependent.
Status make_trend(const LowerTiles<double>& L, View<const double> H, Index padded, Trend& out);

// The QR factorization of U, (rows, q), by the method of Gram and Schmidt: U is overwritten by orthonormal columns, R is upper
// triangular, (q, q), by columns. Each column is orthogonalized twice, which makes it orthogonal to rounding errors. Fails if
// the columns are linearly dependent.
Status orthonormalize(View<double> U, std::vector<double>& R);

// Whether the columns of H are linearly independent.
bool independent(View<const double> H);

// B <- B - V (V' other), for n rows.
void project(const Trend& trend, View<const double> other, Index n, Tall& B);

// beta = R^-1 V'y, (q, outputs), by columns.
std::vector<double> coefficients(const Trend& trend, View<const double> y);

}  // namespace kernsel

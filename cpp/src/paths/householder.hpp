// Householder reflections, and QR factorizations by them.
#pragma once

#include <vector>

#include "paths/padded.hpp"

namespace kernsel {

// Reflections H_k = I - tau_k v_k v_k', orthogonal and symmetric, where column v_k is zero above row k, and one in row k.
struct Reflections {
  Padded v;
  std::vector<double> tau;
  Index count() const { return static_cast<Index>(tau.size()); }
};

// Computes the reflection H = I - tau v v' for which H x has zeros below row k, and returns the entry of H x in row k. Writes v
// from row k on, 0 <= k < n.
double reflect(Index k, Index n, const double* x, double* v, double& tau);

// B <- H_1 H_2 ... H_r B, or (`reversed`) B <- H_r ... H_2 H_1 B.
Status apply(const Reflections& H, bool reversed, Padded& B);

// A P = Q R, Q = H_1 ... H_r. A, (n, d), is overwritten by R. Without pivoting, r = min(n, d), and `order` is empty. With
// pivoting, each step takes the column whose remainder, orthogonal to the columns before it, has the largest norm. It ends at
// the rank r, where no remainder is larger than `tolerance` times the norm of the first column.
struct QR {
  Reflections H;
  std::vector<Index> order;  // column j of R is column order[j] of A
  Index rank = 0;
};
Status factorize_qr(Padded& A, QR& out);
Status factorize_pivoted_qr(Padded& A, double tolerance, QR& out);

// The first `count` columns of Q.
Status columns_of_q(const Reflections& H, Index count, Padded& out);

}  // namespace kernsel

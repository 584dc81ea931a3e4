// Eigenvalues and eigenvectors of symmetric matrices, singular values and left singular vectors, for paths (path.hpp) without
// LAPACK. The results do not depend on the number of threads.
#pragma once

#include "kernsel/status.hpp"

namespace kernsel {

// A = V diag(e) V', by Householder tridiagonalization and implicit QL steps, in about 7 n^3 operations. Only the lower triangle
// of A, (n, n), is read. e has n entries in decreasing order; V is (n, n) with orthonormal columns. |A V - V diag(e)| is a few
// eps |A|.
Status symmetric_eigen(View<const double> A, View<double> e, View<double> V);

// A = U diag(s) W' for A, (n, d): the k = min(n, d) singular values in decreasing order, and U, (n, k), by one-sided Jacobi
// rotations of a triangular factor. Columns of U that belong to zero singular values are zero.
Status singular_values(View<const double> A, View<double> s, View<double> U);

}  // namespace kernsel

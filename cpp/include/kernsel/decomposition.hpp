// Eigenvalues and eigenvectors of symmetric matrices, singular values and left singular vectors: for paths (path.hpp) where no
// LAPACK is at hand. The results are the same for any number of threads.
#pragma once

#include "kernsel/status.hpp"

namespace kernsel {

// A = V diag(e) V', by Householder tridiagonalization and implicit QL steps. Only the lower triangle of A, (n, n), is read. e
// has n entries, the largest first; V is (n, n), its columns orthonormal to rounding, |A V - V diag(e)| some eps |A|. Some 7
// n^3 operations.
Status symmetric_eigen(View<const double> A, View<double> e, View<double> V);

// A = U diag(s) W', A being (n, d): k = min(n, d) singular values, the largest first, and U, (n, k), by one-sided Jacobi
// rotations of a triangular factor. Columns of U that belong to singular values of zero are zero.
Status singular_values(View<const double> A, View<double> s, View<double> U);

}  // namespace kernsel

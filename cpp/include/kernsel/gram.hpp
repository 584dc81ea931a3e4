// Kernel matrices: of one set of points or of two, their products with vectors, and gradients of weighted sums of entries.
//
// Points are the rows of X (n x d) and Z (m x d). Matrices are computed tile by tile.
#pragma once

#include <memory>

#include "kernsel/cholesky.hpp"
#include "kernsel/kernel.hpp"

namespace kernsel {

// out <- k(X, X), n x n. One triangle is computed; the result is symmetric to the last bit.
template <class T>
Status gram(const Kernel& k, View<const T> X, View<T> out);

// out <- k(X, Z), n x m.
template <class T>
Status cross_gram(const Kernel& k, View<const T> X, View<const T> Z, View<T> out);

// out <- the diagonal of k(X, X).
template <class T>
Status gram_diagonal(const Kernel& k, View<const T> X, View<T> out);

// out <- the noise of the kernel: the difference between the diagonal of k(X, X) and k at two distinct but equal points; and
// gradient_p += sum_i weights_i dnoise_i/dtheta_p, and points, (n, d), += the same derivative in X unless it is empty.
Status gram_noise(const Kernel& k, View<const double> X, View<double> out);
Status pullback_noise(const Kernel& k, View<const double> X, View<const double> weights, double* gradient,
                      View<double> points = {});

// gradient_p += sum_i weights_i dk(x_i, x_i)/dtheta_p, and points, (n, d), += the same derivative in X unless it is empty.
Status pullback_diagonal(const Kernel& k, View<const double> X, View<const double> weights, double* gradient,
                         View<double> points = {});

// out <- k(X, Z) V for V (m x r), in O(tile) memory.
template <class T>
Status multiply(const Kernel& k, View<const T> X, View<const T> Z, View<const T> V, View<T> out);

// gradient_p <- sum_ij W_ij dk(x_i, x_j)/dtheta_p, for any n x n matrix W; k.parameters() numbers. The order of summation does
// not depend on the number of threads.
template <class T>
Status pullback(const Kernel& k, View<const T> X, View<const T> W, double* gradient);
template <class T>
Status pullback(const Kernel& k, View<const T> X, View<const T> Z, View<const T> W, double* gradient);

// out, (n, k.parameters()), by columns, <- dK/dtheta_p v for each parameter: O(n^2 d). Kernels that are functions of the
// caller, transformed or normalized are differentiated by central differences.
Status tangents(const Kernel& k, View<const double> X, View<const double> v, View<double> out);

// gradient, n x d, <- d/dX sum_ij W_ij k(x_i, x_j), or d/dX sum_ij W_ij k(x_i, z_j) for constant Z.
template <class T>
Status pullback_points(const Kernel& k, View<const T> X, View<const T> W, View<T> gradient);
template <class T>
Status pullback_points(const Kernel& k, View<const T> X, View<const T> Z, View<const T> W, View<T> gradient);

// L L' = k(X, X) + diag(noise); the kernel matrix is not stored. `noise` has n entries, or one for all, or none.
template <class T>
Status factorize(const Kernel& k, View<const T> X, View<const T> noise, LowerTiles<T>& L);

}  // namespace kernsel

// Functions of gram.hpp for a program that is already compiled, so that an evaluation can call several of them with one
// program.
#pragma once

#include "kernels/program.hpp"
#include "kernsel/cholesky.hpp"

namespace kernsel {

// L L' = k(X, X) + diag(noise). The block of the program must be the tile of L.
template <class T>
Status factorize(const Program<T>& program, View<const T> noise, LowerTiles<T>& L);

// out_p <- dK/dtheta_p v, as in gram.hpp, for a program with has_rows(). `out` must be column-major.
Status tangents(const Program<double>& program, View<const double> v, View<double> out);

}  // namespace kernsel

// What gram.hpp does, for a program that is already there: an evaluation runs several of these on one.
#pragma once

#include "kernels/program.hpp"
#include "kernsel/cholesky.hpp"

namespace kernsel {

// L L' = k(X, X) + diag(noise); the program's block is the tile of L.
template <class T>
Status factorize(const Program<T>& program, View<const T> noise, LowerTiles<T>& L);

// Tangents, for a program that has derivatives by rows.
Status tangents(const Program<double>& program, View<const double> v, View<double> out);

}  // namespace kernsel

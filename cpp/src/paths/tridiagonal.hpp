// Symmetric tridiagonal matrices: the reduction of a full matrix to one, and its eigenvalues.
#pragma once

#include <functional>
#include <vector>

#include "paths/padded.hpp"

namespace kernsel {

// A = Q T Q', T tridiagonal.
struct Tridiagonal {
  std::vector<double> diagonal, beside;  // (n), (n - 1)
  std::vector<double> tau;               // Q = H_0 H_1 ..., H_k = I - tau_k v_k v_k'; v_k is zero above row k + 1, one in that
                                         // row, and overwrites column k of A
};

// Reduces A, (n, n), of which both triangles are needed, and overwrites it with the vectors v_k.
Status tridiagonalize(Padded& A, Tridiagonal& out);

// The rotations of neighbouring columns that QL steps apply to the eigenvectors. A step is one sweep of `count` rotations from
// column `first` on, for rotate() of the tile kernels.
struct Sweep {
  Index first, count;
  std::size_t begin;  // in `cosines` and `sines`
};
struct Rotations {
  std::vector<Sweep> sweeps;
  std::vector<double> cosines, sines;
};

// Replaces the diagonal by the eigenvalues, which are not sorted. `apply` is called several times, with the rotations since the
// last call: the columns of Q, multiplied by all of them, are the eigenvectors of A.
Status diagonalize(Tridiagonal& T, const std::function<Status(const Rotations&)>& apply);

}  // namespace kernsel

// Symmetric tridiagonal matrices: how one comes from a full matrix, and how its eigenvalues are found.
#pragma once

#include <functional>
#include <vector>

#include "paths/padded.hpp"

namespace kernsel {

// A = Q T Q', T tridiagonal.
struct Tridiagonal {
  std::vector<double> diagonal, beside;  // (n), (n - 1)
  std::vector<double> tau;  // Q = H_1 H_2 ..., H_k = I - tau_k v_k v_k', in the place of column k of A: v_k is zero
                            // above row k + 1, and one in it
};

// A must be symmetric in all its entries.
Status tridiagonalize(Padded& A, Tridiagonal& out);

// Rotations of neighbouring columns that a QL step applies to eigenvectors: tile_kernels().rotate, from column `first` on.
struct Sweep {
  Index first, count;
  std::size_t begin;  // in `cosines` and `sines`
};
struct Rotations {
  std::vector<Sweep> sweeps;
  std::vector<double> cosines, sines;
};

// Replaces the diagonal by the eigenvalues, in no order. `apply` is called with the rotations that were done since it was
// called before, so that Q, multiplied by all of them, has the eigenvectors of A.
Status diagonalize(Tridiagonal& T, const std::function<Status(const Rotations&)>& apply);

}  // namespace kernsel

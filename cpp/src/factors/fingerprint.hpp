// Whether points are those of an earlier call.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernsel/view.hpp"

namespace kernsel {

// A number that differs for different points, but for a chance of 2^-64.
inline std::uint64_t fingerprint_of(View<const double> X) {
  std::uint64_t hash = static_cast<std::uint64_t>(X.rows) * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(X.cols);
  for (Index i = 0; i < X.rows; ++i)
    for (Index j = 0; j < X.cols; ++j) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &X(i, j), sizeof(bits));
      hash = (hash ^ bits) * 0xff51afd7ed558ccdULL;
      hash ^= hash >> 32;
    }
  return hash;
}

}  // namespace kernsel

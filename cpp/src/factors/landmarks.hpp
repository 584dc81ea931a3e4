// The choice of landmarks: few points whose values determine those at all other points as well as possible.
#pragma once

#include <cstdint>
#include <vector>

#include "kernsel/kernel.hpp"

namespace kernsel {

// What a point adds to those that were chosen must be more than this part of its variance.
constexpr double least_of_landmark = 1e-8;

// Chooses rows of X by a randomly pivoted Cholesky factorization of k(X, X) without noise: each next one is drawn with
// probabilities that are proportional to the variances given those before it, so that landmarks are spread over the points and
// are dense where the function varies fast. Fewer than `count` are chosen if these determine all others.
//
// It takes (count + 1) n values of the kernel, n count^2 operations, and n count numbers of memory. The choice depends on the
// seed alone, not on the number of threads.
Status choose_landmarks(const Kernel& k, View<const double> X, Index count, std::uint64_t seed, std::vector<Index>& chosen);

}  // namespace kernsel

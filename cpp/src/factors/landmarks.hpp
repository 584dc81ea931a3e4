// The choice of landmarks: few points whose values determine those at all other points as well as possible.
#pragma once

#include <cstdint>
#include <vector>

#include "kernsel/kernel.hpp"

namespace kernsel {

// What a point adds to those that were chosen must be more than this part of its variance.
constexpr double least_of_landmark = 1e-8;

// The coordinates of some rows of X, by rows.
std::vector<double> coordinates(View<const double> X, const std::vector<Index>& chosen);

// Chooses rows of X by a randomly pivoted Cholesky factorization of k(X, X) without noise: each next one is drawn with
// probabilities that are proportional to the variances given those before it, so that landmarks are spread over the points and
// are dense where the function varies fast. Fewer than `count` are chosen if these determine all others.
//
// It takes (count + 1) n values of the kernel, n count^2 operations, and n count numbers of memory. The choice depends on the
// seed alone, not on the number of threads.
Status choose_landmarks(const Kernel& k, View<const double> X, Index count, std::uint64_t seed, std::vector<Index>& chosen);

// The centres of clusters of the rows of X, (n, d), by k-means in columns that are multiplied by `scales`: centres, (any
// number, d), by rows, are the means of the rows of each cluster, before scaling. There are `count` clusters, or as many as
// there are different rows after scaling; none is empty.
//
// Starts are drawn among the rows with probabilities that are proportional to the squared distances to those before them
// (Arthur and Vassilvitskii, 2007): n count d operations. Each round of Lloyd's then takes a search for the nearest centre of
// each row. The result depends on the seed alone, not on the number of threads.
Status cluster_centres(View<const double> X, const std::vector<double>& scales, Index count, std::uint64_t seed,
                       std::vector<double>& centres);

}  // namespace kernsel

// The starts of a search: a few points that complement each other, derived from the data.
//
// A likelihood has few local optima, of typical kinds: short length scales that fit the noise, long ones that explain
// everything as noise, and the right ones between them. Without noise there are three starts: medium length scales, length
// scales that depend on how much of the targets a cubic polynomial of each column alone explains, and short ones. With noise
// they are short length scales with little noise, long ones with much noise, and length scales that depend on the columns in
// the same way with some noise. Targets that change faster than these length scales can follow have an optimum of their own,
// which no other start leads to: for them there is one at the period of their strongest oscillation, and one at the distance at
// which they lose their likeness (data.hpp). A few quasi-random starts are added. Few points with noise have more local optima,
// and in most of them some columns are irrelevant. For these there are sparse starts, and changes of the relevance of each
// column at a point found.
#pragma once

#include <vector>

#include "kernsel/data.hpp"

namespace kernsel {

struct Start {
  std::vector<double> theta;
  double log_noise;
};

// `variance` is that of the targets, in the unit of the noise. `noise` says whether a noise variance is unknown; then there are
// also `random` quasi-random starts, shifted by `shift`.
std::vector<Start> starting_points(const std::vector<Hint>& hints, double variance, bool noise, Index random, double shift);

// Quasi-random starts in which about half of the columns are irrelevant, and the noise is small.
std::vector<Start> sparse_points(const std::vector<Hint>& hints, double variance, Index count, double shift);

// Returns `theta` with one column at a time made irrelevant, or relevant if it was irrelevant.
std::vector<std::vector<double>> turned_points(const std::vector<Hint>& hints, const std::vector<double>& theta);

}  // namespace kernsel

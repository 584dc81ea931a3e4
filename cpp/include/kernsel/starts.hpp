// Where searches start: a few places that complement each other, read off the data.
//
// A likelihood has few basins, and they differ in kind: short scales that follow the noise, long ones that call everything
// noise, and the right one between them. So without noise there are a middle start, one that trusts each column as far as a
// cubic of it alone explains the targets, and a short one; with noise short scales with little noise, long ones with much, and
// scales with some noise that trust columns likewise. A few quasi-random starts are for the rest. Few points with noise have
// more basins, and most of them take some columns for irrelevant: so do sparse starts, and turns of each column of what was
// found.
#pragma once

#include <vector>

#include "kernsel/data.hpp"

namespace kernsel {

struct Start {
  std::vector<double> theta;
  double log_noise;
};

// `variance`: of what is modelled, in the unit of the noise. `noise`: is there any to be found? Then so many quasi-random
// points, moved by `shift`.
std::vector<Start> starting_points(const std::vector<Hint>& hints, double variance, bool noise, Index random, double shift);

// Quasi-random starts that take about half of the columns for irrelevant, and the noise for small.
std::vector<Start> sparse_points(const std::vector<Hint>& hints, double variance, Index count, double shift);

// `theta` with one column at a time turned irrelevant, or relevant if it was not.
std::vector<std::vector<double>> turned_points(const std::vector<Hint>& hints, const std::vector<double>& theta);

}  // namespace kernsel

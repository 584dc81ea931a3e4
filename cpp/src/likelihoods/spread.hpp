// Parameters in units of y, and where a search for them begins.
#pragma once

#include "kernsel/likelihood.hpp"

namespace kernsel {

// A scale of y, or a power of one, as a parameter: any positive number.
LikelihoodParameter scale_parameter(const char* name, double logarithm);

// Starts from a third of the spread of y to this power, bounded by 1e-4 and 10 times the spread. The spread is the standard
// deviation of a normal distribution of the same median absolute deviation.
void from_spread(LikelihoodParameter& parameter, const Observations& of, double power);

}  // namespace kernsel

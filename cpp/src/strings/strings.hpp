// Common parts of the kernels on strings.
#pragma once

#include <new>

#include "base/memory.hpp"
#include "kernsel/strings.hpp"

namespace kernsel {

enum class Pairs { own, cross, diagonal };  // all pairs of X, pairs of X and Z, each string of X and itself

struct Comparison {
  Pairs pairs;
  const Strings& X;
  const Strings& Z;  // X itself unless pairs == Pairs::cross

  bool symmetric() const { return pairs == Pairs::own; }
  Index cols() const { return pairs == Pairs::diagonal ? 1 : Z.count; }
};

Status check_strings(const Comparison& on);
Status check_shape(const Comparison& on, const View<double>& out);

// Copies the lower triangle to the upper one.
void mirror(const View<double>& out);

// Returns the number of tokens of all strings.
double tokens(const Strings& X);

}  // namespace kernsel

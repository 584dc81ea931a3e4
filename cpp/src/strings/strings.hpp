// What the kernels on strings share.
#pragma once

#include <new>

#include "base/memory.hpp"
#include "kernsel/strings.hpp"

namespace kernsel {

enum class Pairs { own, cross, diagonal };  // of X among themselves, of X and Z, of each of X and itself

struct Comparison {
  Pairs pairs;
  const Strings& X;
  const Strings& Z;  // X if there is no other

  bool symmetric() const { return pairs == Pairs::own; }
  Index cols() const { return pairs == Pairs::diagonal ? 1 : Z.count; }
};

Status check_strings(const Comparison& on);
Status check_shape(const Comparison& on, const View<double>& out);

// The upper triangle <- the lower one.
void mirror(const View<double>& out);

double tokens(const Strings& X);

}  // namespace kernsel

// Integrals of several functions at once, for many rows at once: a panel is divided until its rule resolves all of them.
#pragma once

#include <functional>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

struct Panel {
  Index row = 0;
  double begin = 0.0, end = 0.0;
  int depth = 0;
};

// Evaluates `functions` numbers for each of `count` pairs of a row and x: values is (count, functions).
using Integrands = std::function<Status(Index count, const Index* row, const double* x, double* values)>;

// sums is (rows, functions): the integrals over the panels of each row. The error is below 1e-10 of the integral of the
// absolute value if it is smooth and 1e-8 if it has a kink, or 1e-15 of what `units`, (rows, functions), say is the size of an
// integral of which nothing cancels: below that there is nothing but rounding to resolve. What is infinite or no number stays
// so.
Status integrate(Index rows, std::vector<Panel> panels, Index functions, const Integrands& evaluate, const double* units,
                 double* sums);

}  // namespace kernsel

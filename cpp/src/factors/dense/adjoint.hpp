// The adjoint matrix, W = dJ/dK, and the way from there to the gradient:
//
//     W = a P - P G P + sum_r sym(x_r y_r') + S+ S+' - S- S-',
//
// P in lower tiles, G diagonal, the rest of low rank but for the S of left-out groups. W exists one tile at a time.
#pragma once

#include <vector>

#include "factors/dense/state.hpp"
#include "tiles/tall.hpp"

namespace kernsel {

struct Adjoint {
  double of_inverse = 0.0;      // a
  std::vector<double> squared;  // G; empty for zero
  Tall x, y;                    // sum of sym(x y')
  Panels plus, minus;           // S+, S-
  std::vector<double> noise;    // of the criterion itself
};

// Room for so many terms of low rank, after them those of the trend, whose log det H'PH has that derivative.
Status with_trend(const State& state, double of_trend, Index more, Adjoint& adjoint);

// W += -sym((P. G) c') for G = dJ/dc, in the first columns of x and y.
Status add_weights(const State& state, Tall& G, Adjoint& adjoint);

// The gradient that W gives.
Status pull(const State& state, const Adjoint& adjoint, Gradient& out);

}  // namespace kernsel

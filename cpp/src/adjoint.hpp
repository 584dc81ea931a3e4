// The adjoint matrix, W = dJ/dK, and the way from there to the gradient:
//
//     W = a P - P G P + sum_r sym(x_r y_r') - S S',
//
// P in lower tiles, G diagonal, the rest of low rank but for S of a joint density. W exists one tile at a time.
#pragma once

#include <vector>

#include "state.hpp"
#include "tall.hpp"

namespace kernsel {

struct Adjoint {
  double of_inverse = 0.0;      // a
  std::vector<double> squared;  // G; empty for zero
  Tall x, y;                    // sum of sym(x y')
  Panels S;
  std::vector<double> noise;  // of the criterion itself
};

// Room for so many terms of low rank, after them those of the trend, whose log det H'PH has that derivative.
Status with_trend(const State& state, double of_trend, Index more, Adjoint& adjoint);

// W += -sym((P. G) c') for G = dJ/dc, in the first columns of x and y.
Status add_weights(const State& state, Tall& G, Adjoint& adjoint);

// The gradients of `out`, from W.
Status pull(const State& state, const Adjoint& adjoint, Evaluation& out);

}  // namespace kernsel

// The adjoint matrix, W = dJ/dK, and the way from there to the gradient:
//
//     W = a P - P G P + sum_r sym(x_r y_r') + S+ S+' - S- S-',
//
// with sym(A) = (A + A') / 2, P in lower tiles and G diagonal. The sum is of low rank; S+ and S- come from groups that are left
// out, and have up to 2 n columns. W is computed one tile at a time.
#pragma once

#include <vector>

#include "factors/dense/state.hpp"
#include "tiles/tall.hpp"

namespace kernsel {

struct Adjoint {
  double of_inverse = 0.0;      // a
  std::vector<double> squared;  // G; empty for zero
  Tall x, y;                    // the columns x_r and y_r
  Panels plus, minus;           // S+, S-
  std::vector<double> noise;    // dJ/dN_i where N_i occurs in the formula of the criterion
  std::vector<double> targets;  // dJ/dy, (n, outputs), by columns; empty for zero
};

// Makes room in x and y for `more` terms of low rank, and writes those of the trend behind them: the terms of log det H'PH,
// with respect to which J has the derivative `of_trend`, and those that turn P G P into P. G P.
Status with_trend(const State& state, double of_trend, Index more, Adjoint& adjoint);

// W += -sym((P. G) c') for G = dJ/dc, in the first columns of x and y. P. G is also added to dJ/dy.
Status add_weights(const State& state, Tall& G, Adjoint& adjoint);

// Computes the gradient in the hyperparameters and in the noise from W.
Status pull(const State& state, const Adjoint& adjoint, Gradient& out);
// Computes the gradient in the points, for which W is stored.
Status pull_points(const State& state, const Adjoint& adjoint, View<double> out);

}  // namespace kernsel

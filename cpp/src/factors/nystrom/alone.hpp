// Points that are left out one by one: r_i = c_i / P.ii with the variance 1 / P.ii + e_i.
#pragma once

#include <vector>

#include "kernsel/nystrom.hpp"

namespace kernsel {

// What the second pass shows of all rows, c (n, outputs) by columns, and what it has not been asked for is empty.
struct ShownRows {
  Index n = 0, outputs = 0;
  std::vector<double> c, precision, missing;

  // Makes room for what a request needs.
  void resize(const Request& request, Index rows, Index columns);
  LeftOut left_out() const;
};

// A power of two about as large as sums of squared residuals, by which derivatives of losses are divided to stay in range.
double unit_of_losses(const NystromSums& sums);

// Derivatives in what is shown, with those in what is left out among them.
struct RowSlopes {
  Index n = 0, outputs = 0;
  std::vector<double> c, precision, missing, noise;

  RowSlopes(const Partials& partials, const ShownRows& shown);
  // Those of `count` rows from `begin` on.
  NystromPartials of(Index begin, Index count) const;
  // Replaces derivatives in P.ii by those in N_i that each has of its own, for passes that know the rest (losses.cpp).
  void move_to_noise(const ShownRows& shown, const std::vector<double>& variances);
  bool empty() const { return c.empty() && precision.empty() && missing.empty(); }
};

}  // namespace kernsel

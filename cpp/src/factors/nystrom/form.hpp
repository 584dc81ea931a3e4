// The quadratic form of a raw row (k, h), (k'E k + 2 h'E k + h'E h) / 2 / N^2, which says what log determinants and a
// derivative in sum e_i / N_i add to a gradient, or sums of losses beside what is each row's own (losses.cpp). Such criteria
// need two products with a triangular matrix in the last pass instead of four with others.
#pragma once

#include "tiles/point_rows.hpp"

namespace kernsel {

struct NystromForm {
  double sign = 0.0;  // E = sign G'G between the values of the kernel, where G is lower triangular
  PointRows G, G_transposed;
  PointRows of_trend;  // E between the functions of the trend, a row for each, and all columns
};

}  // namespace kernsel

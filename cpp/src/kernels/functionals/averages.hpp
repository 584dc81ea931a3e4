// Kernels of one column, m((x - z) / l), and their averages over intervals of x and z.
#pragma once

#include <cstdint>

namespace kernsel {

enum class LineKernel : std::uint8_t { rbf, matern12, matern32, matern52 };

// The averages of the first three derivatives of m((x - z) / l) with respect to x, from the 0th on, and their derivatives with
// respect to log l.
struct LineAverages {
  double mean[3] = {0.0, 0.0, 0.0};
  double in_log_length[3] = {0.0, 0.0, 0.0};
};

struct Interval {
  double lower, upper;
  double width() const { return upper - lower; }
};

// Returns these for x and z uniform on intervals, or fixed where the ends are equal; of the derivatives up to order `highest`.
LineAverages line_averages(LineKernel kernel, double length_scale, const Interval& x, const Interval& z, int highest);

}  // namespace kernsel

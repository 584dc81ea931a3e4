// The principal axes of points: the directions in which the boxes of a tree of points in many correlated columns are small.
#pragma once

#include <vector>

#include "base/memory.hpp"
#include "kernsel/status.hpp"

namespace kernsel {

// A rotation about the mean. It keeps distances, up to rounding errors, and equal points equal. Without axes it changes
// nothing.
class PrincipalAxes {
 public:
  // Finds the axes of a sample of the rows of X. For more than a hundred columns there are none.
  void find(View<const double> X);
  bool empty() const { return axes_.empty(); }
  // rotated <- the rows of X in the coordinates of the axes, by rows.
  Status rotate(View<const double> X, Memory& memory, View<const double>& rotated) const;

 private:
  std::vector<double> mean_, axes_;  // axes_: (d, d), the axes in columns, by rows
};

}  // namespace kernsel

// The coordinates in which neighbours are near: columns in units of their length scales, and circles for what is periodic.
#pragma once

#include <vector>

#include "kernsel/kernel.hpp"
#include "kernsel/view.hpp"

namespace kernsel {

// x times the scale, for the column x of the points; or, with a period, the two coordinates (cos, sin)(2 pi x / period) times
// the scale, in which points a period apart are equal.
struct Feature {
  Index column;
  double scale;
  double period = 0.0;
};

// column_scales(), and for columns in which a part of the kernel is periodic a circle for each period; the scale of such a
// column itself is that in which the correlation of points some periods apart falls. All are read off the kernel's values.
Status features_of(const Kernel& k, View<const double> X, std::vector<Feature>& out);

// The features of the rows of X, by rows in `memory`.
View<const double> in_features(View<const double> X, const std::vector<Feature>& features, std::vector<double>& memory);

// Whether neighbours in these features would be nearly the same: scales matter up to a common factor.
bool are_alike(const std::vector<Feature>& a, const std::vector<Feature>& b);

// The mean correlation of some points of X with themselves, moved by each of the distances along a column.
Status correlations_along(const Kernel& k, View<const double> X, Index column, const std::vector<double>& distances,
                          std::vector<double>& out);

}  // namespace kernsel

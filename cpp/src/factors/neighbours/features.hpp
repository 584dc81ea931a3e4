// The coordinates in which neighbours are near: columns in units of their length scales, and circles for what is periodic.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "kernsel/vecchia.hpp"

namespace kernsel {

// Calls visit(node, columns) for the nodes of a kernel with the columns of the points that each sees, but for what is inside a
// map, which sees other points.
void visit_seen(const Kernel& k, Index columns,
                const std::function<void(const KernelNode& node, const std::vector<Index>& seen)>& visit);

// The sets of columns that kernels of levels see.
std::set<std::vector<Index>> level_columns(const Kernel& k, Index columns);

// Whether neighbours in these features would be nearly the same: scales matter up to a common factor.
bool are_alike(const std::vector<Feature>& a, const std::vector<Feature>& b);

// The mean correlation of some points of X with themselves, moved by each of the distances along a column.
Status correlations_along(const Kernel& k, View<const double> X, Index column, const std::vector<double>& distances,
                          std::vector<double>& out);

}  // namespace kernsel

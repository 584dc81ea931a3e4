// The rows of a problem of which groups are left out together, in an order in which those of a group follow each other: first
// all small groups, then all large ones.
#pragma once

#include <vector>

#include "factors/nystrom/large_groups.hpp"
#include "factors/nystrom/small_groups.hpp"
#include "kernsel/factor.hpp"

namespace kernsel {

class GroupedRows {
 public:
  using Numbers = std::vector<double>;
  // For `width` columns of D. A group is small if it has no more rows than that.
  Status arrange(const Problem& problem, const Request& request, Index width);

  // The first pass, with which the following functions' sums are kept. `differentiable`: whether pull() may follow.
  Status add(const NystromBlocks& blocks, bool differentiable, NystromSums& total);
  // `blocks` are solved for all rows, before and after.
  Status leave_out(NystromBlocks& blocks, const NystromSums& total, LeftOut& out);

  // Everything is added to what is there, in the order of the problem.
  Status pull(NystromBlocks& blocks, const NystromSums& total, const Partials& partials, const NystromTotals& totals,
              double* theta, const NystromRowGradient& of_rows, View<double> landmarks);

 private:
  RowBlock rows() const;
  Index count() const { return static_cast<Index>(order_.size()); }
  // Derivatives in the order of the problem, (n, count), by columns, as those of rows in this order, by rows.
  Numbers arranged(const Numbers& of, Index columns, Index begin, Index end) const;
  Status pull_all_rows(NystromBlocks& blocks, const Partials& partials, const NystromTotals& totals, double* theta,
                       const NystromRowGradient& of_rows, View<double> landmarks);

  Index outputs_ = 0, columns_ = 0, trend_columns_ = 0;
  bool variances_ = false, densities_ = false;
  std::vector<Index> order_;         // the number in the problem of each row
  std::vector<Index> small_groups_;  // the numbers of small groups
  Numbers X_, y_, noise_, trend_;    // by rows
  SmallGroups small_;
  LargeGroups large_;
};

}  // namespace kernsel

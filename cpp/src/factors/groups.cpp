#include "factors/groups.hpp"

namespace kernsel {

Status points_of(const Groups& groups, Index n, std::vector<std::vector<Index>>& out) {
  if (static_cast<Index>(groups.of.size()) != n) return Status::invalid("folds: give the number of a group for each point");
  out.assign(static_cast<std::size_t>(groups.count), {});
  for (Index i = 0; i < n; ++i) {
    const Index g = groups.of[static_cast<std::size_t>(i)];
    if (g < 0 || g >= groups.count) return Status::invalid("folds: groups are numbered from 0 to count - 1");
    out[static_cast<std::size_t>(g)].push_back(i);
  }
  for (const std::vector<Index>& group : out)
    if (group.empty() || static_cast<Index>(group.size()) == n)
      return Status::invalid("folds: each group must have points, and leave some");
  return {};
}

}  // namespace kernsel

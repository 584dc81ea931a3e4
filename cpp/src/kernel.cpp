#include "kernsel/kernel.hpp"

#include <cmath>
#include <unordered_set>

#include "program.hpp"

namespace kernsel {

namespace {

// Calls f(node) once for each node, parents before children, left before right: the order of the hyperparameters.
template <class F>
void walk(const KernelNode& node, std::unordered_set<const KernelNode*>& seen, const F& f) {
  if (!seen.insert(&node).second) return;
  f(node);
  for (const auto& child : node.children) walk(*child, seen, f);
}

Status check_tree(const KernelNode& node, Index columns) {
  Status status = node.check(columns);
  for (const auto& child : node.children)
    if (status.ok()) status = check_tree(*child, node.columns_inside(columns));
  return status;
}

}  // namespace

Index Kernel::parameters() const { return static_cast<Index>(theta().size()); }

std::vector<double> Kernel::theta() const {
  std::vector<double> all;
  std::unordered_set<const KernelNode*> seen;
  walk(*node_, seen, [&](const KernelNode& node) {
    const std::vector<double> own = node.theta();
    all.insert(all.end(), own.begin(), own.end());
  });
  return all;
}

bool Kernel::has_noise() const {
  bool found = false;
  std::unordered_set<const KernelNode*> seen;
  walk(*node_, seen, [&](const KernelNode& node) { found = found || node.is_noise(); });
  return found;
}

Status Kernel::check(Index columns) const { return check_tree(*node_, columns); }

}  // namespace kernsel

#include "kernsel/kernel.hpp"

#include <cmath>
#include <unordered_map>
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

// A copy of a tree: nodes without parameters below them are shared, and one node stays one node.
class Replacement {
 public:
  explicit Replacement(const std::vector<double>& theta) : theta_(theta) {}
  bool complete = true;

  std::shared_ptr<const KernelNode> operator()(const std::shared_ptr<const KernelNode>& node) {
    const auto known = done_.find(node.get());
    if (known != done_.end()) return known->second;
    const std::size_t own = node->theta().size();
    std::shared_ptr<KernelNode> copy;
    if (own > 0) {
      copy = node->copy();
      complete = copy->set_theta(theta_.data() + next_) && complete;
      next_ += own;
    }
    for (std::size_t c = 0; c < node->children.size(); ++c) {
      const std::shared_ptr<const KernelNode> child = (*this)(node->children[c]);
      if (child == node->children[c]) continue;
      if (!copy) copy = node->copy();
      copy->children[c] = child;
    }
    const std::shared_ptr<const KernelNode> result = copy ? copy : node;
    done_.emplace(node.get(), result);
    return result;
  }

 private:
  const std::vector<double>& theta_;
  std::size_t next_ = 0;
  std::unordered_map<const KernelNode*, std::shared_ptr<const KernelNode>> done_;
};

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

Kernel Kernel::with_theta(const std::vector<double>& theta, bool* changed) const {
  bool right = static_cast<Index>(theta.size()) == parameters();
  std::shared_ptr<const KernelNode> root = node_;
  if (right) {
    Replacement replace(theta);
    root = replace(node_);
    right = replace.complete;
  }
  if (changed) *changed = right;
  return right ? Kernel(root) : *this;
}

bool Kernel::has_noise() const {
  bool found = false;
  std::unordered_set<const KernelNode*> seen;
  walk(*node_, seen, [&](const KernelNode& node) { found = found || node.is_noise(); });
  return found;
}

Status Kernel::check(Index columns) const { return check_tree(*node_, columns); }

}  // namespace kernsel

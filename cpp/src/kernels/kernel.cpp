#include "kernsel/kernel.hpp"

#include <new>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kernels/program.hpp"

namespace kernsel {

namespace {

using Link = std::shared_ptr<const KernelNode>;

// Visits each node once. enter(node) is called for parents before children and from left to right, which is the order of the
// hyperparameters; leave(node) for children before parents. There is no recursion, since an expression may be deeper than the
// stack.
template <class Enter, class Leave>
void walk(const Link& root, const Enter& enter, const Leave& leave) {
  std::unordered_set<const KernelNode*> seen;
  std::vector<std::pair<const KernelNode*, std::size_t>> path;  // from the root to here, each with its next child
  path.reserve(16);
  const auto begin = [&](const KernelNode* node) {
    if (!seen.insert(node).second) return;
    enter(*node);
    path.emplace_back(node, 0);
  };
  begin(root.get());
  while (!path.empty()) {
    const KernelNode* node = path.back().first;
    const std::size_t next = path.back().second++;
    if (next < node->children.size()) {
      begin(node->children[next].get());
    } else {
      path.pop_back();
      leave(*node);
    }
  }
}

template <class F>
void walk(const Link& root, const F& f) {
  walk(root, f, [](const KernelNode&) {});
}

}  // namespace

// Releases all nodes below in a loop of the node that is destroyed first. Nested destructors would overflow the stack for a
// deep expression.
KernelNode::~KernelNode() {
  thread_local std::vector<Link>* dying = nullptr;
  if (children.empty()) return;
  if (dying) {
    try {
      dying->insert(dying->end(), children.begin(), children.end());
    } catch (const std::bad_alloc&) {  // without memory for the list, the children are released by recursion
    }
    return;
  }
  std::vector<Link> left = std::move(children);
  dying = &left;
  while (!left.empty()) {
    const Link last = std::move(left.back());
    left.pop_back();
  }
  dying = nullptr;
}

Index Kernel::parameters() const { return static_cast<Index>(theta().size()); }

std::vector<double> Kernel::theta() const {
  std::vector<double> all;
  walk(node_, [&](const KernelNode& node) {
    const std::vector<double> own = node.theta();
    all.insert(all.end(), own.begin(), own.end());
  });
  return all;
}

std::vector<Rule> Kernel::rules() const {
  std::vector<Rule> all;
  walk(node_, [&](const KernelNode& node) {
    const std::vector<Rule> own = node.rules();
    all.insert(all.end(), own.begin(), own.end());
  });
  return all;
}

std::vector<Rule> KernelNode::rules() const { return std::vector<Rule>(theta().size(), Rule::none); }

// Copies the nodes that have parameters, and those above them; the others are shared. A node that occurs several times in the
// expression is copied once.
Kernel Kernel::with_theta(const std::vector<double>& theta, bool* changed) const {
  bool right = static_cast<Index>(theta.size()) == parameters();
  std::unordered_map<const KernelNode*, std::shared_ptr<KernelNode>> copies;
  std::size_t next = 0;
  const auto with_parameters = [&](const KernelNode& node) {
    const std::size_t own = node.theta().size();
    if (own == 0) return;
    const std::shared_ptr<KernelNode> copy = node.copy();
    right = copy->set_theta(theta.data() + next) && right;
    next += own;
    copies.emplace(&node, copy);
  };
  const auto with_children = [&](const KernelNode& node) {
    for (std::size_t c = 0; c < node.children.size(); ++c) {
      const auto child = copies.find(node.children[c].get());
      if (child == copies.end()) continue;
      const std::shared_ptr<KernelNode> replaced = child->second;
      std::shared_ptr<KernelNode>& copy = copies[&node];
      if (!copy) copy = node.copy();
      copy->children[c] = replaced;
    }
  };
  if (right) walk(node_, with_parameters, with_children);
  if (changed) *changed = right;
  const auto root = copies.find(node_.get());
  return right && root != copies.end() ? Kernel(root->second) : *this;
}

bool Kernel::has_noise() const {
  bool found = false;
  walk(node_, [&](const KernelNode& node) { found = found || node.is_noise(); });
  return found;
}

// A node that occurs several times is checked once for each number of columns of the points that it receives.
Status Kernel::check(Index columns) const {
  std::vector<std::pair<const KernelNode*, Index>> left{{node_.get(), columns}};
  std::set<std::pair<const KernelNode*, Index>> seen;
  while (!left.empty()) {
    const auto [node, count] = left.back();
    left.pop_back();
    if (!node->children.empty() && !seen.emplace(node, count).second) continue;
    const Status status = node->check(count);
    if (!status.ok()) return status;
    for (auto child = node->children.rbegin(); child != node->children.rend(); ++child)
      left.emplace_back(child->get(), node->columns_inside(count));
  }
  return {};
}

}  // namespace kernsel

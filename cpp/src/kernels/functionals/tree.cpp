#include "kernels/functionals/tree.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace kernsel {

namespace {

constexpr const char* unknown =
    "functionals: one of its kernels has no derivatives and averages here; rbf, matern (3/2, 5/2), product_matern (1/2, 3/2, "
    "5/2), rational_quadratic, dot_product, polynomial, cosine, periodic (of one column), constant, and sums, products, "
    "multiples and powers of these "
    "have";

// A node whose children are being visited.
struct Opened {
  const KernelNode* node;
  std::vector<Index> columns;
  std::vector<std::size_t> children = {};
  std::size_t next = 0;
};

}  // namespace

const char* FunctionalTree::make(const Kernel& kernel, Index columns) {
  columns_ = static_cast<std::size_t>(columns);
  std::vector<Index> all;
  for (Index k = 0; k < columns; ++k) all.push_back(k);
  // Parents come before children in the order of the hyperparameters. A node that occurs twice has one set of them, and one
  // value for the same columns.
  std::unordered_map<const KernelNode*, Index> first_parameter;
  std::map<std::pair<const KernelNode*, std::vector<Index>>, std::size_t> known;
  Index parameters = 0;
  std::vector<Opened> path;
  const auto open = [&](const KernelNode* node, std::vector<Index> seen) {
    if (first_parameter.emplace(node, parameters).second) parameters += static_cast<Index>(node->theta().size());
    path.push_back({node, std::move(seen)});
  };
  open(kernel.node().get(), all);
  while (true) {
    Opened& at = path.back();
    if (at.next < at.node->children.size()) {
      std::vector<Index> seen = at.columns;
      if (const std::vector<Index>* selected = at.node->selected_columns()) {
        seen.clear();
        for (const Index column : *selected) seen.push_back(at.columns[static_cast<std::size_t>(column)]);
        if (std::set<Index>(seen.begin(), seen.end()).size() < seen.size())
          return "functionals: a kernel that sees a column twice has no derivatives here; name it once";
      }
      const KernelNode* child = at.node->children[at.next++].get();
      const auto found = known.find({child, seen});
      if (found == known.end())
        open(child, std::move(seen));
      else
        at.children.push_back(found->second);
      continue;
    }
    const Opened closed = std::move(at);
    path.pop_back();
    std::size_t value = closed.children.empty() ? 0 : closed.children[0];  // of a node that only restricts columns
    if (!closed.node->selected_columns()) {
      const char* wrong = add(*closed.node, closed.columns, first_parameter[closed.node], closed.children);
      if (wrong) return wrong;
      value = operations_.size() - 1;
    }
    known.emplace(std::make_pair(closed.node, closed.columns), value);
    if (path.empty()) return nullptr;
    path.back().children.push_back(value);
  }
}

const char* FunctionalTree::add(const KernelNode& node, const std::vector<Index>& columns, Index first_parameter,
                                const std::vector<std::size_t>& children) {
  const Expression written = node.expression();
  const std::string_view name = written.name ? written.name : "";
  Operation operation{Kind::leaf};
  operation.first_parameter = first_parameter;
  operation.sees.assign(columns_, 0);
  if (children.empty()) {
    operation.kind = name == "constant" ? Kind::constant : Kind::leaf;
    if (name == "constant") {
      operation.number = written.numbers[0];
    } else {
      operation.leaf = make_leaf(written, node.theta().size() > written.list.size(), columns);
      if (!operation.leaf) return unknown;
      for (const Index column : columns) operation.sees[static_cast<std::size_t>(column)] = 1;
    }
  } else {
    operation.a = children[0];
    operation.b = children.back();
    if (name == "sum" || name == "product")
      operation.kind = name == "sum" ? Kind::sum : Kind::product;
    else if (name == "scale" || name == "pow")
      operation.kind = name == "scale" ? Kind::scale : Kind::power;
    else if (name == "exp")
      operation.kind = Kind::exp;
    else
      return unknown;
    if (!written.numbers.empty()) operation.number = written.numbers[0];
    for (std::size_t k = 0; k < columns_; ++k)
      operation.sees[k] = operations_[operation.a].sees[k] || operations_[operation.b].sees[k] ? 1 : 0;
  }
  operations_.push_back(std::move(operation));
  return nullptr;
}

const char* FunctionalTree::problem(const std::vector<char>& boxed, const std::vector<char>& along) const {
  for (const Operation& operation : operations_) {
    for (std::size_t k = 0; k < columns_; ++k) {
      if (!operation.sees[k]) continue;
      if (along[k] && operation.leaf && !operation.leaf->differentiable())
        return "functionals: exponential and Matern kernels of smoothness 1/2 have no derivatives; take 3/2 or more";
      if (!boxed[k]) continue;
      const bool shared =
          operation.kind == Kind::product && operations_[operation.a].sees[k] && operations_[operation.b].sees[k];
      if (shared || operation.kind == Kind::exp || (operation.kind == Kind::power && operation.number != 1.0))
        return "functionals: products, powers and exp of kernels that see the same column have no averages over it; give sums, "
               "or factors that see different columns";
      if (operation.leaf && !operation.leaf->integrable())
        return "functionals: a kernel has no closed averages over a column that it sees; take rbf, or a Matern kernel that is "
               "a "
               "product over columns";
    }
  }
  return nullptr;
}

Taylor FunctionalTree::taylor(const Operation& operation, double u) {
  if (operation.kind == Kind::exp) {
    const double e = std::exp(u);
    return {e, e, e, e};
  }
  const double p = operation.number;
  const auto power = [&](double factor, double exponent) { return factor == 0.0 ? 0.0 : factor * std::pow(u, exponent); };
  return {std::pow(u, p), power(p, p - 1.0), power(p * (p - 1.0), p - 2.0), power(p * (p - 1.0) * (p - 2.0), p - 3.0)};
}

void FunctionalTree::forward(const Functional& x, const Functional& z, Jet* room) const {
  Jet* of_leaf = room + 2 * operations_.size();
  for (std::size_t o = 0; o < operations_.size(); ++o) {
    const Operation& operation = operations_[o];
    switch (operation.kind) {
      case Kind::leaf:
        room[o] = operation.leaf->value(x, z, of_leaf);
        break;
      case Kind::constant:
        room[o] = {operation.number, 0.0, 0.0, 0.0};
        break;
      case Kind::sum:
        room[o] = room[operation.a];
        room[o] += room[operation.b];
        break;
      case Kind::product:
        room[o] = room[operation.a] * room[operation.b];
        break;
      case Kind::scale:
        room[o] = operation.number * room[operation.a];
        break;
      case Kind::power:
      case Kind::exp:
        room[o] = compose(taylor(operation, room[operation.a].v), room[operation.a]);
        break;
    }
  }
}

double FunctionalTree::value(const Functional& x, const Functional& z, Jet* room) const {
  forward(x, z, room);
  const Jet& all = room[operations_.size() - 1];
  return x.along < 0 ? (z.along < 0 ? all.v : all.z) : z.along < 0 ? all.x : all.xz;
}

void FunctionalTree::pull(const Functional& x, const Functional& z, double weight, Jet* room, const Sums& to) const {
  forward(x, z, room);
  const std::size_t count = operations_.size();
  Jet *weights = room + count, *of_leaf = weights + count;
  std::fill_n(weights, count, Jet{});
  Jet& root = weights[count - 1];
  (x.along < 0 ? (z.along < 0 ? root.v : root.z) : z.along < 0 ? root.x : root.xz) = weight;
  for (std::size_t o = count; o-- > 0;) {
    const Operation& operation = operations_[o];
    const Jet& W = weights[o];
    const Sums own{to.to + operation.first_parameter * to.stride, to.stride};
    switch (operation.kind) {
      case Kind::leaf:
        operation.leaf->pull(x, z, W, of_leaf, own);
        break;
      case Kind::constant:
        own.add(0, dot(W, room[o]));
        break;
      case Kind::sum:
        weights[operation.a] += W;
        weights[operation.b] += W;
        break;
      case Kind::product:
        weights[operation.a] += pull_factor(W, room[operation.b]);
        weights[operation.b] += pull_factor(W, room[operation.a]);
        break;
      case Kind::scale:
        own.add(0, dot(W, room[o]));
        weights[operation.a] += operation.number * W;
        break;
      case Kind::power:
      case Kind::exp:
        weights[operation.a] += pull_composed(W, taylor(operation, room[operation.a].v), room[operation.a]);
        break;
    }
  }
}

}  // namespace kernsel

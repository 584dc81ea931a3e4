// The hyperparameters of a kernel that a search may change, with starts and bounds, from the kernel's expression and the data.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <unordered_map>

#include "kernels/program.hpp"
#include "kernsel/data.hpp"

namespace kernsel {

namespace {

double average(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

// Whether a hyperparameter of `count` numbers has one for each column, or several such sets one after the other (one for each
// component of a mixture).
bool by_column(std::size_t columns, Index count) { return columns > 1 && count % static_cast<Index>(columns) == 0; }

bool is_logarithm(Rule rule) { return rule != Rule::signed_number && rule != Rule::none; }

// Statistics of the columns that a kernel depends on, for each selection of columns, and the copies of these columns.
class Restricted {
 public:
  Restricted(View<const double> X, View<const double> y, const double* weights, Data& all)
      : X_(X), y_(y), weights_(weights), all_(&all) {}

  Data& of(const std::vector<Index>& columns) {
    if (static_cast<Index>(columns.size()) == X_.cols && std::is_sorted(columns.begin(), columns.end())) return *all_;
    const auto known = data_.find(columns);
    if (known != data_.end()) return *known->second;
    std::vector<double>& copy = copies_.emplace_back();
    for (const Index k : columns)
      for (Index i = 0; i < X_.rows; ++i) copy.push_back(X_(i, k));
    const View<const double> points =
        kernsel::columns(static_cast<const double*>(copy.data()), X_.rows, static_cast<Index>(columns.size()));
    Data& made = made_.emplace_back(points, y_, weights_);
    data_.emplace(columns, &made);
    return made;
  }

 private:
  View<const double> X_, y_;
  const double* weights_;
  Data* all_;
  std::deque<std::vector<double>> copies_;
  std::deque<Data> made_;
  std::map<std::vector<Index>, Data*> data_;
};

// A node of an expression, and the columns of X that it depends on. There are none if the node is evaluated at points that a
// map computes from X, about which nothing is known.
struct Seen {
  const KernelNode* node;
  std::vector<Index> columns;
};

// The nodes of an expression in the order of their hyperparameters, each once.
std::vector<Seen> nodes_of(const Kernel& kernel, Index columns) {
  std::vector<Seen> order, left(1);
  left[0].node = kernel.node().get();
  for (Index k = 0; k < columns; ++k) left[0].columns.push_back(k);
  std::map<const KernelNode*, bool> known;
  while (!left.empty()) {
    Seen here = std::move(left.back());
    left.pop_back();
    if (!known.emplace(here.node, true).second) continue;
    std::vector<Index> inside = here.columns;
    if (here.node->maps_points()) inside.clear();
    if (const std::vector<Index>* selected = here.node->selected_columns(); selected && !inside.empty()) {
      std::vector<Index> some;
      for (const Index k : *selected)
        if (k >= 0 && k < static_cast<Index>(inside.size())) some.push_back(inside[static_cast<std::size_t>(k)]);
      inside = std::move(some);
    }
    for (auto child = here.node->children.rbegin(); child != here.node->children.rend(); ++child)
      left.push_back({child->get(), inside});
    order.push_back(std::move(here));
  }
  return order;
}

// The positions in theta of the hyperparameters that all grow by log s if the kernel is multiplied by s: the amplitudes of all
// terms of a sum, and those of one factor of a product. Empty if there are none, or if one of them stands in several places.
std::vector<Index> amplitudes_of(const std::vector<Seen>& nodes) {
  std::unordered_map<const KernelNode*, std::vector<Index>> found;  // empty for a kernel that has none
  std::unordered_map<const KernelNode*, Index> first, uses;
  Index next = 0;
  for (const Seen& seen : nodes) {
    first[seen.node] = next;
    next += static_cast<Index>(seen.node->theta().size());
    for (const auto& child : seen.node->children) ++uses[child.get()];
  }
  // Parents before their children: a node comes once all nodes that use it have come. Several ways to a node count as two.
  std::unordered_map<const KernelNode*, int> ways{{nodes[0].node, 1}};
  std::vector<const KernelNode*> order{nodes[0].node};
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const auto& child : order[i]->children) {
      ways[child.get()] = std::min(2, ways[child.get()] + ways[order[i]]);
      if (--uses[child.get()] == 0) order.push_back(child.get());
    }
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const KernelNode& node = **at;
    const Expression written = node.expression();
    const std::string name = written.name ? written.name : "";
    std::vector<Index>& own = found[&node];
    if (name == "constant" || name == "white" || name == "scale") {
      if (ways[&node] == 1) own = {first[&node]};  // in n * n, an amplitude in n would act twice
    } else if (name == "sum") {
      for (const auto& child : node.children) {
        const std::vector<Index>& part = found[child.get()];
        if (part.empty()) {
          own.clear();
          break;
        }
        own.insert(own.end(), part.begin(), part.end());
      }
    } else if (name == "product") {
      for (const auto& child : node.children)
        if (own.empty()) own = found[child.get()];
    } else if (name == "on") {
      own = found[node.children[0].get()];
    }
  }
  std::vector<Index> all = found[nodes[0].node];
  std::sort(all.begin(), all.end());
  return all;
}

// The logarithm of a length scale that follows the oscillation along a column, or, for one length scale of all columns, the
// shortest oscillation along any; NaN if there is none.
double log_of_wave(const std::vector<double>& periods, bool each, std::size_t column) {
  double shortest = each ? periods[column] : 0.0;
  for (const double period : periods)
    if (!each && period > 0.0 && (shortest == 0.0 || period < shortest)) shortest = period;
  return shortest > 0.0 ? std::log(0.25 * shortest) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void hints_of(const std::vector<Anchor>& anchors, std::vector<Hint>& hints) {
  Index leaf = -1, sets = 0;
  for (const Anchor& anchor : anchors) {
    if (anchor.rule == Rule::length) ++leaf;
    if (anchor.begin < 0) continue;
    const bool length = anchor.rule == Rule::length;
    const Proposal proposal = anchor.data ? anchor.data->propose(anchor.rule) : Proposal{{1.0}, {}, {}};
    const bool starts = by_column(proposal.start.size(), anchor.count);
    const auto d = static_cast<std::size_t>(anchor.data ? anchor.data->columns() : 0);
    const bool each = length && by_column(d, anchor.count);
    for (Index i = 0; i < anchor.count; ++i) {
      Hint& hint = hints[static_cast<std::size_t>(anchor.begin + i)];
      hint.rule = anchor.rule;
      const double start =
          starts ? proposal.start[static_cast<std::size_t>(i) % proposal.start.size()] : average(proposal.start);
      if (anchor.logarithm) hint.middle = std::log(start);
      if (starts && anchor.logarithm && (length || anchor.rule == Rule::size)) {
        const std::size_t columns = proposal.start.size();
        hint.alike = sets + i / static_cast<Index>(columns);
        hint.of_spread = std::log(anchor.data->spreads()[static_cast<std::size_t>(i) % columns]) +
                         0.5 * std::log(static_cast<double>(columns));
      }
      if (!length || !anchor.data) continue;
      const std::vector<double>& ranges = anchor.data->ranges();
      const std::size_t column = d > 0 ? static_cast<std::size_t>(i) % d : 0;
      hint.unit = std::log(each ? ranges[column] : average(ranges));
      if (each) hint.relevance = anchor.data->relevance()[column];
      hint.of_wave = log_of_wave(anchor.data->periods(), each, column);
      const double likeness = anchor.data->half_distance();
      if (likeness > 0.0 && likeness < 0.1 * std::max(1.0, 0.5 * std::sqrt(static_cast<double>(d))))
        hint.of_likeness = hint.unit + std::log(0.85 * likeness);  // exp(-h^2 / (2 l^2)) = 1/2 at h = 1.18 l
      hint.of_column = each;
      hint.columns = static_cast<double>(d);
      hint.leaf = leaf;
    }
    sets += anchor.count;
  }
}

Status automatic_space(Kernel& kernel, View<const double> X, View<const double> y, const double* weights, bool keep_values,
                       Space& out) {
  out = Space{};
  Status status = kernel.check(X.cols);
  if (!status.ok()) return status;
  Data all(X, y, weights);
  Restricted data(X, y, weights, all);
  const std::vector<Seen> nodes = nodes_of(kernel, X.cols);
  std::vector<Anchor> anchors;
  out.theta = kernel.theta();
  const std::size_t count = out.theta.size();
  for (std::size_t p = 0; p < count; ++p) out.place.push_back(static_cast<Index>(p));
  out.lower.resize(count);
  out.upper.resize(count);
  out.hints.resize(count);
  Index begin = 0;
  for (const Seen& seen : nodes) {
    const std::vector<Rule> rules = seen.node->rules();
    for (std::size_t i = 0; i < rules.size();) {
      std::size_t end = i;
      while (end < rules.size() && rules[end] == rules[i]) ++end;
      const Rule rule = seen.columns.empty() ? Rule::none : rules[i];
      Data* own = seen.columns.empty() ? nullptr : &data.of(seen.columns);
      const Index many = static_cast<Index>(end - i), first = begin + static_cast<Index>(i);
      anchors.push_back({rule, first, many, is_logarithm(rule), rule == Rule::none ? nullptr : own});
      for (Index k = 0; k < many; ++k) {
        const auto p = static_cast<std::size_t>(first + k);
        if (rule == Rule::none) {  // a factor of 1e5 to either side, the bounds of scikit-learn
          out.lower[p] = out.theta[p] - std::log(1e5);
          out.upper[p] = out.theta[p] + std::log(1e5);
          continue;
        }
        const Proposal& proposal = own->propose(rule);
        const bool each = by_column(proposal.lower.size(), many);
        const std::size_t column = each ? static_cast<std::size_t>(k) % proposal.lower.size() : 0;
        const auto on_scale = [&](double value) { return is_logarithm(rule) ? std::log(value) : value; };
        const std::vector<double>&below = proposal.lower, &above = proposal.upper;
        out.lower[p] = on_scale(each ? below[column] : *std::min_element(below.begin(), below.end()));
        out.upper[p] = on_scale(each ? above[column] : *std::max_element(above.begin(), above.end()));
        if (!keep_values) out.theta[p] = on_scale(each ? proposal.start[column] : average(proposal.start));
        out.theta[p] = std::clamp(out.theta[p], out.lower[p], out.upper[p]);
      }
      i = end;
    }
    begin += static_cast<Index>(rules.size());
  }
  for (std::size_t p = 0; p < count; ++p) out.hints[p].middle = out.theta[p];
  hints_of(anchors, out.hints);
  out.amplitudes = amplitudes_of(nodes);
  out.has_values = keep_values && count > 0;
  bool changed = true;
  if (!keep_values && count > 0) kernel = kernel.with_theta(out.theta, &changed);
  return changed ? Status{} : Status::invalid("search: a kernel that is a function cannot be given other hyperparameters");
}

}  // namespace kernsel

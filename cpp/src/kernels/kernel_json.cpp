#include "kernels/kernel_json.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>

#include "base/memory.hpp"
#include "base/numbers.hpp"
#include "kernels/program.hpp"
#include "kernels/written.hpp"
#include "kernsel/functionals.hpp"

namespace kernsel {

namespace {

constexpr std::size_t longest = 1 << 20;  // the maximal number of characters of a written kernel
constexpr std::size_t deepest = 200;      // the maximal depth of a written kernel; parse_json() reads lists nested 256 deep

Kernel of_columns(const Kernel& k, const Numbers& list) {
  std::vector<Index> columns;
  for (const double number : list) columns.push_back(number >= 0.0 && number < 1e15 ? static_cast<Index>(number) : -1);
  return on(k, std::move(columns));
}

Kernel of_matrix(double size, const Numbers& list) {
  const auto n = static_cast<Index>(std::sqrt(static_cast<double>(list.size())));
  if (static_cast<double>(n) != size || n * n != static_cast<Index>(list.size())) return precomputed({});
  const auto owner = std::make_shared<Numbers>(list);
  return precomputed(rows<const double>(owner->data(), n, n), owner);
}

Kernel projected(double size, const Numbers& list, const Kernel& k) {
  const bool fits = size >= 1.0 && size <= static_cast<double>(list.size());
  return transform(k, list, fits ? static_cast<Index>(size) : 0);
}

// The list has the shapes a and b, of which there are p[0] and p[1], and as many lower as upper limits.
Kernel of_warped_inputs(const Numbers& p, const Numbers& list, const Kernel& k) {
  const auto size = static_cast<double>(list.size());
  const bool fits = p[0] >= 0.0 && p[1] >= 0.0 && p[0] + p[1] <= size;
  const auto part = [&](double from, double to) {
    return Numbers(list.begin() + static_cast<std::ptrdiff_t>(from), list.begin() + static_cast<std::ptrdiff_t>(to));
  };
  if (!fits) return warped_inputs(k, {}, {}, {}, {});
  const double limits = p[0] + p[1], middle = limits + std::floor(0.5 * (size - limits));
  return warped_inputs(k, part(0.0, p[0]), part(p[0], limits), part(limits, middle), part(middle, size));
}

Kernel of_groups(double within, double between, const Numbers& list) {
  std::vector<Index> groups;
  for (const double number : list) groups.push_back(number >= 0.0 && number < 1e15 ? static_cast<Index>(number) : -1);
  return grouped_levels(within, between, std::move(groups));
}

// The list has the rows of W, each of `rank` numbers, and then kappa.
Kernel of_related(double rank, const Numbers& list) {
  const double levels = static_cast<double>(list.size()) / (rank + 1.0);
  if (!(rank >= 0.0) || rank != std::floor(rank) || levels != std::floor(levels)) return coregion({}, {});
  const auto split = list.end() - static_cast<std::ptrdiff_t>(levels);
  return coregion({list.begin(), split}, {split, list.end()});
}

Kernel added(const Numbers&, const Numbers&, Kernels of) {
  Kernel all = of[0];
  for (std::size_t i = 1; i < of.size(); ++i) all = all + of[i];
  return all;
}

Kernel multiplied(const Numbers&, const Numbers&, Kernels of) {
  Kernel all = of[0];
  for (std::size_t i = 1; i < of.size(); ++i) all = all * of[i];
  return all;
}

using Of = Kernels;
const WrittenFunction functions[] = {
    {"matern", 1, true, 0, [](const Numbers& p, const Numbers& l, Of) { return matern(p[0], l); }},
    {"product_matern", 1, true, 0, [](const Numbers& p, const Numbers& l, Of) { return product_matern(p[0], l); }},
    {"dot_product", 1, true, 0, [](const Numbers& p, const Numbers& l, Of) { return dot_product(p[0], l); }},
    {"polynomial", 2, true, 0, [](const Numbers& p, const Numbers& l, Of) { return polynomial(p[0], whole(p[1]), l); }},
    {"sigmoid", 1, true, 0, [](const Numbers& p, const Numbers& l, Of) { return sigmoid(p[0], l); }},
    {"radial_pair", 0, true, 0, [](const Numbers&, const Numbers& l, Of) { return radial_pair(l); }},
    {"arc_cosine", 2, true, 0, [](const Numbers& p, const Numbers& l, Of) { return arc_cosine(whole(p[0]), p[1], l); }},
    {"brownian", 0, false, 0, [](const Numbers&, const Numbers&, Of) { return brownian(); }},
    {"exchangeable", 1, false, 0, [](const Numbers& p, const Numbers&, Of) { return exchangeable(p[0]); }},
    {"grouped_levels", 2, true, 0, [](const Numbers& p, const Numbers& l, Of) { return of_groups(p[0], p[1], l); }},
    {"correlated_levels", 1, true, 0, [](const Numbers& p, const Numbers& l, Of) { return correlated_levels(l, whole(p[0])); }},
    {"loadings", 0, true, 0, [](const Numbers&, const Numbers& l, Of) { return coregion(l, {}); }},
    {"coregion", 1, true, 0, [](const Numbers& p, const Numbers& l, Of) { return of_related(p[0], l); }},
    {"ordered_levels", 1, true, 0,
     [](const Numbers& p, const Numbers& l, Of) { return ordered_levels(p[0] == 0.0 ? HUGE_VAL : p[0], l); }},
    {"constant", 1, false, 0, [](const Numbers& p, const Numbers&, Of) { return constant(p[0]); }},
    {"white", 1, false, 0, [](const Numbers& p, const Numbers&, Of) { return white(p[0]); }},
    {"precomputed", 1, true, 0, [](const Numbers& p, const Numbers& l, Of) { return of_matrix(p[0], l); }},
    {"sum", 0, false, 2, added},
    {"product", 0, false, 2, multiplied},
    {"scale", 1, false, 1, [](const Numbers& p, const Numbers&, Of of) { return p[0] * of[0]; }},
    {"pow", 1, false, 1, [](const Numbers& p, const Numbers&, Of of) { return pow(of[0], p[0]); }},
    {"exp", 0, false, 1, [](const Numbers&, const Numbers&, Of of) { return exp(of[0]); }},
    {"series", 0, true, 1, [](const Numbers&, const Numbers& l, Of of) { return series(l, of[0]); }},
    {"on", 0, true, 1, [](const Numbers&, const Numbers& l, Of of) { return of_columns(of[0], l); }},
    {"functionals", 0, false, 1, [](const Numbers&, const Numbers&, Of of) { return functionals(of[0]); }},
    {"normalize", 0, false, 1, [](const Numbers&, const Numbers&, Of of) { return normalize(of[0]); }},
    {"compose", 0, false, 2, [](const Numbers&, const Numbers&, Of of) { return compose(of[0], of[1]); }},
    {"project", 1, true, 1, [](const Numbers& p, const Numbers& l, Of of) { return projected(p[0], l, of[0]); }},
    {"warped_inputs", 2, true, 1, [](const Numbers& p, const Numbers& l, Of of) { return of_warped_inputs(p, l, of[0]); }},
};

const WrittenFunction* function_named(std::string_view name) {
  for (const WrittenFunctions& table : {stationary_functions(), WrittenFunctions{functions, std::size(functions)}})
    for (const WrittenFunction& function : table)
      if (function.name == name) return &function;
  return nullptr;
}

bool takes_many(std::string_view function) { return function == "sum" || function == "product"; }

class Writer {
 public:
  explicit Writer(std::string& json) : json_(json) {}

  // Writes a kernel. Returns what is wrong with it, or nullptr. There is no recursion, since a kernel may be deeper than the
  // stack.
  const char* write(const KernelNode& root) {
    const char* problem = begin(root);
    while (!problem && !path_.empty()) {
      Opened& at = path_.back();
      if (at.written < at.kernels.size()) {
        json_ += ',';
        problem = begin(*at.kernels[at.written++]);
      } else {
        json_ += ']';
        path_.pop_back();
        if (json_.size() > longest) problem = too_long;
      }
    }
    return problem;
  }

 private:
  static constexpr const char* too_long = "kernel: it is too long to be written";
  struct Opened {  // a list of which the beginning is written
    std::vector<const KernelNode*> kernels;
    std::size_t written;
  };

  // Writes the beginning of a list: the name, the numbers, and the list of numbers, which come before the child kernels.
  const char* begin(const KernelNode& node) {
    if (path_.size() > deepest) return "kernel: it is too deep to be written";
    const Expression expression = node.expression();
    const WrittenFunction* function = expression.name ? function_named(expression.name) : nullptr;
    if (!function) return "kernel: one with a function of the caller's cannot be written";
    json_ += "[\"" + std::string(function->name) + '"';
    for (const double number : expression.numbers)
      if (!add(number, ",")) return "kernel: its numbers must be finite";
    if (function->list) {
      json_ += ",[";
      for (std::size_t i = 0; i < expression.list.size(); ++i)
        if (!add(expression.list[i], i ? "," : "") || json_.size() > longest) return too_long;
      json_ += ']';
    }
    path_.push_back({kernels_of(node, expression), 0});
    return nullptr;
  }

  static std::vector<const KernelNode*> kernels_of(const KernelNode& node, const Expression& expression) {
    std::vector<const KernelNode*> kernels = expression.kernels;
    if (!kernels.empty()) return kernels;
    const KernelNode* left = &node;
    if (takes_many(expression.name)) {  // long sums and products are left-associative: ((a + b) + c) + d
      for (const char* name = expression.name; name && std::string_view(name) == expression.name;
           name = left->expression().name) {
        kernels.push_back(left->children[1].get());
        left = left->children[0].get();
      }
      kernels.push_back(left);
      std::reverse(kernels.begin(), kernels.end());
    } else {
      for (const auto& child : node.children) kernels.push_back(child.get());
    }
    return kernels;
  }

  bool add(double number, const char* before) {
    json_ += before;
    append_number(json_, number);
    return std::isfinite(number);
  }

  std::string& json_;
  std::vector<Opened> path_;  // the open lists, from the root to the current one
};

// Makes kernels from JSON by recursion, which is safe since parse_json() limits the depth of lists.
class Reader {
 public:
  static const char* read(const Json& json, std::shared_ptr<const KernelNode>& node) {
    constexpr const char* wrong = "kernel: expected a name, numbers and kernels, such as [\"scale\", 2, [\"rbf\", [1]]]";
    if (!json.is(Json::Kind::list) || json.items.empty() || !json.items[0].is(Json::Kind::text)) return wrong;
    const WrittenFunction* function = function_named(json.items[0].text);
    if (!function) return "kernel: a name that is not known to this version";
    const std::size_t begin = 1 + function->numbers + (function->list ? 1 : 0), count = json.items.size();
    if (count < begin + function->kernels || (count > begin + function->kernels && !takes_many(function->name))) return wrong;
    Numbers numbers, list;
    for (std::size_t i = 1; i <= function->numbers; ++i)
      if (!add(json.items[i], numbers)) return wrong;
    if (function->list) {
      const Json& items = json.items[begin - 1];
      if (!items.is(Json::Kind::list)) return wrong;
      for (const Json& item : items.items)
        if (!add(item, list)) return wrong;
    }
    std::vector<Kernel> of;
    for (std::size_t i = begin; i < count; ++i) {
      std::shared_ptr<const KernelNode> child;
      if (const char* problem = read(json.items[i], child)) return problem;
      of.emplace_back(std::move(child));
    }
    node = function->make(numbers, list, of).node();
    return nullptr;
  }

 private:
  static bool add(const Json& item, Numbers& to) {
    to.push_back(item.number);
    return item.is(Json::Kind::number);
  }
};

}  // namespace

Status kernel_to_json(const Kernel& kernel, std::string& json) {
  json.clear();
  const char* problem = Writer(json).write(*kernel.node());
  return problem ? Status::invalid(problem) : Status{};
}

Status kernel_from_json(const Json& json, Kernel& kernel) {
  std::shared_ptr<const KernelNode> node;
  if (const char* problem = Reader::read(json, node)) return Status::invalid(problem);
  kernel = Kernel(std::move(node));
  return {};
}

Status kernel_from_json(std::string_view json, Kernel& kernel) {
  try {
    Json parsed;
    const Status status = parse_json(json, parsed);
    return status.ok() ? kernel_from_json(parsed, kernel) : status;
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

}  // namespace kernsel

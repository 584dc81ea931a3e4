#include "likelihoods/quadrature.hpp"

#include <algorithm>
#include <cmath>

#include "likelihoods/legendre.hpp"

namespace kernsel {

namespace {

constexpr double tolerance = 5e-8;  // of the last coefficients; for smooth functions errors are about their squares
constexpr double least = 1e-6;      // of the unit, which the tolerance is relative to
constexpr int deepest = 40;
constexpr Index most_panels = 2000;  // of one row

struct Sums {
  double value = 0.0, size = 0.0, last = 0.0;  // the integral, that of the absolute value, the last coefficients
};

// Of one function on one panel, whose values are `stride` apart.
Sums panel_sums(const double* values, Index stride, double width) {
  const LegendreRule& rule = legendre_rule();
  Sums out;
  double last[2] = {0.0, 0.0};
  for (int i = 0; i < LegendreRule::size; ++i) {
    const double value = values[i * stride];
    out.value += rule.weight[i] * value;
    out.size += rule.weight[i] * std::abs(value);
    for (int k = 0; k < 2; ++k) last[k] += rule.last[k][i] * value;
  }
  return {width * out.value, width * out.size, width * std::max(std::abs(last[0]), std::abs(last[1]))};
}

}  // namespace

Status integrate(Index rows, std::vector<Panel> panels, Index functions, const Integrands& evaluate, const double* units,
                 double* sums) {
  constexpr Index size = LegendreRule::size;
  const LegendreRule& rule = legendre_rule();
  std::fill_n(sums, rows * functions, 0.0);
  std::vector<double> sizes(units, units + rows * functions), x, values;
  for (double& size_of : sizes) size_of *= least;
  std::vector<Index> row, used(static_cast<std::size_t>(rows));
  std::vector<Sums> found;
  std::vector<Panel> next;
  for (bool first = true; !panels.empty(); first = false, panels.swap(next)) {
    const auto count = static_cast<Index>(panels.size());
    x.clear();
    row.clear();
    for (const Panel& panel : panels)
      for (Index i = 0; i < size; ++i) {
        x.push_back(panel.begin + (panel.end - panel.begin) * rule.node[i]);
        row.push_back(panel.row);
      }
    values.resize(static_cast<std::size_t>(count * size * functions));
    const Status status = evaluate(count * size, row.data(), x.data(), values.data());
    if (!status.ok()) return status;
    found.clear();
    for (Index k = 0; k < count; ++k) {
      const Panel& panel = panels[static_cast<std::size_t>(k)];
      for (Index j = 0; j < functions; ++j) {
        found.push_back(panel_sums(values.data() + k * size * functions + j, functions, panel.end - panel.begin));
        if (first) sizes[static_cast<std::size_t>(panel.row * functions + j)] += found.back().size;
      }
    }
    next.clear();
    for (Index k = 0; k < count; ++k) {
      const Panel& panel = panels[static_cast<std::size_t>(k)];
      const Sums* of = found.data() + k * functions;
      const double* total = sizes.data() + panel.row * functions;
      bool resolved = panel.depth == deepest || ++used[static_cast<std::size_t>(panel.row)] > most_panels;
      if (!resolved) {
        resolved = true;
        for (Index j = 0; j < functions; ++j)
          if (std::isfinite(of[j].value) && of[j].last > tolerance * std::max(total[j], of[j].size)) resolved = false;
      }
      const double middle = 0.5 * (panel.begin + panel.end);
      if (resolved) {
        for (Index j = 0; j < functions; ++j) sums[panel.row * functions + j] += of[j].value;
      } else {
        next.push_back({panel.row, panel.begin, middle, panel.depth + 1});
        next.push_back({panel.row, middle, panel.end, panel.depth + 1});
      }
    }
  }
  return {};
}

}  // namespace kernsel

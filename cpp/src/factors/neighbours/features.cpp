#include "factors/neighbours/features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "kernels/program.hpp"

namespace kernsel {

namespace {

constexpr double two_pi = 6.283185307179586;
constexpr Index steps_of_a_half = 64;  // in half a period

// The periods of nodes that see one column of the points as they are given: (column, period).
std::vector<std::pair<Index, double>> periods_of(const Kernel& k, Index columns) {
  std::set<std::pair<Index, double>> found;
  visit_seen(k, columns, [&](const KernelNode& node, const std::vector<Index>& seen) {
    const std::vector<Rule> rules = node.rules();
    const std::vector<double> theta = node.theta();
    for (std::size_t p = 0; p < rules.size() && seen.size() == 1; ++p)
      if (rules[p] == Rule::period) found.emplace(seen.front(), std::exp(theta[p]));
  });
  return {found.begin(), found.end()};
}

// The first of the distances at which a correlation is halfway between one and the last correlation, by interpolation; infinity
// if it does not fall.
double half_fallen(const std::vector<double>& distances, const std::vector<double>& correlations) {
  const double lowest = *std::min_element(correlations.begin(), correlations.end());
  if (!(lowest < 1.0 - 1e-6)) return std::numeric_limits<double>::infinity();
  const double level = 0.5 * (1.0 + std::max(lowest, 0.0));
  std::size_t s = 0;
  while (correlations[s] > level) ++s;
  const double before = s > 0 ? correlations[s - 1] : 1.0, at = s > 0 ? distances[s - 1] : 0.0;
  return at + (distances[s] - at) * (before - level) / std::max(before - correlations[s], 1e-300);
}

// The scale of a circle: a unit is the chord over which the correlation has half fallen.
Status circle_scale(const Kernel& k, View<const double> X, Index column, double period, double& scale) {
  std::vector<double> distances, correlations;
  for (Index s = 1; s <= steps_of_a_half; ++s)
    distances.push_back(0.5 * period * static_cast<double>(s) / static_cast<double>(steps_of_a_half));
  const Status status = correlations_along(k, X, column, distances, correlations);
  if (!status.ok()) return status;
  const double distance = half_fallen(distances, correlations);
  scale = std::isfinite(distance) ? 0.5 / std::sin(0.5 * two_pi * distance / period) : 0.0;
  return {};
}

// The scale of a column in which the kernel is periodic: over how many periods the correlation has half fallen.
Status scale_over_periods(const Kernel& k, View<const double> X, Index column, double period, double& scale) {
  const auto values = [&](Index i) { return X(i, column); };
  double lowest = values(0), highest = lowest;
  for (Index i = 1; i < X.rows; ++i) {
    lowest = std::min(lowest, values(i));
    highest = std::max(highest, values(i));
  }
  scale = 0.0;
  std::vector<double> distances, correlations;
  double step = 1.0;
  while (step * period <= 2.0 * (highest - lowest)) {
    distances.push_back(std::floor(step) * period);
    step = std::max(step + 1.0, step * 1.2);
  }
  if (distances.empty()) return {};
  const Status status = correlations_along(k, X, column, distances, correlations);
  if (!status.ok()) return status;
  const double distance = half_fallen(distances, correlations);
  scale = std::isfinite(distance) ? 1.0 / distance : 0.0;
  return {};
}

}  // namespace

void visit_seen(const Kernel& k, Index columns,
                const std::function<void(const KernelNode& node, const std::vector<Index>& seen)>& visit) {
  using Seen = std::pair<const KernelNode*, std::vector<Index>>;
  std::vector<Index> all(static_cast<std::size_t>(columns));
  std::iota(all.begin(), all.end(), Index{0});
  std::vector<Seen> left{{k.node().get(), all}};
  std::set<Seen> known;
  while (!left.empty()) {
    const Seen seen = std::move(left.back());
    left.pop_back();
    if (seen.first->maps_points() || !known.insert(seen).second) continue;
    visit(*seen.first, seen.second);
    std::vector<Index> inside = seen.second;
    if (const std::vector<Index>* selected = seen.first->selected_columns()) {
      inside.clear();
      for (const Index column : *selected) inside.push_back(seen.second[static_cast<std::size_t>(column)]);
    }
    for (const auto& child : seen.first->children) left.emplace_back(child.get(), inside);
  }
}

std::set<std::vector<Index>> level_columns(const Kernel& k, Index columns) {
  std::set<std::vector<Index>> found;
  visit_seen(k, columns, [&](const KernelNode& node, const std::vector<Index>& seen) {
    if (node.is_of_levels()) found.insert(seen);
  });
  return found;
}

Status features_of(const Kernel& k, View<const double> X, std::vector<Feature>& out) {
  out.clear();
  std::vector<double> scales;
  Status status = column_scales(k, X, scales);
  if (!status.ok()) return status;
  std::vector<Feature> circles;
  for (const auto& [column, period] : periods_of(k, X.cols)) {
    if (!(scales[static_cast<std::size_t>(column)] > 0.0)) continue;
    double scale = 0.0;
    status = circle_scale(k, X, column, period, scale);
    if (!status.ok()) return status;
    if (scale > 0.0) circles.push_back({column, scale, period});
  }
  for (const Feature& circle : circles) {  // in the order of the periods: that of the longest remains
    status = scale_over_periods(k, X, circle.column, circle.period, scales[static_cast<std::size_t>(circle.column)]);
    if (!status.ok()) return status;
  }
  for (Index j = 0; j < X.cols; ++j)
    if (scales[static_cast<std::size_t>(j)] > 0.0) out.push_back({j, scales[static_cast<std::size_t>(j)]});
  out.insert(out.end(), circles.begin(), circles.end());
  return {};
}

View<const double> in_features(View<const double> X, const std::vector<Feature>& features, std::vector<double>& memory) {
  Index d = 0;
  for (const Feature& feature : features) d += feature.period > 0.0 ? 2 : 1;
  memory.resize(static_cast<std::size_t>(X.rows * d));
  double* to = memory.data();
  for (Index i = 0; i < X.rows; ++i)
    for (const Feature& feature : features) {
      const double x = X(i, feature.column);
      if (feature.period > 0.0) {
        const double angle = two_pi * std::remainder(x / feature.period, 1.0);
        *to++ = feature.scale * std::cos(angle);
        *to++ = feature.scale * std::sin(angle);
      } else {
        *to++ = feature.scale * x;
      }
    }
  return rows(static_cast<const double*>(memory.data()), X.rows, d);
}

bool are_alike(const std::vector<Feature>& a, const std::vector<Feature>& b) {
  if (a.size() != b.size()) return false;
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  for (std::size_t f = 0; f < a.size(); ++f) {
    if (a[f].column != b[f].column || std::fabs(a[f].period - b[f].period) > 1e-3 * b[f].period) return false;
    const double change = std::log(a[f].scale / b[f].scale);
    lowest = std::min(lowest, change);
    highest = std::max(highest, change);
  }
  return !(highest - lowest > 0.2);
}

}  // namespace kernsel

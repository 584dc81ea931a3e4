#include "kernsel/starts.hpp"

#include <algorithm>
#include <cmath>

namespace kernsel {

namespace {

// Length scales in units of the range of the column: of an irrelevant column, of a relevant one, and the limit between the two.
constexpr double irrelevant = 100.0, relevant = 0.5, between = 5.0;

// The width of the interval, on the scale of theta, over which quasi-random starts are spread around the start that the data
// propose. Length scales are not treated here.
double width(Rule rule) {
  switch (rule) {
    case Rule::variance:
    case Rule::ratio:
    case Rule::norm:
    case Rule::size:
      return 4.0;
    case Rule::period:
    case Rule::share:
      return 2.0;
    case Rule::signed_number:
      return 1.0;
    default:
      return 0.0;
  }
}

// Points that fill the unit cube evenly (the R sequence): coordinate k of point i is 1/2 + k shift + i / root^k modulo 1, where
// root^(d+1) = root + 1.
std::vector<std::vector<double>> quasi_random(Index count, std::size_t dimension, double shift) {
  double root = 2.0;
  for (int i = 0; i < 40; ++i) root = std::pow(1.0 + root, 1.0 / static_cast<double>(dimension + 1));
  std::vector<std::vector<double>> points;
  for (Index i = 1; i <= count; ++i) {
    std::vector<double>& point = points.emplace_back();
    for (std::size_t k = 1; k <= dimension; ++k) {
      const double step = std::pow(root, -static_cast<double>(k));
      point.push_back(std::fmod(0.5 + shift * static_cast<double>(k) + static_cast<double>(i) * step, 1.0));
    }
  }
  return points;
}

bool is_length(const Hint& hint) { return hint.rule == Rule::length; }

// The logarithm of the shortest length scale of quasi-random starts.
double shortest(const Hint& hint) { return hint.unit + std::log(0.1 * std::max(1.0, std::sqrt(hint.columns / 4.0))); }

Start middle(const std::vector<Hint>& hints, double log_noise) {
  Start start{{}, log_noise};
  for (const Hint& hint : hints) start.theta.push_back(hint.rule == Rule::noise ? log_noise : hint.middle);
  return start;
}

}  // namespace

std::vector<Start> starting_points(const std::vector<Hint>& hints, double variance, bool noise, Index random, double shift) {
  double most = 0.0;
  Index leaves = 1;
  for (const Hint& hint : hints) {
    if (is_length(hint)) most = std::max(most, hint.relevance);
    leaves = std::max(leaves, hint.leaf + 1);
  }
  // The length scales of a start, in units of the range of the column: constant + root d^(1/2) for d columns. If `trusting`,
  // they are up to 30 times longer for columns that explain little of the targets alone.
  struct Kind {
    double constant, root;
    bool trusting;
    double ratio;  // of the noise variance to that of the targets
  };
  const std::vector<Kind> kinds =
      noise ? std::vector<Kind>{{0.0, 0.3, false, 1e-4}, {0.0, 1.2, false, 1.0}, {0.1, 0.0, false, 1e-4}, {0.0, 0.4, true, 0.1}}
            : std::vector<Kind>{{0.5, 0.0, false, 1e-4}, {0.0, 0.5, true, 1e-4}, {0.1, 0.0, false, 1e-4}};
  std::vector<Start> starts;
  for (std::size_t number = 0; number < kinds.size(); ++number) {
    const Kind& kind = kinds[number];
    Start& start = starts.emplace_back(middle(hints, std::log(kind.ratio * variance)));
    for (std::size_t p = 0; p < hints.size(); ++p) {
      const Hint& hint = hints[p];
      if (!is_length(hint)) continue;
      double factor = kind.constant + kind.root * std::sqrt(hint.columns);
      if (kind.trusting)
        factor *= std::clamp(1.0 / std::sqrt(std::max(hint.relevance / std::max(most, 1e-3), 1e-3)), 1.0, 30.0);
      // Equal kernels in a sum must start with different length scales: with equal ones their gradients would stay equal.
      const double apart = std::pow(4.0, static_cast<double>(hint.leaf) - static_cast<double>(leaves - 1) / 2.0);
      start.theta[p] = hint.unit + std::log(factor * (number % 2 == 0 ? apart : 1.0 / apart));
    }
  }
  // Starts with length scales that follow what the targets do, if the others have none so short. In a sum, the first kernel
  // gets these.
  for (const auto brief : {&Hint::of_wave, &Hint::of_likeness}) {
    const auto is_brief = [brief](const Hint& hint) { return is_length(hint) && std::isfinite(hint.*brief); };
    if (!std::any_of(hints.begin(), hints.end(), is_brief)) continue;
    Start& start = starts.emplace_back(middle(hints, std::log(1e-2 * variance)));
    for (std::size_t p = 0; p < hints.size(); ++p) {
      const Hint& hint = hints[p];
      if (!is_length(hint)) continue;
      const bool short_one = is_brief(hint) && hint.leaf == 0;
      start.theta[p] = short_one ? hint.*brief : hint.unit + std::log(0.3 * std::sqrt(hint.columns));
    }
  }
  for (const std::vector<double>& u : quasi_random(random, hints.size() + 1, shift)) {
    Start& start = starts.emplace_back(middle(hints, std::log(1e-4 * variance) + u.back() * std::log(1e4)));
    for (std::size_t p = 0; p < hints.size(); ++p) {
      if (is_length(hints[p])) start.theta[p] = shortest(hints[p]) + u[p] * std::log(30.0);
      start.theta[p] += width(hints[p].rule) * (u[p] - 0.5);
    }
  }
  return starts;
}

std::vector<Start> sparse_points(const std::vector<Hint>& hints, double variance, Index count, double shift) {
  std::vector<Start> starts;
  for (const std::vector<double>& u : quasi_random(count, hints.size() + 1, shift)) {
    Start& start = starts.emplace_back(middle(hints, std::log(1e-6 * variance) + u.back() * std::log(1e4)));
    for (std::size_t p = 0; p < hints.size(); ++p) {
      const Hint& hint = hints[p];
      if (hint.of_column)
        start.theta[p] = u[p] < 0.5 ? shortest(hint) + 2.0 * u[p] * std::log(10.0) : hint.unit + std::log(irrelevant);
      else
        start.theta[p] += width(hint.rule) * (u[p] - 0.5);
    }
  }
  return starts;
}

std::vector<std::vector<double>> turned_points(const std::vector<Hint>& hints, const std::vector<double>& theta) {
  std::vector<std::vector<double>> points;
  for (std::size_t p = 0; p < hints.size(); ++p) {
    if (!hints[p].of_column) continue;
    const bool was_relevant = theta[p] < hints[p].unit + std::log(between);
    points.push_back(theta);
    points.back()[p] = hints[p].unit + std::log(was_relevant ? irrelevant : relevant);
  }
  return points;
}

}  // namespace kernsel

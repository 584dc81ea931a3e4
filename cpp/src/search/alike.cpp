// What is expected of hyperparameters in a search: how alike length scales are, and the evidence.
#include <algorithm>
#include <cmath>
#include <utility>

#include "search/chooser.hpp"

namespace kernsel {

namespace {

constexpr int rounds_of_spreads = 3;
// With more points for each length scale than `many_for_each` they determine length scales better than any expectation. With
// fewer than `few_for_each`, free length scales may fit noise.
constexpr Index many_for_each = 50, few_for_each = 10;
// The logarithm of how much more probable the data must be if length scales are alike, for likelihoods to expect that: in
// general, and with few points for each.
constexpr double clearly = 8.0, clearly_if_few = 4.0;

// The standard deviation of what is expected of the logarithm of a hyperparameter. Kinds that have no unit of their own are
// expected anywhere between their bounds, `range` apart.
double expected_width(Rule rule, double range) {
  switch (rule) {
    case Rule::length:
    case Rule::size:
    case Rule::norm:
    case Rule::period:
      return 1.5;
    case Rule::variance:
    case Rule::noise:
    case Rule::ratio:
      return 2.0;
    default:
      return 0.25 * range;
  }
}

constexpr int most_jitters = 4;  // that are tried for the integral

// What is expected of a spread, as a part of the logarithm of an integral, up to a constant.
double spread_cost(double spread) { return -spread / Prior::mean_spread; }

// Taken from the logarithm of a density that has no finite integral by Laplace's approximation, so that others are preferred.
constexpr double not_integrated = 1e3;

constexpr double expected_noise = 0.1;  // the noise variance that is expected, as a share of the amplitude

// Adds the second derivatives of the objective at a trial, whose gradient is known, to H, by differences of the gradient.
Status add_curvature(Objective& objective, const Trial& at, std::vector<double>& H) {
  constexpr double step = 1e-4;
  const std::size_t n = at.x.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> moved = at.x;
    moved[i] += at.x[i] + step > objective.domain().upper[i] ? -step : step;
    Trial there;
    const Status status = objective.evaluate(moved, Order::gradient, there);
    if (!status.ok()) return status;
    for (std::size_t j = 0; j < n; ++j) {
      const double slope = 0.5 * (there.gradient[j] - at.gradient[j]) / (moved[i] - at.x[i]);
      H[i + j * n] += slope;
      H[j + i * n] += slope;
    }
  }
  return {};
}

}  // namespace

// What is expected of the unknowns: of length scales to be alike, and of everything else only if `of_all_unknowns`.
Prior Chooser::Content::expectations(bool of_all_unknowns) const {
  Prior prior;
  prior.spread = spread;
  prior.spread_is_given = problem.spreads.size() == 1;
  std::vector<Index> number(space.theta.size(), -1);
  for (std::size_t a = 0; a < free.size(); ++a) number[static_cast<std::size_t>(free[a])] = static_cast<Index>(a);
  const auto excepted = [&](std::size_t p) { return p < problem.excepted.size() && problem.excepted[p]; };
  // Adds what is expected of the difference of the unknowns a and b, either of which may be fixed instead (-1), at a value.
  const auto add = [&](Index a, double fixed_a, Index b, double fixed_b, double middle, double width, bool cauchy) {
    if (a >= 0)
      prior.ones.push_back({a, b, middle + (b >= 0 ? 0.0 : fixed_b), width, cauchy});
    else if (b >= 0)
      prior.ones.push_back({b, -1, fixed_a - middle, width, cauchy});
  };
  // The amplitude that others, and the noise, are expected to be in proportion to.
  std::size_t first = space.theta.size();
  for (const Index p : space.amplitudes)
    if (const auto q = static_cast<std::size_t>(p); first == space.theta.size() && space.hints[q].rule != Rule::noise)
      first = q;
  const bool proportional = first < space.theta.size() && !excepted(first);
  const Index of_first = proportional ? number[first] : -1;
  const double fixed = proportional ? space.theta[first] : std::log(of_targets);
  std::vector<Prior::Alike> groups;
  std::vector<Index> group_of;
  for (std::size_t p = 0; p < space.theta.size(); ++p) {
    const Hint& hint = space.hints[p];
    const Index a = number[p];
    if (excepted(p)) continue;
    if (std::isfinite(spread) && hint.alike >= 0 && a >= 0) {
      std::size_t g = 0;
      while (g < group_of.size() && group_of[g] != hint.alike) ++g;
      if (g == groups.size()) {
        group_of.push_back(hint.alike);
        groups.emplace_back();
        if (of_all_unknowns) groups.back().width = expected_width(hint.rule, 0.0);
      }
      groups[g].at.push_back(a);
      groups[g].middle.push_back(hint.of_spread);
      continue;
    }
    if (!of_all_unknowns) continue;
    const bool is_noise = hint.rule == Rule::noise;
    const bool amplitude =
        std::find(space.amplitudes.begin(), space.amplitudes.end(), static_cast<Index>(p)) != space.amplitudes.end();
    const Rule rule = amplitude && !is_noise ? Rule::variance : hint.rule;
    const double width = expected_width(rule, space.upper[p] - space.lower[p]);
    if (proportional && p == first)
      add(a, space.theta[p], -1, 0.0, std::log(of_targets), width, false);
    else if (proportional && (is_noise || amplitude))
      add(a, space.theta[p], of_first, fixed, is_noise ? std::log(expected_noise) : 0.0, width, is_noise);
    else
      add(a, space.theta[p], -1, 0.0, hint.middle, width, is_noise);
  }
  for (Prior::Alike& group : groups)
    if (group.at.size() > 1 || of_all_unknowns) prior.alike.push_back(std::move(group));
  if (of_all_unknowns && problem.finds_noise)
    add(static_cast<Index>(free.size()), 0.0, of_first, fixed, std::log(expected_noise), expected_width(Rule::noise, 0.0),
        true);
  return prior;
}

// The logarithm of the integral of the density of `all` over the unknowns near a trial, and over the common factor of kernel
// and noise, if that is profiled: up to a constant, because the information about the logarithm of that factor is n/2
// everywhere. Optima of different widths are compared by it: a narrow one may be higher, and have less of the probability.
double Chooser::Content::integral_near(const Trial& at) const {
  double value = -at.value;
  if (profiled) {
    const double log_amplitude = space.theta[static_cast<std::size_t>(factors[0])] + within(at);
    const double z = (log_amplitude - std::log(of_targets)) / expected_width(Rule::variance, 0.0);
    value -= 0.5 * z * z;
  }
  const std::vector<double> flat(at.x.size(), 0.0);  // a descent that ended in the basin of another optimum counts for less
  const double found = at.information.empty() ? std::nan("") : laplace_near(value, flat, at.information);
  return std::isfinite(found) ? found : value - not_integrated;
}

// The logarithm of the integral over the unknowns, of which everything is expected, with another spread of length scales: as it
// is to be expected from a trial of `objective`, which has expectations of its own.
double Chooser::Content::integral(const CriterionObjective& objective, const Trial& at, double with_spread) {
  std::vector<double> gradient = at.gradient, H = at.information;
  std::vector<double> slopes(gradient.size(), 0.0), curvature(H.size(), 0.0);
  objective.expected.log_density(at.x, slopes, curvature);
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] -= slopes[i];
  for (std::size_t i = 0; i < H.size(); ++i) H[i] -= curvature[i];
  const double present = std::exchange(spread, with_spread);
  const double value = at.criterion + expectations(true).log_density(at.x, gradient, H);
  spread = present;
  leave_out_bounds(at.x, gradient);
  return laplace_near(value, gradient, H);
}

// Sets the slopes of unknowns to zero that a bound holds back.
void Chooser::Content::leave_out_bounds(const std::vector<double>& x, std::vector<double>& gradient) const {
  for (std::size_t a = 0; a < x.size(); ++a)
    if (std::min(x[a] - domain.lower[a], domain.upper[a] - x[a]) <= 1e-6) gradient[a] = 0.0;
}

// Reports of the progress of a search that goes on after `counted` evaluations: the best criterion stays that of the search
// before, because the criterion itself may become worse where something is expected.
std::function<bool(Index, Index, double)> Chooser::Content::told_after(Index counted) const {
  if (!options.progress) return nullptr;
  return [this, counted](Index count, Index points, double best) {
    return options.progress(counted + count, points, std::isnan(reported) ? best : reported);
  };
}

// Finds the spread of length scales for which the data are the most probable, and the optimum of `objective` for it. The
// optimum for one spread also tells about the others: the best of these is tried next, if it promises more than `least_gain`
// over the first. `best` is where the search begins, with the present spread; if it is no optimum for that (`climbs`), it
// becomes one first. Sets the logarithm of the integral, `most`, and that for the first spread, `of_first`.
Status Chooser::Content::best_spread(CriterionObjective& objective, bool climbs, double tolerance, double least_gain,
                                     Optimum& best, double& most, double& of_first) {
  of_first = most = -std::numeric_limits<double>::infinity();
  double chosen = spread;
  Optimum here = best;
  std::vector<double> tried;
  Status status;
  for (int round = 0; round < rounds_of_spreads; ++round) {
    objective.expected = expectations(problem.expects_all);
    if (round > 0 || climbs) {
      status = go_on(objective, tolerance, here);
      if (!status.ok() || here.ended != Ended::converged || here.best.information.empty()) break;
    }
    tried.push_back(spread);
    const double found = integral(objective, here.best, spread);
    if (round == 0) of_first = found;
    if (found > most) {
      most = found;
      chosen = spread;
      best = here;
    }
    double next = spread, highest = found;
    for (const double other : problem.spreads) {
      const double expected = integral(objective, here.best, other);
      if (expected > highest) {
        highest = expected;
        next = other;
      }
    }
    if (highest < of_first + least_gain || std::find(tried.begin(), tried.end(), next) != tried.end()) break;
    spread = next;
  }
  best.evaluations = here.evaluations;
  best.ended = here.ended;
  spread = chosen;
  objective.expected = expectations(problem.expects_all);
  return status;
}

// Continues a search from its result, with what is expected of the unknowns now.
Status Chooser::Content::go_on(CriterionObjective& objective, double tolerance, Optimum& found) {
  SearchOptions how;
  how.coarse = how.fine = tolerance;
  how.evaluations = std::max<Index>(options.evaluations - found.evaluations - found.evaluations_of_some, 1);
  how.seconds = seconds();
  how.progress = told_after(found.evaluations + found.evaluations_of_some);
  Optimum next;
  const Status status = search(objective, nullptr, {found.best.x}, how, next);
  found.evaluations += next.evaluations;
  found.ended = next.ended;
  if (status.ok() && std::isfinite(next.best.value)) found.best = std::move(next.best);
  return status;
}

// Decides whether length scales are alike, after a search in which nothing was expected of them: only if the data are clearly
// more probable then. If the search began on a subset, its points decide. Free length scales that fit noise may be far from
// length scales that are alike: if there are few points for each column, and noise, these are also looked for from a start of
// their own.
Status Chooser::Content::consider_alike(Optimum& found) {
  if (n > many_for_each * alike) return {};
  const bool by_some = !subset.empty(), few_points_each = n < few_for_each * alike;
  const double least_gain = few_points_each ? clearly_if_few : clearly;
  CriterionObjective& judge = by_some ? *some : *all;
  const double tolerance = all->has_curvature() ? 0.3 : 0.02, free_spread = problem.spreads.back();
  double most = -std::numeric_limits<double>::infinity(), of_free = most, chosen = free_spread;
  std::vector<double> x;
  Optimum here = found;
  Status status;
  for (const bool alike_start : {false, true}) {
    if (alike_start && !(few_points_each && noisy)) break;
    here.best = Trial{};
    here.best.x = alike_start ? proposed() : found.best.x;
    spread = alike_start ? Prior::mean_spread : free_spread;
    double value = 0.0, of_first = 0.0;
    status = best_spread(judge, true, tolerance, alike_start ? 0.0 : least_gain, here, value, of_first);
    if (!status.ok() || here.ended != Ended::converged) break;
    if (!alike_start) of_free = of_first - spread_cost(free_spread);
    value -= spread_cost(spread);
    if (value <= most) continue;
    most = value;
    chosen = spread;
    x = here.best.x;
  }
  const Index spent = here.evaluations - found.evaluations;
  (by_some ? found.evaluations_of_some : found.evaluations) += spent;
  found.ended = here.ended;
  spread = std::numeric_limits<double>::quiet_NaN();
  all->expected = {};
  if (!status.ok() || here.ended != Ended::converged || !(most > of_free + least_gain)) return status;
  spread = chosen;
  all->expected = expectations(false);
  reported = std::numeric_limits<double>::quiet_NaN();
  Optimum alike_ones = found;
  alike_ones.best = Trial{};
  alike_ones.best.x = x;
  status = go_on(*all, fine(), alike_ones);
  if (status.ok() && std::isfinite(alike_ones.best.value)) {
    found = std::move(alike_ones);
  } else {
    spread = std::numeric_limits<double>::quiet_NaN();
    all->expected = {};
  }
  return status;
}

// The logarithm of the evidence of a choice (Choice::evidence). Of few points, second derivatives are exact, because the
// information is off by some tenths of a nat then.
Status Chooser::Content::evidence(const Choice& choice, double& out) {
  std::vector<double> theta = choice.theta;
  if (problem.finds_amplitude) theta.push_back(std::log(choice.amplitude));
  profiled = false;
  jitter = choice.jitter;
  bound(1.0);
  space.theta = theta;
  all = objective(nullptr, false);
  std::vector<double> x;
  for (const Index p : free) x.push_back(theta[static_cast<std::size_t>(p)]);
  if (problem.finds_noise) x.push_back(std::log(choice.noise));
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (finds(p)) x.push_back(choice.likelihood[p]);
  Trial at;
  Status status = all->evaluate(x, Order::information, at);
  // The search may have gone to the edge of what can be factorized with its own common factor of kernel and noise.
  for (int more = 0; more < most_jitters && status.code == Code::not_positive_definite && may_raise_jitter; ++more) {
    jitter = 10.0 * (jitter > 0.0 ? jitter : least);
    all = objective(nullptr, false);
    status = all->evaluate(x, Order::information, at);
  }
  if (!status.ok()) return status.code == Code::interrupted ? status : Status{};  // NaN where there is no value
  if (x.empty()) {
    out = -at.value;
    return {};
  }
  if (n <= options.many_points || at.information.empty() || problem.prior) {
    // Without expectations, whose curvature is known, and bounded where the density is not concave.
    const Prior expected = std::exchange(all->expected, Prior{});
    Trial alone;
    status = all->evaluate(x, Order::gradient, alone);
    std::vector<double> H(x.size() * x.size(), 0.0), none;
    if (status.ok()) status = add_curvature(*all, alone, H);
    all->expected = expected;
    if (status.code == Code::interrupted) return status;
    expected.log_density(x, none, H);
    if (status.ok() && std::isfinite(laplace_near(0.0, std::vector<double>(x.size(), 0.0), H))) at.information = H;
    if (at.information.empty()) return {};
  }
  // The slope at the end of a search is not quite zero. That of a search that was not brought to its end does not count.
  leave_out_bounds(x, at.gradient);
  if (choice.ended != Ended::converged) std::fill(at.gradient.begin(), at.gradient.end(), 0.0);
  out = laplace_near(-at.value, at.gradient, at.information);
  if (std::isfinite(out)) return {};
  // Next to a singular kernel matrix, slopes and information are rounding errors: what is left is the curvature that is
  // positive, and at least that of the expectations.
  std::vector<double> H(x.size() * x.size(), 0.0), none;
  all->expected.log_density(x, none, H);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) {
      double& entry = H[i + j * x.size()];
      entry = i == j ? std::max(entry, at.information[i + i * x.size()]) : 0.0;
    }
  out = laplace_near(-at.value, std::vector<double>(x.size(), 0.0), H);
  return {};
}

}  // namespace kernsel

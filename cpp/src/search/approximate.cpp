// The search for many points: on some of them by their whole kernel matrix, and from what was found there by neighbours.
#include <algorithm>
#include <cmath>

#include "kernsel/neighbours.hpp"
#include "search/chooser.hpp"

namespace kernsel {

namespace {

// The numbers of points over which the approximate criterion sums, one after the other. All points can be neighbours.
constexpr Index first_terms = 4000, growth = 4, evaluations_of_stage = 25;
Index last_terms(Index n) { return std::min(n, std::clamp<Index>(n / 2, 16000, 64000)); }
constexpr int most_repeats = 2;  // of the last, as long as other points become neighbours
// What was found on some points and what became of it are compared by points that are left out, and that have more neighbours.
constexpr Index compared_terms = 1000, times_neighbours = 4;

std::vector<Index> first_of(const std::vector<Index>& order, Index count) {
  if (count >= static_cast<Index>(order.size())) return {};
  std::vector<Index> some(order.begin(), order.begin() + count);
  std::sort(some.begin(), some.end());
  return some;
}

void add(const Optimum& before, Optimum& after) {
  after.evaluations += before.evaluations;
  after.evaluations_of_some += before.evaluations_of_some;
  after.of_starts = before.of_starts;
}

}  // namespace

// The choice for a random subset of the points.
Status Chooser::Content::find_on_some(Choice& out) {
  const std::vector<Index> chosen = random.subset(n, std::min(n, options.exact_points));
  Rows copies;
  Choosing exact(problem.kernel, Rows::copy(problem.X, chosen, copies.X), Rows::copy(problem.y, chosen, copies.y));
  exact.trend = Rows::copy(problem.trend, chosen, copies.trend);
  for (const Index i : chosen)
    if (problem.weights) copies.weights.push_back(problem.weights[i]);
  exact.weights = problem.weights ? copies.weights.data() : nullptr;
  exact.likelihood = problem.likelihood;
  exact.parameters = parameters;
  exact.inference = problem.inference;
  for (const Index i : chosen)
    if (problem.sizes) copies.sizes.push_back(problem.sizes[i]);
  exact.sizes = problem.sizes ? copies.sizes.data() : nullptr;
  exact.finds_amplitude = problem.finds_amplitude;
  exact.finds_noise = problem.finds_noise;
  exact.noise = problem.noise;
  if (problem.noise.size() > 1) {
    exact.noise.clear();
    for (const Index i : chosen) exact.noise.push_back(problem.noise[static_cast<std::size_t>(i)]);
  }
  exact.jitter = problem.jitter;
  exact.automatic_jitter = problem.automatic_jitter;
  const auto of_rows = [&chosen](const CriterionOf& criterion) -> CriterionOf {
    if (!criterion) return nullptr;
    return [&chosen, criterion](const std::vector<Index>& which) {
      std::vector<Index> numbers;
      for (const Index i : which) numbers.push_back(chosen[static_cast<std::size_t>(i)]);
      return criterion(numbers);
    };
  };
  exact.criterion = of_rows(problem.criterion);
  exact.scale_free = of_rows(problem.scale_free);
  exact.same_for_any_points = problem.same_for_any_points;
  exact.space = problem.space;
  exact.variance = of_targets;
  exact.make = problem.make;
  exact.prior = problem.prior;
  exact.spreads = problem.spreads;
  exact.expects_all = problem.expects_all;
  exact.excepted = problem.excepted;
  ChoosingOptions how = options;
  how.seconds = seconds();
  how.rough = n > options.exact_points;
  how.seed = random.next();
  return choose(exact, how, out);
}

// The unknowns of this search for a choice of another.
std::vector<double> Chooser::Content::x_of(const Choice& of_some) const {
  std::vector<double> theta = of_some.theta;
  if (problem.finds_amplitude) theta.push_back(std::log(of_some.amplitude));
  double shift = 0.0;  // the first amplitude is fixed here, and everything is relative to it
  if (profiled) {
    const auto first = static_cast<std::size_t>(factors[0]);
    shift = theta[first] + std::log(of_some.scale) - space.theta[first];
    for (const Index p : factors) theta[static_cast<std::size_t>(p)] += std::log(of_some.scale) - shift;
  }
  const double log_noise =
      problem.finds_noise ? std::log(of_some.noise) + (profiled ? std::log(of_some.scale) - shift : 0.0) : 0.0;
  std::vector<double> x = x_of(theta, log_noise);
  std::size_t next = free.size();
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (finds(p)) x[next++] = of_some.likelihood[p];
  return x;
}

// Continues from found.best.x with neighbours that are chosen there, and a sum over so many terms; for some steps only, if it
// is not the last sum.
Status Chooser::Content::refine(const std::vector<Index>& order, Index terms, bool is_last, Optimum& found) {
  VecchiaOptions of_terms = problem.approximation->options();
  of_terms.terms = first_of(order, terms);
  problem.approximation->set_options(std::move(of_terms));
  Optimum next;
  const Index spent = found.evaluations + found.evaluations_of_some;
  const Index left = std::max<Index>(options.evaluations - spent, 1);
  const Status status =
      find({found.best.x}, profiled, false, seconds(), is_last ? left : std::min(left, evaluations_of_stage), next);
  if (!status.ok()) return status;
  add(found, next);
  found = std::move(next);
  if (!is_last && found.ended == Ended::evaluations && found.evaluations + found.evaluations_of_some < options.evaluations)
    found.ended = Ended::converged;  // as far as this stage goes
  return {};
}

// The criterion by which optima are compared: the log density of points left out, or the criterion itself if it leaves out.
Status Chooser::Content::left_out_at(const std::vector<double>& x, const std::vector<Index>& order, VecchiaOptions of_terms,
                                     Trial& out) {
  of_terms.terms = first_of(order, compared_terms);
  of_terms.neighbours = std::min(times_neighbours * of_terms.neighbours, VecchiaOptions::most_neighbours);
  problem.approximation->set_options(std::move(of_terms));
  const std::unique_ptr<CriterionObjective> objective = this->objective(nullptr, profiled);
  if (objective->criterion.is_likelihood)
    objective->criterion = criteria::leave_out(criteria::log_density(), {}, true, profiled);
  return objective->evaluate(x, Order::value, out);
}

// Sets found.best.x to the choice for some of the points, from which all else continues.
Status Chooser::Content::begin_on_some(Optimum& found) {
  Choice of_some;
  const Status status = find_on_some(of_some);
  if (!status.ok()) return status;
  found.evaluations_of_some = of_some.evaluations + of_some.evaluations_of_some;
  found.of_starts = of_some.of_starts;
  found.ended = of_some.ended;
  // What is expected of the hyperparameters matters where points are few.
  problem.expects_all = false;
  problem.spreads.clear();
  spread = of_some.spread;
  found.best.x = x_of(of_some);
  return status;
}

Status Chooser::Content::find_approximately(Optimum& found) {
  Status status = begin_on_some(found);
  if (!status.ok()) return status;
  const std::vector<double> first = found.best.x;
  const std::vector<Index> order = random_order(n, options.seed + 1);
  const VecchiaOptions given = problem.approximation->options();
  const bool sums = !of_all.request.coefficients && !of_all.request.diagonal;  // such criteria are sums over some points
  const Index last = sums ? last_terms(n) : n;
  // Few neighbours may mislead a search, so that what comes of it is worse than what it began with. This shows early.
  Trial before, after;
  bool is_worse = false, is_last = false;
  status = left_out_at(first, order, given, before);
  for (Index terms = std::min(sums ? first_terms : n, last), repeats = 0;
       status.ok() && found.ended == Ended::converged && !is_last && !is_worse;) {
    problem.approximation->set_options(given);
    status = refine(order, terms, terms == last, found);
    if (!status.ok() || found.ended != Ended::converged) break;
    is_last = terms == last && repeats++ == most_repeats;
    if (terms == last && !is_last) {
      Kernel k = problem.kernel;
      std::vector<double> unused;
      status = all->assign(found.best.x, k, unused);
      is_last = status.ok() && !problem.approximation->renew(k, problem.X, false);
    }
    if (status.ok() && (is_last || terms < last)) {
      status = left_out_at(found.best.x, order, given, after);
      is_worse = before.value < after.value;
    }
    terms = std::min(terms * growth, last);
  }
  if (!status.ok()) return status;
  if (found.ended == Ended::converged) {
    VecchiaOptions of_terms = given;
    of_terms.terms = first_of(order, last);
    problem.approximation->set_options(std::move(of_terms));
    if (is_worse) {
      found.best = Trial{};
      status = all->evaluate(first, Order::information, found.best);
      ++found.evaluations;
    }
  }
  if (found.best.x.empty() || !std::isfinite(found.best.value)) return settle(found);
  return status;
}

}  // namespace kernsel

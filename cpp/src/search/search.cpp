// The search of kernsel/search.hpp. Numbers without a name were tuned on standard test functions of 2 to 20 columns, with and
// without noise (.github/CONTRIBUTING.md tells how to repeat that).
#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/call_out.hpp"
#include "base/parallel.hpp"
#include "kernsel/search.hpp"
#include "search/box.hpp"

namespace kernsel {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double largest_radius = 3.0, smallest_radius = 1e-3;
constexpr Index longest_climb = 100;
constexpr double rounding = 1e-6;  // gains of the value below this, in nats, may be rounding errors
constexpr double ridge = 0.1;      // added to the diagonal of the curvature
// Results of descents whose values are larger than the least one by no more than this, in nats, are compared by
// SearchOptions::loss.
constexpr double comparable = 15.0;

// s'A s
double form(const std::vector<double>& A, const std::vector<double>& s) {
  double sum = 0.0;
  for (std::size_t i = 0; i < s.size(); ++i)
    for (std::size_t j = 0; j < s.size(); ++j) sum += s[i] * A[i + j * s.size()] * s[j];
  return sum;
}

double largest(const std::vector<double>& step, const std::vector<double>& reach) {
  double most = 0.0;
  for (std::size_t i = 0; i < step.size(); ++i) most = std::max(most, std::abs(step[i]) / reach[i]);
  return most;
}

// The state that all descents of a search share: the budget, and the best trial so far.
class Search {
 public:
  Search(const SearchOptions& options, Optimum& out) : options_(options), out_(out), began_(Clock::now()) {}

  // Evaluates the objective at x, unless the search has ended. A failure that may not occur elsewhere (a matrix that is not
  // positive definite, an invalid argument) is not returned, but leaves the value at infinity.
  Status evaluate(Objective& objective, const std::vector<double>& x, Order order, bool of_all, Trial& trial) {
    trial = Trial{};
    trial.x = x;
    if (ended()) return {};
    const auto left = std::chrono::duration<double>(options_.seconds) - (Clock::now() - began_);
    const bool limited = left < std::chrono::hours(1000);
    const Clock::time_point until =
        limited ? Clock::now() + std::chrono::duration_cast<Clock::duration>(left) : Clock::time_point::max();
    const Status status = [&] {
      const Deadline deadline(until);
      return objective.evaluate(x, order, trial);
    }();
    ++(of_all ? out_.evaluations : out_.evaluations_of_some);
    if (status.code == Code::interrupted) {
      end(limited && Clock::now() - began_ >= std::chrono::duration<double>(options_.seconds) ? Ended::seconds
                                                                                              : Ended::interrupted);
      return {};
    }
    const bool elsewhere = status.code == Code::not_positive_definite || status.code == Code::invalid_argument;
    if (!status.ok() || !std::isfinite(trial.value)) trial.value = std::numeric_limits<double>::infinity();
    if (!status.ok() && !elsewhere) return status;
    if (!status.ok() && failure_.ok()) failure_ = status;
    if (of_all) note(trial);
    if (options_.progress) {
      bool go_on = true;
      const Index done = out_.evaluations + out_.evaluations_of_some;
      const double best = trial.value <= out_.best.value ? trial.criterion : out_.best.criterion;
      const Status called = call_out([&] { go_on = options_.progress(done, objective.points(), best); });
      if (!called.ok()) return called;
      if (!go_on) end(Ended::stopped);
    }
    poll();
    if (out_.evaluations + out_.evaluations_of_some >= options_.evaluations) end(Ended::evaluations);
    return {};
  }

  // The step to the minimum of a quadratic function within a box (box.hpp); as far as it was computed if the search ends.
  Status step(const std::vector<double>& H, const std::vector<double>& g, const std::vector<double>& below,
              const std::vector<double>& above, std::vector<double>& out) {
    const auto go_on = [this] {
      poll();
      return !ended();
    };
    const Status status = minimize_in_box(H, g, below, above, go_on, out);
    if (status.code != Code::interrupted) return status;
    end(Ended::interrupted);
    return {};
  }

  void note(const Trial& trial) {
    if (trial.value < out_.best.value) out_.best = trial;
  }
  void note_curvature(const std::vector<double>& H) { out_.curvature = H; }
  bool ended() const { return ended_; }
  double fine() const { return options_.fine; }
  const Status& failure() const { return failure_; }

 private:
  // Ends the search if its time is over, or if there was an interrupt.
  void poll() {
    const Clock::time_point now = Clock::now();
    if (now >= next_poll_) {
      if (asked_to_stop()) end(Ended::interrupted);
      next_poll_ = now + std::chrono::milliseconds(50);
    }
    const std::chrono::duration<double> passed = now - began_;
    if (passed.count() > options_.seconds) end(Ended::seconds);
  }
  void end(Ended how) {
    if (ended_) return;
    ended_ = true;
    out_.ended = how;
  }

  const SearchOptions& options_;
  Optimum& out_;
  Clock::time_point began_, next_poll_ = began_ + std::chrono::milliseconds(50);
  bool ended_ = false;
  Status failure_;
};

// Whether a trial is in the basin of a known optimum, so that a descent from it would end there: as far as a quadratic function
// with the information of the optimum as its curvature tells.
bool in_basin(const Trial& here, const Trial& optimum) {
  if (optimum.information.empty()) return false;
  std::vector<double> way(here.x.size());
  for (std::size_t i = 0; i < way.size(); ++i) way[i] = here.x[i] - optimum.x[i];
  const double half = 0.5 * form(optimum.information, way), above = here.value - optimum.value;
  return half < 4.0 && above > -0.05 && above < 2.0 * half + 0.2;
}

// How a step has moved x, and by how much it changed the gradient.
struct Change {
  std::vector<double> moved, bent;
};

Change change(const Trial& from, const Trial& to) {
  Change found;
  for (std::size_t i = 0; i < from.x.size(); ++i) {
    found.moved.push_back(to.x[i] - from.x[i]);
    found.bent.push_back(to.gradient[i] - from.gradient[i]);
  }
  return found;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Makes the curvature H agree with a change (the update of Broyden, Fletcher, Goldfarb and Shanno). Changes that show hardly
// any curvature, or a negative one, are ignored, or with `damped` mixed with the change that H predicts, until they show a
// fifth of the predicted curvature (Powell's damping).
void learn(const Change& seen, bool damped, std::vector<double>& H) {
  const std::size_t count = seen.moved.size();
  std::vector<double> Hs(count, 0.0), bent = seen.bent;
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t i = 0; i < count; ++i) Hs[i] += H[i + j * count] * seen.moved[j];
  const double sHs = dot(seen.moved, Hs);
  double sy = dot(seen.moved, bent);
  if (!(sHs > 0.0) || !std::isfinite(sy)) return;
  if (damped && sy < 0.2 * sHs) {
    const double share = 0.8 * sHs / (sHs - sy);
    for (std::size_t i = 0; i < count; ++i) bent[i] = share * bent[i] + (1.0 - share) * Hs[i];
    sy = 0.2 * sHs;
  }
  if (!(sy > 0.1 * sHs)) return;
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t i = 0; i < count; ++i) H[i + j * count] += bent[i] * bent[j] / sy - Hs[i] * Hs[j] / sHs;
}

// What is known of the curvature during one descent.
class Curvature {
 public:
  Curvature(bool newton, bool last) : newton_(newton), last_(last) {}

  // The curvature at a point, (count, count), made positive definite so that steps are bounded.
  std::vector<double> at(const Trial& place) const {
    const std::size_t count = place.x.size();
    const bool known = !place.information.empty();
    double unit = 1.0;
    if (!newton_ && !known) unit = first_unit(place);
    if (!newton_ && !changes_.empty()) unit = std::clamp(unit_of(changes_.back(), place.information), 1e-2 * unit, 1e2 * unit);
    std::vector<double> H = place.information;
    H.resize(count * count, 0.0);
    for (double& entry : H) entry *= unit;
    for (std::size_t i = 0; i < count; ++i) H[i + i * count] += known ? (last_ ? 1e-2 * ridge : ridge) : unit;
    // The information of a likelihood only approximates its curvature, which would cost steps near the optimum.
    if (newton_ && last_ && !changes_.empty()) learn(changes_.back(), false, H);
    for (std::size_t i = 0; !newton_ && i < changes_.size(); ++i) learn(changes_[i], true, H);
    return H;
  }

  void see(Change found) {
    if (changes_.size() == kept) changes_.erase(changes_.begin());
    changes_.push_back(std::move(found));
  }
  bool has_seen() const { return !changes_.empty(); }

 private:
  static constexpr std::size_t kept = 12;

  // Without any knowledge, the first step is half a unit long where the slope is steepest.
  static double first_unit(const Trial& place) {
    double steepest = 0.0;
    for (const double slope : place.gradient) steepest = std::max(steepest, std::abs(slope));
    return steepest > 0.0 ? 2.0 * steepest : 1.0;
  }

  // The curvature along a step, divided by that of the first guess (the identity if it is empty); 0 if one is not positive.
  static double unit_of(const Change& seen, const std::vector<double>& guess) {
    const double sy = dot(seen.moved, seen.bent),
                 expected = guess.empty() ? dot(seen.moved, seen.moved) : form(guess, seen.moved);
    return sy > 0.0 && expected > 0.0 ? sy / expected : 0.0;
  }

  bool newton_, last_;
  std::vector<Change> changes_;
};

// Whether the slope is negligible in all directions that the bounds leave open. A criterion may not depend on an unknown at
// all, and then no step would change that.
bool flat(const Trial& at, const Domain& domain) {
  for (std::size_t i = 0; i < at.x.size(); ++i) {
    const bool blocked =
        (at.gradient[i] > 0.0 && at.x[i] <= domain.lower[i]) || (at.gradient[i] < 0.0 && at.x[i] >= domain.upper[i]);
    if (!blocked && std::abs(at.gradient[i]) > 2e-5) return false;
  }
  return true;
}

// Descends from `at`, whose value and derivatives are known, until the gains are below the tolerance, or `at` is in the basin
// of one of the `known` optima.
Status climb(Search& search, Objective& objective, bool of_all, double tolerance, double radius,
             const std::vector<Trial>& known, Trial& at) {
  const Domain& domain = objective.domain();
  const std::size_t count = domain.count();
  const bool last = tolerance == search.fine(), newton = objective.has_curvature();
  int small_gains = 0;
  Curvature curvature(newton, last);
  for (Index step_number = 0; step_number < longest_climb && !search.ended(); ++step_number) {
    for (const Trial& optimum : known)
      if (in_basin(at, optimum)) return {};
    const std::vector<double> H = curvature.at(at);
    if (last) search.note_curvature(H);
    std::vector<double> below(count), above(count), step;
    for (std::size_t i = 0; i < count; ++i) {
      below[i] = std::max(domain.lower[i] - at.x[i], -radius * domain.reach[i]);
      above[i] = std::min(domain.upper[i] - at.x[i], radius * domain.reach[i]);
    }
    Status status = search.step(H, at.gradient, below, above, step);
    if (!status.ok() || search.ended()) return status;
    const double expected = -0.5 * form(H, step) - dot(at.gradient, step);
    if (last && flat(at, domain)) return {};
    if (!(expected > tolerance) && (newton || !last || curvature.has_seen() || !(expected > 0.0))) return {};
    std::vector<double> x(count);
    for (std::size_t i = 0; i < count; ++i) x[i] = std::clamp(at.x[i] + step[i], domain.lower[i], domain.upper[i]);
    Trial next;
    status = search.evaluate(objective, x, Order::information, of_all, next);
    if (!status.ok()) return status;
    const double gain = at.value - next.value, length = largest(step, domain.reach);
    if (!(gain > 1e-3 * expected)) {
      if (last && expected < rounding) return {};
      if (!newton && std::isfinite(next.value)) curvature.see(change(at, next));
      radius = 0.35 * std::min(length, radius);
      if (radius < smallest_radius) return {};
      continue;
    }
    if (gain > 0.75 * expected && length > 0.99 * radius) radius = std::min(2.0 * radius, largest_radius);
    if (gain < 0.25 * expected) radius = 0.5 * length;
    curvature.see(change(at, next));
    at = std::move(next);
    small_gains = gain < std::max(tolerance, 0.1 * rounding) ? small_gains + 1 : 0;
    if (small_gains == 2 || radius < smallest_radius) return {};
  }
  return {};
}

// Returns those of the trials, which are sorted by their values, that are comparable with the first, sorted by another loss.
std::vector<Trial> sorted_by(const std::function<double(const Trial&)>& loss, std::vector<Trial> trials) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < trials.size() && trials[i].value <= trials[0].value + comparable; ++i)
    order.emplace_back(loss(trials[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<Trial> sorted;
  for (const auto& entry : order) sorted.push_back(std::move(trials[entry.second]));
  return sorted;
}

}  // namespace

Status search(Objective& all, Objective* some, const std::vector<std::vector<double>>& starts, const SearchOptions& options,
              Optimum& out) {
  out = Optimum{};
  Search search(options, out);
  Objective& first = some ? *some : all;
  std::vector<Trial> found;
  for (const std::vector<double>& start : starts) {
    Trial at;
    Status status = search.evaluate(first, start, Order::information, !some, at);
    if (status.ok() && std::isfinite(at.value))
      status = climb(search, first, !some, options.coarse, options.first_radius, found, at);
    if (!status.ok()) return status;
    out.of_starts.push_back(std::isfinite(at.value) ? at.criterion : std::nan(""));
    if (std::isfinite(at.value)) found.push_back(std::move(at));
  }
  std::sort(found.begin(), found.end(), [](const Trial& a, const Trial& b) { return a.value < b.value; });
  if (found.empty() && out.ended == Ended::seconds) {  // the time was over within the first evaluation
    if (out.best.x.empty()) out.best.x = starts[0];
    return {};
  }
  if (found.empty()) return search.failure().ok() ? Status::invalid("search: no start could be evaluated") : search.failure();
  if (some) {
    // To be tried on all points: the best results on the subset, and the first start, which does not depend on the subset.
    std::vector<std::vector<double>> candidates;
    for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), options.contenders > 1 ? 2 : 1); ++i)
      candidates.push_back(found[i].x);
    if (options.contenders > 2) candidates.push_back(starts[0]);
    if (out.best.x.empty()) out.best.x = candidates[0];  // the result if the search ends before a candidate is evaluated
    Trial best;
    for (const std::vector<double>& x : candidates) {
      Trial trial;
      const Status status = search.evaluate(all, x, Order::value, true, trial);
      if (!status.ok()) return status;
      if (trial.value < best.value) best = trial;
    }
    if (!std::isfinite(best.value)) {
      if (search.ended() || !search.failure().ok()) return search.ended() ? Status{} : search.failure();
      return Status::invalid("search: what was found on the subset could not be evaluated on all points");
    }
    Trial at;
    const Status status = search.evaluate(all, best.x, Order::information, true, at);
    if (!status.ok() || search.ended()) return status;
    found = {std::move(at)};
  }
  const bool by_loss = options.loss && !some;
  const auto loss = [&](const Trial& trial) { return by_loss ? options.loss(trial) : trial.value; };
  if (by_loss) found = sorted_by(options.loss, std::move(found));
  const double close = loss(found[0]) + 1.0;
  // The first descents are coarse, and end in basins that are known: one that is nearly as good as the best may overtake it.
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < found.size() && static_cast<Index>(i) < options.polished; ++i) {
    if (!(loss(found[i]) < close)) break;
    Trial at = std::move(found[i]);
    const Status status = climb(search, all, true, options.fine, 1.0, {}, at);
    if (const double here = loss(at); by_loss ? here < least : at.value <= out.best.value) {
      least = here;
      out.best = std::move(at);
    }
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace kernsel

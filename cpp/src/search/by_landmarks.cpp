// The search for many points by landmarks: on some of them by their whole kernel matrix, and from what was found there on more
// and more of them.
#include <algorithm>
#include <cmath>

#include "search/chooser.hpp"

namespace kernsel {

namespace {

// The numbers of points, one after the other. Those of a likelihood, of which the parameters are few and each evaluation is
// several fits, tell enough with the first.
constexpr Index first_points = 10000, growth = 5;
constexpr double least_gain = 0.1;  // nats

}  // namespace

// Lets the landmarks, or the neighbours, be chosen anew for other points.
void Chooser::Content::forget_approximation() {
  if (problem.landmarks) problem.landmarks->set_options(problem.landmarks->options());
  if (problem.approximation) problem.approximation->set_options(problem.approximation->options());
}

// Continues from found.best.x on the points of `subset`, of which landmarks are chosen there and stay.
Status Chooser::Content::climb_with_landmarks(Optimum& found) {
  of_subset = problem.criterion(subset);
  if (problem.scale_free) of_subset_scale_free = problem.scale_free(subset);
  forget_approximation();
  const std::unique_ptr<CriterionObjective> objective = this->objective(&subset, profiled);
  objective->newton = false;  // the information is that of few points
  SearchOptions how;
  how.coarse = how.fine = least_gain;
  how.evaluations = std::max<Index>(options.evaluations - found.evaluations_of_some, 1);
  how.seconds = seconds();
  how.polished = 1;
  if (options.progress)
    how.progress = [this, before = found.evaluations_of_some](Index evaluations, Index points, double best) {
      return options.progress(before + evaluations, points, best);
    };
  Optimum next;
  const std::vector<double> first = found.best.x;
  Status status = search(*objective, nullptr, {first}, how, next);
  if (!status.ok()) return status;
  next.evaluations_of_some = found.evaluations_of_some + next.evaluations;
  next.evaluations = 0;
  next.of_starts = found.of_starts;
  if (next.best.x.empty()) next.best.x = first;
  if (next.ended == Ended::converged && !objective->criterion.request.left_out) {
    // A bound may lead away from what predicts best, and then what came before is kept.
    objective->criterion =
        latent ? criteria::left_out_density({}, true) : criteria::leave_out(criteria::log_density(), {}, true, profiled);
    Trial before, after;
    status = objective->evaluate(first, Order::value, before);
    if (status.ok()) status = objective->evaluate(next.best.x, Order::value, after);
    next.evaluations_of_some += 2;
    if (before.value < after.value) next.best.x = first;
  }
  found = std::move(next);
  return status;
}

Status Chooser::Content::find_by_landmarks(Optimum& found) {
  Status status = begin_on_some(found);
  const Index most = std::min(n, latent ? first_points : options.search_points);
  for (Index count = std::min(most, first_points), done = 0; status.ok() && found.ended == Ended::converged && done < most;
       done = count, count = std::min(most, growth * count)) {
    subset = random.subset(n, count);
    status = climb_with_landmarks(found);
  }
  if (!status.ok()) return status;
  forget_approximation();
  all = objective(nullptr, profiled);
  if (found.ended != Ended::converged) return settle(found);
  const std::vector<double> x = found.best.x;
  found.best = Trial{};
  ++found.evaluations;
  return all->evaluate(x, Order::value, found.best);
}

}  // namespace kernsel

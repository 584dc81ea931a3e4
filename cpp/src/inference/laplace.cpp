#include "inference/laplace.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "inference/mixing.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

constexpr double least_precision = 1e-8;        // of a site, over that of the prior: z - S c would lose more digits
constexpr double close = 1e-10;                 // a squared decrement from which Newton's next step ends within rounding
constexpr double there = 1e-20;                 // and from which other steps do
constexpr double there_nearly = 1e-17;          // of a factor whose prior depends on the noise, where steps converge slowly
constexpr double nearby = 1e-4, narrows = 3.0;  // the squared decrement after which a density is narrowed, and how much
constexpr double rise = 1e-4;                   // the share of the slope's promise that a step must keep
constexpr double shrinks = 0.2;                 // by which factor squared decrements fall, with the same factor
constexpr int most_halvings = 40, most_polishing = 200, most_restarts = 3;
constexpr std::size_t remembered = 12;  // steps that are mixed

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

// Fits the sites at the latent values of sites_.
Status Laplace::fit_sites(const Kernel& k, const Request& request, bool differentiable) {
  return fit_targets(k, sites_.targets, sites_.noise, request, differentiable);
}

// What Newton's method sees of a fit with coefficients c.
Status Laplace::next_of_fit(const Numbers& c, Place& out) const {
  out.a = c;
  out.f.resize(n());
  for (std::size_t i = 0; i < n(); ++i) out.f[i] = sites_.targets[i] - sites_.noise[i] * c[i];
  return measure(out);
}

Status Laplace::measure(Place& place) const {
  std::vector<Density> densities(n());
  const Status status = likelihood_->density(observations(), place.f.data(), densities.data());
  double sum = 0.0;
  for (std::size_t i = 0; i < n(); ++i) sum += (problem_.weights ? problem_.weights[i] : 1.0) * densities[i].value;
  place.value = sum - 0.5 * dot(place.a, place.f);
  if (std::isnan(place.value)) place.value = -std::numeric_limits<double>::infinity();
  return status;
}

// Newton's step from f.
Status Laplace::step(const Kernel& k, const Numbers& f, Place& next) {
  Status status = find_sites(*likelihood_, observations(), problem_.weights, least_, f, sites_);
  Request request;
  request.in_sample = request.coefficients = false;
  if (status.ok()) status = fit_sites(k, with_coefficients(request), false);
  ++steps_;
  return status.ok() ? next_of_fit(coefficients(), next) : status;
}

Request Laplace::with_coefficients(Request request) const {
  if (factor_.has_prior())
    request.coefficients = true;
  else
    request.left_out = request.variances = true;
  return request;
}

Numbers Laplace::coefficients() const {
  Numbers c(n());
  for (std::size_t i = 0; i < n(); ++i)
    c[i] = factor_.has_prior() ? fit_.c(static_cast<Index>(i), 0) : fit_.left_out->residual[i] / fit_.left_out->variance[i];
  return c;
}

double Laplace::rounding(const Place& place) const {
  return 1e-15 * (std::abs(place.value) + std::abs(dot(place.a, place.f)) + 1.0);
}

// Halves the step until the density has risen enough.
Status Laplace::search_line(const Place& from, Place& to, double slope, bool& found) const {
  double share = 1.0;
  for (int halving = 0; halving < most_halvings; ++halving) {
    found = to.value >= from.value + rise * share * slope - rounding(from);
    if (found) return {};
    share *= 0.5;
    for (std::size_t i = 0; i < n(); ++i) {
      to.a[i] = 0.5 * (from.a[i] + to.a[i]);
      to.f[i] = 0.5 * (from.f[i] + to.f[i]);
    }
    const Status status = measure(to);
    if (!status.ok()) return status;
  }
  return {};
}

// Goes on from `here` with the factor of the last fit, as long as steps shrink. `done` says whether the mode is reached. Where
// sites have an expected curvature, steps converge slowly, and are mixed.
Status Laplace::polish(Place& here, double decrement, double goal, bool& done) {
  const Numbers noise = sites_.noise;
  const bool mixes = !likelihood_->is_log_concave();
  std::vector<Density> densities(n());
  Numbers z(n()), c, change(n()), norm(n());
  for (std::size_t i = 0; i < n(); ++i) norm[i] = 1.0 / noise[i];
  Mixing mixing(remembered);
  std::deque<Place> steps;
  Place best = here;
  int worse = 0;
  done = false;
  for (int round = 0; round < most_polishing && !done; ++round) {
    Status status = likelihood_->density(observations(), here.f.data(), densities.data());
    for (std::size_t i = 0; i < n(); ++i)
      z[i] = here.f[i] + noise[i] * (problem_.weights ? problem_.weights[i] : 1.0) * densities[i].first;
    if (status.ok()) status = factor_.solve(z, c);
    if (!status.ok()) return status;
    Place next;
    next.a = c;
    next.f.resize(n());
    double slope = 0.0;
    for (std::size_t i = 0; i < n(); ++i) {
      next.f[i] = z[i] - noise[i] * c[i];
      change[i] = next.f[i] - here.f[i];
      slope += (z[i] - here.f[i] - noise[i] * here.a[i]) / noise[i] * change[i];
    }
    slope = std::abs(slope);
    done = slope <= std::max(there, goal);
    if (mixes && !done) {
      steps.push_back(next);
      if (steps.size() > remembered) steps.pop_front();
      const Numbers weights = mixing.mix(change, norm);
      next.a.assign(n(), 0.0);
      next.f.assign(n(), 0.0);
      for (std::size_t k = 0; k < weights.size(); ++k)
        for (std::size_t i = 0; i < n(); ++i) {
          next.a[i] += weights[k] * steps[k].a[i];
          next.f[i] += weights[k] * steps[k].f[i];
        }
    }
    status = measure(next);
    if (!status.ok()) return status;
    if (mixes && next.value < best.value - rounding(best)) {
      // Back to plain steps from the highest place, a few times.
      if (++worse > most_restarts) break;
      here = mixing.count() > 1 ? best : here;
      mixing.forget();
      steps.clear();
      continue;
    }
    if (!mixes && !(slope <= shrinks * decrement)) break;
    if (!mixes && next.value < here.value - rounding(here)) break;
    decrement = slope;
    here = std::move(next);
    if (here.value >= best.value) best = here;
  }
  if (!done && mixes) here = best;
  return {};
}

// Sets sites_ to those of the mode.
Status Laplace::find_mode(const Kernel& k) {
  steps_ = 0;
  const Status status = before_.size() == n() ? Status{} : approach(k);
  return status.ok() ? climb(k, 0.0) : status;
}

// A density that is not log-concave has many modes: from y itself, the nearest one may follow all outliers. So the first climb
// is that of a density as wide as the observations, each next one that of a narrower, to which the mode is followed.
Status Laplace::approach(const Kernel& k) {
  if (likelihood_->is_log_concave()) return {};
  const std::shared_ptr<const Likelihood> own = likelihood_;
  const std::vector<LikelihoodParameter> wide = own->start(observations()), narrow = own->parameters();
  double wider = 0.0;  // the logarithm of how many times
  for (std::size_t p = 0; p < wide.size(); ++p)
    if (wide[p].spread_power > 0.0) wider = std::max(wider, (wide[p].value - narrow[p].value) / wide[p].spread_power);
  const double climbs = std::ceil(wider / std::log(narrows));
  Status status;
  for (double left = climbs; left > 0.0 && status.ok(); left -= 1.0) {
    Numbers values(narrow.size());
    for (std::size_t p = 0; p < wide.size(); ++p) values[p] = narrow[p].value + wide[p].spread_power * wider * left / climbs;
    likelihood_ = own->with(values);
    status = climb(k, nearby);
  }
  likelihood_ = own;
  return status;
}

// Goes to the mode from that of the fit before, until the squared decrement is as small as rounding allows or as `goal`.
Status Laplace::climb(const Kernel& k, double goal) {
  converged_ = false;
  Place zero{Numbers(n(), 0.0), Numbers(n(), 0.0)}, here, next;
  Status status = measure(zero);
  if (!status.ok()) return status;
  for (int attempt = before_.size() == n() ? 0 : 1; attempt < 2 && !std::isfinite(here.value); ++attempt) {
    Numbers start = before_;
    start.resize(n());
    if (attempt == 1) status = likelihood_->rough(observations(), start.data());
    if (status.ok()) status = step(k, start, here);
    if (!status.ok()) return status;
  }
  if (!std::isfinite(here.value) && !std::isfinite(zero.value))
    return Status::invalid("likelihood: the observations are impossible for all latent values that were tried");
  if (zero.value > here.value) {
    here = zero;
  } else if (factor_.solves()) {
    status = polish(here, 1.0, goal, converged_);
    if (!status.ok()) return status;
  }
  double before = std::numeric_limits<double>::infinity();
  const bool squares = likelihood_->is_log_concave() && factor_.has_prior();  // convergence is quadratic
  const double enough = std::max(goal, squares ? close : factor_.has_prior() ? there : there_nearly);
  while (!converged_ && steps_ < options_.steps) {
    status = step(k, here.f, next);
    if (!status.ok()) return status;
    double slope = 0.0;
    for (std::size_t i = 0; i < n(); ++i) slope += (sites_.first[i] - here.a[i]) * (next.f[i] - here.f[i]);
    slope = std::abs(slope);
    // Near the solution, steps that shrink tell more than a density that is not quite the one that they increase.
    const bool is_near = slope < std::max(1.0, 0.1 * static_cast<double>(n()));
    bool found = !factor_.has_prior() && is_near && slope < 0.5 * before;
    Place reached = next;
    if (!found) status = search_line(here, reached, slope, found);
    if (!status.ok()) return status;
    if (!found && !factor_.has_prior() && slope < 0.9 * before) {
      reached = next;
      found = true;
    }
    if (!found) {  // rounding: there is no higher place nearby
      converged_ = slope <= 1e-6 * (1.0 + std::abs(here.value));
      break;
    }
    here = std::move(reached);
    converged_ = slope <= enough || (slope <= close && !(slope < 0.5 * before));
    before = slope;
    if (!converged_ && factor_.solves() && slope < 1.0) {
      status = polish(here, std::max(slope, there), goal, converged_);
      if (!status.ok()) return status;
    }
  }
  before_ = here.f;
  return find_sites(*likelihood_, observations(), problem_.weights, least_, here.f, sites_);
}

Status Laplace::show_all(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit) {
  Status status = prepare(k, problem, least_precision);
  if (status.ok()) status = find_mode(k);
  if (!status.ok()) return status;
  if (request.left_out && !request.groups.alone() && !factor_.has_prior())
    return Status::invalid(
        "observations of a likelihood are left out one by one where neighbours approximate; expected no folds");
  Request of_factor = with_coefficients(request);
  of_factor.variances = of_factor.variances || request.left_out;
  of_factor.diagonal = of_factor.diagonal || (differentiable && factor_.has_prior());
  status = fit_sites(k, of_factor, differentiable);
  if (!status.ok()) return status;
  fit = fit_;
  fit.weights = problem_.weights;
  squares_ = {fit_.square(0)};
  fit.squares = squares_.data();  // so that derivatives with respect to y'c remain known as such
  fit.log_factor = sites_.total_factor();
  if (!request.left_out) return {};
  if (likelihood_->is_of_two())
    return Status::invalid("observations of two latent functions are not left out; expected the criterion \"lml\"");
  Numbers mean(n()), variance(n());
  for (std::size_t i = 0; i < n(); ++i) {
    mean[i] = sites_.targets[i] - fit_.left_out->residual[i];
    variance[i] = std::max(fit_.left_out->variance[i] - sites_.noise[i], std::numeric_limits<double>::min());
  }
  moments_.resize(n());
  log_density_.resize(n());
  status = likelihood_->moments(observations(), mean.data(), variance.data(), moments_.data());
  for (std::size_t i = 0; i < n(); ++i) log_density_[i] = moments_[i].value;
  fit.log_density = log_density_.data();
  return status;
}

std::unique_ptr<LatentFactor> laplace_factor(std::shared_ptr<const Likelihood> likelihood, Factor& factor,
                                             InferenceOptions options) {
  return std::make_unique<Laplace>(std::move(likelihood), factor, options);
}

}  // namespace kernsel

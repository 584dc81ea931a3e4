// Laplace's approximation around any factor.
//
// The mode f solves F = P z - g = 0, where P belongs to the noise N + S, and S, z and g are functions of f (sites.hpp).
// Newton's step from f is z - S P z. If K = K~ - N - S does not depend on S, dF/df = P (1 - S W) + W, which is W if V is W.
//
// A criterion J(K, S, z, r) has the derivatives that the factor pulls back while S and z do not change, and those by way of f.
// With u = dJ/dS S' + dJ/dz z' + dJ/dr r' for each point and the solution l of (dF/df)'l = u, these are the ones of -l'P z.
#include <algorithm>
#include <cmath>
#include <deque>

#include "base/memory.hpp"
#include "inference/krylov.hpp"
#include "inference/mixing.hpp"
#include "inference/sites.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/inference.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

// Of a site, over that of the prior or of the most precise observation, whichever is less: z - S c would lose more digits.
constexpr double least_precision = 1e-8;
constexpr double close = 1e-10;                 // a squared decrement from which Newton's next step ends within rounding
constexpr double there = 1e-20;                 // and from which other steps do
constexpr double there_nearly = 1e-17;          // of a factor whose prior depends on the noise, where steps converge slowly
constexpr double nearby = 1e-4, narrows = 3.0;  // the squared decrement after which a density is narrowed, and how much
constexpr double rise = 1e-4;                   // the share of the slope's promise that a step must keep
constexpr double shrinks = 0.2;                 // by which factor squared decrements fall, with the same factor
constexpr int most_halvings = 40, most_polishing = 200, most_restarts = 3;
constexpr std::size_t remembered = 12;  // steps that are mixed
constexpr double implicit_tolerance = 1e-11;
constexpr std::size_t most_products = 200;

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

class Laplace final : public LatentFactor {
 public:
  Laplace(std::shared_ptr<const Likelihood> likelihood, Factor& factor, InferenceOptions options)
      : likelihood_(std::move(likelihood)), factor_(factor), options_(options) {}

  const Likelihood& likelihood() const override { return *likelihood_; }
  void set_likelihood(std::shared_ptr<const Likelihood> likelihood) override { likelihood_ = std::move(likelihood); }
  void begin_at(Numbers latent) override { before_ = std::move(latent); }
  const Numbers& site_targets() const override { return sites_.targets; }
  const Numbers& site_noise() const override { return sites_.noise; }
  const Numbers& latent() const override { return sites_.f; }
  Index steps() const override { return steps_; }
  bool converged() const override { return converged_; }

  Status show(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit) override {
    return within_memory([&] { return show_all(k, problem, request, differentiable, fit); });
  }
  std::vector<double> trend_coefficients() const override { return factor_.trend_coefficients(); }
  Status pull(const Partials& partials, Gradient& out) override {
    return within_memory([&] { return pull_all(partials, out); });
  }
  Status pull_points(const Partials& partials, View<double> out) override {
    Partials all;
    Status status = with_implicit(partials, all);
    return status.ok() ? factor_.pull_points(all, out) : status;
  }
  Status pull_landmarks(const Partials& partials, Numbers& out) override {
    Partials all;
    Status status = with_implicit(partials, all);
    return status.ok() ? factor_.pull_landmarks(all, out) : status;
  }
  Status information(const Partials& partials, Numbers& out) override { return factor_.information(partials, out); }

 private:
  // A point of Newton's method: latent values f, their coefficients a, f = K a but for the trend, and log p(y | f) - a'f / 2.
  struct Place {
    Numbers f, a;
    double value = -std::numeric_limits<double>::infinity();
  };

  std::size_t n() const { return static_cast<std::size_t>(problem_.X.rows); }
  Observations observations() const { return {problem_.X.rows, y_.data(), problem_.sizes}; }

  Status show_all(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit);
  Status prepare(const Kernel& k, const Problem& problem);
  Status find_mode(const Kernel& k);
  Status approach(const Kernel& k);
  Status climb(const Kernel& k, double goal);
  Status fit_sites(const Kernel& k, const Request& request, bool differentiable);
  Status step(const Kernel& k, const Numbers& f, Place& next);
  Status next_of_fit(const Numbers& c, Place& out) const;
  Status measure(Place& place) const;
  Status search_line(const Place& from, Place& to, double slope, bool& found) const;
  Status polish(Place& here, double decrement, double goal, bool& done);
  double rounding(const Place& place) const;

  Status with_implicit(const Partials& partials, Partials& all);
  Status pull_all(const Partials& partials, Gradient& out);
  Status slopes_of_sites(const Partials& partials, Numbers& in_noise, Numbers& in_targets, Gradient* direct);
  void slopes_in_latent(const Numbers& in_noise, const Numbers& in_targets, double in_factor, Numbers& u) const;
  std::size_t other(std::size_t i) const { return i < n() / 2 ? i + n() / 2 : i - n() / 2; }  // the other function's row
  Status solve_implicit(const Numbers& u, Numbers& lambda);
  Partials inner(const Partials& partials) const;

  std::shared_ptr<const Likelihood> likelihood_;
  Factor& factor_;
  InferenceOptions options_;
  Problem problem_;
  Numbers y_, noise_;   // the observations, and N + S
  double least_ = 0.0;  // the least precision of a site
  Sites sites_;
  Numbers before_;  // the mode of the fit before
  Fit fit_;         // the factor's
  Numbers squares_, log_density_;
  std::vector<Moments> moments_;
  Index steps_ = 0;
  bool converged_ = false;
};

Status Laplace::prepare(const Kernel& k, const Problem& problem) {
  problem_ = problem;
  if (problem.y.cols != 1) return Status::invalid("a likelihood has one output; fit a model for each");
  y_.resize(n());
  for (std::size_t i = 0; i < n(); ++i) y_[i] = problem.y(static_cast<Index>(i), 0);
  Status status = likelihood_->check(observations());
  if (!status.ok()) return status;
  Numbers diagonal(n());
  status = gram_diagonal<double>(k, problem.X, vector(diagonal.data(), problem.X.rows));
  double size = 0.0;
  for (const double value : diagonal) size += value / static_cast<double>(n());
  if (!status.ok()) return status;
  Numbers rough(n());
  std::vector<Density> densities(n());
  status = likelihood_->rough(observations(), rough.data());
  if (status.ok()) status = likelihood_->density(observations(), rough.data(), densities.data());
  double most = 0.0;
  for (const Density& at : densities) most = std::max(most, at.precision);
  const double of_prior = 1.0 / std::max(size, std::numeric_limits<double>::min() / least_precision);
  least_ = least_precision * (most > 0.0 ? std::min(most, of_prior) : of_prior);
  return status;
}

// Fits the sites at the latent values of sites_.
Status Laplace::fit_sites(const Kernel& k, const Request& request, bool differentiable) {
  noise_ = sites_.noise;
  for (std::size_t i = 0; i < n() && problem_.noise.rows > 0; ++i)
    noise_[i] += problem_.noise(problem_.noise.rows == 1 ? 0 : static_cast<Index>(i), 0);
  Problem here = problem_;
  here.y = vector(static_cast<const double*>(sites_.targets.data()), problem_.X.rows);
  here.noise = vector(static_cast<const double*>(noise_.data()), problem_.X.rows);
  here.weights = nullptr;  // the sites have them
  if (problem_.unknown_noise.rows == 0) here.unknown_noise = problem_.noise;
  return factor_.show(k, here, request, differentiable, fit_);
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
  request.coefficients = true;
  if (status.ok()) status = fit_sites(k, request, false);
  ++steps_;
  if (!status.ok()) return status;
  Numbers c(n());
  for (std::size_t i = 0; i < n(); ++i) c[i] = fit_.c(static_cast<Index>(i), 0);
  return next_of_fit(c, next);
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
  const double near = std::max(1.0, 0.01 * static_cast<double>(n()));  // a tenth of a standard deviation for each point
  const bool squares = likelihood_->is_log_concave() && factor_.has_prior();  // convergence is quadratic
  const double enough = std::max(goal, squares ? close : factor_.has_prior() ? there : there_nearly);
  while (!converged_ && steps_ < options_.steps) {
    status = step(k, here.f, next);
    if (!status.ok()) return status;
    double slope = 0.0;
    for (std::size_t i = 0; i < n(); ++i) slope += (sites_.first[i] - here.a[i]) * (next.f[i] - here.f[i]);
    slope = std::abs(slope);
    // Near the solution, steps that shrink tell more than a density that is not quite the one that they increase.
    bool found = !factor_.has_prior() && slope < near && slope < 0.5 * before;
    Place reached = next;
    if (!found) status = search_line(here, reached, slope, found);
    if (!status.ok()) return status;
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
  Status status = prepare(k, problem);
  if (status.ok()) status = find_mode(k);
  if (!status.ok()) return status;
  Request of_factor = request;
  of_factor.coefficients = true;
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

// What the factor knows of partial derivatives: those of left-out log densities become those of residuals and variances.
Partials Laplace::inner(const Partials& partials) const {
  Partials out = partials;
  out.log_density.clear();
  out.log_factor = 0.0;
  out.unit = 1.0;
  if (!partials.log_density.empty()) {
    out.left_out.residual.resize(n(), 0.0);
    out.left_out.variance.resize(n(), 0.0);
  }
  for (std::size_t i = 0; i < partials.log_density.size(); ++i) {
    out.left_out.residual[i] -= partials.log_density[i] * moments_[i].first;
    out.left_out.variance[i] += partials.log_density[i] * moments_[i].in_variance();
  }
  if (!fit_.squares && !out.squares.empty()) {
    out.c.resize(n(), 0.0);
    for (std::size_t i = 0; i < n(); ++i) out.c[i] += out.squares[0] * sites_.targets[i];
    out.squares.clear();
  }
  return out;
}

// dJ/dS and dJ/dz. For a likelihood and a factor that inverts a sum these are known, and nothing is pulled back; otherwise
// `direct` is the gradient for given sites.
Status Laplace::slopes_of_sites(const Partials& partials, Numbers& in_noise, Numbers& in_targets, Gradient* direct) {
  in_noise.assign(n(), 0.0);
  in_targets.assign(n(), 0.0);
  if (direct) {
    const Status status = factor_.pull(inner(partials), *direct);
    if (!status.ok()) return status;
    in_noise = direct->noise;
    in_targets = direct->targets;
    for (std::size_t i = 0; i < n() && !fit_.squares && !partials.squares.empty(); ++i)  // z occurs in z'c itself, too
      in_targets[i] += partials.squares[0] * fit_.c(static_cast<Index>(i), 0);
  } else {
    const double square = partials.squares.empty() ? 0.0 : partials.squares[0];
    for (std::size_t i = 0; i < n(); ++i) {
      const double c = fit_.c(static_cast<Index>(i), 0);
      in_noise[i] = partials.log_det * fit_.precision[i] - square * c * c;
      in_targets[i] = 2.0 * square * c;
    }
  }
  for (std::size_t i = 0; i < partials.log_density.size(); ++i) {
    in_targets[i] += partials.log_density[i] * moments_[i].first;
    in_noise[i] -= partials.log_density[i] * moments_[i].in_variance();
  }
  return {};
}

// u = dJ/df by way of the sites, from the derivatives in S, z and the sum of r.
void Laplace::slopes_in_latent(const Numbers& in_noise, const Numbers& in_targets, double in_factor, Numbers& u) const {
  u.assign(n(), 0.0);
  for (std::size_t i = 0; i < n(); ++i) {
    u[i] += in_noise[i] * sites_.noise_slope[i] + in_targets[i] * sites_.target_slope[i] + in_factor * sites_.factor_slope[i];
    if (sites_.noise_cross.empty()) continue;
    u[other(i)] +=
        in_noise[i] * sites_.noise_cross[i] + in_targets[i] * sites_.target_cross[i] + in_factor * sites_.factor_cross[i];
  }
}

// Solves (dF/df)'l = u. Both sides are multiplied by S, so that the matrix is near the identity.
Status Laplace::solve_implicit(const Numbers& u, Numbers& lambda) {
  Numbers b(n());
  for (std::size_t i = 0; i < n(); ++i) b[i] = sites_.noise[i] * u[i];
  const bool exact = factor_.has_prior() &&
                     std::none_of(sites_.excess.begin(), sites_.excess.end(), [](double value) { return value != 0.0; });
  if (exact) {
    lambda = std::move(b);
    return {};
  }
  const bool solves = factor_.has_prior() && factor_.solves();
  const auto multiply = [&](const Numbers& v, Numbers& out) {
    Numbers in_noise(n()), in_targets;
    Status status;
    if (solves) {
      status = factor_.solve(v, in_targets);
      for (std::size_t i = 0; i < n() && status.ok(); ++i) in_noise[i] = -in_targets[i] * fit_.c(static_cast<Index>(i), 0);
    } else {
      Partials of;
      of.c = v;
      Gradient found;
      status = factor_.pull(of, found);
      in_noise = found.noise;
      in_targets = found.targets;
    }
    if (!status.ok()) return status;
    slopes_in_latent(in_noise, in_targets, 0.0, out);
    for (std::size_t i = 0; i < n() && !sites_.first_cross.empty(); ++i) out[other(i)] -= sites_.first_cross[i] * v[i];
    for (std::size_t i = 0; i < n(); ++i)  // dg/df = -W = (excess - 1) / S
      out[i] = sites_.noise[i] * out[i] + (1.0 - sites_.excess[i]) * v[i];
    return status;
  };
  return solve_near_identity(multiply, b, implicit_tolerance, most_products, lambda);
}

// The partial derivatives of the criterion and of -l'P z together, for pulls by way of which no derivatives in sites are
// needed.
Status Laplace::with_implicit(const Partials& partials, Partials& all) {
  Gradient direct;
  Numbers in_noise, in_targets, u, lambda;
  Status status = slopes_of_sites(partials, in_noise, in_targets, &direct);
  if (!status.ok()) return status;
  slopes_in_latent(in_noise, in_targets, partials.log_factor, u);
  status = solve_implicit(u, lambda);
  all = inner(partials);
  all.unit = partials.unit;
  all.c.resize(n(), 0.0);
  for (std::size_t i = 0; i < n() && status.ok(); ++i) all.c[i] -= lambda[i];
  return status;
}

Status Laplace::pull_all(const Partials& partials, Gradient& out) {
  const bool is_likelihood = partials.c.empty() && partials.precision.empty() && partials.noise.empty() &&
                             partials.log_density.empty() && partials.left_out.residual.empty() &&
                             partials.left_out.variance.empty() && partials.left_out.density.empty() &&
                             (partials.missing == 0.0 || fit_.missing == 0.0) && fit_.precision &&
                             (problem_.trend.cols == 0 || partials.log_det == partials.log_det_trend);
  const bool once = is_likelihood && factor_.has_prior();
  Numbers in_noise, in_targets, u, lambda;
  Gradient direct, implicit;
  Status status = slopes_of_sites(partials, in_noise, in_targets, once ? nullptr : &direct);
  if (!status.ok()) return status;
  slopes_in_latent(in_noise, in_targets, partials.log_factor, u);
  status = solve_implicit(u, lambda);
  if (!status.ok()) return status;
  Partials of_mode;
  if (once) of_mode = inner(partials);
  of_mode.c.resize(n(), 0.0);
  for (std::size_t i = 0; i < n(); ++i) of_mode.c[i] -= lambda[i];
  status = factor_.pull(of_mode, implicit);
  if (!status.ok()) return status;
  out.theta = implicit.theta;
  out.noise = implicit.noise;
  for (std::size_t p = 0; p < direct.theta.size(); ++p) out.theta[p] += direct.theta[p];
  for (std::size_t i = 0; i < direct.noise.size(); ++i) out.noise[i] += direct.noise[i];
  // What S and z add by way of -l'P z; dJ/dS and dJ/dz of the criterion are added to it.
  Numbers of_noise(n()), of_targets(n());
  if (once) {
    Numbers Pl(n());
    if (factor_.solves()) status = factor_.solve(lambda, Pl);
    for (std::size_t i = 0; i < n() && status.ok(); ++i) {
      if (!factor_.solves()) Pl[i] = in_targets[i] - implicit.targets[i];
      of_targets[i] = in_targets[i] - Pl[i];
      of_noise[i] = in_noise[i] + Pl[i] * fit_.c(static_cast<Index>(i), 0);
    }
  } else {
    for (std::size_t i = 0; i < n(); ++i) {
      of_targets[i] = in_targets[i] + implicit.targets[i];
      of_noise[i] = in_noise[i] + implicit.noise[i];
    }
  }
  const std::size_t parameters = likelihood_->parameters().size();
  out.likelihood.assign(parameters, 0.0);
  for (std::size_t p = 0; p < parameters && status.ok(); ++p) {
    SiteSlopes slopes;
    status = find_site_slopes(*likelihood_, observations(), problem_.weights, sites_, static_cast<Index>(p), slopes);
    for (std::size_t i = 0; i < n() && status.ok(); ++i)
      out.likelihood[p] += of_noise[i] * slopes.noise[i] + of_targets[i] * slopes.targets[i] +
                           partials.log_factor * slopes.log_factor[i] + lambda[i] * slopes.first[i];
    if (partials.log_density.empty() || !status.ok()) continue;
    Numbers mean(n()), variance(n()), own(n());
    for (std::size_t i = 0; i < n(); ++i) {
      mean[i] = sites_.targets[i] - fit_.left_out->residual[i];
      variance[i] = std::max(fit_.left_out->variance[i] - sites_.noise[i], std::numeric_limits<double>::min());
    }
    status = likelihood_->moments_slope(observations(), mean.data(), variance.data(), static_cast<Index>(p), own.data());
    for (std::size_t i = 0; i < n(); ++i) out.likelihood[p] += partials.log_density[i] * own[i];
  }
  if (partials.unit == 1.0) return status;
  for (Numbers* values : {&out.theta, &out.noise, &out.likelihood})
    for (double& value : *values) value *= partials.unit;
  return status;
}

}  // namespace

std::unique_ptr<LatentFactor> laplace_factor(std::shared_ptr<const Likelihood> likelihood, Factor& factor,
                                             InferenceOptions options) {
  return std::make_unique<Laplace>(std::move(likelihood), factor, options);
}

}  // namespace kernsel

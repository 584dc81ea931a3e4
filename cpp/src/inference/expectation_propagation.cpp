// Expectation propagation around any factor.
//
// Each site has a precision tau and a shift nu: S = 1 / tau and z = nu / tau. The factor's fit of targets z with the noise N +
// S shows the cavities, the posteriors of latent values without their own sites: with r and s^2, the residual of a target that
// is left out and its variance,
//
//     m = z - r,    v = s^2 - S,        r_i = c_i / P.ii,    s_i^2 = 1 / P.ii
//
// or as the factor predicts points that are left out, if K~ - N depends on the noise. All sites are replaced at once by those
// that their cavities imply (propagated.hpp), until the marginals stay the same. With Z_i the mean of the likelihood over a
// cavity,
//
//     log Z = log N(z; 0, K~) + sum_i (log Z_i - log N(z_i; m_i, S_i + v_i))
//
// It is stationary in S, z, m and v, so that its derivatives are those of its first term. Other criteria J depend on the sites:
// J + l'(T(m, v) - (S, z)), with the map T to new sites, is stationary in S and z if l solves a linear system, with as many
// products by pulls as GMRES needs. Then the derivatives are those for sites that stay, J_m + T_m'l and J_v + T_v'l being those
// in cavities.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/memory.hpp"
#include "inference/krylov.hpp"
#include "inference/mixing.hpp"
#include "inference/propagated.hpp"
#include "inference/sites.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/inference.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

constexpr double rounding = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity();
// The least precision of a site, over that of the prior: z - r loses as many digits as S is larger than v.
constexpr double least_precision = 1e-7;
constexpr double slowest = 0.1;         // the least share of the way to the new sites that a sweep goes
constexpr double most_narrowing = 0.1;  // of precisions by a mixture, as a share of what they are without it
constexpr double near = 1e-6;           // from where sweeps that bring no more are at rounding errors
constexpr double implicit_tolerance = 1e-11;
constexpr std::size_t most_products = 200;

class ExpectationPropagation final : public LatentFactor {
 public:
  ExpectationPropagation(std::shared_ptr<const Likelihood> likelihood, Factor& factor, InferenceOptions options)
      : likelihood_(std::move(likelihood)), factor_(factor), options_(options) {}

  const Likelihood& likelihood() const override { return *likelihood_; }
  void set_likelihood(std::shared_ptr<const Likelihood> likelihood) override { likelihood_ = std::move(likelihood); }
  void begin_at(Numbers latent) override {
    latent_ = std::move(latent);
    best_ = {};
  }
  const Numbers& site_targets() const override { return targets_; }
  const Numbers& site_noise() const override { return noise_; }
  const Numbers& latent() const override { return latent_; }
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
    Adjoint of;
    const Status status = within_memory([&] { return differentiate(partials, of); });
    of.partials.unit = partials.unit;
    return status.ok() ? factor_.pull_points(of.partials, out) : status;
  }
  Status pull_landmarks(const Partials& partials, Numbers& out) override {
    Adjoint of;
    const Status status = within_memory([&] { return differentiate(partials, of); });
    of.partials.unit = partials.unit;
    return status.ok() ? factor_.pull_landmarks(of.partials, out) : status;
  }
  Status information(const Partials& partials, Numbers& out) override { return factor_.information(partials, out); }

 private:
  // Cavities with the moments of the likelihood over them.
  struct Cavities {
    Numbers residual, spread;  // r and s^2
    Numbers mean, variance;    // m and v
    std::vector<Moments> moments;
  };
  // Sites, the cavities of the posterior with them, and the sites that these imply.
  struct Sweep {
    std::vector<PropagatedSite> sites, next;
    Cavities cavities;
    double off = infinity;  // the largest difference of marginals with these and with the next sites
  };
  // A criterion's partial derivatives for the factor, and those in S and z where these occur in its formula.
  struct Adjoint {
    Partials partials;
    Numbers noise, targets;
    bool of_sites = false;  // whether the sites' changes with the parameters count
  };

  std::size_t n() const { return static_cast<std::size_t>(problem_.X.rows); }
  Observations observations() const { return {problem_.X.rows, y_.data(), problem_.sizes}; }
  double spread(std::size_t i) const { return best_.cavities.spread[i]; }

  Status show_all(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit);
  Status prepare(const Kernel& k, const Problem& problem);
  Status fit_sites(const Kernel& k, const std::vector<PropagatedSite>& sites, const Request& request, bool differentiable);
  Status sweep(const Kernel& k, std::vector<PropagatedSite> sites, Sweep& out);
  Status start_with_laplace(const Kernel& k, std::vector<PropagatedSite>& out);
  Status start_again(std::vector<PropagatedSite>& out) const;
  Status sweep_until_fixed(const Kernel& k, std::vector<PropagatedSite> sites);
  Status find(const Kernel& k);
  Status find_cavities(const double* residual, const double* spread, Cavities& out) const;

  bool is_stationary(const Partials& partials) const;
  void add_cavities(const Numbers& in_mean, const Numbers& in_variance, Adjoint& to) const;
  Status pull_sites(const Partials& partials, Numbers& in_noise, Numbers& in_targets);
  Status differentiate(const Partials& partials, Adjoint& out);
  Status add_implicit(Adjoint& of);
  Status pull_all(const Partials& partials, Gradient& out);
  Status pull_parameter(const Partials& partials, bool of_sites, const Numbers& in_noise, const Numbers& in_targets, Index p,
                        double& out) const;

  std::shared_ptr<const Likelihood> likelihood_;
  Factor& factor_;
  InferenceOptions options_;
  Problem problem_;
  Numbers y_, all_noise_;    // the observations, and N + S
  double least_ = 0.0;       // the least precision of a site
  Sweep best_;               // whose sites are the result
  bool shows_best_ = false;  // whether the factor's fit has them
  Numbers noise_, targets_, latent_;
  Fit fit_;  // the factor's
  Numbers squares_, log_density_;
  Cavities left_out_;  // of points whose log densities are asked for
  Index steps_ = 0;
  bool converged_ = false;
};

Status ExpectationPropagation::prepare(const Kernel& k, const Problem& problem) {
  problem_ = problem;
  if (problem.y.cols != 1) return Status::invalid("a likelihood has one output; fit a model for each");
  for (std::size_t i = 0; i < n() && problem.weights; ++i)
    if (problem.weights[i] != 1.0)
      return Status::invalid("expectation propagation: points have no weights here; use Laplace's approximation");
  y_.resize(n());
  for (std::size_t i = 0; i < n(); ++i) y_[i] = problem.y(static_cast<Index>(i), 0);
  Status status = likelihood_->check(observations());
  if (!status.ok()) return status;
  Numbers diagonal(n());
  status = gram_diagonal<double>(k, problem.X, vector(diagonal.data(), problem.X.rows));
  double size = 0.0;
  for (const double value : diagonal) size += value / static_cast<double>(n());
  least_ = least_precision / std::max(size, std::numeric_limits<double>::min() / least_precision);
  return status;
}

Status ExpectationPropagation::fit_sites(const Kernel& k, const std::vector<PropagatedSite>& sites, const Request& request,
                                         bool differentiable) {
  for (Numbers* values : {&noise_, &targets_, &all_noise_}) values->resize(n());
  for (std::size_t i = 0; i < n(); ++i) {
    noise_[i] = 1.0 / sites[i].precision;
    targets_[i] = sites[i].shift / sites[i].precision;
    all_noise_[i] = noise_[i];
    if (problem_.noise.rows > 0) all_noise_[i] += problem_.noise(problem_.noise.rows == 1 ? 0 : static_cast<Index>(i), 0);
  }
  Problem here = problem_;
  here.y = vector(static_cast<const double*>(targets_.data()), problem_.X.rows);
  here.noise = vector(static_cast<const double*>(all_noise_.data()), problem_.X.rows);
  if (problem_.unknown_noise.rows == 0) here.unknown_noise = problem_.noise;
  shows_best_ = false;
  ++steps_;
  return factor_.show(k, here, request, differentiable, fit_);
}

Status ExpectationPropagation::find_cavities(const double* residual, const double* spread, Cavities& out) const {
  for (Numbers* values : {&out.residual, &out.spread, &out.mean, &out.variance}) values->resize(n());
  out.moments.resize(n());
  for (std::size_t i = 0; i < n(); ++i) {
    out.residual[i] = residual[i];
    out.spread[i] = spread[i];
    out.mean[i] = targets_[i] - residual[i];
    out.variance[i] = std::max(spread[i] - noise_[i], rounding * spread[i]);
  }
  return likelihood_->moments(observations(), out.mean.data(), out.variance.data(), out.moments.data());
}

Status ExpectationPropagation::sweep(const Kernel& k, std::vector<PropagatedSite> sites, Sweep& out) {
  Request request;
  request.diagonal = factor_.has_prior();
  request.left_out = request.variances = !factor_.has_prior();
  Status status = fit_sites(k, sites, request, false);
  if (!status.ok()) return status;
  out.sites = std::move(sites);
  if (factor_.has_prior()) {
    Numbers residual(n()), spread(n());
    for (std::size_t i = 0; i < n(); ++i) {
      spread[i] = 1.0 / fit_.precision[i];
      residual[i] = fit_.c(static_cast<Index>(i), 0) / fit_.precision[i];
    }
    status = find_cavities(residual.data(), spread.data(), out.cavities);
  } else {
    status = find_cavities(fit_.left_out->residual.data(), fit_.left_out->variance.data(), out.cavities);
  }
  out.next = out.sites;
  out.off = 0.0;
  for (std::size_t i = 0; i < n(); ++i) {
    const Moments& at = out.cavities.moments[i];
    const double m = out.cavities.mean[i], v = out.cavities.variance[i];
    if (std::isfinite(at.first) && std::isfinite(at.second) && std::isfinite(at.value)) {
      out.next[i] = propagated_site(m, v, at, least_);
      out.off = std::max(out.off, difference_of_marginals(m, v, out.next[i], out.sites[i]));
    } else {
      out.off = infinity;
    }
  }
  return status;
}

// The sites of Laplace's approximation.
Status ExpectationPropagation::start_with_laplace(const Kernel& k, std::vector<PropagatedSite>& out) {
  const std::unique_ptr<LatentFactor> laplace = laplace_factor(likelihood_, factor_, options_);
  Fit unused;
  const Status status = laplace->show(k, problem_, {}, false, unused);
  steps_ += laplace->steps();
  if (!status.ok()) return status;
  out.resize(n());
  for (std::size_t i = 0; i < n(); ++i) {
    out[i].precision = std::max(1.0 / laplace->site_noise()[i], least_);
    out[i].shift = laplace->site_targets()[i] * out[i].precision;
  }
  return status;
}

// The sites before, or those of Laplace's approximation at the latent values before, if they are as many; otherwise none.
Status ExpectationPropagation::start_again(std::vector<PropagatedSite>& out) const {
  out.clear();
  if (best_.sites.size() == n()) {
    out = best_.sites;
    for (PropagatedSite& site : out) site.precision = std::max(site.precision, least_);
  } else if (latent_.size() == n()) {
    Sites sites;
    const Status status = find_sites(*likelihood_, observations(), nullptr, least_, latent_, sites);
    for (std::size_t i = 0; i < n() && status.ok(); ++i)
      out.push_back({1.0 / sites.noise[i], sites.targets[i] / sites.noise[i]});
    return status;
  }
  return {};
}

// Sets best_ to the sweep whose marginals change least. Sweeps go a share of the way to the new sites, smaller wherever they
// have not brought them nearer, and are mixed with those before.
Status ExpectationPropagation::sweep_until_fixed(const Kernel& k, std::vector<PropagatedSite> sites) {
  Sweep now;
  Status status = sweep(k, std::move(sites), now);
  if (!status.ok()) return status;
  best_ = now;
  shows_best_ = true;
  Mixing mixing;
  double share = 1.0;
  const std::size_t count = n();
  Numbers here(2 * count), change(2 * count), unit(2 * count);
  for (Index step = 1; best_.off > options_.tolerance && step < options_.steps; ++step) {
    for (std::size_t i = 0; i < count; ++i) {
      const double v = now.cavities.variance[i], marginal = v / (1.0 + v * now.sites[i].precision);
      here[i] = now.sites[i].precision;
      here[count + i] = now.sites[i].shift;
      change[i] = now.next[i].precision - here[i];
      change[count + i] = now.next[i].shift - here[count + i];
      unit[i] = marginal;  // changes of the marginals, nearly
      unit[count + i] = std::sqrt(marginal);
    }
    const Numbers mixed = mixing.next(here, change, unit, share);
    std::vector<PropagatedSite> next(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double plain = here[i] + share * change[i];
      const bool ahead = mixed[i] >= std::max(most_narrowing * plain, least_);
      next[i].precision = ahead ? mixed[i] : plain;
      next[i].shift = ahead ? mixed[count + i] : here[count + i] + share * change[count + i];
    }
    const double before = now.off;
    status = sweep(k, std::move(next), now);
    if (!status.ok()) return status;
    shows_best_ = now.off < best_.off;
    if (shows_best_)
      best_ = now;
    else if (share == slowest && best_.off < near)
      break;
    if (now.off < before) continue;
    share = std::max(0.5 * share, slowest);
    mixing.forget();
  }
  return {};
}

// Sets best_: from where the sites were before, and if that does not lead to a fixed point, from Laplace's approximation.
Status ExpectationPropagation::find(const Kernel& k) {
  std::vector<PropagatedSite> start;
  Status status = start_again(start);
  const bool again = status.ok() && !start.empty();
  best_ = {};
  steps_ = 0;
  if (again) status = sweep_until_fixed(k, start);
  if (status.ok() && !(best_.off <= near)) {
    const Sweep kept = best_;
    status = start_with_laplace(k, start);
    if (status.ok()) status = sweep_until_fixed(k, start);
    if (status.ok() && kept.off < best_.off) {
      best_ = kept;
      shows_best_ = false;
    }
  }
  if (status.ok() && !std::isfinite(best_.off))
    return Status::invalid("likelihood: the observations are impossible for all latent values that were tried");
  converged_ = best_.off <= std::max(options_.tolerance, near);
  return status;
}

Status ExpectationPropagation::show_all(const Kernel& k, const Problem& problem, const Request& request, bool differentiable,
                                        Fit& fit) {
  if (!factor_.has_prior() && request.left_out && !request.groups.alone())
    return Status::invalid("expectation propagation by neighbours: points can be left out alone, not in groups");
  Status status = prepare(k, problem);
  if (status.ok()) status = find(k);
  if (!status.ok()) return status;
  Request of_factor = request;
  of_factor.coefficients = true;
  of_factor.diagonal = of_factor.diagonal || factor_.has_prior();
  of_factor.left_out = of_factor.left_out || !factor_.has_prior();
  of_factor.variances = of_factor.variances || of_factor.left_out;
  of_factor.slopes = nullptr;  // the sites depend on all residuals
  if (!shows_best_ || differentiable || request.left_out || request.densities) {
    status = fit_sites(k, best_.sites, of_factor, differentiable);
    shows_best_ = true;
  }
  if (!status.ok()) return status;
  const Cavities& cavities = best_.cavities;
  latent_.resize(n());
  fit = fit_;
  fit.weights = problem_.weights;
  squares_ = {fit_.square(0)};
  fit.squares = squares_.data();  // so that derivatives with respect to y'c remain known as such
  fit.log_factor = 0.0;
  for (std::size_t i = 0; i < n(); ++i) {
    const double r = cavities.residual[i], v = cavities.variance[i], tau = best_.sites[i].precision;
    latent_[i] = (cavities.mean[i] + v * best_.sites[i].shift) / (1.0 + v * tau);
    fit.log_factor +=
        cavities.moments[i].value + 0.5 * (std::log(2.0 * 3.14159265358979323846 * spread(i)) + r * r / spread(i));
  }
  if (!request.left_out) return {};
  status = find_cavities(fit_.left_out->residual.data(), fit_.left_out->variance.data(), left_out_);
  log_density_.resize(n());
  for (std::size_t i = 0; i < n(); ++i) log_density_[i] = left_out_.moments[i].value;
  fit.log_density = log_density_.data();
  return status;
}

// Whether the criterion is a multiple of log Z, at a fixed point that has the moments of all points.
bool ExpectationPropagation::is_stationary(const Partials& partials) const {
  const double multiple = partials.log_factor;
  if (!factor_.has_prior() || !partials.c.empty() || !partials.precision.empty() || !partials.noise.empty() ||
      !partials.log_density.empty() || !partials.left_out.residual.empty() || !partials.left_out.variance.empty() ||
      !partials.left_out.density.empty() || (partials.missing != 0.0 && fit_.missing != 0.0))
    return false;
  if (partials.squares.size() != 1 || partials.squares[0] != -0.5 * multiple || partials.log_det != -0.5 * multiple ||
      (problem_.trend.cols > 0 && partials.log_det_trend != -0.5 * multiple))
    return false;
  for (std::size_t i = 0; i < n(); ++i) {
    const double off = best_.cavities.variance[i] * (best_.cavities.moments[i].second + 1.0 / spread(i));
    if (best_.next[i].held && std::abs(off) > 10.0 * least_precision) return false;
  }
  return true;
}

// Adds the derivatives in the factor's fit, and in S and z, that follow from those in the means and the variances of cavities.
void ExpectationPropagation::add_cavities(const Numbers& in_mean, const Numbers& in_variance, Adjoint& to) const {
  const bool by_precision = factor_.has_prior();
  for (Numbers* values : {by_precision ? &to.partials.c : &to.partials.left_out.residual,
                          by_precision ? &to.partials.precision : &to.partials.left_out.variance})
    values->resize(n(), 0.0);
  for (std::size_t i = 0; i < n(); ++i) {
    const double in_residual = -in_mean[i], s2 = spread(i);
    if (by_precision) {
      to.partials.c[i] += in_residual * s2;
      to.partials.precision[i] -= s2 * (in_residual * best_.cavities.residual[i] + in_variance[i] * s2);
    } else {
      to.partials.left_out.residual[i] += in_residual;
      to.partials.left_out.variance[i] += in_variance[i];
    }
    to.targets[i] += in_mean[i];
    to.noise[i] -= in_variance[i];
  }
}

// The derivatives in S and z by way of the factor's fit: by products with P. and its squares, or by a pull.
Status ExpectationPropagation::pull_sites(const Partials& partials, Numbers& in_noise, Numbers& in_targets) {
  const bool knows_all = factor_.solves() && factor_.multiplies_squares() && partials.left_out.residual.empty() &&
                         partials.left_out.variance.empty() && partials.left_out.density.empty() && partials.squares.empty() &&
                         (problem_.trend.cols == 0 || partials.log_det == partials.log_det_trend);
  if (!knows_all) {
    Gradient found;
    const Status status = factor_.pull(partials, found);
    in_noise = std::move(found.noise);
    in_targets = std::move(found.targets);
    return status;
  }
  Status status;
  in_targets.assign(n(), 0.0);
  in_noise = partials.noise;
  in_noise.resize(n(), 0.0);
  if (!partials.c.empty()) status = factor_.solve(partials.c, in_targets);
  for (std::size_t i = 0; i < n(); ++i)
    in_noise[i] += partials.log_det * fit_.precision[i] - in_targets[i] * fit_.c(static_cast<Index>(i), 0);
  if (!status.ok() || partials.precision.empty()) return status;
  Numbers of_squares;
  status = factor_.multiply_squares(partials.precision, of_squares);
  for (std::size_t i = 0; i < n() && status.ok(); ++i) in_noise[i] -= of_squares[i];
  return status;
}

// The partial derivatives for the factor, with all that the sites add.
Status ExpectationPropagation::differentiate(const Partials& partials, Adjoint& out) {
  out.partials = partials;
  Partials& all = out.partials;
  all.unit = 1.0;
  all.log_density.clear();
  all.log_factor = all.slope_factor = 0.0;
  out.noise.assign(n(), 0.0);
  out.targets.assign(n(), 0.0);
  out.of_sites = !is_stationary(partials);
  const double square = !fit_.squares && !partials.squares.empty() ? partials.squares[0] : 0.0;
  if (!fit_.squares && !all.squares.empty()) {  // z'c, in which z occurs itself, too
    all.c.resize(n(), 0.0);
    for (std::size_t i = 0; i < n(); ++i) {
      all.c[i] += square * targets_[i];
      out.targets[i] += square * fit_.c(static_cast<Index>(i), 0);
    }
    all.squares.clear();
  }
  if (!out.of_sites) return {};
  const std::size_t count = partials.log_density.size();
  if (count > 0) {
    all.left_out.residual.resize(n(), 0.0);
    all.left_out.variance.resize(n(), 0.0);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double in_mean = partials.log_density[i] * left_out_.moments[i].first;
    const double in_variance = partials.log_density[i] * left_out_.moments[i].in_variance();
    all.left_out.residual[i] -= in_mean;
    all.left_out.variance[i] += in_variance;
    out.targets[i] += in_mean;
    out.noise[i] -= in_variance;
  }
  if (partials.log_factor != 0.0) {
    Numbers in_mean(n()), in_variance(n());
    for (std::size_t i = 0; i < n(); ++i) {
      const Moments& at = best_.cavities.moments[i];
      const double c = best_.cavities.residual[i] / spread(i), of_spread = 0.5 * (1.0 / spread(i) - c * c);
      in_mean[i] = partials.log_factor * (at.first - c);
      in_variance[i] = partials.log_factor * (at.in_variance() + of_spread);
      out.targets[i] += partials.log_factor * c;
      out.noise[i] += partials.log_factor * of_spread;
    }
    add_cavities(in_mean, in_variance, out);
  }
  return add_implicit(out);
}

// Adds what the sites' dependence on the cavities brings. The unknowns are derivatives in the means and variances of cavities,
// in units of standard deviations and variances.
Status ExpectationPropagation::add_implicit(Adjoint& of) {
  const std::size_t count = n();
  const Cavities& at = best_.cavities;
  std::vector<HigherMoments> higher(count);
  Status status = likelihood_->higher_moments(observations(), at.mean.data(), at.variance.data(), higher.data());
  if (!status.ok()) return status;
  std::vector<SiteInCavity> map(count);
  for (std::size_t i = 0; i < count; ++i)
    if (at.variance[i] > 1e3 * rounding * at.spread[i])  // a latent value that is known has a site that is
      map[i] = site_in_cavity(at.variance[i], at.moments[i], higher[i], best_.next[i].held, least_);
  const auto of_sites = [&](const Numbers& in_noise, const Numbers& in_targets, Numbers& out) {
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = std::sqrt(at.variance[i]) * (map[i].noise_in_mean * in_noise[i] + map[i].target_in_mean * in_targets[i]);
      out[count + i] = at.variance[i] * (map[i].noise_in_variance * in_noise[i] + map[i].target_in_variance * in_targets[i]);
    }
  };
  const auto add = [&](const Numbers& scaled, Adjoint& to) {
    Numbers in_mean(count), in_variance(count);
    for (std::size_t i = 0; i < count; ++i) {
      in_mean[i] = scaled[i] / std::sqrt(at.variance[i]);
      in_variance[i] = scaled[count + i] / at.variance[i];
    }
    add_cavities(in_mean, in_variance, to);
  };
  Numbers in_noise, in_targets, right(2 * count), solution;
  const auto pull_of = [&](const Adjoint& adjoint, Numbers& out) {
    const Status pulled = pull_sites(adjoint.partials, in_noise, in_targets);
    for (std::size_t i = 0; i < count && pulled.ok(); ++i) {
      in_noise[i] += adjoint.noise[i];
      in_targets[i] += adjoint.targets[i];
    }
    if (pulled.ok()) of_sites(in_noise, in_targets, out);
    return pulled;
  };
  status = pull_of(of, right);
  if (!status.ok()) return status;
  const auto multiply = [&](const Numbers& v, Numbers& out) {
    Adjoint adjoint;
    adjoint.noise.assign(count, 0.0);
    adjoint.targets.assign(count, 0.0);
    add(v, adjoint);
    const Status pulled = pull_of(adjoint, out);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = v[i] - out[i];
    return pulled;
  };
  status = solve_near_identity(multiply, right, implicit_tolerance, most_products, solution);
  if (status.ok()) add(solution, of);
  return status;
}

// Adds the derivative in parameter p of the likelihood.
Status ExpectationPropagation::pull_parameter(const Partials& partials, bool of_sites, const Numbers& in_noise,
                                              const Numbers& in_targets, Index p, double& out) const {
  Status status;
  const Cavities& at = best_.cavities;
  if (of_sites) {
    std::vector<Moments> slopes(n());
    status = likelihood_->moments_slopes(observations(), at.mean.data(), at.variance.data(), p, slopes.data());
    for (std::size_t i = 0; i < n() && status.ok(); ++i) {
      out += partials.log_factor * slopes[i].value;
      if (!(at.variance[i] > 1e3 * rounding * at.spread[i])) continue;
      const SiteInParameter site = site_in_parameter(at.variance[i], at.moments[i], slopes[i], best_.next[i].held, least_);
      out += in_noise[i] * site.noise + in_targets[i] * site.target;
    }
  } else {
    Numbers slopes(n());
    status = likelihood_->moments_slope(observations(), at.mean.data(), at.variance.data(), p, slopes.data());
    for (const double slope : slopes) out += partials.log_factor * slope;
  }
  if (partials.log_density.empty() || !status.ok()) return status;
  Numbers slopes(n());
  status = likelihood_->moments_slope(observations(), left_out_.mean.data(), left_out_.variance.data(), p, slopes.data());
  for (std::size_t i = 0; i < n(); ++i) out += partials.log_density[i] * slopes[i];
  return status;
}

Status ExpectationPropagation::pull_all(const Partials& partials, Gradient& out) {
  Adjoint of;
  Status status = differentiate(partials, of);
  if (status.ok()) status = factor_.pull(of.partials, out);
  if (!status.ok()) return status;
  Numbers in_noise = out.noise, in_targets = out.targets;
  for (std::size_t i = 0; i < n(); ++i) {
    in_noise[i] += of.noise[i];
    in_targets[i] += of.targets[i];
  }
  out.likelihood.assign(likelihood_->parameters().size(), 0.0);
  for (std::size_t p = 0; p < out.likelihood.size() && status.ok(); ++p)
    status = pull_parameter(partials, of.of_sites, in_noise, in_targets, static_cast<Index>(p), out.likelihood[p]);
  if (partials.unit == 1.0) return status;
  for (Numbers* values : {&out.theta, &out.noise, &out.likelihood})
    for (double& value : *values) value *= partials.unit;
  return status;
}

}  // namespace

std::unique_ptr<LatentFactor> expectation_propagation_factor(std::shared_ptr<const Likelihood> likelihood, Factor& factor,
                                                             InferenceOptions options) {
  return std::make_unique<ExpectationPropagation>(std::move(likelihood), factor, options);
}

std::unique_ptr<LatentFactor> latent_factor(Inference inference, std::shared_ptr<const Likelihood> likelihood, Factor& factor,
                                            InferenceOptions options) {
  return inference == Inference::laplace ? laplace_factor(std::move(likelihood), factor, options)
                                         : expectation_propagation_factor(std::move(likelihood), factor, options);
}

}  // namespace kernsel

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
#include "inference/expectation_propagation.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "inference/mixing.hpp"
#include "inference/sites.hpp"
#include "kernsel/gram.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

constexpr double rounding = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t remembered = 6;   // sweeps that are mixed
constexpr Index patience = 40;          // sweeps in which the change of marginals has to fall by half
constexpr double slowest = 0.1;         // the least share of the way to the new sites that a sweep goes
constexpr double most_narrowing = 0.1;  // of precisions by a mixture, as a share of what they are without it
constexpr double near = 1e-6;           // from where sweeps that bring no more are at rounding errors

}  // namespace

Status ExpectationPropagation::fit_sites(const Kernel& k, const std::vector<PropagatedSite>& sites, const Request& request,
                                         bool differentiable) {
  noise_.resize(n());
  targets_.resize(n());
  for (std::size_t i = 0; i < n(); ++i) {
    noise_[i] = 1.0 / sites[i].precision;
    targets_[i] = sites[i].shift / sites[i].precision;
  }
  shows_best_ = false;
  ++steps_;
  return fit_targets(k, targets_, noise_, request, differentiable);
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
  Mixing mixing(remembered);
  std::deque<Numbers> reached;  // by the sweeps that are mixed
  double share = 1.0, milestone = best_.off;
  Index last = 0;  // when the milestone was reached
  const std::size_t count = n();
  Numbers plain(2 * count), change(2 * count), norm(2 * count);
  for (Index step = 1; best_.off > options_.tolerance && step < options_.steps; ++step) {
    for (std::size_t i = 0; i < count; ++i) {
      const double v = now.cavities.variance[i], marginal = v / (1.0 + v * now.sites[i].precision);
      plain[i] = now.sites[i].precision;
      plain[count + i] = now.sites[i].shift;
      change[i] = now.next[i].precision - plain[i];
      change[count + i] = now.next[i].shift - plain[count + i];
      norm[i] = marginal * marginal;  // so that changes are nearly those of the marginals
      norm[count + i] = marginal;
    }
    for (std::size_t i = 0; i < 2 * count; ++i) plain[i] += share * change[i];
    reached.push_back(plain);
    if (reached.size() > remembered) reached.pop_front();
    const Numbers weights = mixing.mix(change, norm);
    Numbers mixed(2 * count);
    for (std::size_t of = 0; of < weights.size(); ++of)
      for (std::size_t i = 0; i < 2 * count; ++i) mixed[i] += weights[of] * reached[of][i];
    std::vector<PropagatedSite> next(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Numbers& from = mixed[i] >= std::max(most_narrowing * plain[i], least_) ? mixed : plain;
      next[i].precision = from[i];
      next[i].shift = from[count + i];
    }
    const double before = now.off;
    status = sweep(k, std::move(next), now);
    if (!status.ok()) return status;
    shows_best_ = now.off < best_.off;
    if (shows_best_)
      best_ = now;
    else if (share == slowest && best_.off < near)
      break;
    if (best_.off < 0.5 * milestone) {
      milestone = best_.off;
      last = step;
    } else if (!likelihood_->is_log_concave() && step - last > patience) {
      break;  // in circles: there may be no fixed point that attracts
    }
    if (now.off < before) continue;
    share = std::max(0.5 * share, slowest);
    mixing.forget();
    reached.clear();
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
  if (likelihood_->is_of_two())
    return Status::invalid("expectation propagation: a likelihood of two latent functions takes Laplace's approximation");
  for (Index i = 0; i < problem.X.rows && problem.weights; ++i)
    if (problem.weights[i] != 1.0)
      return Status::invalid("expectation propagation: points have no weights here; use Laplace's approximation");
  Status status = prepare(k, problem, least_precision);
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

#include "kernsel/objective.hpp"

#include <algorithm>
#include <cmath>

#include "base/call_out.hpp"

namespace kernsel {

bool CriterionObjective::adjustable() const {
  bool changed = false;
  static_cast<void>(kernel.with_theta(kernel.theta(), &changed));
  return changed;
}

Status CriterionObjective::assign(const std::vector<double>& x, Kernel& k, std::vector<double>& variances) const {
  std::vector<double> theta = kernel.theta();
  if (unknowns.place.size() != theta.size()) return Status::invalid("search: give the place of each hyperparameter");
  for (std::size_t p = 0; p < theta.size(); ++p)
    if (unknowns.place[p] >= 0) theta[p] = x[static_cast<std::size_t>(unknowns.place[p])];
  bool changed = false;
  k = kernel.with_theta(theta, &changed);
  Status status;
  if (!changed && make)
    status = call_out([&] { k = make(theta); });
  else if (!changed)
    status = Status::invalid("search: a kernel that is a function cannot be given other hyperparameters");
  if (!status.ok()) return status;
  if (unknowns.amplitude >= 0)
    k = std::exp(x[static_cast<std::size_t>(unknowns.amplitude)]) * k;
  else if (amplitude != 1.0)
    k = amplitude * k;
  const double factor = unknowns.noise >= 0 ? std::exp(x[static_cast<std::size_t>(unknowns.noise)]) : 1.0;
  variances.assign(static_cast<std::size_t>(problem.X.rows), jitter);
  for (std::size_t i = 0; i < noise.size(); ++i) variances[i] += factor * noise[i];
  for (std::size_t i = 0; i < known.size(); ++i) variances[i] += known[i];
  return {};
}

// Computes the value from the criterion (CriterionObjective), and multiplies the gradient accordingly.
void CriterionObjective::measure(Trial& out) {
  const double half = 0.5 * static_cast<double>(problem.X.rows);
  double slope = 0.0;
  if (criterion.larger_is_better) {
    out.value = -out.criterion;
    slope = -1.0;
  } else if (criterion.positive) {
    const double size = std::max(out.criterion, std::numeric_limits<double>::min());
    out.value = half * std::log(size);
    slope = half / size;
  } else {
    if (unit_ == 0.0 && std::isfinite(out.criterion)) unit_ = out.criterion != 0.0 ? std::abs(out.criterion) : 1.0;
    out.value = half * (out.criterion / unit_);
    slope = half / unit_;
  }
  for (double& entry : out.gradient) entry *= slope;
}

void CriterionObjective::set_likelihood(const std::vector<double>& x) {
  std::vector<double> values;
  for (const LikelihoodParameter& parameter : latent_->likelihood().parameters()) values.push_back(parameter.value);
  for (std::size_t p = 0; p < unknowns.likelihood.size(); ++p)
    if (unknowns.likelihood[p] >= 0) values[p] = x[static_cast<std::size_t>(unknowns.likelihood[p])];
  if (!values.empty()) latent_->set_likelihood(latent_->likelihood().with(values));
}

Status CriterionObjective::evaluate(const std::vector<double>& x, Order order, Trial& out) {
  const Index n = problem.X.rows;
  const std::size_t count = bounds.count();
  if (order == Order::information && !adjustable()) order = Order::gradient;
  Kernel k = kernel;
  std::vector<double> variances;
  Status status = assign(x, k, variances);
  if (!status.ok()) return status;
  const double factor = unknowns.noise >= 0 ? std::exp(x[static_cast<std::size_t>(unknowns.noise)]) : 1.0;
  std::vector<double> unknown_noise(noise.size());
  for (std::size_t i = 0; i < noise.size(); ++i) unknown_noise[i] = factor * noise[i];
  Problem here = problem;
  here.noise = vector(static_cast<const double*>(variances.data()), n);
  if (!noise.empty()) here.unknown_noise = vector(static_cast<const double*>(unknown_noise.data()), n);
  if (latent_) status = call_out([&] { set_likelihood(x); });
  if (!status.ok()) return status;
  Evaluation found;
  status = kernsel::evaluate(k, here, criterion, order, *factor_, found);
  if (!status.ok()) return status;
  out.x = x;
  out.criterion = found.value;
  out.scale = found.scale;
  out.residual_scale = found.residual_scale;
  out.gradient.assign(order == Order::value ? 0 : count, 0.0);
  out.information.clear();
  // The unknown that each derivative belongs to: of the amplitude (if any), the hyperparameters, and the factor of the noise.
  std::vector<Index> place;
  if (unknowns.amplitude >= 0 || amplitude != 1.0) place.push_back(unknowns.amplitude);
  place.insert(place.end(), unknowns.place.begin(), unknowns.place.end());
  place.push_back(unknowns.noise);
  if (order != Order::value) {
    double of_noise = 0.0;
    for (std::size_t i = 0; i < noise.size(); ++i) of_noise += found.gradient.noise[i] * unknown_noise[i];
    for (std::size_t p = 0; p < place.size(); ++p)
      if (const Index a = place[p]; a >= 0)
        out.gradient[static_cast<std::size_t>(a)] += p + 1 < place.size() ? found.gradient.theta[p] : of_noise;
  }
  for (std::size_t p = 0; p < unknowns.likelihood.size() && order != Order::value; ++p)
    if (const Index a = unknowns.likelihood[p]; a >= 0)
      out.gradient[static_cast<std::size_t>(a)] += found.gradient.likelihood[p];
  if (order == Order::information) {
    out.information.assign(count * count, 0.0);
    for (std::size_t q = 0; q < place.size(); ++q)
      for (std::size_t p = 0; p < place.size(); ++p)
        if (const Index a = place[p], b = place[q]; a >= 0 && b >= 0)
          out.information[static_cast<std::size_t>(a) + count * static_cast<std::size_t>(b)] +=
              found.information[p + place.size() * q];
    // About as much as a scale of n points is known by.
    for (const Index a : unknowns.likelihood)
      if (a >= 0) out.information[static_cast<std::size_t>(a) * (count + 1)] += 0.5 * static_cast<double>(n);
  }
  if (prior) {
    std::vector<double> slopes(count, 0.0);
    status = call_out([&] { out.criterion += prior(x, slopes); });
    for (std::size_t a = 0; a < out.gradient.size(); ++a) out.gradient[a] += slopes[a];
  }
  measure(out);
  if (!expected.empty()) out.value -= expected.log_density(x, out.gradient, out.information);
  return status;
}

Status FunctionObjective::evaluate(const std::vector<double>& x, Order order, Trial& out) {
  out.x = x;
  const Status status = call_out([&] { function(x, order, out); });
  if (!status.ok()) return status;
  if (order != Order::value && out.gradient.size() != bounds.count())
    return Status::invalid("search: expected a derivative for each unknown");
  if (std::isnan(out.criterion)) out.criterion = out.value;
  if (out.information.empty()) out.information = curvature;
  return {};
}

}  // namespace kernsel

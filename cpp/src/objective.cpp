#include <cmath>

#include "call_out.hpp"
#include "kernsel/selection.hpp"

namespace kernsel {

Status Objective::evaluate(const std::vector<double>& x, Order order, LowerTiles<double>& buffer, Trial& out) const {
  const Index n = problem.X.rows;
  const std::size_t count = unknowns.count();
  std::vector<double> theta = kernel.theta();
  if (unknowns.place.size() != theta.size()) return Status::invalid("search: give the place of each hyperparameter");
  for (std::size_t p = 0; p < theta.size(); ++p)
    if (unknowns.place[p] >= 0) theta[p] = x[static_cast<std::size_t>(unknowns.place[p])];
  bool changed = false;
  Kernel k = kernel.with_theta(theta, &changed);
  Status status;
  if (!changed && make)
    status = call_out([&] { k = make(theta); });
  else if (!changed)
    status = Status::invalid("search: a kernel that is a function cannot be given other hyperparameters");
  if (!status.ok()) return status;

  const double factor = unknowns.noise >= 0 ? std::exp(x[static_cast<std::size_t>(unknowns.noise)]) : 1.0;
  std::vector<double> variances(static_cast<std::size_t>(n), jitter);
  for (std::size_t i = 0; i < noise.size(); ++i) variances[i] += factor * noise[i];
  Problem here = problem;
  here.noise = vector(static_cast<const double*>(variances.data()), n);
  Evaluation found;
  const double sign = larger_is_better ? -1.0 : 1.0;
  status = folds.count > 0 ? kernsel::evaluate(k, here, folds, order, buffer, found)
                           : kernsel::evaluate(k, here, criterion, order, buffer, found);
  if (!status.ok()) return status;
  out.x = x;
  out.value = sign * found.value;
  out.scale = found.scale;
  out.residual_scale = found.residual_scale;
  out.gradient.assign(order == Order::value ? 0 : count, 0.0);
  out.information.clear();
  const std::size_t all = theta.size() + 1;  // the noise's factor is the last
  const auto place_of = [&](std::size_t p) { return p + 1 < all ? unknowns.place[p] : unknowns.noise; };
  if (order != Order::value) {
    double of_noise = 0.0;
    for (std::size_t i = 0; i < noise.size(); ++i) of_noise += found.noise_gradient[i] * factor * noise[i];
    for (std::size_t p = 0; p < all; ++p)
      if (const Index a = place_of(p); a >= 0)
        out.gradient[static_cast<std::size_t>(a)] += sign * (p + 1 < all ? found.gradient[p] : of_noise);
  }
  if (order == Order::information) {
    out.information.assign(count * count, 0.0);
    for (std::size_t q = 0; q < all; ++q)
      for (std::size_t p = 0; p < all; ++p)
        if (const Index a = place_of(p), b = place_of(q); a >= 0 && b >= 0)
          out.information[static_cast<std::size_t>(a) + count * static_cast<std::size_t>(b)] += found.information[p + all * q];
  }
  if (!prior) return {};
  std::vector<double> slopes(count, 0.0);
  status = call_out([&] { out.value += sign * prior(x, slopes); });
  for (std::size_t a = 0; a < out.gradient.size(); ++a) out.gradient[a] += sign * slopes[a];
  return status;
}

}  // namespace kernsel

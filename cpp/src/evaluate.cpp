// From a criterion's partial derivatives to the value and all derivatives.
#include <algorithm>

#include "adjoint.hpp"
#include "call_out.hpp"
#include "information.hpp"
#include "kernsel/criteria.hpp"
#include "state.hpp"

namespace kernsel {

namespace {

// A criterion that is a square of y has derivatives in P of its fourth power, if the kernel is of the size of y squared: a
// double holds the criterion, but not these. So they are computed in a unit of the criterion's size.
void multiply(double unit, std::vector<double>& values) {
  for (double& value : values) value *= unit;
}

}  // namespace

Status apply(const Criterion& criterion, const Fit& fit, Partials& partials) {
  Status applied;
  const Status called = call_out([&] { applied = criterion.apply(fit, partials); });
  return called.ok() ? applied : called;
}

Status evaluate(const Kernel& k, const Problem& problem, const Criterion& criterion, Order order, LowerTiles<double>& buffer,
                Evaluation& out) {
  const bool gradient = order != Order::value;
  Status status = check(problem);
  if (!status.ok()) return status;
  State state(k, problem, buffer);
  const Index n = state.n, m = state.m;
  status = start(state, gradient);
  if (status.ok() && (gradient || criterion.sees_precision)) status = find_precision(state, gradient, criterion.sees_precision);
  if (!status.ok()) return status;
  const Fit fit{problem.y,       state.c.view(n), state.precision.data(), state.noise.data(),
                problem.weights, state.trend.q,   state.log_det,          state.trend.log_det};
  Partials partials;
  status = apply(criterion, fit, partials);
  if (!status.ok()) return status;
  report(state, out);
  out.value = partials.unit * partials.value;
  out.scale = partials.scale;
  if (!gradient) return {};
  if (order == Order::information) {
    status = average_information(state, partials, out);
    if (!status.ok()) return status;
  }

  Adjoint adjoint;
  adjoint.of_inverse = partials.log_det;
  adjoint.squared = partials.precision;
  adjoint.noise = partials.noise;
  status = with_trend(state, partials.log_det_trend, partials.c.empty() ? 0 : m, adjoint);
  if (status.ok() && !partials.c.empty()) {
    Tall G;
    status = G.resize(state.padded, m);
    for (Index j = 0; j < m && status.ok(); ++j) std::copy_n(partials.c.data() + j * n, n, G.column(j));
    if (status.ok()) status = add_weights(state, G, adjoint);
  }
  if (status.ok()) status = pull(state, adjoint, out);
  if (!status.ok() || partials.unit == 1.0) return status;
  multiply(partials.unit, out.gradient);
  multiply(partials.unit, out.noise_gradient);
  return {};
}

}  // namespace kernsel

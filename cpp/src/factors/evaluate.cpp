// evaluate(): the value of a criterion for a kernel and a noise, with all derivatives.
#include <algorithm>
#include <cmath>

#include "base/call_out.hpp"
#include "base/memory.hpp"
#include "kernsel/factor.hpp"

namespace kernsel {

namespace {

Status check(const Problem& problem) {
  const Index n = problem.X.rows;
  if (n == 0) return Status::invalid("evaluate: there are no points");
  if (problem.y.rows != n || problem.y.cols == 0) return Status::invalid("evaluate: y must have one row for each point");
  if (problem.noise.rows > 1 && problem.noise.rows != n)
    return Status::invalid("evaluate: give one noise variance, or one for each point");
  if (problem.trend.cols > 0 && problem.trend.rows != n)
    return Status::invalid("evaluate: the trend must have one row for each point");
  return {};
}

// Converts derivatives with respect to y'c to those with respect to c, for factors that do not have y'c without c.
void expand_squares(const Fit& fit, Partials& partials) {
  if (partials.squares.empty() || fit.squares) return;
  partials.c.resize(static_cast<std::size_t>(fit.n() * fit.outputs()), 0.0);
  for (Index k = 0; k < fit.outputs(); ++k)
    for (Index i = 0; i < fit.n(); ++i)
      partials.c[static_cast<std::size_t>(i + k * fit.n())] += partials.squares[static_cast<std::size_t>(k)] * fit.y(i, k);
  partials.squares.clear();
}

void report(const Fit& fit, bool has_precision, Evaluation& out) {
  const Index n = fit.n(), m = fit.outputs();
  out.c.clear();
  for (Index k = 0; k < m && fit.c.data; ++k)
    for (Index i = 0; i < n; ++i) out.c.push_back(fit.c(i, k));
  has_precision = has_precision && fit.precision && fit.c.data;
  out.precision.assign(fit.precision, fit.precision + (has_precision ? n : 0));
  out.noise.assign(fit.noise, fit.noise + n);
  out.log_det = fit.log_det;
  out.log_det_trend = fit.log_det_trend;
  out.squares.clear();
  for (Index k = 0; k < m && (fit.squares || fit.c.data); ++k) out.squares.push_back(fit.square(k));
  out.dof = has_precision ? 0.0 : std::nan("");
  for (Index i = 0; i < n && has_precision; ++i) out.dof += 1.0 - fit.noise[i] * fit.precision[i];
  const bool has_left_out = !has_precision && fit.left_out && !fit.left_out->variance.empty();
  out.residual_scale = has_precision || has_left_out ? 0.0 : std::nan("");
  double weights = 0.0;
  for (Index i = 0; i < n && (has_precision || has_left_out); ++i) {
    const double weight = fit.weights ? fit.weights[i] : 1.0;
    weights += weight * static_cast<double>(m);
    for (Index k = 0; k < m; ++k) {
      if (has_precision) {
        out.residual_scale += weight * fit.c(i, k) * fit.c(i, k) / fit.precision[i];
      } else {
        const double residual = fit.left_out->residual[static_cast<std::size_t>(i + k * n)];
        out.residual_scale += weight * residual * residual / fit.left_out->variance[static_cast<std::size_t>(i)];
      }
    }
  }
  if (weights > 0.0) out.residual_scale /= weights;
}

// Sets the variance and the degrees of freedom in `partials` for a criterion that is not a likelihood: its information is that
// of the likelihood with the known scale if the criterion depends on the scale, and otherwise of the likelihood with the best
// scale, y'c / (n - q) on average over the outputs.
void stand_in(const Criterion& criterion, const Fit& fit, Partials& partials) {
  partials.freedom = static_cast<double>(std::max<Index>(fit.n() - fit.trend, 1));
  double square = 0.0;
  for (Index k = 0; k < fit.outputs(); ++k) square += fit.square(k);
  const double scale = square / (partials.freedom * static_cast<double>(fit.outputs()));
  const bool profiled = !criterion.sees_scale && scale > 0.0;
  partials.variance.assign(static_cast<std::size_t>(fit.outputs()), profiled ? scale : 1.0);
  partials.profiled = profiled ? Profiled::shared : Profiled::no;
}

}  // namespace

Status Factor::pull_points(const Partials&, View<double>) {
  return Status::invalid("this factor has no derivatives in the points");
}

Status Factor::solve(const std::vector<double>&, std::vector<double>&) {
  return Status::invalid("this factor solves for the targets of its problem only");
}

Status Factor::multiply_squares(const std::vector<double>&, std::vector<double>&) {
  return Status::invalid("this factor has no matrix P whose entries can be squared");
}

Status Factor::pull_landmarks(const Partials&, std::vector<double>& out) {
  out.clear();
  return {};
}

Status apply(const Criterion& criterion, const Fit& fit, Partials& partials) {
  Status applied;
  const Status called = call_out([&] { applied = criterion.apply(fit, partials); });
  return called.ok() ? applied : called;
}

Status evaluate(const Kernel& k, const Problem& problem, const Criterion& criterion, Order order, Factor& factor,
                Evaluation& out) {
  const bool gradient = order != Order::value;
  Status status = check(problem);
  if (!status.ok()) return status;
  Fit fit;
  status = factor.show(k, problem, criterion.request, gradient, fit);
  if (!status.ok()) return status;
  Partials partials;
  status = apply(criterion, fit, partials);
  if (!status.ok()) return status;
  report(fit, gradient || criterion.request.diagonal || criterion.request.left_out, out);
  out.beta = factor.trend_coefficients();
  out.value = partials.unit * partials.value;
  out.scale = partials.scale;
  out.information.clear();
  out.points.clear();
  out.landmarks.clear();
  if (!gradient) return {};
  if (order == Order::information) {
    if (partials.variance.empty()) stand_in(criterion, fit, partials);
    status = factor.information(partials, out.information);
    if (!status.ok()) return status;
  }
  expand_squares(fit, partials);
  status = factor.pull(partials, out.gradient);
  if (!status.ok() || order != Order::points) return status;
  return within_memory([&] {
    out.points.assign(static_cast<std::size_t>(problem.X.rows * problem.X.cols), 0.0);
    const Status in_rows = factor.pull_points(partials, rows(out.points.data(), problem.X.rows, problem.X.cols));
    return in_rows.ok() ? factor.pull_landmarks(partials, out.landmarks) : in_rows;
  });
}

}  // namespace kernsel

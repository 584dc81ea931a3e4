// Each criterion as a formula: its value and its partial derivatives.
#include "kernsel/criteria.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernsel {
namespace criteria {

namespace {

constexpr double pi = 3.14159265358979323846;
const double log_2pi = std::log(2.0 * pi);

double weight(const Fit& fit, Index i) { return fit.weights ? fit.weights[i] : 1.0; }

double total_weight(const Fit& fit) {
  double sum = 0.0;
  for (Index i = 0; i < fit.n(); ++i) sum += weight(fit, i);
  return sum * static_cast<double>(fit.outputs());
}

// The largest power of two that is not above `number`, by which numbers are divided without rounding; 1 if `number` is zero or
// not finite. It is at least 2^-1000, so that its inverse is finite.
double power_of_two(double number) {
  if (!(number > 0.0) || !std::isfinite(number)) return 1.0;
  return std::ldexp(1.0, std::max(std::ilogb(number), -1000));
}

}  // namespace

Criterion likelihood(bool restricted, Scale scale) {
  Criterion criterion;
  criterion.larger_is_better = criterion.is_likelihood = true;
  criterion.sees_scale = scale == Scale::known;
  criterion.request.coefficients = false;
  criterion.apply = [=](const Fit& fit, Partials& out) -> Status {
    const auto m = static_cast<double>(fit.outputs()), n = static_cast<double>(fit.n());
    const double freedom = restricted ? n - static_cast<double>(fit.trend) : n;
    if (!(freedom > 0.0)) return Status::invalid("likelihood: there must be more points than columns of the trend");
    out.log_det = -m / 2.0;
    out.log_det_trend = restricted ? -m / 2.0 : 0.0;
    out.missing = -m / 2.0;
    out.log_factor = 1.0;
    out.value = out.log_det * fit.log_det + out.log_det_trend * fit.log_det_trend + out.missing * fit.missing + fit.log_factor;
    std::vector<double> squares;
    double all = 0.0;
    for (Index k = 0; k < fit.outputs(); ++k) {
      squares.push_back(fit.square(k));
      all += squares.back();
    }
    if (scale != Scale::known && !(all > 0.0))
      return Status::invalid("likelihood: y is fitted exactly, and the scale that does it best is zero");
    out.scale = scale == Scale::known ? 1.0 : all / (freedom * m);
    out.freedom = freedom;
    out.profiled = scale == Scale::known ? Profiled::no : scale == Scale::each ? Profiled::each : Profiled::shared;
    for (Index k = 0; k < fit.outputs(); ++k) {
      const double square = squares[static_cast<std::size_t>(k)];
      const double variance = scale == Scale::each ? square / freedom : out.scale;
      if (scale == Scale::each && !(variance > 0.0))
        return Status::invalid("likelihood: an output is fitted exactly, and the scale that does it best is zero");
      out.variance.push_back(variance);
      out.value -= 0.5 * (scale == Scale::known ? square + freedom * log_2pi : freedom * (log_2pi + std::log(variance) + 1.0));
      out.squares.push_back(-0.5 / variance);
    }
    return {};
  };
  return criterion;
}

PointLoss squared() {
  const auto f = [](Index count, const double* r, const double*, Loss* out) {
    for (Index i = 0; i < count; ++i) out[i] = {r[i] * r[i], 2.0 * r[i], 0.0};
  };
  return {f, true, false, false};
}

PointLoss log_density() {
  const auto f = [](Index count, const double* r, const double* v, Loss* out) {
    for (Index i = 0; i < count; ++i) {
      const double z = r[i] * r[i] / v[i];
      out[i] = {-0.5 * (log_2pi + std::log(v[i]) + z), -r[i] / v[i], (z - 1.0) / (2.0 * v[i])};
    }
  };
  return {f, false, true, true};
}

PointLoss crps() {
  const auto f = [](Index count, const double* r, const double* v, Loss* out) {
    const double least = 1.0 / std::sqrt(pi);
    for (Index i = 0; i < count; ++i) {
      const double s = std::sqrt(v[i]), z = r[i] / s;
      const double both = std::erf(z / std::sqrt(2.0));  // 2 Phi(z) - 1
      const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * pi);
      out[i] = {s * (z * both + 2.0 * density - least), both, (2.0 * density - least) / (2.0 * s)};
    }
  };
  return {f, true, true, false};
}

PointLoss smooth_absolute(double width) {
  const auto f = [width](Index count, const double* r, const double*, Loss* out) {
    for (Index i = 0; i < count; ++i) {
      const double value = std::hypot(r[i], width);
      out[i] = {value, value > 0.0 ? r[i] / value : 0.0, 0.0};
    }
  };
  return {f, true, false, false};
}

Criterion leave_out(PointLoss loss, Groups groups, bool sum, bool profiled) {
  Criterion criterion;
  criterion.request.in_sample = criterion.request.coefficients = false;
  criterion.request.left_out = true;
  criterion.request.variances = loss.sees_variance || profiled;
  criterion.request.groups = std::move(groups);
  criterion.larger_is_better = loss.larger_is_better;
  criterion.sees_scale = loss.sees_variance && !profiled;
  criterion.positive = loss.positive;
  const bool of_residuals = !criterion.request.variances && criterion.request.groups.alone();
  if (of_residuals)
    criterion.request.slopes = [f = loss.f](Index count, const double* residuals, double* slopes) {
      std::vector<double> v(static_cast<std::size_t>(count), 1.0);
      std::vector<Loss> losses(v.size());
      f(count, residuals, v.data(), losses.data());
      for (std::size_t i = 0; i < losses.size(); ++i) slopes[i] = losses[i].residual;
    };
  criterion.apply = [=, f = std::move(loss.f), variances = criterion.request.variances](const Fit& fit,
                                                                                        Partials& out) -> Status {
    const Index n = fit.n(), m = fit.outputs();
    const auto count = static_cast<std::size_t>(n);
    const auto outputs = static_cast<std::size_t>(m);
    const std::vector<double>&r = fit.left_out->residual, &own = fit.left_out->variance;
    const double all = total_weight(fit), factor = sum ? 1.0 : 1.0 / all;
    std::vector<double> v(count, 1.0);
    std::vector<Loss> losses(count * outputs);
    out.scale = 1.0;
    if (profiled) {
      out.scale = 0.0;
      for (std::size_t at = 0; at < r.size(); ++at) {
        const std::size_t i = at % count;
        out.scale += weight(fit, static_cast<Index>(i)) * (r[at] / own[i]) * r[at] / all;
      }
      if (!(out.scale > 0.0))
        return Status::invalid("leave_out: every point is predicted exactly, and the scale that explains it is zero");
    }
    for (std::size_t i = 0; i < count && variances; ++i) v[i] = out.scale * own[i];
    double size = 0.0;
    for (Index k = 0; k < m; ++k) {
      const std::size_t begin = static_cast<std::size_t>(k) * count;
      f(n, r.data() + begin, v.data(), losses.data() + begin);
      for (std::size_t i = 0; i < count; ++i)
        size += factor * weight(fit, static_cast<Index>(i)) * std::abs(losses[begin + i].value);
    }
    out.unit = power_of_two(size);
    out.slope_factor = of_residuals ? factor / out.unit : 0.0;
    out.left_out.residual.resize(r.size());
    out.left_out.variance.assign(variances ? count : 0, 0.0);
    double of_scale = 0.0;  // dJ/dscale, over the unit
    for (std::size_t at = 0; at < losses.size(); ++at) {
      const std::size_t i = at % count;
      const double w = factor * weight(fit, static_cast<Index>(i));
      const double of_v = losses[at].variance / out.unit;
      out.value += w * (losses[at].value / out.unit);
      out.left_out.residual[at] = w * (losses[at].residual / out.unit);
      if (!variances) continue;
      out.left_out.variance[i] += w * of_v * out.scale;
      of_scale += w * of_v * own[i];
    }
    for (std::size_t at = 0; profiled && at < r.size(); ++at) {
      const std::size_t i = at % count;
      const double part = of_scale * weight(fit, static_cast<Index>(i)) / all, c = r[at] / own[i];
      out.left_out.residual[at] += part * 2.0 * c;
      out.left_out.variance[i] -= part * c * c;
    }
    return {};
  };
  return criterion;
}

Criterion joint_log_density(Groups groups) {
  Criterion criterion;
  criterion.request.in_sample = criterion.request.coefficients = false;
  criterion.request.left_out = criterion.request.densities = true;
  criterion.request.groups = std::move(groups);
  criterion.larger_is_better = true;
  criterion.apply = [](const Fit& fit, Partials& out) -> Status {
    for (const double density : fit.left_out->density) out.value += density;
    out.left_out.density.assign(fit.left_out->density.size(), 1.0);
    return {};
  };
  return criterion;
}

Criterion left_out_density(Groups groups, bool sum) {
  Criterion criterion;
  criterion.request.in_sample = criterion.request.coefficients = false;
  criterion.request.left_out = criterion.request.variances = true;
  criterion.request.groups = std::move(groups);
  criterion.larger_is_better = true;
  criterion.apply = [sum](const Fit& fit, Partials& out) -> Status {
    if (!fit.log_density) return Status::invalid("left_out_density: this is a criterion of likelihoods (inference.hpp)");
    const double factor = sum ? 1.0 : 1.0 / total_weight(fit);
    for (Index i = 0; i < fit.n(); ++i) {
      out.log_density.push_back(factor * weight(fit, i));
      out.value += out.log_density.back() * fit.log_density[i];
    }
    return {};
  };
  return criterion;
}

Criterion generalized_cross_validation() {
  Criterion criterion;
  criterion.request.diagonal = true;
  criterion.sees_scale = false;
  criterion.positive = true;
  criterion.apply = [](const Fit& fit, Partials& out) -> Status {
    const Index n = fit.n(), m = fit.outputs();
    const auto count = static_cast<std::size_t>(n);
    double mean = 0.0;  // the mean noise variance
    for (Index i = 0; i < n; ++i) {
      if (!(fit.noise[i] > 0.0))
        return Status::invalid("gcv: the noise must be positive: without it there is nothing to cross-validate");
      mean += fit.noise[i] / static_cast<double>(n);
    }
    double trace = 0.0, square = 0.0;
    std::vector<double> squares(count, 0.0);  // sum_k (c_ik / trace)^2: the square of the trace may be out of range
    for (Index i = 0; i < n; ++i) trace += fit.noise[i] / mean * fit.precision[i];
    for (Index i = 0; i < n; ++i) {
      double& sum = squares[static_cast<std::size_t>(i)];
      for (Index k = 0; k < m; ++k) {
        const double part = fit.c(i, k) / trace;
        sum += part * part;
      }
      square += fit.noise[i] / mean * sum;
    }
    out.unit = power_of_two(square);
    const double factor = static_cast<double>(n) / static_cast<double>(m) / out.unit;
    out.value = factor * square;
    out.c.resize(count * static_cast<std::size_t>(m));
    out.precision.resize(count);
    out.noise.resize(count);
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double unit = fit.noise[i] / mean, less = 2.0 * out.value / trace;
      for (Index k = 0; k < m; ++k)
        out.c[at + static_cast<std::size_t>(k) * count] = 2.0 * factor * unit * (fit.c(i, k) / trace) / trace;
      out.precision[at] = -less * unit;
      // N_i also enters the mean by which U = N / mean is computed: since J is homogeneous of degree -1 in U, that adds J / n.
      out.noise[at] = (factor * squares[at] - less * fit.precision[i] + out.value / static_cast<double>(n)) / mean;
    }
    return {};
  };
  return criterion;
}

Criterion unbiased_risk(std::vector<double> variance) {
  Criterion criterion;
  criterion.request.diagonal = true;
  criterion.sees_scale = false;
  criterion.apply = [variance = std::move(variance)](const Fit& fit, Partials& out) -> Status {
    const Index n = fit.n(), m = fit.outputs();
    const auto count = static_cast<std::size_t>(n);
    if (variance.size() != 1 && variance.size() != count)
      return Status::invalid("unbiased_risk: give the variance of the noise, one number or one for each point");
    const auto outputs = static_cast<double>(m);
    const auto variance_of = [&](Index i) { return variance[variance.size() == 1 ? 0 : static_cast<std::size_t>(i)]; };
    double size = 0.0;
    for (Index i = 0; i < n; ++i) {
      size += weight(fit, i) * outputs * variance_of(i);
      for (Index k = 0; k < m; ++k) {
        const double residual = fit.noise[i] * fit.c(i, k);
        size += weight(fit, i) * residual * residual;
      }
    }
    out.unit = power_of_two(size);
    out.c.resize(count * static_cast<std::size_t>(m));
    out.precision.resize(count);
    out.noise.resize(count);
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double s = variance_of(i) / out.unit, noise = fit.noise[i], w = weight(fit, i);
      double square = 0.0, slope = 0.0;  // sum_k (N_i c_ik)^2 and half of its derivative in N_i, both over the unit
      for (Index k = 0; k < m; ++k) {
        const double c = fit.c(i, k), residual = noise * c;
        square += residual / out.unit * residual;
        slope += residual / out.unit * c;
        out.c[at + static_cast<std::size_t>(k) * count] = 2.0 * w * (residual / out.unit * noise);
      }
      out.value += w * (square + outputs * (2.0 * s * (1.0 - noise * fit.precision[i]) - s));
      out.precision[at] = -2.0 * w * outputs * s * noise;
      out.noise[at] = 2.0 * w * (slope - outputs * s * fit.precision[i]);
    }
    return {};
  };
  return criterion;
}

}  // namespace criteria
}  // namespace kernsel

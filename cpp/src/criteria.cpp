// Each criterion as a formula: its value and its partial derivatives.
#include "kernsel/criteria.hpp"

#include <cmath>

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

}  // namespace

Criterion likelihood(bool restricted, Scale scale) {
  const auto apply = [=](const Fit& fit, Partials& out) -> Status {
    const auto m = static_cast<double>(fit.outputs()), n = static_cast<double>(fit.n());
    const double freedom = restricted ? n - static_cast<double>(fit.trend) : n;
    if (!(freedom > 0.0)) return Status::invalid("likelihood: there must be more points than columns of the trend");
    out.log_det = -m / 2.0;
    out.log_det_trend = restricted ? -m / 2.0 : 0.0;
    out.value = out.log_det * fit.log_det + out.log_det_trend * fit.log_det_trend;
    out.c.resize(static_cast<std::size_t>(fit.n() * fit.outputs()));
    std::vector<double> squares;  // y'c of each output
    double all = 0.0;
    for (Index k = 0; k < fit.outputs(); ++k) {
      double sum = 0.0;
      for (Index i = 0; i < fit.n(); ++i) sum += fit.y(i, k) * fit.c(i, k);
      squares.push_back(sum);
      all += sum;
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
      for (Index i = 0; i < fit.n(); ++i) out.c[static_cast<std::size_t>(i + k * fit.n())] = -0.5 * fit.y(i, k) / variance;
    }
    return {};
  };
  return {apply, false};
}

PointLoss squared() {
  return [](Index count, const double* r, const double*, Loss* out) {
    for (Index i = 0; i < count; ++i) out[i] = {r[i] * r[i], 2.0 * r[i], 0.0};
  };
}

PointLoss log_density() {
  return [](Index count, const double* r, const double* v, Loss* out) {
    for (Index i = 0; i < count; ++i) {
      const double z = r[i] * r[i] / v[i];
      out[i] = {-0.5 * (log_2pi + std::log(v[i]) + z), -r[i] / v[i], (z - 1.0) / (2.0 * v[i])};
    }
  };
}

PointLoss crps() {
  return [](Index count, const double* r, const double* v, Loss* out) {
    const double least = 1.0 / std::sqrt(pi);
    for (Index i = 0; i < count; ++i) {
      const double s = std::sqrt(v[i]), z = r[i] / s;
      const double both = std::erf(z / std::sqrt(2.0));  // 2 Phi(z) - 1
      const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * pi);
      out[i] = {s * (z * both + 2.0 * density - least), both, (2.0 * density - least) / (2.0 * s)};
    }
  };
}

PointLoss smooth_absolute(double width) {
  return [width](Index count, const double* r, const double*, Loss* out) {
    for (Index i = 0; i < count; ++i) {
      const double value = std::hypot(r[i], width);
      out[i] = {value, value > 0.0 ? r[i] / value : 0.0, 0.0};
    }
  };
}

Criterion leave_one_out(PointLoss loss, bool sum, bool profiled) {
  return {[=](const Fit& fit, Partials& out) -> Status {
    const Index n = fit.n(), m = fit.outputs();
    const auto count = static_cast<std::size_t>(n);
    const double all = total_weight(fit), factor = sum ? 1.0 : 1.0 / all;
    std::vector<double> r(count), v(count);
    std::vector<Loss> losses(count);
    out.c.assign(count * static_cast<std::size_t>(m), 0.0);
    out.precision.assign(count, 0.0);
    out.scale = 1.0;
    if (profiled) {
      out.scale = 0.0;
      for (Index k = 0; k < m; ++k)
        for (Index i = 0; i < n; ++i) out.scale += weight(fit, i) * fit.c(i, k) * fit.c(i, k) / fit.precision[i] / all;
      if (!(out.scale > 0.0))
        return Status::invalid("leave_one_out: every point is predicted exactly, and the scale that explains it is zero");
    }
    double of_scale = 0.0;  // dJ/dscale
    for (Index k = 0; k < m; ++k) {
      for (std::size_t i = 0; i < count; ++i) {
        r[i] = fit.c(static_cast<Index>(i), k) / fit.precision[i];
        v[i] = out.scale / fit.precision[i];
      }
      loss(n, r.data(), v.data(), losses.data());
      for (std::size_t i = 0; i < count; ++i) {
        const double p = fit.precision[i], w = factor * weight(fit, static_cast<Index>(i));
        out.value += w * losses[i].value;
        out.c[i + static_cast<std::size_t>(k) * count] = w * losses[i].residual / p;
        out.precision[i] -= w * (losses[i].residual * r[i] + losses[i].variance * v[i]) / p;
        of_scale += w * losses[i].variance / p;
      }
    }
    for (Index k = 0; profiled && k < m; ++k)
      for (std::size_t i = 0; i < count; ++i) {
        const double c = fit.c(static_cast<Index>(i), k), p = fit.precision[i];
        const double part = of_scale * weight(fit, static_cast<Index>(i)) / all;
        out.c[i + static_cast<std::size_t>(k) * count] += part * 2.0 * c / p;
        out.precision[i] -= part * c * c / (p * p);
      }
    return {};
  }};
}

Criterion generalized_cross_validation() {
  return {[](const Fit& fit, Partials& out) -> Status {
    const Index n = fit.n(), m = fit.outputs();
    const auto count = static_cast<std::size_t>(n);
    double mean = 0.0;  // of the noise
    for (Index i = 0; i < n; ++i) {
      if (!(fit.noise[i] > 0.0))
        return Status::invalid("gcv: the noise must be positive: without it there is nothing to cross-validate");
      mean += fit.noise[i] / static_cast<double>(n);
    }
    double trace = 0.0, square = 0.0;
    std::vector<double> squares(count, 0.0);  // sum_k c_ik^2
    for (Index i = 0; i < n; ++i) {
      const double unit = fit.noise[i] / mean;
      trace += unit * fit.precision[i];
      for (Index k = 0; k < m; ++k) squares[static_cast<std::size_t>(i)] += fit.c(i, k) * fit.c(i, k);
      square += unit * squares[static_cast<std::size_t>(i)];
    }
    const double factor = static_cast<double>(n) / (static_cast<double>(m) * trace * trace);
    out.value = factor * square;
    out.c.resize(count * static_cast<std::size_t>(m));
    out.precision.resize(count);
    out.noise.resize(count);
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double unit = fit.noise[i] / mean, less = 2.0 * out.value / trace;
      for (Index k = 0; k < m; ++k) out.c[at + static_cast<std::size_t>(k) * count] = 2.0 * factor * unit * fit.c(i, k);
      out.precision[at] = -less * unit;
      // A noise also changes the mean, and so the unit of all.
      out.noise[at] = (factor * squares[at] - less * fit.precision[i] + out.value / static_cast<double>(n)) / mean;
    }
    return {};
  }};
}

Criterion unbiased_risk(std::vector<double> variance) {
  return {[variance = std::move(variance)](const Fit& fit, Partials& out) -> Status {
    const Index n = fit.n(), m = fit.outputs();
    const auto count = static_cast<std::size_t>(n);
    if (variance.size() != 1 && variance.size() != count)
      return Status::invalid("unbiased_risk: give the variance of the noise, one number or one for each point");
    out.c.resize(count * static_cast<std::size_t>(m));
    out.precision.resize(count);
    out.noise.resize(count);
    const auto outputs = static_cast<double>(m);
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double s = variance[variance.size() == 1 ? 0 : at], noise = fit.noise[i], w = weight(fit, i);
      double square = 0.0;
      for (Index k = 0; k < m; ++k) {
        square += fit.c(i, k) * fit.c(i, k);
        out.c[at + static_cast<std::size_t>(k) * count] = 2.0 * w * noise * noise * fit.c(i, k);
      }
      out.value += w * (noise * noise * square + outputs * (2.0 * s * (1.0 - noise * fit.precision[i]) - s));
      out.precision[at] = -2.0 * w * outputs * s * noise;
      out.noise[at] = 2.0 * w * (noise * square - outputs * s * fit.precision[i]);
    }
    return {};
  }};
}

}  // namespace criteria
}  // namespace kernsel

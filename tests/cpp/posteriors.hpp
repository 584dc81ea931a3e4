// Points, targets and the predictions of a posterior at new points, for the tests of posteriors by approximations.
#pragma once

#include <algorithm>
#include <functional>

#include "check.hpp"
#include "kernsel/posterior.hpp"

using kernsel::Index;
using kernsel::Kernel;
using kernsel::Posterior;
using kernsel::rows;
using kernsel::vector;
using kernsel::View;

namespace {

using Numbers = std::vector<double>;

constexpr Index n = 60, d = 2, m = 9;
const Numbers x = random_numbers<double>(n * d, 1), z = random_numbers<double>(m * d, 2);
const View<const double> X = rows(x.data(), n, d), Z = rows(z.data(), m, d);

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Numbers targets(Index outputs) {
  Numbers y = random_numbers<double>(outputs * n, 3);
  for (Index i = 0; i < n; ++i) y[at(outputs * i)] = std::sin(X(i, 0)) + 3.0 * X(i, 1) + 5.0;
  return y;
}

Numbers variances() {
  Numbers noise = random_numbers<double>(n, 4);
  for (double& value : noise) value = 0.05 + 0.1 * value * value;
  return noise;
}

// The largest difference, relative to the largest entry.
double difference(const Numbers& a, const Numbers& b) {
  double most = 0.0, size = 1e-300;
  for (std::size_t i = 0; i < a.size(); ++i) {
    size = std::max(size, std::abs(b[i]));
    most = std::abs(a[i] - b[i]) > most || std::isnan(a[i]) ? std::abs(a[i] - b[i]) : most;
  }
  return a.size() == b.size() ? most / size : std::nan("");
}

Numbers mean_of(const Posterior& model, View<const double> at_points = Z) {
  Numbers out(at(at_points.rows * model.outputs()));
  CHECK(model.mean(at_points, rows(out.data(), at_points.rows, model.outputs())).ok());
  return out;
}

Numbers variance_of(const Posterior& model, View<const double> at_points = Z) {
  Numbers out(at(at_points.rows));
  CHECK(model.variance(at_points, vector(out.data(), at_points.rows)).ok());
  return out;
}

Numbers covariance_of(const Posterior& model, View<const double> at_points = Z) {
  Numbers out(at(at_points.rows * at_points.rows));
  CHECK(model.covariance(at_points, rows(out.data(), at_points.rows, at_points.rows)).ok());
  return out;
}

Numbers mean_gradient_of(const Posterior& model) {
  Numbers out(at(m * d * model.outputs()));
  CHECK(model.mean_gradient(Z, rows(out.data(), m, d * model.outputs())).ok());
  return out;
}

Numbers variance_gradient_of(const Posterior& model) {
  Numbers out(at(m * d));
  CHECK(model.variance_gradient(Z, rows(out.data(), m, d)).ok());
  return out;
}

// Residuals, variances and leverages of points that are left out, one after the other.
Numbers left_out_of(const Posterior& model) {
  const Index points = model.points(), outputs = model.outputs();
  Numbers out(at(points * (outputs + 2)));
  double* after = out.data() + points * outputs;
  CHECK(model.leave_one_out(rows(out.data(), points, outputs), vector(after, points), vector(after + points, points)).ok());
  return out;
}

Numbers values_of(const Posterior& model) {
  Numbers out(3);
  CHECK(model.value(kernsel::criteria::likelihood(), out[0]).ok());
  CHECK(model.value(kernsel::criteria::likelihood(true), out[1]).ok());
  CHECK(model.value(kernsel::criteria::leave_out(kernsel::criteria::log_density()), out[2]).ok());
  return out;
}

Numbers central_differences(Index width, const std::function<Numbers(View<const double>)>& f) {
  Numbers out(at(m * d * width));
  const double step = 1e-5;
  for (Index j = 0; j < d; ++j) {
    Numbers ahead = z, behind = z;
    for (Index i = 0; i < m; ++i) {
      ahead[at(i * d + j)] += step;
      behind[at(i * d + j)] -= step;
    }
    const Numbers a = f(rows<const double>(ahead.data(), m, d)), b = f(rows<const double>(behind.data(), m, d));
    for (Index i = 0; i < m; ++i)
      for (Index k = 0; k < width; ++k)
        out[at((i * d + j) * width + k)] = (a[at(i * width + k)] - b[at(i * width + k)]) / (2.0 * step);
  }
  return out;
}

}  // namespace

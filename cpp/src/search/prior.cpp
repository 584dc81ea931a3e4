#include "kernsel/prior.hpp"

#include <cmath>

namespace kernsel {

namespace {

constexpr double pi = 3.14159265358979323846;

// Replaces the lower triangle of H, (n, n), by its Cholesky factor. Returns whether H is positive definite.
bool factorize(std::vector<double>& H, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < k; ++j)
      for (std::size_t i = k; i < n; ++i) H[i + k * n] -= H[i + j * n] * H[k + j * n];
    const double pivot = H[k + k * n];
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    for (std::size_t i = k; i < n; ++i) H[i + k * n] /= std::sqrt(pivot);
  }
  return true;
}

}  // namespace

double Prior::log_density(const std::vector<double>& x, std::vector<double>& gradient, std::vector<double>& curvature) const {
  const std::size_t count = x.size();
  double sum = 0.0;
  const auto bend = [&](Index a, Index b, double by) {
    if (!curvature.empty()) curvature[static_cast<std::size_t>(a) + count * static_cast<std::size_t>(b)] += by;
  };
  const auto slope = [&](Index a, double by) {
    if (!gradient.empty()) gradient[static_cast<std::size_t>(a)] += by;
  };
  for (const One& one : ones) {
    const double from = one.than >= 0 ? x[static_cast<std::size_t>(one.than)] : 0.0;
    const double z = (x[static_cast<std::size_t>(one.at)] - from - one.middle) / one.width, size = 1.0 + z * z;
    sum -= one.cauchy ? std::log(pi * one.width * size) : 0.5 * z * z + std::log(one.width) + 0.5 * std::log(2.0 * pi);
    const double first = (one.cauchy ? 2.0 * z / size : z) / one.width;
    const double second = (one.cauchy ? 2.0 / size : 1.0) / (one.width * one.width);
    slope(one.at, first);
    bend(one.at, one.at, second);
    if (one.than < 0) continue;
    slope(one.than, -first);
    bend(one.than, one.than, second);
    bend(one.at, one.than, -second);
    bend(one.than, one.at, -second);
  }
  if (!alike.empty() && !spread_is_given) sum -= spread / mean_spread + std::log(mean_spread);
  for (const Alike& group : alike) {
    const auto k = static_cast<double>(group.at.size());
    std::vector<double> from;
    double common = 0.0;
    for (std::size_t i = 0; i < group.at.size(); ++i) {
      from.push_back(x[static_cast<std::size_t>(group.at[i])] - group.middle[i]);
      common += from.back() / k;
    }
    const double precision = 1.0 / (spread * spread);
    // The precision of the common part, in the direction (1, ..., 1) / k^(1/2).
    const double of_common = 1.0 / (spread * spread + k * group.width * group.width);
    sum += 0.5 * (k - 1.0) * std::log(precision / (2.0 * pi)) - 0.5 * k * common * common * of_common;
    if (of_common > 0.0) sum += 0.5 * std::log(of_common / (2.0 * pi));
    for (std::size_t i = 0; i < group.at.size(); ++i) {
      const double apart = from[i] - common;
      sum -= 0.5 * apart * apart * precision;
      slope(group.at[i], apart * precision + common * of_common);
      for (std::size_t j = 0; j < group.at.size(); ++j)
        bend(group.at[i], group.at[j], (i == j ? precision : 0.0) + (of_common - precision) / k);
    }
  }
  return sum;
}

double laplace_near(double log_density, const std::vector<double>& gradient, const std::vector<double>& H) {
  const std::size_t n = gradient.size();
  std::vector<double> L = H, step = gradient;
  if (!factorize(L, n)) return std::numeric_limits<double>::quiet_NaN();
  double sum = log_density;
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < k; ++j) step[k] -= L[k + j * n] * step[j];
    step[k] /= L[k + k * n];
    sum += 0.5 * step[k] * step[k] + 0.5 * std::log(2.0 * pi) - std::log(L[k + k * n]);
  }
  return sum;
}

}  // namespace kernsel

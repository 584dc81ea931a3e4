// The units of columns in which neighbours are near, read off the kernel's values.
#include <algorithm>
#include <cmath>

#include "kernsel/gram.hpp"
#include "kernsel/vecchia.hpp"

namespace kernsel {

namespace {

constexpr Index places = 16;  // points at which the correlation is computed
constexpr Index steps = 96;   // distances, from nearest to farthest, in ranges of the column
constexpr double nearest = 1e-6, farthest = 1e3;
constexpr double fall = 0.5;

double distance_of(Index step, double range) {
  const double share = static_cast<double>(step) / static_cast<double>(steps - 1);
  return range * nearest * std::pow(farthest / nearest, share);
}

// The mean correlation of the places with themselves, moved by each of the distances along a column.
Status correlations(const Kernel& k, View<const double> at, Index column, double range, std::vector<double>& out) {
  const Index d = at.cols;
  std::vector<double> moved(static_cast<std::size_t>(places * steps * d)), K(static_cast<std::size_t>(places * places * steps)),
      variance(static_cast<std::size_t>(places)), of_moved(static_cast<std::size_t>(places * steps));
  for (Index s = 0; s < steps; ++s)
    for (Index i = 0; i < places; ++i)
      for (Index j = 0; j < d; ++j)
        moved[static_cast<std::size_t>((s * places + i) * d + j)] = at(i, j) + (j == column ? distance_of(s, range) : 0.0);
  const View<const double> Z = rows(static_cast<const double*>(moved.data()), places * steps, d);
  Status status = cross_gram<double>(k, at, Z, rows(K.data(), places, places * steps));
  // White noise is no part of a correlation: the diagonal is that between a set of points and another one.
  std::vector<double> square(static_cast<std::size_t>(places * places));
  if (status.ok()) status = cross_gram<double>(k, at, at, rows(square.data(), places, places));
  for (Index i = 0; i < places; ++i) variance[static_cast<std::size_t>(i)] = square[static_cast<std::size_t>(i * (places + 1))];
  for (Index s = 0; s < steps && status.ok(); ++s) {
    const View<const double> here = Z.block(s * places, 0, places, d);
    status = cross_gram<double>(k, here, here, rows(square.data(), places, places));
    for (Index i = 0; i < places; ++i)
      of_moved[static_cast<std::size_t>(s * places + i)] = square[static_cast<std::size_t>(i * (places + 1))];
  }
  if (!status.ok()) return status;
  out.assign(static_cast<std::size_t>(steps), 0.0);
  for (Index s = 0; s < steps; ++s)
    for (Index i = 0; i < places; ++i) {
      const Index with = s * places + i;
      const double size = std::sqrt(variance[static_cast<std::size_t>(i)] * of_moved[static_cast<std::size_t>(with)]);
      const double value = K[static_cast<std::size_t>(i * places * steps + with)];
      out[static_cast<std::size_t>(s)] += (size > 0.0 ? value / size : 1.0) / static_cast<double>(places);
    }
  return {};
}

}  // namespace

Status column_scales(const Kernel& k, View<const double> X, std::vector<double>& scales) {
  const Index n = X.rows, d = X.cols;
  scales.assign(static_cast<std::size_t>(d), 0.0);
  if (n == 0) return Status::invalid("column_scales: there are no points");
  std::vector<double> sample(static_cast<std::size_t>(places * d)), fallen;
  for (Index i = 0; i < places; ++i)
    for (Index j = 0; j < d; ++j) sample[static_cast<std::size_t>(i * d + j)] = X(i * (n - 1) / (places - 1), j);
  const View<const double> at = rows(static_cast<const double*>(sample.data()), places, d);
  for (Index j = 0; j < d; ++j) {
    double lowest = X(0, j), highest = lowest;
    for (Index i = 1; i < n; ++i) {
      lowest = std::min(lowest, X(i, j));
      highest = std::max(highest, X(i, j));
    }
    const double range = highest - lowest;
    if (!(range > 0.0)) continue;
    const Status status = correlations(k, at, j, range, fallen);
    if (!status.ok()) return status;
    Index s = 0;
    while (s < steps && fallen[static_cast<std::size_t>(s)] > fall) ++s;
    if (s == steps) continue;
    double distance = distance_of(s, range);
    if (s > 0) {  // between two steps, by the logarithm of the distance
      const double before = fallen[static_cast<std::size_t>(s - 1)], after = fallen[static_cast<std::size_t>(s)];
      const double share = (before - fall) / std::max(before - after, 1e-300);
      distance = std::exp((1.0 - share) * std::log(distance_of(s - 1, range)) + share * std::log(distance));
    }
    scales[static_cast<std::size_t>(j)] = 1.0 / distance;
  }
  return {};
}

}  // namespace kernsel

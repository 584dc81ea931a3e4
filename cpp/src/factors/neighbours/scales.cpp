// The units of columns in which neighbours are near, read off the kernel's values.
#include <algorithm>
#include <cmath>

#include "factors/neighbours/features.hpp"
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

// Some of the points, evenly among the rows.
std::vector<double> sample_of(View<const double> X) {
  std::vector<double> sample(static_cast<std::size_t>(places * X.cols));
  for (Index i = 0; i < places; ++i)
    for (Index j = 0; j < X.cols; ++j) sample[static_cast<std::size_t>(i * X.cols + j)] = X(i * (X.rows - 1) / (places - 1), j);
  return sample;
}

// The mean correlation of some points of X with themselves, moved to other levels: those of others among them. It is 1 if all
// have the same level.
Status correlation_of_levels(const Kernel& k, View<const double> X, const std::vector<Index>& columns, double& mean) {
  const Index d = X.cols;
  const std::vector<double> sample = sample_of(X);
  const View<const double> at = rows(sample.data(), places, d);
  std::vector<double> moved(static_cast<std::size_t>(2 * d)), square(4);
  double sum = 0.0;
  Index count = 0;
  for (Index i = 0; i < places; ++i)
    for (Index j = 0; j < i; ++j) {
      bool differ = false;
      for (Index c = 0; c < d; ++c) moved[static_cast<std::size_t>(c)] = moved[static_cast<std::size_t>(d + c)] = at(i, c);
      for (const Index c : columns) {
        moved[static_cast<std::size_t>(d + c)] = at(j, c);
        differ = differ || at(i, c) != at(j, c);
      }
      if (!differ) continue;
      const View<const double> both = rows(static_cast<const double*>(moved.data()), 2, d);
      const Status status = cross_gram<double>(k, both, both, rows(square.data(), 2, 2));
      if (!status.ok()) return status;
      const double size = std::sqrt(square[0] * square[3]);
      sum += size > 0.0 ? square[1] / size : 1.0;
      ++count;
    }
  mean = count > 0 ? sum / static_cast<double>(count) : 1.0;
  return {};
}

}  // namespace

Status correlations_along(const Kernel& k, View<const double> X, Index column, const std::vector<double>& distances,
                          std::vector<double>& out) {
  const Index d = X.cols, count = static_cast<Index>(distances.size());
  const std::vector<double> sample = sample_of(X);
  const View<const double> at = rows(sample.data(), places, d);
  std::vector<double> moved(static_cast<std::size_t>(places * count * d)), K(static_cast<std::size_t>(places * places * count)),
      variance(static_cast<std::size_t>(places)), of_moved(static_cast<std::size_t>(places * count));
  for (Index s = 0; s < count; ++s)
    for (Index i = 0; i < places; ++i)
      for (Index j = 0; j < d; ++j)
        moved[static_cast<std::size_t>((s * places + i) * d + j)] =
            at(i, j) + (j == column ? distances[static_cast<std::size_t>(s)] : 0.0);
  const View<const double> Z = rows(static_cast<const double*>(moved.data()), places * count, d);
  Status status = cross_gram<double>(k, at, Z, rows(K.data(), places, places * count));
  // White noise is no part of a correlation: the diagonal is that between a set of points and another one.
  std::vector<double> square(static_cast<std::size_t>(places * places));
  if (status.ok()) status = cross_gram<double>(k, at, at, rows(square.data(), places, places));
  for (Index i = 0; i < places; ++i) variance[static_cast<std::size_t>(i)] = square[static_cast<std::size_t>(i * (places + 1))];
  for (Index s = 0; s < count && status.ok(); ++s) {
    const View<const double> here = Z.block(s * places, 0, places, d);
    status = cross_gram<double>(k, here, here, rows(square.data(), places, places));
    for (Index i = 0; i < places; ++i)
      of_moved[static_cast<std::size_t>(s * places + i)] = square[static_cast<std::size_t>(i * (places + 1))];
  }
  if (!status.ok()) return status;
  out.assign(static_cast<std::size_t>(count), 0.0);
  for (Index s = 0; s < count; ++s)
    for (Index i = 0; i < places; ++i) {
      const Index with = s * places + i;
      const double size = std::sqrt(variance[static_cast<std::size_t>(i)] * of_moved[static_cast<std::size_t>(with)]);
      const double value = K[static_cast<std::size_t>(i * places * count + with)];
      out[static_cast<std::size_t>(s)] += (size > 0.0 ? value / size : 1.0) / static_cast<double>(places);
    }
  return {};
}

Status column_scales(const Kernel& k, View<const double> X, std::vector<double>& scales) {
  const Index n = X.rows, d = X.cols;
  scales.assign(static_cast<std::size_t>(d), 0.0);
  if (n == 0) return Status::invalid("column_scales: there are no points");
  std::vector<bool> of_levels(static_cast<std::size_t>(d), false);
  for (const std::vector<Index>& columns : level_columns(k, d)) {  // other levels are far if they are hardly correlated
    double correlation = 1.0;
    const Status status = correlation_of_levels(k, X, columns, correlation);
    if (!status.ok()) return status;
    for (const Index j : columns) {
      of_levels[static_cast<std::size_t>(j)] = true;
      if (correlation < fall) scales[static_cast<std::size_t>(j)] = 1.0 / nearest;
    }
  }
  std::vector<double> distances(static_cast<std::size_t>(steps)), fallen;
  for (Index j = 0; j < d; ++j) {
    if (of_levels[static_cast<std::size_t>(j)]) continue;
    double lowest = X(0, j), highest = lowest;
    for (Index i = 1; i < n; ++i) {
      lowest = std::min(lowest, X(i, j));
      highest = std::max(highest, X(i, j));
    }
    const double range = highest - lowest;
    if (!(range > 0.0)) continue;
    for (Index s = 0; s < steps; ++s) distances[static_cast<std::size_t>(s)] = distance_of(s, range);
    const Status status = correlations_along(k, X, j, distances, fallen);
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

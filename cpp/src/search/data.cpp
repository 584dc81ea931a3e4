#include "kernsel/data.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kernsel {

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr Index fewest_points = 8;     // relevance and periods are not estimated from fewer
constexpr Index enough_points = 1000;  // of these at most a period is estimated
constexpr Index most_frequencies = 2000;
constexpr Index fewest_for_waves = 20;         // oscillations and the loss of likeness are not looked for in fewer points
constexpr Index points_of_many_columns = 300;  // at most so many are used for it, if there are several columns
constexpr Index most_outputs = 4;              // and so many outputs

// The weighted mean of f(row); weights may be nullptr.
template <class F>
double mean(Index rows, const double* weights, const F& f) {
  double sum = 0.0, total = 0.0;
  for (Index i = 0; i < rows; ++i) {
    const double weight = weights ? weights[i] : 1.0;
    sum += weight * f(i);
    total += weight;
  }
  return sum / total;
}

double average(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// x'A^-1 x for a positive definite A, whose lower triangle is overwritten by its Cholesky factor.
double quadratic(double (&A)[3][3], const double (&x)[3]) {
  double z[3], sum = 0.0;
  for (int j = 0; j < 3; ++j) {
    for (int k = 0; k < j; ++k) A[j][j] -= A[j][k] * A[j][k];
    A[j][j] = std::sqrt(A[j][j]);
    z[j] = x[j];
    for (int k = 0; k < j; ++k) z[j] -= A[j][k] * z[k];
    z[j] /= A[j][j];
    sum += z[j] * z[j];
    for (int i = j + 1; i < 3; ++i) {
      for (int k = 0; k < j; ++k) A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
  }
  return sum;
}

}  // namespace

const std::vector<double>& Data::ranges() {
  for (Index k = static_cast<Index>(ranges_.size()); k < X_.cols; ++k) {
    double least = X_.rows > 0 ? X_(0, k) : 0.0, most = least;
    for (Index i = 1; i < X_.rows; ++i) {
      least = std::min(least, X_(i, k));
      most = std::max(most, X_(i, k));
    }
    ranges_.push_back(most > least ? most - least : 1.0);
  }
  return ranges_;
}

const std::vector<double>& Data::spacings() {
  std::vector<double> values(static_cast<std::size_t>(X_.rows)), gaps;
  for (Index k = static_cast<Index>(spacings_.size()); k < X_.cols; ++k) {
    for (Index i = 0; i < X_.rows; ++i) values[static_cast<std::size_t>(i)] = X_(i, k);
    std::sort(values.begin(), values.end());
    gaps.clear();
    for (std::size_t i = 1; i < values.size(); ++i)
      if (values[i] > values[i - 1]) gaps.push_back(values[i] - values[i - 1]);
    if (gaps.empty()) {
      spacings_.push_back(1.0);
      continue;
    }
    const auto half = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
    std::nth_element(gaps.begin(), half, gaps.end());
    const double upper = *half, lower = gaps.size() % 2 == 1 ? upper : *std::max_element(gaps.begin(), half);
    spacings_.push_back(0.5 * lower + 0.5 * upper);
  }
  return spacings_;
}

const std::vector<double>& Data::spreads() {
  ranges();
  for (Index k = static_cast<Index>(spreads_.size()); k < X_.cols; ++k) {
    const double unit = ranges_[static_cast<std::size_t>(k)];  // in this unit squares neither overflow nor vanish
    double spread = 0.0;
    if (X_.rows > 0) {
      const double centre = mean(X_.rows, weights_, [&](Index i) { return X_(i, k); });
      const auto square = [&](Index i) { return (X_(i, k) - centre) / unit * ((X_(i, k) - centre) / unit); };
      spread = std::sqrt(mean(X_.rows, weights_, square)) * unit;
    }
    spreads_.push_back(spread > 0.0 ? spread : 1.0);
  }
  return spreads_;
}

const std::vector<double>& Data::sizes() {
  for (Index k = static_cast<Index>(sizes_.size()); k < X_.cols; ++k) {
    double unit = 0.0;
    for (Index i = 0; i < X_.rows; ++i) unit = std::max(unit, std::abs(X_(i, k)));
    double size = 0.0;
    if (unit > 0.0)
      size = std::sqrt(mean(X_.rows, weights_, [&](Index i) { return X_(i, k) / unit * (X_(i, k) / unit); })) * unit;
    sizes_.push_back(size > 0.0 ? size : 1.0);
  }
  return sizes_;
}

const std::vector<double>& Data::relevance() {
  if (!relevance_.empty() || X_.cols == 0) return relevance_;
  const Index n = X_.rows;
  relevance_.assign(static_cast<std::size_t>(X_.cols), 1.0);
  if (n < fewest_points) return relevance_;
  std::vector<std::vector<double>> targets;  // centred, of variance one
  for (Index j = 0; j < y_.cols; ++j) {
    const double centre = mean(n, nullptr, [&](Index i) { return y_(i, j); });
    const double size = std::sqrt(mean(n, nullptr, [&](Index i) { return (y_(i, j) - centre) * (y_(i, j) - centre); }));
    if (!(size > 0.0)) continue;
    targets.emplace_back();
    for (Index i = 0; i < n; ++i) targets.back().push_back((y_(i, j) - centre) / size);
  }
  if (targets.empty()) return relevance_;
  ranges();
  std::vector<double> basis(static_cast<std::size_t>(3 * n));  // x, x^2, x^3, centred
  for (Index k = 0; k < X_.cols; ++k) {
    const double centre = mean(n, nullptr, [&](Index i) { return X_(i, k); }), unit = ranges_[static_cast<std::size_t>(k)];
    double sums[3] = {0.0, 0.0, 0.0};
    for (Index i = 0; i < n; ++i) {
      const double x = (X_(i, k) - centre) / unit, powers[3] = {x, x * x, x * x * x};
      for (int a = 0; a < 3; ++a) {
        basis[static_cast<std::size_t>(3 * i + a)] = powers[a];
        sums[a] += powers[a];
      }
    }
    double moments[3][3] = {};
    for (Index i = 0; i < n; ++i) {
      double* b = basis.data() + 3 * i;
      for (int a = 0; a < 3; ++a) b[a] -= sums[a] / static_cast<double>(n);
      for (int a = 0; a < 3; ++a)
        for (int c = 0; c <= a; ++c) moments[a][c] += b[a] * b[c];
    }
    double share = 0.0;
    for (const std::vector<double>& target : targets) {
      double A[3][3], products[3] = {0.0, 0.0, 0.0};
      for (int a = 0; a < 3; ++a) {
        for (int c = 0; c <= a; ++c) A[a][c] = moments[a][c];
        A[a][a] += 1e-10 * static_cast<double>(n);  // A is singular if the column has fewer than four values
        for (Index i = 0; i < n; ++i)
          products[a] += basis[static_cast<std::size_t>(3 * i + a)] * target[static_cast<std::size_t>(i)];
      }
      share += quadratic(A, products);
    }
    relevance_[static_cast<std::size_t>(k)] = share / static_cast<double>(targets.size()) / static_cast<double>(n);
  }
  return relevance_;
}

double Data::variance() {
  if (variance_) return *variance_;
  double sum = 0.0;
  for (Index j = 0; j < y_.cols && y_.rows > 0; ++j) {
    const double centre = mean(y_.rows, weights_, [&](Index i) { return y_(i, j); });
    sum += mean(y_.rows, weights_, [&](Index i) { return (y_(i, j) - centre) * (y_(i, j) - centre); });
  }
  if (y_.cols > 0) sum /= static_cast<double>(y_.cols);
  variance_ = sum > 0.0 ? sum : 1.0;
  return *variance_;
}

const Proposal& Data::propose(Rule rule) {
  std::optional<Proposal>& known = proposals_[static_cast<std::size_t>(rule)];
  if (!known) known = proposal(rule);
  return *known;
}

Proposal Data::proposal(Rule rule) {
  const double root = std::sqrt(static_cast<double>(std::max<Index>(X_.cols, 1)));
  const auto times = [](std::vector<double> values, double factor) {
    for (double& value : values) value *= factor;
    return values;
  };
  switch (rule) {
    case Rule::length: {  // at the start scaled distances are about 1; from half the spacing to 1e4 ranges
      std::vector<double> lower = times(spacings(), 0.5);
      ranges();
      for (std::size_t k = 0; k < lower.size(); ++k) lower[k] = std::clamp(lower[k], 1e-3 * ranges_[k], 1e-2 * ranges_[k]);
      return {times(spreads(), root), std::move(lower), times(ranges(), 1e4)};
    }
    case Rule::size:  // inner products are about 1 at the start
      return {times(sizes(), root), times(sizes_, 1e-3 * root), times(sizes_, 1e4 * root)};
    case Rule::norm: {  // the root mean square of the norms of the points
      double square = 0.0, largest = 0.0;
      for (const double size : sizes()) largest = std::max(largest, size);
      for (const double size : sizes_) square += size / largest * (size / largest);
      const double scale = X_.cols > 0 ? largest * std::sqrt(square) : 1.0;
      return {{scale}, {1e-3 * scale}, {1e3 * scale}};
    }
    case Rule::share:
      return {{0.5}, {0.01}, {0.9999}};
    case Rule::variance:
      return {{variance()}, {1e-5 * variance()}, {1e10 * variance()}};
    case Rule::noise:  // from 1e-10 to 10 times the variance of the targets
      return {{0.1 * variance()}, {1e-10 * variance()}, {10.0 * variance()}};
    case Rule::period: {  // that of the strongest oscillation; from twice the spacing to twice the range
      Proposal found;
      for (Index k = 0; k < X_.cols; ++k) {
        const auto at = static_cast<std::size_t>(k);
        found.lower.push_back(std::min(2.0 * spacings()[at], 0.5 * ranges()[at]));
        found.upper.push_back(2.0 * ranges_[at]);
        const double shortest = found.lower.back(), longest = 0.5 * found.upper.back();
        Index frequencies = 0;
        if (y_.cols == 0 || X_.rows < fewest_points)
          found.start.push_back(std::sqrt(shortest) * std::sqrt(longest));
        else
          found.start.push_back(strongest_wave(k, 0, shortest, longest, enough_points, frequencies).period);
      }
      return found;
    }
    case Rule::signed_number:
      return {{0.0}, {-100.0}, {100.0}};
    default:
      return {{1.0}, {1e-2}, {1e3}};
  }
}

// The rows of at most `count` points: one of each of as many parts of equal size, at a place in it that looks random. Rows at
// equal distances would make oscillations that are faster than they are look like slow ones.
std::vector<Index> Data::sample(Index count) const {
  const Index n = X_.rows;
  std::vector<Index> chosen;
  if (n <= count) {
    for (Index i = 0; i < n; ++i) chosen.push_back(i);
    return chosen;
  }
  std::uint64_t state = 1;
  for (Index i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // the generator of Knuth's MMIX
    const Index first = i * n / count, size = (i + 1) * n / count - first;
    chosen.push_back(first + static_cast<Index>(state >> 33) % size);
  }
  return chosen;
}

// The largest value of the periodogram of an output as a function of one column, for periods between `shortest` and `longest`,
// from at most so many points; also the number of frequencies tried. A straight line is subtracted first, since it would look
// like the longest period.
Data::Wave Data::strongest_wave(Index column, Index output, double shortest, double longest, Index points,
                                Index& frequencies) const {
  std::vector<double> x, y;
  for (const Index row : sample(points)) {
    x.push_back(X_(row, column));
    y.push_back(y_(row, output));
  }
  const double centre_x = average(x), centre_y = average(y);
  double size = std::numeric_limits<double>::min(), square = 0.0, product = 0.0, total = 0.0;
  for (double& value : x) size = std::max(size, std::abs(value -= centre_x));
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] -= centre_y;
    square += x[i] / size * (x[i] / size);
    product += x[i] / size * y[i];
  }
  const double slope = product / std::max(square, std::numeric_limits<double>::min());
  double largest = std::numeric_limits<double>::min();
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(y[i] -= slope * (x[i] / size)));
  for (double& value : y) {
    value /= largest;
    total += value * value;
  }
  // Equidistant frequencies from 1 / longest to 1 / shortest, four for each one that the range can resolve, within limits. From
  // one to the next the phase of a point turns by the same angle, so that no sine is computed for each. Points are treated in
  // groups, whose turns do not wait for each other.
  const double wanted = 4.0 * longest * (1.0 / shortest - 1.0 / longest);
  const auto count = static_cast<Index>(std::clamp(wanted, 8.0, static_cast<double>(most_frequencies)));
  const double first = 1.0 / longest, step = (1.0 / shortest - first) / static_cast<double>(count - 1);
  std::vector<double> real(static_cast<std::size_t>(count), 0.0), imaginary = real;
  constexpr std::size_t group = 8;
  for (std::size_t begin = 0; begin < x.size(); begin += group) {
    double u[group] = {}, v[group] = {}, c[group] = {}, s[group] = {};
    for (std::size_t i = 0; i < std::min(group, x.size() - begin); ++i) {
      const double turn = 2.0 * pi * step * x[begin + i], at = 2.0 * pi * first * x[begin + i];
      c[i] = std::cos(turn);
      s[i] = std::sin(turn);
      u[i] = y[begin + i] * std::cos(at);
      v[i] = y[begin + i] * std::sin(at);
    }
    for (std::size_t f = 0; f < real.size(); ++f) {
      double sum_u = 0.0, sum_v = 0.0;
      for (std::size_t i = 0; i < group; ++i) {
        sum_u += u[i];
        sum_v += v[i];
        const double turned = u[i] * c[i] - v[i] * s[i];
        v[i] = u[i] * s[i] + v[i] * c[i];
        u[i] = turned;
      }
      real[f] += sum_u;
      imaginary[f] += sum_v;
    }
  }
  Index best = 0;
  double most = -1.0;
  for (Index f = 0; f < count; ++f) {
    const double a = real[static_cast<std::size_t>(f)], b = imaginary[static_cast<std::size_t>(f)], power = a * a + b * b;
    if (power > most) {
      most = power;
      best = f;
    }
  }
  frequencies = count;
  return {1.0 / (first + static_cast<double>(best) * step), total > 0.0 ? most / total : 0.0};
}

const std::vector<double>& Data::periods() {
  if (!periods_.empty() || X_.cols == 0) return periods_;
  periods_.assign(static_cast<std::size_t>(X_.cols), 0.0);
  if (y_.cols == 0 || X_.rows < fewest_for_waves) return periods_;
  spacings();
  ranges();
  const Index points = X_.cols == 1 ? enough_points : points_of_many_columns;
  for (Index k = 0; k < X_.cols; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const double longest = ranges_[at];
    const double shortest = std::max(2.0 * spacings_[at], 2.0 * longest / static_cast<double>(std::min(X_.rows, points)));
    if (!std::isfinite(16.0 / shortest)) continue;  // frequencies overflow
    double most = 0.0;
    for (Index j = 0; j < std::min(y_.cols, most_outputs) && 4.0 * shortest < longest; ++j) {
      Index frequencies = 0;
      const Wave wave = strongest_wave(k, j, shortest, longest, points, frequencies);
      // The power of noise at one frequency is above t with the probability exp(-t); a quarter of them are independent.
      const bool noise = wave.power < std::log(0.25 * static_cast<double>(frequencies)) + 5.0;
      if (noise || wave.power < most || wave.period > 0.25 * longest) continue;
      most = wave.power;
      periods_[at] = wave.period;
    }
  }
  return periods_;
}

double Data::half_distance() {
  if (half_distance_) return *half_distance_;
  half_distance_ = 0.0;
  const Index m = std::min(y_.cols, most_outputs), d = X_.cols;
  if (m == 0 || d == 0 || X_.rows < fewest_for_waves) return 0.0;
  const std::vector<Index> chosen = sample(points_of_many_columns);
  const std::size_t n = chosen.size();
  ranges();
  std::vector<double> x, y;  // of the points: coordinates in ranges, and outputs of variance one half, one point after another
  for (const Index row : chosen)
    for (Index k = 0; k < d; ++k) x.push_back(X_(row, k) / ranges_[static_cast<std::size_t>(k)]);
  y.assign(n * static_cast<std::size_t>(m), 0.0);
  for (Index j = 0; j < m; ++j) {
    double centre = 0.0, square = 0.0;
    for (const Index row : chosen) centre += y_(row, j) / static_cast<double>(n);
    for (const Index row : chosen) square += (y_(row, j) - centre) * (y_(row, j) - centre) / static_cast<double>(n);
    for (std::size_t i = 0; i < n && square > 0.0; ++i)
      y[i * static_cast<std::size_t>(m) + static_cast<std::size_t>(j)] = (y_(chosen[i], j) - centre) / std::sqrt(2.0 * square);
  }
  struct Pair {
    double distance, difference;  // their squares; the difference of unlike points is 1 on average
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      Pair pair{0.0, 0.0};
      for (std::size_t k = 0; k < static_cast<std::size_t>(d); ++k) {
        const double apart = x[i * static_cast<std::size_t>(d) + k] - x[j * static_cast<std::size_t>(d) + k];
        pair.distance += apart * apart;
      }
      for (std::size_t k = 0; k < static_cast<std::size_t>(m); ++k) {
        const double apart = y[i * static_cast<std::size_t>(m) + k] - y[j * static_cast<std::size_t>(m) + k];
        pair.difference += apart * apart / static_cast<double>(m);
      }
      pairs.push_back(pair);
    }
  // Averages over as many pairs as there are points, from the nearest pairs on, as far as they are near.
  const std::size_t some = std::min(pairs.size(), 16 * n);
  std::nth_element(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(some - 1), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.distance < b.distance; });
  std::sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(some),
            [](const Pair& a, const Pair& b) { return a.distance < b.distance; });
  double nearest = 0.0;
  for (std::size_t begin = 0; begin + n <= some; begin += n) {
    double difference = 0.0;
    for (std::size_t i = begin; i < begin + n; ++i) difference += pairs[i].difference / static_cast<double>(n);
    if (begin == 0) nearest = difference;
    if (nearest > 0.8) break;
    if (difference > 0.5 * (1.0 + nearest)) {
      half_distance_ = std::sqrt(pairs[begin + n / 2].distance);
      break;
    }
  }
  return *half_distance_;
}

}  // namespace kernsel

#include "kernsel/data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernsel {

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr Index fewest_points = 8;     // relevance and periods are not estimated from fewer
constexpr Index enough_points = 1000;  // of these at most a period is estimated
constexpr Index most_frequencies = 2000;

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
      return {{0.5}, {0.01}, {1.0}};
    case Rule::variance:
      return {{variance()}, {1e-5 * variance()}, {1e10 * variance()}};
    case Rule::noise:  // from 1e-10 to 10 times the variance of the targets
      return {{0.1 * variance()}, {1e-10 * variance()}, {10.0 * variance()}};
    case Rule::period: {  // the one with the best sinusoid; from twice the spacing to twice the range
      Proposal found;
      for (Index k = 0; k < X_.cols; ++k) {
        const auto at = static_cast<std::size_t>(k);
        found.lower.push_back(std::min(2.0 * spacings()[at], 0.5 * ranges()[at]));
        found.upper.push_back(2.0 * ranges_[at]);
        found.start.push_back(best_period(k, found.lower.back(), 0.5 * found.upper.back()));
      }
      return found;
    }
    case Rule::signed_number:
      return {{0.0}, {-100.0}, {100.0}};
    default:
      return {{1.0}, {1e-2}, {1e3}};
  }
}

// The period, between `shortest` and `longest`, at which the periodogram of the first output as a function of one column is
// largest, from at most `enough_points` points. A straight line is subtracted first, since it would look like the longest
// period. Without enough data, the geometric mean of the two limits.
double Data::best_period(Index column, double shortest, double longest) const {
  const Index n = X_.rows;
  if (y_.cols == 0 || n < fewest_points) return std::sqrt(shortest) * std::sqrt(longest);
  const Index kept = std::min(n, enough_points);
  std::vector<double> x, y;
  for (Index i = 0; i < kept; ++i) {
    const Index row = i * (n - 1) / (kept - 1);
    x.push_back(X_(row, column));
    y.push_back(y_(row, 0));
  }
  const double centre_x = average(x), centre_y = average(y);
  double size = std::numeric_limits<double>::min(), square = 0.0, product = 0.0;
  for (double& value : x) size = std::max(size, std::abs(value -= centre_x));
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] -= centre_y;
    square += x[i] / size * (x[i] / size);
    product += x[i] / size * y[i];
  }
  const double slope = product / std::max(square, std::numeric_limits<double>::min());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] -= slope * (x[i] / size);
  // Equidistant frequencies from 1 / longest to 1 / shortest, four for each one that the range can resolve, within limits. From
  // one to the next the phase of a point turns by the same angle, so that no sine is computed for each.
  const double wanted = 4.0 * longest * (1.0 / shortest - 1.0 / longest);
  const auto count = static_cast<Index>(std::clamp(wanted, 8.0, static_cast<double>(most_frequencies)));
  const double first = 1.0 / longest, step = (1.0 / shortest - first) / static_cast<double>(count - 1);
  std::vector<double> real(static_cast<std::size_t>(count), 0.0), imaginary = real;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double turn = 2.0 * pi * step * x[i], c = std::cos(turn), s = std::sin(turn);
    double u = y[i] * std::cos(2.0 * pi * first * x[i]), v = y[i] * std::sin(2.0 * pi * first * x[i]);
    for (std::size_t f = 0; f < real.size(); ++f) {
      real[f] += u;
      imaginary[f] += v;
      const double turned = u * c - v * s;
      v = u * s + v * c;
      u = turned;
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
  return 1.0 / (first + static_cast<double>(best) * step);
}

}  // namespace kernsel

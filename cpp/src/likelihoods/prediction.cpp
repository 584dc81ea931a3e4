// Quantiles of y given f by search, and predictions over f ~ N(mean, variance) by quadrature.
#include <algorithm>
#include <cmath>
#include <vector>

#include "likelihoods/quadrature.hpp"
#include "likelihoods/quantiles.hpp"
#include "likelihoods/rows.hpp"

namespace kernsel {

namespace {

constexpr double least_reach = 9.0;  // standard deviations beyond which the normal density is negligible
constexpr double most_reach = 38.0;  // and where it is zero
constexpr double one_over_root_two_pi = 0.39894228040143267794;

// f = mean + deviation x at pairs of a row and x.
class Mixture {
 public:
  Mixture(const Likelihood& likelihood, const LatentNormal& at) : likelihood_(likelihood), at_(at) {}

  double deviation(Index row) const { return std::sqrt(at_.variance[row]); }

  // Functions that grow like exp(f) move what counts away from the mean.
  std::vector<Panel> panels(Index row, Index to) const {
    const double end = std::min(least_reach + 2.0 * deviation(row), most_reach);
    if (deviation(row) == 0.0) return {};
    return {{to, -end, -3.5}, {to, -3.5, 0.0}, {to, 0.0, 3.5}, {to, 3.5, end}};
  }

  Latent latent(Index count, const Index* row, const double* x) {
    f_.resize(static_cast<std::size_t>(count));
    size_.resize(at_.size ? f_.size() : 0);
    for (Index k = 0; k < count; ++k) {
      f_[static_cast<std::size_t>(k)] = at_.mean[row[k]] + deviation(row[k]) * x[k];
      if (at_.size) size_[static_cast<std::size_t>(k)] = at_.size[row[k]];
    }
    return {count, f_.data(), at_.size ? size_.data() : nullptr};
  }

  // The probability of values up to y[k] in row[k].
  Status probability(Index count, const Index* row, const double* y, double* out) {
    std::vector<Panel> all;
    for (Index k = 0; k < count; ++k)
      for (const Panel& panel : panels(row[k], k)) all.push_back(panel);
    const auto evaluate = [&](Index nodes, const Index* of, const double* x, double* values) {
      rows_.resize(static_cast<std::size_t>(nodes));
      y_.resize(rows_.size());
      for (Index k = 0; k < nodes; ++k) {
        rows_[static_cast<std::size_t>(k)] = row[of[k]];
        y_[static_cast<std::size_t>(k)] = y[of[k]];
      }
      const Status status = likelihood_.probability(latent(nodes, rows_.data(), x), y_.data(), values);
      for (Index k = 0; k < nodes; ++k) values[k] *= one_over_root_two_pi * std::exp(-0.5 * x[k] * x[k]);
      return status;
    };
    const std::vector<double> units(static_cast<std::size_t>(count), 1.0);
    Status status = integrate(count, std::move(all), 1, evaluate, units.data(), out);
    if (!status.ok()) return status;
    std::vector<Index> certain, places;
    std::vector<double> y_certain;
    for (Index k = 0; k < count; ++k)
      if (deviation(row[k]) == 0.0) {
        certain.push_back(row[k]);
        places.push_back(k);
        y_certain.push_back(y[k]);
      }
    if (certain.empty()) return status;
    const std::vector<double> zeros(certain.size());
    std::vector<double> found(certain.size());
    status = likelihood_.probability(latent(static_cast<Index>(certain.size()), certain.data(), zeros.data()), y_certain.data(),
                                     found.data());
    for (std::size_t k = 0; k < places.size(); ++k) out[places[k]] = found[k];
    return status;
  }

 private:
  const Likelihood& likelihood_;
  const LatentNormal at_;
  std::vector<double> f_, size_, y_;
  std::vector<Index> rows_;
};

LatentNormal part(const LatentNormal& at, Index begin, Index end) {
  return {end - begin, at.mean + begin, at.variance + begin, at.size ? at.size + begin : nullptr};
}

// E y = E m(f), var y = E v(f) + var m(f).
Status predict_block(const Likelihood& likelihood, const LatentNormal& at, double* mean, double* variance) {
  constexpr Index functions = 3;
  Mixture mixture(likelihood, at);
  std::vector<Panel> panels;
  for (Index i = 0; i < at.count; ++i)
    for (const Panel& panel : mixture.panels(i, i)) panels.push_back(panel);
  Status status = likelihood.conditional({at.count, at.mean, at.size}, mean, variance);
  if (!status.ok()) return status;
  std::vector<double> means, variances, sums(static_cast<std::size_t>(at.count * functions)), units;
  for (Index i = 0; i < at.count; ++i) units.insert(units.end(), {std::abs(mean[i]), mean[i] * mean[i], variance[i]});
  const auto evaluate = [&](Index count, const Index* row, const double* x, double* values) {
    means.resize(static_cast<std::size_t>(count));
    variances.resize(means.size());
    const Status done = likelihood.conditional(mixture.latent(count, row, x), means.data(), variances.data());
    for (Index k = 0; k < count && done.ok(); ++k) {
      const double density = one_over_root_two_pi * std::exp(-0.5 * x[k] * x[k]);
      const double away = means[static_cast<std::size_t>(k)] - mean[row[k]];
      const double all[functions] = {density * away, density * away * away, density * variances[static_cast<std::size_t>(k)]};
      std::copy_n(all, functions, values + k * functions);
    }
    return done;
  };
  status = integrate(at.count, std::move(panels), functions, evaluate, units.data(), sums.data());
  for (Index i = 0; i < at.count && status.ok(); ++i) {
    if (mixture.deviation(i) == 0.0) continue;
    const double* sum = sums.data() + i * functions;
    mean[i] += sum[0];
    variance[i] = sum[2] + std::max(sum[1] - sum[0] * sum[0], 0.0);
  }
  return status;
}

std::vector<Outcomes> outcomes_of(const Likelihood& likelihood, Index count, const double* size) {
  std::vector<Outcomes> out;
  for (Index i = 0; i < count; ++i) out.push_back(likelihood.outcomes(size ? size[i] : 1.0));
  return out;
}

Status conditional_quantiles(const Likelihood& likelihood, const Latent& at, const double* p, double* out) {
  std::vector<double> mean(static_cast<std::size_t>(at.count)), variance(mean.size()), f, size;
  Status status = likelihood.conditional(at, mean.data(), variance.data());
  if (!status.ok()) return status;
  std::vector<Middle> middle;
  for (std::size_t i = 0; i < mean.size(); ++i) middle.push_back({mean[i], std::sqrt(variance[i])});
  const auto probability = [&](Index count, const Index* row, const double* y, double* found) {
    f.resize(static_cast<std::size_t>(count));
    size.resize(at.size ? f.size() : 0);
    for (Index k = 0; k < count; ++k) {
      f[static_cast<std::size_t>(k)] = at.f[row[k]];
      if (at.size) size[static_cast<std::size_t>(k)] = at.size[row[k]];
    }
    return likelihood.probability({count, f.data(), at.size ? size.data() : nullptr}, y, found);
  };
  return search_quantiles(middle, outcomes_of(likelihood, at.count, at.size), p, probability, out);
}

// The search begins at the mean for f in the middle, and is as wide as what f and y do there.
Status predicted_quantiles(const Likelihood& likelihood, const LatentNormal& at, const double* p, double* out) {
  Mixture mixture(likelihood, at);
  std::vector<Index> row(static_cast<std::size_t>(at.count));
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<Index>(i);
  std::vector<double> mean[3], variance(row.size());
  for (int k = 2; k >= 0; --k) {
    mean[k].resize(row.size());
    const std::vector<double> x(row.size(), k - 1.0);
    const Latent latent = mixture.latent(at.count, row.data(), x.data());
    std::vector<double> ignored(row.size());
    const Status status = likelihood.conditional(latent, mean[k].data(), k == 1 ? variance.data() : ignored.data());
    if (!status.ok()) return status;
  }
  std::vector<Middle> middle;
  for (std::size_t i = 0; i < row.size(); ++i)
    middle.push_back({mean[1][i], std::sqrt(variance[i]) + 0.5 * std::abs(mean[2][i] - mean[0][i])});
  std::vector<double> mean_of, variance_of, size;
  const auto probability = [&](Index count, const Index* of, const double* y, double* found) {
    mean_of.resize(static_cast<std::size_t>(count));
    variance_of.resize(mean_of.size());
    size.resize(at.size ? mean_of.size() : 0);
    for (Index k = 0; k < count; ++k) {
      mean_of[static_cast<std::size_t>(k)] = at.mean[of[k]];
      variance_of[static_cast<std::size_t>(k)] = at.variance[of[k]];
      if (at.size) size[static_cast<std::size_t>(k)] = at.size[of[k]];
    }
    const LatentNormal some{count, mean_of.data(), variance_of.data(), at.size ? size.data() : nullptr};
    return likelihood.predict_probability(some, y, found);
  };
  return search_quantiles(middle, outcomes_of(likelihood, at.count, at.size), p, probability, out);
}

}  // namespace

Status Likelihood::quantile(const Latent& at, const double* p, double* out) const {
  return for_blocks(at.count, !is_for_any_thread(), 5000.0, [&](Index begin, Index end) {
    const Latent block{end - begin, at.f + begin, at.size ? at.size + begin : nullptr};
    return conditional_quantiles(*this, block, p + begin, out + begin);
  });
}

Status Likelihood::predict(const LatentNormal& at, double* mean, double* variance) const {
  return for_blocks(at.count, !is_for_any_thread(), 4000.0, [&](Index begin, Index end) {
    return predict_block(*this, part(at, begin, end), mean + begin, variance + begin);
  });
}

Status Likelihood::predict_probability(const LatentNormal& at, const double* y, double* out) const {
  return for_blocks(at.count, !is_for_any_thread(), 1e4, [&](Index begin, Index end) {
    const LatentNormal block = part(at, begin, end);
    std::vector<Index> row(static_cast<std::size_t>(end - begin));
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<Index>(i);
    return Mixture(*this, block).probability(end - begin, row.data(), y + begin, out + begin);
  });
}

Status Likelihood::predict_quantile(const LatentNormal& at, const double* p, double* out) const {
  return for_blocks(at.count, !is_for_any_thread(), 1e5, [&](Index begin, Index end) {
    return predicted_quantiles(*this, part(at, begin, end), p + begin, out + begin);
  });
}

}  // namespace kernsel

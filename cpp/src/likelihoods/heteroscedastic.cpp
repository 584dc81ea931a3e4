// Normal errors whose log variance is a latent function, too. The rows of f are those of y's mean, and then those of the log
// variance h at the same points:
//
//     log p = -h / 2 - (y - f)^2 exp(-h) / 2 - log(2 pi) / 2
//
// The expected curvature has no mixed term, so that each latent value has a site of its own. The value of log p is counted in
// the rows of f.
#include <cmath>

#include "likelihoods/rows.hpp"

namespace kernsel {
namespace likelihoods {

namespace {

const double half_log_2pi = 0.5 * std::log(2.0 * 3.14159265358979323846);

class Heteroscedastic final : public Likelihood {
 public:
  std::string name() const override { return "heteroscedastic"; }
  std::shared_ptr<const Likelihood> with(const std::vector<double>&) const override {
    return std::make_shared<Heteroscedastic>();
  }
  bool is_log_concave() const override { return false; }
  bool is_of_two() const override { return true; }

  Status check(const Observations& of) const override {
    if (of.count % 2 != 0) return Status::invalid("heteroscedastic: expected rows for the mean, and as many for the noise");
    for (Index i = 0; i < of.count; ++i)
      if (!std::isfinite(of.y[i])) return wrong_row(i, of.y[i], "y: expected finite numbers");
    return {};
  }
  Status check_sizes(Index, const double*) const override { return {}; }

  // The log variance begins with that of all y, less what a smooth function usually explains.
  Status rough(const Observations& of, double* f) const override {
    const Index n = of.count / 2;
    double mean = 0.0, square = 0.0;
    for (Index i = 0; i < n; ++i) mean += of.y[i] / static_cast<double>(n);
    for (Index i = 0; i < n; ++i) square += (of.y[i] - mean) * (of.y[i] - mean) / static_cast<double>(n);
    for (Index i = 0; i < n; ++i) {
      f[i] = of.y[i];
      f[n + i] = square > 0.0 ? std::log(0.1 * square) : 0.0;
    }
    return {};
  }

  Status density(const Observations& of, const double* f, Density* out) const override {
    const Index n = of.count / 2;
    return for_rows(n, 60.0, [&](Index i) {
      const double h = f[n + i], precision = std::exp(-h), r = of.y[i] - f[i], square = r * r * precision;
      out[i] = {-0.5 * (h + square) - half_log_2pi, r * precision, -precision, 0.0, precision, 0.0};
      out[n + i] = {0.0, 0.5 * (square - 1.0), -0.5 * square, 0.5 * square, 0.5, 0.0};
    });
  }
  Status density_slope(const Observations&, const double*, Index, DensitySlope*) const override { return {}; }
  Status cross(const Observations& of, const double* f, DensityCross* out) const override {
    const Index n = of.count / 2;
    return for_rows(n, 60.0, [&](Index i) {
      const double precision = std::exp(-f[n + i]), slope = (of.y[i] - f[i]) * precision;
      out[i] = {-slope, -precision};
      out[n + i] = {-slope, 0.0};
    });
  }

  Outcomes outcomes(double) const override { return {}; }
  // Given the rows of both, of which the second are the log variance.
  Status conditional(const Latent& at, double* mean, double* variance) const override {
    const Index n = at.count / 2;
    for (Index i = 0; i < n; ++i) {
      mean[i] = mean[n + i] = at.f[i];
      variance[i] = variance[n + i] = std::exp(at.f[n + i]);
    }
    return {};
  }
  Status probability(const Latent&, const double*, double*) const override {
    return Status::invalid("heteroscedastic: probabilities are those of a normal distribution for each noise");
  }
};

}  // namespace

std::shared_ptr<const Likelihood> heteroscedastic() { return std::make_shared<Heteroscedastic>(); }

}  // namespace likelihoods
}  // namespace kernsel

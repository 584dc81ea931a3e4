// Likelihoods p(y | f): the density of an observation given the value f of the latent function at its point.
//
//     std::shared_ptr<const Likelihood> counts = likelihoods::poisson();
//
// A likelihood is a formula for one observation after the other. It knows neither kernels nor factors: inference.hpp turns it
// into a Gaussian problem for these.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernsel/status.hpp"
#include "kernsel/view.hpp"

namespace kernsel {

// The observations of n points. `size` is what some likelihoods know of each besides y, or nullptr if it is one for all: the
// exposure of a count, the number of trials, the weight of a Gamma variable.
struct Observations {
  Index count = 0;
  const double* y = nullptr;
  const double* size = nullptr;
  double size_of(Index i) const { return size ? size[i] : 1.0; }
};

// log p(y | f), its derivatives in f, and the precision by which Laplace's approximation stands for it: minus the second
// derivative, or if that may be negative its expectation over y given f, which is not. `slope` is its derivative in f.
struct Density {
  double value = 0.0, first = 0.0, second = 0.0, third = 0.0;
  double precision = 0.0, slope = 0.0;
};

// The derivatives of `value`, `first` and `precision` with respect to a parameter of the likelihood.
struct DensitySlope {
  double value = 0.0, first = 0.0, precision = 0.0;
};

// log Z for Z = E p(y | f) over f ~ N(mean, variance), and its first two derivatives in the mean. The derivative in the variance
// is (second + first^2) / 2.
struct Moments {
  double value = 0.0, first = 0.0, second = 0.0;
  double in_variance() const { return 0.5 * (second + first * first); }
};

// A parameter of a likelihood: its value on the scale on which it is searched for, mostly that of logarithms, and its bounds.
struct LikelihoodParameter {
  std::string name;
  double value = 0.0, lower = 0.0, upper = 0.0;
  bool logarithm = true;
  bool is_scale = false;  // whether it is the logarithm of a standard deviation of y around f, like that of noise
};

class Likelihood {
 public:
  virtual ~Likelihood() = default;

  virtual std::string name() const = 0;
  virtual std::vector<LikelihoodParameter> parameters() const { return {}; }
  // The same likelihood with other values of its parameters, in their order and on their scale.
  virtual std::shared_ptr<const Likelihood> with(const std::vector<double>& values) const = 0;

  // Whether log p is concave in f, so that `precision` is minus the second derivative.
  virtual bool is_log_concave() const { return true; }
  // Fails for observations that cannot be; Status::pivot is the first row with one.
  virtual Status check(const Observations& of) const = 0;
  // Values of f from which a search for their mode may begin, and by whose variance the data tell that of f: a transform of y.
  virtual void rough(const Observations& of, double* f) const = 0;

  // For each observation i at f[i].
  virtual Status density(const Observations& of, const double* f, Density* out) const = 0;
  // The derivatives with respect to parameter p.
  virtual Status density_slope(const Observations& of, const double* f, Index p, DensitySlope* out) const;

  // By quadrature, unless a likelihood knows a closed form.
  virtual Status moments(const Observations& of, const double* mean, const double* variance, Moments* out) const;
  // The derivative of log Z with respect to parameter p: by quadrature, too.
  virtual Status moments_slope(const Observations& of, const double* mean, const double* variance, Index p, double* out) const;

  // The distribution of y given f at a point with this size: its mean and variance, which may be infinite; the probability of
  // values up to y; the least value up to which the probability is at least p, 0 < p < 1.
  virtual double mean(double f, double size) const = 0;
  virtual double variance(double f, double size) const = 0;
  virtual double probability_up_to(double y, double f, double size) const = 0;
  virtual double quantile(double p, double f, double size) const = 0;
  virtual bool is_discrete() const { return false; }  // whether y is a whole number
};

// Predictions of new observations for f ~ N(mean, variance), by quadrature over f: each of n numbers. `size` may be nullptr.
// probability[i] is the one of values up to y[i]. Quantiles are those of the mixture over f, found by bisection.
struct LatentNormal {
  Index count = 0;
  const double *mean = nullptr, *variance = nullptr, *size = nullptr;
};
Status predict(const Likelihood& likelihood, const LatentNormal& f, double* mean, double* variance);
Status predict_probability(const Likelihood& likelihood, const LatentNormal& f, const double* y, double* out);
Status predict_quantile(const Likelihood& likelihood, const LatentNormal& f, double p, double* out);
// One draw for each of n latent values f, from uniform numbers between 0 and 1.
Status draw(const Likelihood& likelihood, const LatentNormal& f, const double* uniform, double* out);

namespace likelihoods {

// Counts of mean size exp(f): `size` is the exposure.
std::shared_ptr<const Likelihood> poisson();

}  // namespace likelihoods
}  // namespace kernsel

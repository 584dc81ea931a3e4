// Likelihoods p(y | f): the density of an observation given the value f of the latent function at its point.
//
//     std::shared_ptr<const Likelihood> counts = likelihoods::poisson();
//
// A likelihood is a formula for one observation after the other. It knows neither kernels nor factors: inference.hpp turns it
// into a Gaussian problem for these.
#pragma once

#include <functional>
#include <limits>
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

// Values of f at n points, each with its size.
struct Latent {
  Index count = 0;
  const double* f = nullptr;
  const double* size = nullptr;
  double size_of(Index i) const { return size ? size[i] : 1.0; }
};

// What is known of f at n points: f ~ N(mean, variance) at each, of which only the margins count.
struct LatentNormal {
  Index count = 0;
  const double *mean = nullptr, *variance = nullptr, *size = nullptr;
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

// For a likelihood of two latent functions: the derivatives of `first` and `precision` in the other function's value.
struct DensityCross {
  double first = 0.0, precision = 0.0;
};

// log Z for Z = E p(y | f) over f ~ N(mean, variance), and its first two derivatives in the mean. The derivative in the
// variance is (second + first^2) / 2.
struct Moments {
  double value = 0.0, first = 0.0, second = 0.0;
  double in_variance() const { return 0.5 * (second + first * first); }
};

struct HigherMoments {
  double third = 0.0, fourth = 0.0;
};

// A parameter of a likelihood: its value on the scale on which it is searched for, mostly that of logarithms, and its bounds.
struct LikelihoodParameter {
  std::string name;
  double value = 0.0, lower = 0.0, upper = 0.0;
  bool logarithm = true;
  double spread_power = 0.0;  // it is the logarithm of this power of a standard deviation of y around f; or 0
};

// The values that y can have: between two numbers, and only whole ones if it is discrete.
struct Outcomes {
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  bool discrete = false;
};

class Likelihood {
 public:
  virtual ~Likelihood() = default;

  virtual std::string name() const = 0;
  virtual std::vector<LikelihoodParameter> parameters() const { return {}; }
  // What the function of `likelihoods` that made it was given, its parameters among them: `named` makes it again from these.
  virtual std::vector<double> arguments() const;
  // The same likelihood with other values of its parameters, in their order and on their scale.
  virtual std::shared_ptr<const Likelihood> with(const std::vector<double>& values) const = 0;
  // The parameters as a search for them may begin: those that have units start from the spread of y, and are bounded by it.
  virtual std::vector<LikelihoodParameter> start(const Observations&) const { return parameters(); }

  // Whether log p is concave in f, and `precision` is minus the second derivative.
  virtual bool is_log_concave() const { return true; }
  // Fails for observations that cannot be; Status::pivot is the first row with one, and Status::value its y or its size.
  virtual Status check(const Observations& of) const = 0;
  // The same for the sizes of points whose y is not known: count, sizes.
  virtual Status check_sizes(Index, const double*) const { return {}; }
  // Values of f from which a search for their mode may begin, and by whose variance the data tell that of f: a transform of y.
  virtual Status rough(const Observations& of, double* f) const = 0;

  // For each observation i at f[i].
  virtual Status density(const Observations& of, const double* f, Density* out) const = 0;
  // The derivatives with respect to parameter p.
  virtual Status density_slope(const Observations& of, const double* f, Index p, DensitySlope* out) const = 0;

  // Whether there are two latent functions: half of the rows are values of the first, and the other half, in the same order,
  // those of the second at the same points. y is the same in both halves, and moments are not for them.
  virtual bool is_of_two() const { return false; }
  virtual Status cross(const Observations& of, const double* f, DensityCross* out) const;

  // By quadrature, unless a likelihood knows a closed form. Errors are below 1e-9 where p is smooth.
  virtual Status moments(const Observations& of, const double* mean, const double* variance, Moments* out) const;
  // The derivative of log Z with respect to parameter p: by quadrature, too.
  virtual Status moments_slope(const Observations& of, const double* mean, const double* variance, Index p, double* out) const;
  // For positive variances: the third and fourth derivatives of log Z in the mean; and the derivatives with respect to
  // parameter p of log Z and of its first two derivatives in the mean. By quadrature, too.
  virtual Status higher_moments(const Observations& of, const double* mean, const double* variance, HigherMoments* out) const;
  virtual Status moments_slopes(const Observations& of, const double* mean, const double* variance, Index p,
                                Moments* out) const;

  // The distribution of y given f: its mean and variance, which may be infinite or, where there is none, NaN; the probability
  // of values up to y[i]; the least value up to which the probability is at least p[i], 0 < p[i] < 1. With uniform random
  // numbers for p, quantiles are draws. They are found by search, unless a likelihood knows a closed form.
  virtual Outcomes outcomes(double size) const = 0;
  virtual Status conditional(const Latent& at, double* mean, double* variance) const = 0;
  virtual Status probability(const Latent& at, const double* y, double* out) const = 0;
  virtual Status quantile(const Latent& at, const double* p, double* out) const;

  // The same over f ~ N(mean, variance): new observations at points with these margins. By quadrature over f, unless a
  // likelihood knows a closed form; quantiles are those of the mixture.
  virtual Status predict(const LatentNormal& at, double* mean, double* variance) const;
  virtual Status predict_probability(const LatentNormal& at, const double* y, double* out) const;
  virtual Status predict_quantile(const LatentNormal& at, const double* p, double* out) const;

  // Whether any thread may call it; if not, only the thread does that called.
  virtual bool is_for_any_thread() const { return true; }
};

// A likelihood of functions that the caller gives, for whole arrays. They may throw, which Status::exception then says, and are
// called by the thread that began the computation. `slope` and `with` are for parameters, and may be empty without.
struct LikelihoodFunctions {
  std::string name;
  std::vector<LikelihoodParameter> parameters;
  bool log_concave = false;
  Outcomes outcomes;
  std::function<void(const Observations&)> check;
  std::function<void(Index count, const double* size)> check_sizes;
  std::function<void(const Observations&, double* f)> rough;
  std::function<void(const Observations&, const double* f, Density*)> density;
  std::function<void(const Observations&, const double* f, Index p, DensitySlope*)> slope;
  std::function<void(const Latent&, double* mean, double* variance)> conditional;
  std::function<void(const Latent&, const double* y, double*)> probability;
  std::function<std::shared_ptr<const Likelihood>(const std::vector<double>& values)> with;
};

namespace likelihoods {

std::shared_ptr<const Likelihood> of_functions(LikelihoodFunctions functions);

// y = f + noise of this variance.
std::shared_ptr<const Likelihood> gaussian(double noise);
// The same, where a y at a limit says that it would be there or beyond; limits may be infinite.
std::shared_ptr<const Likelihood> censored_gaussian(double noise, double lower, double upper);
// Normal errors of the variance exp(h) for a second latent function h.
std::shared_ptr<const Likelihood> heteroscedastic();
// y = f + scale t, t of Student's distribution.
std::shared_ptr<const Likelihood> student_t(double scale, double degrees_of_freedom);
// y = f + scale t, t of the density exp(-|t|) / 2: f is the median of y. The kink is smoothed, see laplace.cpp.
std::shared_ptr<const Likelihood> laplace(double scale);
// f is a quantile of y, 0 < quantile < 1, the density of r = y - f being proportional to exp(-max(q r, (q - 1) r) / scale).
std::shared_ptr<const Likelihood> asymmetric_laplace(double scale, double quantile);

// y = 1 with probability 1 / (1 + exp(-f)), or Phi(f), the normal distribution function; y = 0 otherwise.
std::shared_ptr<const Likelihood> bernoulli_logit();
std::shared_ptr<const Likelihood> bernoulli_probit();
// Successes, each with probability 1 / (1 + exp(-f)): `size` is the number of trials.
std::shared_ptr<const Likelihood> binomial();
// Classes 0, 1, ... in an order: P(y <= k) = 1 / (1 + exp(f - thresholds[k])), with increasing thresholds.
std::shared_ptr<const Likelihood> ordinal(const std::vector<double>& thresholds);

// Counts of mean size exp(f): `size` is the exposure.
std::shared_ptr<const Likelihood> poisson();
// Counts of the same mean mu and of variance mu + mu^2 / shape.
std::shared_ptr<const Likelihood> negative_binomial(double shape);
// Positive y of mean exp(f) and variance exp(2 f) / (shape size): `size` is the weight.
std::shared_ptr<const Likelihood> gamma(double shape);
// y between 0 and 1 of mean q = 1 / (1 + exp(-f)) and variance q (1 - q) / (1 + concentration).
std::shared_ptr<const Likelihood> beta(double concentration);

// g(y) = f + noise of this variance, for an increasing function g; with v = y / unit and u = (y - location) / unit:
// unit log v, for positive y;
std::shared_ptr<const Likelihood> log_normal(double noise, double unit);
// unit log((y - lower) / (upper - y)), for y between the limits;
std::shared_ptr<const Likelihood> logit_normal(double noise, double unit, double lower, double upper);
// unit (v^power - 1) / power, for positive y and a power from 0, which is the logarithm, to 2;
std::shared_ptr<const Likelihood> box_cox(double noise, double unit, double power);
// unit ((1 + u)^power - 1) / power where u is positive, and -unit ((1 - u)^(2 - power) - 1) / (2 - power) where it is not.
std::shared_ptr<const Likelihood> yeo_johnson(double noise, double unit, double location, double power);
// an increasing spline with positive slopes at knots, two at least, whose y and z increase; straight lines continue it.
std::shared_ptr<const Likelihood> spline_normal(double noise, const std::vector<double>& y, const std::vector<double>& z,
                                                const std::vector<double>& slopes);

// The likelihood of a name, such as "student_t", with the arguments of its function above, all of which are in doubt: a file
// has them. On failure `out` is unchanged.
Status named(const std::string& name, const std::vector<double>& arguments, std::shared_ptr<const Likelihood>& out);

}  // namespace likelihoods
}  // namespace kernsel

// Inference: a factor for observations of any likelihood, around one for normal targets.
//
//     std::unique_ptr<Factor> dense = dense_factor();
//     std::unique_ptr<LatentFactor> factor = laplace_factor(likelihoods::poisson(), *dense);
//     Status status = evaluate(k, {X, counts}, criteria::likelihood(true), Order::gradient, *factor, out);
//
// The latent function f has the covariance k(X, X) + N of a problem, where N are its noise variances, mostly jitter, and the
// trend of the problem, whose coefficients have a flat prior. Its posterior is approximated by a normal distribution: that for
// targets z with noise variances S, the sites, which stand for the observations. Predictions are those of a posterior with
// these targets and N + S for the noise.
//
// criteria::likelihood() is then the approximation of log p(y), with `restricted` if there is a trend, and
// criteria::left_out_density() sums the log densities of observations that are left out. Both have exact gradients.
#pragma once

#include <memory>
#include <vector>

#include "kernsel/factor.hpp"
#include "kernsel/likelihood.hpp"

namespace kernsel {

struct InferenceOptions {
  Index steps = 200;  // the largest number of factorizations
  // For expectation propagation: how far a marginal may be from a fixed point, in standard deviations.
  double tolerance = 1e-8;
};

enum class Inference { laplace, expectation_propagation };

class LatentFactor : public Factor {
 public:
  virtual const Likelihood& likelihood() const = 0;
  virtual void set_likelihood(std::shared_ptr<const Likelihood> likelihood) = 0;
  // The next fit begins at these latent values, if they are as many as its points.
  virtual void begin_at(std::vector<double> latent) = 0;
  // Of the last fit: the targets z and the noise variances S of the sites, the means of the latent values and c = P. z.
  virtual const std::vector<double>& site_targets() const = 0;
  virtual const std::vector<double>& site_noise() const = 0;
  virtual const std::vector<double>& latent() const = 0;
  virtual Index steps() const = 0;  // the number of factorizations
  virtual bool converged() const = 0;
};

// Laplace's approximation: a normal distribution at the mode of the posterior of f. With g and W the first and minus the second
// derivatives of log p(y_i | f_i) at the mode, S = 1 / W and z = f + S g. Where W may be negative, it is replaced by its
// expectation over y. Newton's method finds the mode: each step is a fit of `factor`, which must outlive the result. It begins
// at the mode of the fit before, if that had as many points.
std::unique_ptr<LatentFactor> laplace_factor(std::shared_ptr<const Likelihood> likelihood, Factor& factor,
                                             InferenceOptions options = {});

// Expectation propagation: the normal distribution whose marginals have the means and variances of the posterior without a
// point's site times the likelihood of that point. All sites are replaced at once until the marginals stay the same, from those
// of the fit before or of Laplace's approximation; each round is a fit of `factor`. If marginals still change by more than 1e-6
// of a standard deviation after `steps` of them, or go in circles, as they may where log p is not concave, converged() is
// false, and the round that changed least is shown.
//
// Precisions of sites stay positive: where a likelihood that is not log-concave asks for a negative one, only the mean of that
// marginal is right. Points have no weights.
std::unique_ptr<LatentFactor> expectation_propagation_factor(std::shared_ptr<const Likelihood> likelihood, Factor& factor,
                                                             InferenceOptions options = {});

std::unique_ptr<LatentFactor> latent_factor(Inference inference, std::shared_ptr<const Likelihood> likelihood, Factor& factor,
                                            InferenceOptions options = {});

}  // namespace kernsel

// Criteria: measures of how well a kernel and a noise fit data, each a formula with its partial derivatives.
//
// A criterion is a function of the quantities in Fit (fit.hpp); it depends neither on kernels nor on the factorization.
// evaluate() (factor.hpp) propagates its partial derivatives to the hyperparameters. The notation is that of fit.hpp.
#pragma once

#include <functional>
#include <vector>

#include "kernsel/fit.hpp"

namespace kernsel {

struct Criterion {
  std::function<Status(const Fit& fit, Partials& partials)> apply;
  Request request;
  bool larger_is_better = false;
  bool sees_scale = true;      // whether it changes if kernel and noise are multiplied by a common factor
  bool positive = false;       // whether its values are positive, so that a search may minimize the logarithm
  bool is_likelihood = false;  // whether the information (factor.hpp) approximates its curvature
};

namespace criteria {

// log N(y; H beta, K~), summed over outputs; if restricted, that of n - q contrasts of y, which do not depend on the trend. If
// the scale is not known, K~ is multiplied by the factor that maximizes the likelihood, one for each output or one for all.
enum class Scale { known, each, shared };
Criterion likelihood(bool restricted = false, Scale scale = Scale::known);

// A loss l(r, v) of a residual and its variance: its value, and its derivatives with respect to r and v.
struct Loss {
  double value, residual, variance;
};
struct PointLoss {
  std::function<void(Index count, const double* residual, const double* variance, Loss* out)> f;
  bool positive = true;       // whether its values are positive
  bool sees_variance = true;  // whether it depends on the variance
  bool larger_is_better = false;
};
PointLoss squared();                      // r^2
PointLoss log_density();                  // log N(r; 0, v)
PointLoss crps();                         // continuous ranked probability score of N(0, v) at r
PointLoss smooth_absolute(double width);  // (r^2 + width^2)^(1/2)

// The mean, or the sum, over points and outputs of a loss of the points that are left out one by one or in groups. If
// `profiled`, variances are multiplied by the mean of r^2 / v, the best common factor of kernel and noise.
Criterion leave_out(PointLoss loss, Groups groups = {}, bool sum = false, bool profiled = false);

// The sum of the joint log densities of groups that are left out: log N(r_I; 0, S_I).
Criterion joint_log_density(Groups groups);

// The mean, or the sum, over points of the log densities of observations that are left out one by one or in groups, for any
// likelihood (inference.hpp).
Criterion left_out_density(Groups groups = {}, bool sum = false);

// n c'Uc / tr(U P.)^2, the mean over outputs, where U is the noise divided by its mean: n |c|^2 / (tr P.)^2 for equal noise.
Criterion generalized_cross_validation();

// |N c|^2 + 2 tr(S A) - tr S for each output, with A = I - N P. and S = diag(variance): an unbiased estimate of the sum of the
// squared errors at the points. Both are weighted if the points have weights.
Criterion unbiased_risk(std::vector<double> variance);

}  // namespace criteria
}  // namespace kernsel

// Criteria: how well a kernel and a noise fit, each one formula with its partial derivatives.
//
// A criterion sees what a factor shows of a fit (fit.hpp), and knows neither kernels nor how the factor was made. factor.hpp
// has evaluate(), which takes its partial derivatives back to the hyperparameters.
#pragma once

#include <functional>
#include <vector>

#include "kernsel/fit.hpp"

namespace kernsel {

struct Criterion {
  std::function<Status(const Fit& fit, Partials& partials)> apply;
  Request request;
  // What a search needs to know: which direction is better; does it change if kernel and noise are multiplied by a number; and
  // is it a positive number, so that its logarithm can be taken?
  bool larger_is_better = false;
  bool sees_scale = true;
  bool positive = false;
  bool is_likelihood = false;  // is the information that of its own curvature?
};

namespace criteria {

// log N(y; H beta, K~), the sum over outputs; restricted: of n - q contrasts of y, with the flat prior's log det H'PH. With
// a scale that is not known, K~ is known up to a factor, which is at its best: one for each output, or one for all.
enum class Scale { known, each, shared };
Criterion likelihood(bool restricted = false, Scale scale = Scale::known);

// A loss l(r, v) of a residual and its variance, with its derivatives in both.
struct Loss {
  double value, residual, variance;
};
struct PointLoss {
  std::function<void(Index count, const double* residual, const double* variance, Loss* out)> f;
  bool positive = true;       // are its values?
  bool sees_variance = true;  // or only the residual?
  bool larger_is_better = false;
};
PointLoss squared();                      // r^2
PointLoss log_density();                  // log N(r; 0, v)
PointLoss crps();                         // continuous ranked probability score of N(0, v) at r
PointLoss smooth_absolute(double width);  // (r^2 + width^2)^(1/2)

// The mean of a loss over points and outputs, or the sum, of points that are left out alone or in groups. With `profiled`, v
// has the factor that makes the mean of r^2 / v one.
Criterion leave_out(PointLoss loss, Groups groups = {}, bool sum = false, bool profiled = false);

// The sum of the joint log densities of groups that are left out: log N(r_I; 0, S_I).
Criterion joint_log_density(Groups groups);

// n c'Uc / tr(U P.)^2, the mean over outputs, U the noise divided by its mean: n |c|^2 / (tr P.)^2 if all have the same.
Criterion generalized_cross_validation();

// |N c|^2 + 2 tr(S A) - tr S per output, A = I - N P., S = diag(variance): its expectation is the squared error at the points,
// both with the points' weights, if they have any.
Criterion unbiased_risk(std::vector<double> variance);

}  // namespace criteria
}  // namespace kernsel

// Criteria: how well a kernel and a noise fit, with all derivatives.
//
// A criterion sees a fit (weights c = P y, the diagonal of P, log determinants, the noise) and gives its value and its partial
// derivatives in these. It knows no kernel. evaluate() turns them into the adjoint matrix W = dJ/dK, and the kernel pulls W
// back onto its parameters.
//
// K~ = k(X, X) + diag(noise), P = K~^-1, or with a trend H: P - P H (H'PH)^-1 H'P, written P. where both are meant. c = P. Y.
#pragma once

#include <functional>
#include <vector>

#include "kernsel/kernel.hpp"
#include "kernsel/tiles.hpp"

namespace kernsel {

struct Fit {
  View<const double> y, c;  // (n, outputs)
  const double* precision;  // P.ii
  const double* noise;      // N_i, white parts of the kernel included
  const double* weights;    // of the points, or nullptr
  Index trend;              // columns of H
  double log_det;           // log det K~
  double log_det_trend;     // log det H'PH
  Index n() const { return c.rows; }
  Index outputs() const { return c.cols; }
};

enum class Profiled { no, each, shared };  // was the scale at its best, of each output or of all?

struct Partials {
  double unit = 1.0;  // a power of two: the value and all derivatives are to be multiplied by it
  double value = 0.0;
  std::vector<double> c;          // (n, outputs), by columns; empty for zero
  std::vector<double> precision;  // (n); empty for zero
  std::vector<double> noise;      // (n), where the noise stands in the criterion itself; empty for zero
  double log_det = 0.0, log_det_trend = 0.0;
  double scale = 1.0;  // profiled variance of the kernel, where there is one
  // Of likelihoods, for their information: the variance of each output, with how many degrees of freedom each has.
  std::vector<double> variance;
  double freedom = 0.0;
  Profiled profiled = Profiled::no;
};

struct Criterion {
  std::function<Status(const Fit& fit, Partials& partials)> apply;
  bool sees_precision = true;  // or only c and the determinants: the value then costs n^3 / 3 flops less
};

// What a criterion says of a fit that has been made: O(n). What a function of the caller throws ends up in the status.
Status apply(const Criterion& criterion, const Fit& fit, Partials& partials);

namespace criteria {

// log N(y; H beta, K~), the sum over outputs; restricted: of n - q contrasts of y, with the flat prior's log det H'PH. With
// `profiled`, K~ is known up to a factor, which is at its best: one for each output, or one for all.
enum class Scale { known, each, shared };
Criterion likelihood(bool restricted = false, Scale scale = Scale::known);

// A loss l(r, v) of a residual and its variance, with its derivatives in both.
struct Loss {
  double value, residual, variance;
};
using PointLoss = std::function<void(Index count, const double* residual, const double* variance, Loss* out)>;
PointLoss squared();                      // r^2
PointLoss log_density();                  // log N(r; 0, v)
PointLoss crps();                         // continuous ranked probability score of N(0, v) at r
PointLoss smooth_absolute(double width);  // (r^2 + width^2)^(1/2)

// Leave-one-out: the mean of the loss over points and outputs, or the sum, at r_i = c_i / P.ii and v_i = 1 / P.ii. With
// `profiled`, v has the factor that makes the mean of r^2 / v one.
Criterion leave_one_out(PointLoss loss, bool sum = false, bool profiled = false);

// n c'Uc / tr(U P.)^2, the mean over outputs, U the noise divided by its mean: n |c|^2 / (tr P.)^2 if all have the same.
Criterion generalized_cross_validation();

// |N c|^2 + 2 tr(S A) - tr S per output, A = I - N P., S = diag(variance): its expectation is the squared error at the points,
// both with the points' weights, if they have any.
Criterion unbiased_risk(std::vector<double> variance);

}  // namespace criteria

// Groups of points that are left out together: folds[i] is that of point i, 0 ... count - 1. Every group must leave something.
struct Folds {
  std::vector<Index> fold;
  Index count = 0;
  bool log_density = false;  // of each group, jointly; otherwise the mean of squared residuals, weighted
};

struct Problem {
  View<const double> X;      // (n, d)
  View<const double> y;      // (n, outputs)
  View<const double> noise;  // (n), or one number, or none
  View<const double> trend;  // H, (n, q), of full column rank; or none
  const double* weights = nullptr;
};

struct Evaluation {
  double value = 0.0;
  std::vector<double> gradient;        // in the order and on the scale of k.theta()
  std::vector<double> noise_gradient;  // dJ/dN_i
  std::vector<double> beta;            // (q, outputs), by columns
  std::vector<double> c;               // (n, outputs), by columns
  std::vector<double> precision;       // P.ii
  std::vector<double> noise;           // N_i
  double scale = 1.0;
  double dof = 0.0;             // effective degrees of freedom, sum of leverages 1 - N_i P.ii
  double residual_scale = 0.0;  // weighted mean of c_i^2 / P.ii: one if residuals are as large as the model says
  double log_det = 0.0;
  // Of a likelihood, (p + 1, p + 1): average information, in the order of the gradient, then in the logarithm of a factor of
  // the problem's noise.
  std::vector<double> information;
};

// What is wanted: the value; also all derivatives; also the information of a likelihood.
enum class Order { value, gradient, information };

// With derivatives, n^3 flops for likelihoods, 2 n^3 for criteria that see the diagonal of P. Memory: the lower half of one
// n x n matrix, which is `buffer`, kept for the next call.
Status evaluate(const Kernel& k, const Problem& problem, const Criterion& criterion, Order order, LowerTiles<double>& buffer,
                Evaluation& out);
Status evaluate(const Kernel& k, const Problem& problem, const Folds& folds, Order order, LowerTiles<double>& buffer,
                Evaluation& out);

}  // namespace kernsel

// The factorization of K~ = k(X, X) + N, or of an approximation of it, which connects kernels and criteria.
//
//     std::unique_ptr<Factor> factor = dense_factor();
//     Evaluation out;
//     Status status = evaluate(k, problem, criteria::likelihood(), Order::gradient, *factor, out);
//
// A kernel computes tiles of a matrix, and the gradient of a weighted sum of its entries with respect to its parameters. A
// criterion is a function of a fit, with its partial derivatives. A factor defines how K~ is stored and inverted, and how the
// partial derivatives are propagated to the hyperparameters. Criteria cannot do the latter, since for an approximation of K~
// the adjoint matrix W = dJ/dK is not available entry by entry.
#pragma once

#include <memory>
#include <vector>

#include "kernsel/criteria.hpp"
#include "kernsel/kernel.hpp"

namespace kernsel {

struct Problem {
  View<const double> X;      // (n, d)
  View<const double> y;      // (n, outputs)
  View<const double> noise;  // variances, (n), or one number, or none
  View<const double> trend;  // H, (n, q), of full column rank; or none
  const double* weights = nullptr;
  View<const double> unknown_noise = {};  // the part of the noise that has an unknown factor; if empty, all of the noise
  const double* sizes = nullptr;          // of observations, for likelihoods (Observations, likelihood.hpp)
};

// The derivatives of a criterion.
struct Gradient {
  std::vector<double> theta;       // in the order and on the scale of k.theta()
  std::vector<double> noise;       // dJ/dN_i
  std::vector<double> targets;     // dJ/dy, (n, outputs), by columns
  std::vector<double> likelihood;  // in the parameters of a likelihood (inference.hpp), in their order and on their scale
};

// An object can be used for many evaluations, one after the other, which share its memory. The kernel and the problem must not
// change between show() and the last call of another function for them.
class Factor {
 public:
  virtual ~Factor() = default;

  // Factorizes, and sets `fit` with the requested quantities. With `differentiable`, pull() and information() may follow.
  virtual Status show(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit) = 0;

  // Returns the coefficients of the trend, (q, outputs), by columns.
  virtual std::vector<double> trend_coefficients() const = 0;

  // Converts partial derivatives with respect to the quantities in the fit to those in the hyperparameters and the noise.
  virtual Status pull(const Partials& partials, Gradient& out) = 0;

  // out, (n, d), <- the derivatives of the criterion in the coordinates of the points, while the noise and the trend of the
  // problem, and sets of neighbours, do not change.
  virtual Status pull_points(const Partials& partials, View<double> out);

  // out <- the derivatives in the coordinates of the factor's landmarks, by rows, for factors whose approximation depends on
  // landmarks that stay where they are; empty for all others.
  virtual Status pull_landmarks(const Partials& partials, std::vector<double>& out);

  // Whether K~ - N, the covariance that the factor gives the latent values, is the same for any noise.
  virtual bool has_prior() const { return true; }
  // Whether solve() may be called: c <- P. y for other targets y than the problem's, (n), after show().
  virtual bool solves() const { return false; }
  virtual Status solve(const std::vector<double>& y, std::vector<double>& c);
  // Whether multiply_squares() may be called, after show() with `differentiable`: out_i <- sum_j (P.ij)^2 g_j, (n). With
  // dP.ii/dN_j = -(P.ij)^2 it is how changes of the noise change the diagonal.
  virtual bool multiplies_squares() const { return false; }
  virtual Status multiply_squares(const std::vector<double>& g, std::vector<double>& out);

  // The average information of the likelihood for the variances of the outputs in `partials`, (p + 1, p + 1): for the
  // hyperparameters in the order of the gradient, and then for the logarithm of a factor of the problem's noise. It is half of
  // the sum of observed and expected information if the kernel depends linearly on its parameters, and otherwise an
  // approximation that serves equally well in Newton's method:
  //
  //     A_ab = 1/2 u_a' P. u_b / s^2,  u_a = dK/dtheta_a c
  //
  // For a profiled scale with nu degrees of freedom, (c'u_a)(c'u_b) / (2 nu s^4) is subtracted.
  virtual Status information(const Partials& partials, std::vector<double>& out) = 0;
};

// The factor of the whole kernel matrix, in lower tiles: n^3/3 flops for a fit, n^3 with derivatives of likelihoods and of
// criteria that leave out groups, 2 n^3 with derivatives of criteria that need the diagonal of P. The memory is the lower
// triangle of one n x n matrix, and one more n x n matrix for derivatives of the variances or densities of groups, and for
// those in the points.
std::unique_ptr<Factor> dense_factor();

// Evaluates a criterion for a fit, in O(n). An exception of a function of the caller is returned in the status.
Status apply(const Criterion& criterion, const Fit& fit, Partials& partials);

struct Evaluation {
  double value = 0.0;
  Gradient gradient;
  std::vector<double> points;     // dJ/dX, (n, d), by rows
  std::vector<double> landmarks;  // dJ/dZ, (m, d), by rows, for factors that have landmarks
  std::vector<double> beta;       // (q, outputs), by columns
  std::vector<double> c;          // (n, outputs), by columns
  std::vector<double> precision;  // P.ii
  std::vector<double> noise;      // N_i
  double scale = 1.0;
  double dof = 0.0;             // effective degrees of freedom, sum of leverages 1 - N_i P.ii
  double residual_scale = 0.0;  // weighted mean of c_i^2 / P.ii: 1 if leave-one-out residuals are as large as predicted
  double log_det = 0.0, log_det_trend = 0.0;  // as in Fit
  std::vector<double> squares;                // y'c of each output; empty if the factor has not computed c
  // For likelihoods, that of Factor::information. For other criteria, the information of the likelihood with the best scale (or
  // with the known one, if the criterion depends on the scale): it is not their curvature, but defines a metric for steps.
  std::vector<double> information;
};

// The quantities to compute: the value; also the gradient; also the information, or the derivatives in the points, and in
// landmarks.
enum class Order { value, gradient, information, points };

Status evaluate(const Kernel& k, const Problem& problem, const Criterion& criterion, Order order, Factor& factor,
                Evaluation& out);

}  // namespace kernsel

// The factor: K~ = k(X, X) + N, or what stands for it, between kernels and criteria.
//
//     std::unique_ptr<Factor> factor = dense_factor();
//     Evaluation out;
//     Status status = evaluate(k, problem, criteria::likelihood(), Order::gradient, *factor, out);
//
// A kernel fills tiles of a matrix and pulls weights of its entries back onto its parameters; a criterion sees a fit and states
// its partial derivatives. What lies between is the factor's: how K~ is stored, what inverse means, and how partial
// derivatives become a gradient. An approximation cannot give the adjoint matrix W = dJ/dK entry by entry, so pulling back
// belongs to the factor and not to the criteria.
#pragma once

#include <memory>
#include <vector>

#include "kernsel/criteria.hpp"
#include "kernsel/kernel.hpp"

namespace kernsel {

struct Problem {
  View<const double> X;      // (n, d)
  View<const double> y;      // (n, outputs)
  View<const double> noise;  // (n), or one number, or none
  View<const double> trend;  // H, (n, q), of full column rank; or none
  const double* weights = nullptr;
  View<const double> unknown_noise = {};  // the part of the noise that a search multiplies; all of it if none is given
};

// The derivatives of a criterion.
struct Gradient {
  std::vector<double> theta;  // in the order and on the scale of k.theta()
  std::vector<double> noise;  // dJ/dN_i
};

// One object serves many evaluations, one after the other: its memory is kept for the next. Kernel and problem must stay as
// they are until the last question about them.
class Factor {
 public:
  virtual ~Factor() = default;

  // Factorizes, and shows the fit with all that is requested; with `differentiable`, pull() and information() may follow.
  virtual Status show(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit) = 0;

  // The coefficients of the trend, (q, outputs), by columns.
  virtual std::vector<double> trend_coefficients() const = 0;

  // From partial derivatives in what was shown to those in the hyperparameters and in the noise.
  virtual Status pull(const Partials& partials, Gradient& out) = 0;

  // The average information of the likelihood with these variances of the outputs, (p + 1, p + 1): in the order of the
  // gradient, and at the end in the logarithm of a factor of the problem's noise. Half of the sum of its observed and expected
  // information where kernels depend on their parameters linearly, and as good elsewhere for finding the way to the optimum:
  //
  //     A_ab = 1/2 u_a' P. u_b / s^2,  u_a = dK/dtheta_a c
  //
  // With a profiled scale of nu degrees of freedom, less (c'u_a)(c'u_b) / (2 nu s^4).
  virtual Status information(const Partials& partials, std::vector<double>& out) = 0;
};

// The whole kernel matrix, in lower tiles: n^3/3 flops for a fit, n^3 with derivatives of likelihoods and of groups that are
// left out, 2 n^3 with those of the diagonal of P. Memory: the lower half of one n x n matrix; one more n x n for derivatives
// of the variances or densities of groups.
std::unique_ptr<Factor> dense_factor();

// What a criterion says of a fit that has been made: O(n). What a function of the caller throws ends up in the status.
Status apply(const Criterion& criterion, const Fit& fit, Partials& partials);

struct Evaluation {
  double value = 0.0;
  Gradient gradient;
  std::vector<double> beta;       // (q, outputs), by columns
  std::vector<double> c;          // (n, outputs), by columns
  std::vector<double> precision;  // P.ii
  std::vector<double> noise;      // N_i
  double scale = 1.0;
  double dof = 0.0;             // effective degrees of freedom, sum of leverages 1 - N_i P.ii
  double residual_scale = 0.0;  // weighted mean of c_i^2 / P.ii: one if residuals are as large as the model says
  double log_det = 0.0;
  // Of likelihoods, as Factor::information says; of other criteria that of the likelihood with the best scale (or the known
  // one, if the criterion sees it): no curvature, but a unit of length for steps.
  std::vector<double> information;
};

// What is wanted: the value; also all derivatives; also the information.
enum class Order { value, gradient, information };

Status evaluate(const Kernel& k, const Problem& problem, const Criterion& criterion, Order order, Factor& factor,
                Evaluation& out);

}  // namespace kernsel

// The interface between factors and criteria: the quantities of a fit, and the partial derivatives of a criterion in them.
//
// Notation: K~ = k(X, X) + diag(noise) and P = K~^-1. With a trend H, P. = P - P H (H'PH)^-1 H'P; without one, P. = P. The
// coefficients are c = P. Y.
#pragma once

#include <functional>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

// Groups of points that are left out together: of[i] is the group of point i, from 0 to count - 1. Without groups, each point
// is left out alone. No group may contain all points.
struct Groups {
  std::vector<Index> of;
  Index count = 0;
  bool alone() const { return count == 0; }
};

// The quantities that a criterion needs. A factor may compute more.
struct Request {
  bool in_sample = true;     // y'c and the log determinants
  bool coefficients = true;  // c
  bool diagonal = false;     // the diagonal of P.
  bool left_out = false;     // the residuals of points or groups that are left out
  bool variances = false;    // the variances of these residuals
  bool densities = false;    // the joint log densities of groups
  Groups groups;
  // For criteria that are sums of losses l(r) of points that are left out one by one, with weights: slopes_i = l'(r_i). A
  // factor that visits points one after the other can then begin with derivatives before it has seen all residuals.
  std::function<void(Index count, const double* residuals, double* slopes)> slopes;
};

// Predictions of points that are left out in groups I, by the fit to all other points: their residuals r_I = S_I c_I have the
// covariance S_I = P.II^-1.
struct LeftOut {
  std::vector<double> residual;  // (n, outputs), by columns
  std::vector<double> variance;  // (n): the diagonals of all S_I
  std::vector<double> density;   // for each group log N(r_I; 0, S_I), summed over outputs
};

struct Fit {
  View<const double> y, c;            // (n, outputs)
  const double* precision = nullptr;  // P.ii
  const double* noise = nullptr;      // N_i, white parts of the kernel included
  const double* weights = nullptr;    // the weights of the points, or nullptr
  Index trend = 0;                    // the number of columns of H
  double log_det = 0.0;               // log det K~
  double log_det_trend = 0.0;         // log det H'PH - log det H'H, the same for any basis of the trend
  const LeftOut* left_out = nullptr;
  // y'c of each output. A factor that has it without c may leave c empty unless c is requested; otherwise it is nullptr.
  const double* squares = nullptr;
  // What an approximation of K from below leaves out, the sum of (k(x_i, x_i) - its own) / N_i: with half of it subtracted, a
  // likelihood is a lower bound of the exact one. Zero for all others.
  double missing = 0.0;
  // For other likelihoods than the Gaussian one (inference.hpp), y are the targets that stand for the observations: what is to
  // be added to a likelihood of these; and for points that are left out the log densities of their observations.
  double log_factor = 0.0;
  const double* log_density = nullptr;
  Index n() const { return y.rows; }
  Index outputs() const { return y.cols; }
  double square(Index k) const {  // y'c of output k
    double sum = squares ? squares[k] : 0.0;
    for (Index i = 0; i < n() && !squares; ++i) sum += y(i, k) * c(i, k);
    return sum;
  }
};

enum class Profiled { no, each, shared };  // whether the best scale is used, one for each output or one for all

// The value of a criterion, and its partial derivatives with respect to the quantities in Fit. An empty vector means zeros.
struct Partials {
  double unit = 1.0;  // a power of two by which the value and all derivatives are to be multiplied
  double value = 0.0;
  std::vector<double> squares;    // (outputs): derivatives with respect to y'c
  std::vector<double> products;   // (outputs, outputs), symmetric: likewise to y_j'c_k; VecchiaFactor::differentiate() only
  std::vector<double> c;          // (n, outputs), by columns
  std::vector<double> precision;  // (n)
  std::vector<double> noise;      // (n): derivatives with respect to N_i where it occurs in the formula of the criterion
  double log_det = 0.0, log_det_trend = 0.0, missing = 0.0, log_factor = 0.0;
  std::vector<double> log_density;  // (n)
  LeftOut left_out;                 // derivatives with respect to residuals, variances and densities
  // If not zero, there are no other derivatives than those in residuals, and these are this factor times weight times the slope
  // of the request.
  double slope_factor = 0.0;
  double scale = 1.0;  // the profiled scale, where there is one
  // For likelihoods, from which their information is computed: the variance of each output, and its degrees of freedom.
  std::vector<double> variance;
  double freedom = 0.0;
  Profiled profiled = Profiled::no;
};

}  // namespace kernsel

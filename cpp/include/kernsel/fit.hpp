// What stands between factors and criteria: what a factor shows of a fit, and what a criterion says of it.
//
// K~ = k(X, X) + diag(noise), P = K~^-1, or with a trend H: P - P H (H'PH)^-1 H'P, written P. where both are meant. c = P. Y.
#pragma once

#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

// Groups of points that are left out together: of[i] is that of point i, 0 ... count - 1. Without groups, each point is left
// out alone. Every group must leave some points.
struct Groups {
  std::vector<Index> of;
  Index count = 0;
  bool alone() const { return count == 0; }
};

// What a criterion asks for, besides c and the log determinants, which cost least.
struct Request {
  bool diagonal = false;   // of P.
  bool left_out = false;   // residuals of points or groups that are left out,
  bool variances = false;  // with their variances,
  bool densities = false;  // and the joint log densities of groups
  Groups groups;
};

// Of points that are left out, each with its group I: the fit to all others predicts them with the residuals r_I = S_I c_I, of
// covariance S_I = P.II^-1.
struct LeftOut {
  std::vector<double> residual;  // (n, outputs), by columns
  std::vector<double> variance;  // (n): the diagonals of all S_I
  std::vector<double> density;   // of each group, log N(r_I; 0, S_I), the sum over outputs
};

struct Fit {
  View<const double> y, c;            // (n, outputs)
  const double* precision = nullptr;  // P.ii
  const double* noise = nullptr;      // N_i, white parts of the kernel included
  const double* weights = nullptr;    // of the points, or nullptr
  Index trend = 0;                    // columns of H
  double log_det = 0.0;               // log det K~
  double log_det_trend = 0.0;         // log det H'PH - log det H'H, the same for any basis of the trend
  const LeftOut* left_out = nullptr;
  Index n() const { return c.rows; }
  Index outputs() const { return c.cols; }
};

enum class Profiled { no, each, shared };  // was the scale at its best, of each output or of all?

// The value of a criterion, and its partial derivatives in what it has seen; what is empty is zero.
struct Partials {
  double unit = 1.0;  // a power of two: the value and all derivatives are to be multiplied by it
  double value = 0.0;
  std::vector<double> c;          // (n, outputs), by columns
  std::vector<double> precision;  // (n)
  std::vector<double> noise;      // (n), where the noise stands in the criterion itself
  double log_det = 0.0, log_det_trend = 0.0;
  LeftOut left_out;    // in residuals, variances and densities
  double scale = 1.0;  // profiled variance of the kernel, where there is one
  // Of likelihoods, for their information: the variance of each output, with how many degrees of freedom each has.
  std::vector<double> variance;
  double freedom = 0.0;
  Profiled profiled = Profiled::no;
};

}  // namespace kernsel

// The coefficients of the whole kernel matrix, for more points than can be factorized: conjugate gradients, with Nystrom's
// approximation as preconditioner.
//
//     NystromOptions landmarks;
//     Solution solution;
//     Status status = solve_by_conjugate_gradients({k, X, y, noise, Basis::Kind::constant}, landmarks, {}, solution);
//
// With K~ = k(X, X) + N they are the c and beta of
//
//     K~ c + H beta = y,  H'c = 0
//
// from which means are k(z, X) c + h(z)'beta. Each iteration takes one product with k(X, X), whose tiles are computed anew,
// n^2 values of the kernel; nothing of n x n is stored. How many iterations there are depends on what landmarks do not see of
// the function in comparison with the noise: some twenty where that is small.
#pragma once

#include <vector>

#include "kernsel/nystrom.hpp"
#include "kernsel/posterior.hpp"

namespace kernsel {

struct ConjugateGradients {
  double tolerance = 1e-8;  // of the residual |y - H beta - K~ c|, relative to |y - H beta|, for each output
  Index most = 200;         // iterations
};

struct Solution {
  std::vector<double> c;     // (n, outputs), by rows
  std::vector<double> beta;  // (q, outputs), by rows
  Index iterations = 0;
  double residual = 0.0;  // the largest of the outputs, computed from the solution; above the tolerance after `most` iterations
};

// The noise of each point has to be positive.
Status solve_by_conjugate_gradients(const Conditioning& given, const NystromOptions& landmarks, const ConjugateGradients& how,
                                    Solution& out);

}  // namespace kernsel

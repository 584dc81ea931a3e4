// The covariance of linear functionals of a Gaussian process: its values, its partial derivatives, and its averages over boxes.
//
// For f of covariance k in d columns, a functional is a row of 2 d + 1 numbers: d lower ends, d upper ends, and the number of a
// column, counted from 1, or 0. It stands for the average of f over the box between the ends (a column whose ends are equal is
// fixed at that number), or for the average of df/dx_j if the last number is j. So a value of f is (x, x, 0).
#pragma once

#include "kernsel/kernel.hpp"

namespace kernsel {

// The covariance of functionals of a process whose covariance is k. Its hyperparameters are those of k.
//
// k is made of rbf, exponential, matern (3/2 and 5/2), product_matern (1/2, 3/2 and 5/2), rational_quadratic, dot_product,
// polynomial, cosine, periodic (of one column), constant, multiples, sums, products, powers, exp and on. Derivatives need a
// kernel that is differentiable in both arguments, which those of smoothness 1/2 are not. Averages need closed integrals: rbf,
// product_matern, dot_product, the other Matern kernels as functions of one column; sums of these, and products of which only
// one factor sees a column that has an extent.
Kernel functionals(const Kernel& k);

}  // namespace kernsel

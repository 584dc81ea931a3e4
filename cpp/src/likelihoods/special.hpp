// Special functions that likelihoods need. Errors are some units in the last place, of values near zero in absolute terms.
#pragma once

#include "kernsel/view.hpp"

namespace kernsel {

double log_gamma(double x);  // for x > 0; std::lgamma() writes to a global variable
double log_factorial(double count);
double stirling_rest(double x);  // log_gamma without (x - 1/2) log x - x + log(2 pi) / 2
double digamma(double x);        // the derivative of log_gamma, for x > 0
double trigamma(double x);       // the second
double tetragamma(double x);     // the third
// log Gamma(x + count) - log Gamma(x) and its derivative in x, which large x do not cancel.
double log_rising(double x, double count);
double digamma_rise(double x, double count);

// Regularized incomplete gamma functions: the integral from 0 to x of t^(a-1) exp(-t) over Gamma(a), and one minus it.
double lower_gamma(double a, double x);
double upper_gamma(double a, double x);
// Regularized incomplete beta function, the distribution function of a Beta(a, b) variable at x; `rest` is 1 - x.
double incomplete_beta(double a, double b, double x, double rest);

double normal_up_to(double x);  // Phi(x), the normal distribution function
double log_normal(double x);    // log Phi(x)
double normal_quantile(double p);
double log_normal_density(double x);

// log Phi and its first three derivatives. The k-th stays exact where Phi(x) underflows.
struct LogNormal {
  double value, first, second, third;
};
LogNormal log_normal_slopes(double x);

// 1 / (1 + exp(-f)), and log(1 + exp(f)).
double logistic(double f);
double softplus(double f);

}  // namespace kernsel

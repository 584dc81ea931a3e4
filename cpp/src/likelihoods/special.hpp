// Special functions, and checks of observations, that several likelihoods need.
#pragma once

#include "kernsel/likelihood.hpp"

namespace kernsel {

double log_gamma(double x);  // for x > 0; std::lgamma() writes to a global variable
double log_factorial(double count);
double digamma(double x);               // the derivative of log_gamma
double trigamma(double x);              // the second
double tetragamma(double x);            // the third
double lower_gamma(double a, double x);  // regularized incomplete gamma functions: the integral from 0 to x of t^(a-1) exp(-t)
double upper_gamma(double a, double x);  // over Gamma(a), and one minus it
double incomplete_beta(double a, double b, double x);  // regularized: the distribution function of a Beta(a, b) variable
double log_normal(double x);                           // log Phi(x), the normal distribution function
double normal_up_to(double x);                         // Phi(x)
double normal_quantile(double p);

bool is_count(double y);     // whether it is a whole number from 0 on
bool is_positive(double y);  // whether it is positive and finite

Status wrong_row(Index row, const char* message);

// The least count up to which the probability is at least p.
double least_count(const Likelihood& likelihood, double p, double f, double size);

}  // namespace kernsel

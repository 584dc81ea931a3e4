"""Numerical routines outside estimators: Cholesky factorization, linear least squares, interpolation.

- :func:`cholesky`: the factor of a positive definite matrix, computed on all processors and stored in half the memory of the
  matrix, with methods for solutions, determinants and the inverse.
- :func:`leverage`, :func:`loo_least_squares`: leverages and leave-one-out residuals of linear least squares, from one QR
  factorization.
- :func:`minimum_norm_interpolant`: the function of least norm through given values, for a positive semidefinite matrix.
- :func:`power_function`: the largest interpolation error at other points, over functions of norm one.
"""

from kernsel.linalg.cholesky import cholesky
from kernsel.linalg.least_squares import leverage, loo_least_squares
from kernsel.linalg.minimum_norm import minimum_norm_interpolant, power_function

__all__ = ["cholesky", "leverage", "loo_least_squares", "minimum_norm_interpolant", "power_function"]

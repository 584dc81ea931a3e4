"""Numerical routines without an estimator: factorizations, linear least squares, interpolation.

- :func:`cholesky`: of a positive definite matrix, on all processors, in half its memory; solves, determinants, diagonals.
- :func:`leverage`, :func:`loo_least_squares`: of linear least squares, from one QR factorization.
- :func:`minimum_norm_interpolant`: the function of least norm through values, for any positive semidefinite matrix.
- :func:`power_function`: how badly functions of a kernel's space can be interpolated at other points.
"""

from kernsel.linalg.cholesky import cholesky
from kernsel.linalg.least_squares import leverage, loo_least_squares
from kernsel.linalg.minimum_norm import minimum_norm_interpolant, power_function

__all__ = ["cholesky", "leverage", "loo_least_squares", "minimum_norm_interpolant", "power_function"]

"""Linear least squares: leverage, leave-one-out, and ridge regression in both of its forms."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Vector

__all__ = ["LeastSquaresLOO", "leverage", "loo_least_squares"]


@dataclass(frozen=True)
class LeastSquaresLOO:
    """What :func:`loo_least_squares` returns.

    Attributes
    ----------
    residuals : ndarray of shape (n,) or (n, m)
        Of each row, predicted by the solution of all others.
    press : float or ndarray of shape (m,)
        The sum of their squares.
    leverage : ndarray of shape (n,)
    coef : ndarray of shape (d,) or (d, m)
        The solution with all rows, of minimum norm.
    rank : int
    """

    residuals: Vector
    press: float | Vector
    leverage: Vector
    coef: Vector
    rank: int


def leverage(A: ArrayLike, *, ridge: float = 0.0) -> Vector:
    """Return the leverage of each row: how much of b_i goes into its own fitted value.

    l_i = a_i' (A'A + ridge I)^+ a_i, from a QR factorization with column pivoting, for any shape and rank; between 0 and 1, and
    without `ridge` summing to the rank.

    Parameters
    ----------
    A : array-like of shape (n, d)
        With a column of ones if the model has an intercept.
    ridge : float

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> ks.linalg.leverage(np.column_stack([np.ones(4), [0.0, 1.0, 2.0, 9.0]])).round(3)
    array([0.43, 0.33, 0.27, 0.97])
    """
    matrix, ridge = _checked(A, ridge)
    n = len(matrix)
    return solved(matrix, np.zeros((n, 0)), ridge, np.zeros((n, 0))).leverage


def loo_least_squares(A: ArrayLike, b: ArrayLike, *, ridge: float = 0.0) -> LeastSquaresLOO:
    """Return the leave-one-out residuals of linear least squares, from one factorization.

    Row i is left out, |A x - b|^2 + ridge |x|^2 is minimized over the others, by the x of minimum norm where there are
    many, and row i is predicted. The residual is r_i / (1 - l_i). Rows of leverage one, which no others explain (all of
    them, if A is wide), are predicted from the minimum-norm solution instead: ((AA')^+ b)_i / ((AA')^+)_ii.

    Parameters
    ----------
    A : array-like of shape (n, d)
    b : array-like of shape (n,) or (n, m)
    ridge : float
        Not negative.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> A = np.column_stack([np.ones(4), [0.0, 1.0, 2.0, 3.0]])
    >>> ks.linalg.loo_least_squares(A, [0.0, 1.0, 2.0, 6.0]).residuals.round(3)
    array([ 2.   , -0.429, -1.714,  3.   ])
    """
    matrix, ridge = _checked(A, ridge)
    targets = np.asarray(b, dtype=np.float64)
    if targets.ndim not in (1, 2) or len(targets) != len(matrix) or not np.isfinite(targets).all():
        raise ValueError(f"b: expected finite numbers, one row for each of {len(matrix)}, got shape {targets.shape}")
    found = solved(matrix, targets.reshape(len(matrix), -1), ridge, np.zeros((len(matrix), 0)))
    if targets.ndim == 1:
        press = float(np.ravel(found.press)[0])
        return LeastSquaresLOO(found.residuals[:, 0], press, found.leverage, found.coef[:, 0], found.rank)
    return found


def solved(A: Vector, y: Vector, ridge: float, free: Vector) -> LeastSquaresLOO:
    """Return what :func:`loo_least_squares` does, for targets (n, m), with some directions fitted exactly and never penalized.

    These are the orthonormal columns of `free`, (n, q); A and y must be orthogonal to them. Centred A and y, and the column
    1 / n^(1/2), make an intercept. Without row i it is estimated anew.
    """
    found = _core.least_squares(A, y, ridge, free)
    return LeastSquaresLOO(found["left_out"], found["press"], found["leverage"], found["coefficients"], found["rank"])


def _checked(A: ArrayLike, ridge: float) -> tuple[Vector, float]:
    matrix = np.asarray(A, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise ValueError(f"A: expected a matrix of finite numbers, got shape {matrix.shape}")
    if not isinstance(ridge, Real) or not (float(ridge) >= 0 and isfinite(ridge)):
        raise ValueError(f"ridge: expected a finite number that is not negative, got {ridge!r}")
    return matrix, float(ridge)

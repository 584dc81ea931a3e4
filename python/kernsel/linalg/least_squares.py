"""Linear least squares and ridge regression: leverages and leave-one-out residuals."""

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
    """The result of :func:`loo_least_squares`.

    Attributes
    ----------
    residuals : ndarray of shape (n,) or (n, m)
        The residual of each row, predicted by the solution for all other rows.
    press : float or ndarray of shape (m,)
        The sum of the squared residuals.
    leverage : ndarray of shape (n,)
        The leverages, see :func:`leverage`.
    coef : ndarray of shape (d,) or (d, m)
        The solution of minimum norm with all rows.
    rank : int
        The numerical rank of A.
    """

    residuals: Vector
    press: float | Vector
    leverage: Vector
    coef: Vector
    rank: int


def leverage(A: ArrayLike, *, ridge: float = 0.0) -> Vector:
    """Return the leverage of each row: the derivative of the fitted value (A x)_i with respect to its target b_i.

    l_i = a_i' (A'A + ridge I)^+ a_i is computed by a QR factorization with column pivoting, for any shape and rank. Leverages
    are between 0 and 1, and add up to the rank if `ridge` is zero.

    Parameters
    ----------
    A : array-like of shape (n, d)
        It has a column of ones if the model has an intercept.
    ridge : float
        The penalty, not negative.

    Returns
    -------
    leverage : ndarray of shape (n,)

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

    Row i is left out, |A x - b|^2 + ridge |x|^2 is minimized over the other rows (by the x of minimum norm if there are many),
    and row i is predicted. The residual is r_i / (1 - l_i), with the residual r_i and the leverage l_i of the fit to all rows.
    For rows of leverage one (all rows, if A is wide) it is that of the minimum-norm solution, ((AA')^+ b)_i / ((AA')^+)_ii.

    Parameters
    ----------
    A : array-like of shape (n, d)
    b : array-like of shape (n,) or (n, m)
    ridge : float
        The penalty, not negative.

    Returns
    -------
    result : LeastSquaresLOO

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
    """Return the result of :func:`loo_least_squares` for targets y, (n, m), and a model with additional unpenalized columns.

    These are the orthonormal columns of `free`, (n, q), to which A and y must be orthogonal; their coefficients are estimated
    again for each row that is left out. For an intercept, A and y are centred, and `free` is the column 1 / n^(1/2).
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

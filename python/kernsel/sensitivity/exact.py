"""Sobol' indices of a sum of products of functions of one column each, by integrals over single columns.

With g_j the expectations of the functions of column j, C_j their covariances and G_j = C_j + g_j g_j', all (N, N), and products
of matrices taken entry by entry ::

    Var E[f | x_j]      = w' (C_j prod_{k != j} g_k g_k') w
    E Var(f | x_{not j}) = w' (C_j prod_{k != j} G_k) w
    Var f               = sum_j w' (C_j prod_{k < j} G_k prod_{k > j} g_k g_k') w

and the interaction of two columns is w' (C_i C_j prod g_k g_k') w. No square of the mean is subtracted anywhere. The first is
computed as the variance of the curve E[f | x_j], in which nothing else cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.blas import with_one_blas_thread
from kernsel.sensitivity.expansion import Column, Expansion
from kernsel.sensitivity.inputs import Input

__all__ = ["TooLargeError", "Variances", "exact_variances", "variance_of_curves"]

_MEMORY = 1_000_000_000  # bytes, of the matrices of all columns


class TooLargeError(ValueError):
    """The matrices of all columns do not fit into the memory that is meant for them."""


@dataclass(frozen=True)
class Variances:
    """The variance of a function, and the parts of it that its inputs explain.

    Attributes
    ----------
    mean, variance : float
    first, total : ndarray of shape (d,)
        Var E[f | x_j] and E Var(f | all others).
    second : ndarray of shape (d, d) or None
        Of the interaction of two inputs beyond their first ones; symmetric, zero on the diagonal.
    error : float
        The size of the numerical error of `variance` and `total`; zero where it is estimated otherwise.
    """

    mean: float
    variance: float
    first: Vector
    total: Vector
    second: Matrix | None
    error: float


@with_one_blas_thread
def exact_variances(f: Expansion, inputs: Sequence[Input], second: bool) -> Variances:
    """Return the variance of a function and its parts, in O(N^2 d), and N^2 d^2 more for `second`.

    Integrals of Matern kernels, which have a kink at each point, take some 5 N^3 d more.

    Raises
    ------
    TooLargeError
        If the matrices, 16 N^2 d bytes, would take more than 1 GB.
    """
    d, N = len(inputs), len(f.weights)
    if 16 * N * N * d > _MEMORY:
        raise TooLargeError(f"the matrices of {N} products in {d} columns would take more than {_MEMORY // 10**9} GB")
    w = f.weights
    columns = [f.column(k, one) for k, one in enumerate(inputs)]
    means = np.array([column.means for column in columns])
    others = np.array([np.prod(np.delete(means, j, axis=0), axis=0) for j in range(d)])
    first = np.array([variance_of_curves(column, w * others[j])[0] for j, column in enumerate(columns)])
    covariances = [column.covariance() for column in columns]
    moments = [C + np.outer(g, g) for C, g in zip(covariances, means, strict=True)]
    right = [np.ones((1, 1))]  # products of the moments of the columns after each one
    for G in moments[:0:-1]:
        right.append(right[-1] * G)
    right = right[::-1]
    left = np.ones((1, 1))
    total, variance, rounding = np.zeros(d), 0.0, 0.0
    for j, (C, G) in enumerate(zip(covariances, moments, strict=True)):
        before = left * C
        v = w * np.prod(means[j + 1 :], axis=0)
        variance += float(v @ before @ v)
        M = before * right[j]
        total[j] = w @ M @ w
        rounding = max(rounding, _rounding(M, w), _rounding(before, v))
        left = left * G
    parts = _interactions(covariances, means, w) if second else None
    mean = f.offset + float(w @ np.prod(means, axis=0))
    return Variances(mean, variance, first, total, parts, d * rounding)


def variance_of_curves(column: Column, v: Matrix) -> tuple[Vector, Vector]:
    """Return the variances and means of sum_r v_r phi_r(x), for one or more v, of shape (N,) or (N, m)."""
    curves = column.functions @ v
    mean = column.weights @ curves
    return np.asarray(column.weights @ (curves - mean) ** 2), np.asarray(mean)


def _interactions(covariances: Sequence[Matrix], means: Matrix, w: Vector) -> Matrix:
    d = len(means)
    parts = np.zeros((d, d))
    for i in range(d):
        for j in range(i):
            v = w * np.prod(np.delete(means, [i, j], axis=0), axis=0)
            parts[i, j] = parts[j, i] = v @ (covariances[i] * covariances[j]) @ v
    return parts


def _rounding(M: Matrix, w: Vector) -> float:
    """Return the size of the error of w'Mw if each entry of M has an independent relative error of rounding."""
    squares = w**2
    return float(np.finfo(np.float64).eps * np.sqrt(squares @ M**2 @ squares))

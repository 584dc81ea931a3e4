"""Interpolation: the function of least norm through given values, and its largest error at other points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel import _core
from kernsel._data.kernel import kernel_and_points
from kernsel.kernels.objects import Points
from kernsel.kernels.written import KernelLike

__all__ = ["Interpolant", "minimum_norm_interpolant", "power_function"]

FEASIBLE = 1e-8  # y counts as in the range of K if its distance from the range is at most this multiple of |y|


@dataclass(frozen=True)
class Interpolant:
    """The result of :func:`minimum_norm_interpolant`.

    Attributes
    ----------
    dual_coef : ndarray of shape (n,) or (n, m)
        The coefficients c of f = sum_i c_i k(., x_i).
    norm : float or ndarray of shape (m,)
        |f| = (c'Kc)^(1/2).
    feasible : bool
        Whether y is in the range of K, up to rounding. Otherwise f(X) is the closest point of the range.
    distance : float or ndarray of shape (m,)
        |y - Kc|, the distance of y from the range of K.
    rank : int
        The rank of K, up to rounding.
    """

    dual_coef: NDArray[np.float64]
    norm: float | NDArray[np.float64]
    feasible: bool
    distance: float | NDArray[np.float64]
    rank: int


def minimum_norm_interpolant(K: ArrayLike, y: ArrayLike, *, rtol: float | None = None) -> Interpolant:
    """Return the function of least norm with f(x_i) = y_i, or with values closest to y if there is none.

    Its coefficients are c = K^+ y, from an eigendecomposition of K in about 9 n^3 operations, in which eigenvalues below `rtol`
    times the largest count as zero.

    Parameters
    ----------
    K : array-like of shape (n, n)
        A positive semidefinite kernel matrix.
    y : array-like of shape (n,) or (n, m)
        The values.
    rtol : float, optional
        By default n times the machine epsilon.

    Returns
    -------
    f : Interpolant

    Examples
    --------
    >>> import kernsel as ks
    >>> f = ks.linalg.minimum_norm_interpolant([[1.0, 1.0], [1.0, 1.0]], [2.0, 2.0])
    >>> f.feasible, f.rank, f.dual_coef.round(6), round(f.norm, 6)
    (True, 1, array([1., 1.]), 2.0)
    >>> ks.linalg.minimum_norm_interpolant([[1.0, 1.0], [1.0, 1.0]], [1.0, 3.0]).feasible
    False
    """
    matrix, targets = np.asarray(K, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError(f"K: expected a square matrix of finite numbers, got shape {matrix.shape}")
    n = len(matrix)
    if targets.ndim not in (1, 2) or len(targets) != n or not np.isfinite(targets).all():
        raise ValueError(f"y: expected finite numbers, one row for each of {n} points, got shape {targets.shape}")
    e, Q = positive_part(matrix, rtol)
    Y = targets.reshape(n, -1)
    z = Q.T @ Y
    c = Q @ (z / e[:, None])
    distance = np.linalg.norm(Y - Q @ z, axis=0)
    norm = np.sqrt(np.sum(z**2 / e[:, None], axis=0))
    feasible = bool((distance <= FEASIBLE * np.linalg.norm(Y, axis=0)).all())
    if targets.ndim == 1:
        return Interpolant(c[:, 0], float(norm[0]), feasible, float(distance[0]), len(e))
    return Interpolant(c, norm, feasible, distance, len(e))


def positive_part(K: NDArray[np.float64], rtol: float | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the eigenvalues of K that are not zero up to rounding, and their eigenvectors; raise if one is negative."""
    n = len(K)
    from scipy import linalg

    e, Q = linalg.eigh(K, driver="evd")
    largest = max(float(e[-1]), 0.0) if n else 0.0
    limit = (n * np.finfo(float).eps if rtol is None else rtol) * largest
    if n and e[0] < -10 * max(limit, n * np.finfo(float).eps * largest):
        raise ValueError(f"K: expected a positive semidefinite matrix, got the eigenvalue {e[0]:.3g}")
    kept = e > limit
    return e[kept], Q[:, kept]


def power_function(kernel: KernelLike, X: Points, Z: Points, *, noise: float = 0.0) -> NDArray[np.float64]:
    """Return the power function of points X at points Z: the largest interpolation error over functions of norm one.

    P(z)^2 = k(z, z) - k(z, X) (k(X, X) + noise I)^-1 k(X, z). For f in the kernel's space with interpolant s (without noise),
    |f(z) - s(z)| <= P(z) |f - s|, and |f - s| <= |f|. P is also the posterior standard deviation of a Gaussian process. The
    cost is n^3 / 3 operations, and O(n^2) for each point of Z.

    Parameters
    ----------
    kernel : Kernel or str
        A kernel of kernsel or scikit-learn, or the text of one. Its "auto" parameters are set from X.
    X : array-like of shape (n, d), or sequence of n objects
        The points at which values are given.
    Z : array-like of shape (m, d), or sequence of m objects
        The points at which the error is bounded.
    noise : float
        The variance of the noise of the values.

    Returns
    -------
    power : ndarray of shape (m,)

    Examples
    --------
    >>> import kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> ks.linalg.power_function(RBF(1.0), [[0.0], [2.0]], [[0.0], [1.0], [5.0]]).round(3)
    array([0.   , 0.593, 1.   ])
    """
    ours, points, others = kernel_and_points(kernel, X, Z)
    assert others is not None  # Z is
    training = np.asarray(points, dtype=np.float64)
    variances, targets = np.full(len(training), float(noise)), np.zeros((len(training), 1))
    posterior = _core.Posterior.condition(ours.build(), training, targets, variances, None, 0)
    return np.asarray(np.sqrt(np.maximum(posterior.variance(others), 0.0)))

"""Leave-one-out residuals of support vector regression, estimated from the support vectors of one fit."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from kernsel._base.annotations import Vector
from kernsel.kernels import Kernel
from kernsel.linalg.jitter import least_jitter, with_jitter

__all__ = ["left_out_residuals"]


def left_out_residuals(
    kernel: Kernel,
    X: Vector,
    y: Vector,
    a: Vector,
    intercept: float,
    bounds: Vector,
    fit_intercept: bool = True,
) -> Vector:
    """Estimate y_i - f_(-i)(x_i), the error at each point of the fit without it, from the fit with all points.

    Let r_i = y_i - f(x_i). Leaving out a point with a_i = 0 does not change the fit, so that r_i is exact. Let F be the support
    vectors with |a_i| < C_i. If no other coefficient reaches or leaves zero or its bound when i is left out, the others in F
    keep their residuals, and the changes of the coefficients and of b solve a linear system, by which ::

        y_i - f_(-i)(x_i) = r_i + a_i S_i^2
        S_i^2 = 1 / (M^-1)_ii for i in F,   k_ii - v_i' M^-1 v_i for i at a bound,   M = [K_FF 1; 1' 0],  v_i = [K_Fi; 1]

    (without an intercept, M = K_FF and v_i = K_Fi). S_i is the distance of the feature of point i from the span of the others
    in F, called the span by Vapnik and Chapelle. Otherwise it is an estimate, mostly too large for points at a bound with a
    large C. If no other point is in F, the intercept is assumed not to change, and S_i^2 = k_ii.

    K_FF is singular for equal points, and nearly so for smooth kernels. Therefore |F| eps times its largest diagonal entry is
    added to the diagonal, and a hundred times more, up to 1e-6 of that entry, as long as the Cholesky factorization fails.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n, d)
    y, a : ndarray of shape (n,)
    intercept : float
    bounds : ndarray of shape (n,)
        The bounds C_i of the coefficients.
    fit_intercept : bool

    Returns
    -------
    residuals : ndarray of shape (n,)
        Computed in n_SV |F|^2 operations, with memory for n_SV^2 numbers.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.estimators.support.span import left_out_residuals
    >>> X, y = np.arange(6.0)[:, None], np.array([0.0, 0.8, 1.0, 0.1, -0.7, -1.0])
    >>> fit = ks.SVRPath(X, y, ks.kernels.RBF(1.5), Cs=[10.0], epsilons=[0.1])
    >>> a, b = fit.coefficients[0, 0], fit.intercepts[0, 0]
    >>> estimated = left_out_residuals(ks.kernels.RBF(1.5), X, y, a, b, np.full(6, 10.0))
    >>> bool(np.all(np.abs(estimated) >= np.abs(y - ks.kernels.RBF(1.5)(X) @ a - b) - 1e-12))
    True
    """
    support = np.flatnonzero(a)
    residuals = y - intercept
    if not len(support):
        return np.asarray(residuals)
    K = np.asarray(kernel(X[support]))
    coefficients = a[support]
    rest = np.flatnonzero(a == 0)
    residuals[support] -= K @ coefficients
    residuals[rest] -= kernel.matmul(X[rest], X[support], coefficients) if len(rest) else 0.0
    free = np.abs(coefficients) < bounds[support]
    S = np.diag(K).copy()
    if free.any():
        L = _factor(K[np.ix_(free, free)])
        inverse = linalg.cho_solve((L, True), np.eye(len(L)))
        inner = np.diag(inverse).copy()
        across = K[np.ix_(free, ~free)]
        S[~free] -= np.sum(linalg.solve_triangular(L, across, lower=True) ** 2, axis=0)
        alone = fit_intercept and len(L) == 1
        if fit_intercept:
            u = inverse.sum(axis=1)
            total = float(u.sum())
            inner -= u**2 / total
            S[~free] += (1 - u @ across) ** 2 / total
        if not alone:
            least = np.finfo(float).eps * np.diag(inverse)
            S[free] = 1 / np.maximum(inner, least)
    residuals[support] += coefficients * np.maximum(S, 0.0)
    return np.asarray(residuals)


def _factor(K: Vector) -> Vector:
    """Return the Cholesky factor of a matrix that may be singular by rounding."""
    least = least_jitter(len(K), float(np.diag(K).max()))
    try:
        return with_jitter(least, lambda jitter: np.asarray(linalg.cholesky(K + jitter * np.eye(len(K)), lower=True)))[0]
    except np.linalg.LinAlgError:
        raise ValueError(
            'criterion: "loo" needs a kernel that is positive semidefinite, which this one is not; "kfold" does not'
        ) from None

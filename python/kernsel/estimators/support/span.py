"""Leave-one-out residuals of support vector regression, estimated from the support vectors of one fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from kernsel._base.annotations import Vector
from kernsel._data.together import first_of_equal
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
    groups: NDArray[np.intp] | None = None,
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

    Equal points are left out together: they act as one point whose coefficient is the sum of theirs. A group I of points, if
    groups are given, is left out in the same way, with the matrix S_I = K_II - v_I' M^-1 v_I, where F has no points of I, in
    place of S_i^2.

    K_FF is nearly singular for smooth kernels. Therefore |F| eps times its largest diagonal entry is
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
    groups : ndarray of int of shape (n,), optional
        The groups of points that are left out together; by default equal points are.

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
    rest = np.flatnonzero(a == 0)
    residuals[support] -= np.asarray(kernel(X[support])) @ a[support]
    residuals[rest] -= kernel.matmul(X[rest], X[support], a[support]) if len(rest) else 0.0
    free = (a != 0) & (np.abs(a) < bounds)
    first = first_of_equal(X if groups is None else np.column_stack([groups, X]))
    shown, cell = np.arange(len(y)), np.arange(len(y))
    if first is not None and kernel.build().noise(X).any():  # equal points are not the same to this kernel
        groups = first if groups is None else groups
    elif first is not None:  # a function depends on the sum of the coefficients of equal points only
        shown, cell = np.unique(first, return_inverse=True)
    total = np.bincount(cell, a).astype(np.float64)
    is_free = (np.bincount(cell, free) > 0) & (total != 0)
    of_shown = shown if groups is None else groups[shown]
    if len(np.unique(of_shown)) == len(shown):
        active = np.flatnonzero(total)
        changed = _without_each(kernel(X[shown[active]]), total[active], is_free[active], fit_intercept)
    else:
        active = np.flatnonzero(np.isin(of_shown, of_shown[total != 0]))
        parts = total[active], is_free[active], of_shown[active]
        changed = _without_groups(kernel(X[shown[active]]), *parts, fit_intercept)
    change = np.zeros(len(shown))
    change[active] = changed
    return np.asarray(residuals + change[cell.ravel()])


def _without_each(K: Vector, coefficients: Vector, free: NDArray[np.bool_], fit_intercept: bool) -> Vector:
    """Return a_i S_i^2 of each support vector."""
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
    return np.asarray(coefficients * np.maximum(S, 0.0))


def _without_groups(
    K: Vector, coefficients: Vector, free: NDArray[np.bool_], groups: NDArray[np.intp], fit_intercept: bool
) -> Vector:
    """Return S_I a_I of each group I, S_I the covariance of its points given those in F that are in no group but others.

    Let E be the block of M^-1 for F, and for the points B of I that are not in F, W = the rows F of M^-1 v_B and
    T = K_BB - v_B' M^-1 v_B. With the points J of I in F, the parts of S_I are S_JJ = E_JJ^-1, S_BJ = W_J' S_JJ and
    S_BB = T + W_J' S_JJ W_J.
    """
    change = np.zeros(len(K))
    among = np.flatnonzero(free)  # F
    if len(among):
        L = _factor(K[np.ix_(among, among)])
        E = linalg.cho_solve((L, True), np.eye(len(L)))
        u = E.sum(axis=1) if fit_intercept else np.zeros(len(L))
        total = float(u.sum()) if fit_intercept else 1.0
        E = E - np.outer(u, u) / total
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        J, B = own[free[own]], own[~free[own]]
        if len(J) == len(among):  # nothing else is in F
            change[own] = K[np.ix_(own, own)] @ coefficients[own]
            continue
        C = K[np.ix_(among, B)]
        W = E @ C + u[:, None] / total
        T = K[np.ix_(B, B)] - C.T @ W
        if fit_intercept:
            T += (1 - u @ C)[None, :] / total
        places = np.searchsorted(among, J)
        change[J] = np.linalg.solve(E[np.ix_(places, places)], coefficients[J] + W[places] @ coefficients[B])
        change[B] = T @ coefficients[B] + W[places].T @ change[J]
    return change


def _factor(K: Vector) -> Vector:
    """Return the Cholesky factor of a matrix that may be singular by rounding."""
    least = least_jitter(len(K), float(np.diag(K).max()))
    try:
        return with_jitter(least, lambda jitter: np.asarray(linalg.cholesky(K + jitter * np.eye(len(K)), lower=True)))[0]
    except np.linalg.LinAlgError:
        raise ValueError(
            'criterion: "loo" needs a kernel that is positive semidefinite, which this one is not; "kfold" does not'
        ) from None

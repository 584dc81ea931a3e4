"""Derivatives of what is predicted of each point from all others with respect to the hyperparameters of the kernel."""

from __future__ import annotations

import numpy as np

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.kernels import Kernel
from kernsel.linalg.cholesky import Cholesky

__all__ = ["left_out_derivatives"]


def left_out_derivatives(
    kernel: Kernel, X: Matrix, y: Matrix, noise: Vector, H: Matrix, together: Indices | None
) -> tuple[Matrix, Matrix]:
    """Return the derivatives of the residuals, shape (n, m, p), and of the variances, (n, p), of points that are left out.

    For a group I that is left out together (one point, or several), P_II^-1 P_I = G are the weights of its predictions: the
    residuals are r_I = G y, their covariance is P_II^-1. With dP = -P dK P ::

        dr_I = -G dK (c - P_I' r_I),    d diag(P_II^-1) = diag(G dK G')

    where c - P_I' r_I are the coefficients of the fit without I. Each row is one product with dK, by `Kernel.pullback`.

    Parameters
    ----------
    kernel : Kernel
        Bound to the points.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n, m)
    noise : ndarray of shape (1,) or (n,)
    H : ndarray of shape (n, q)
        The functions of the trend.
    together : ndarray of int of shape (n,), optional
        The group of each point; by default each is left out alone.
    """
    n, m = y.shape
    P = np.asarray(Cholesky(kernel.build().cholesky(X, noise)).inverse())
    if H.shape[1]:
        of_trend = P @ H
        P -= of_trend @ np.linalg.solve(H.T @ of_trend, of_trend.T)
    c = P @ y
    in_residuals, in_variances = np.empty((n, m, kernel.n_dims)), np.empty((n, kernel.n_dims))
    labels = np.arange(n) if together is None else together
    for label in np.unique(labels):
        group = np.flatnonzero(labels == label)
        block = P[np.ix_(group, group)]
        weights = np.linalg.solve(block, P[group])
        without = c - P[:, group] @ np.linalg.solve(block, c[group])
        for i, g in zip(group, weights, strict=True):
            in_variances[i] = kernel.pullback(X, np.multiply.outer(g, g))
            for k in range(m):
                in_residuals[i, k] = -kernel.pullback(X, np.multiply.outer(g, without[:, k]))
    return in_residuals, in_variances

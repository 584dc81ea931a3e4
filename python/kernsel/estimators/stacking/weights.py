"""The weights of a mixture of predictive densities under which points that were left out are most likely."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.blas import with_one_blas_thread

__all__ = ["LEAST", "stacking_weights"]

LEAST = 1e-4  # the least weight for which a model is kept
_TOLERANCE = 1e-11  # of the conditions of Karush, Kuhn and Tucker
_RIDGE = 1e-13  # relative, added to the Hessian matrix, which is singular for models of equal densities
_MOST_STEPS = 200


@with_one_blas_thread
def stacking_weights(log_densities: ArrayLike, *, least: float = LEAST) -> Vector:
    """Return the weights w on the simplex that maximize mean_i log(sum_k w_k p_ik).

    The problem is concave. Models whose weight is below `least` are left out, and the weights of the others found again.

    Parameters
    ----------
    log_densities : array-like of shape (n, K)
        log p_ik, the log density of each of n points that are left out under each of K models.
    least : float
        The least positive weight.

    Returns
    -------
    weights : ndarray of shape (K,)
        Not negative, of sum 1.

    Examples
    --------
    >>> from kernsel.estimators.stacking.weights import stacking_weights
    >>> stacking_weights([[0.0, -9.0, -1.0], [-9.0, 0.0, -1.0]]).round(3)
    array([0.5, 0.5, 0. ])
    """
    logs = np.asarray(log_densities, dtype=np.float64)
    if logs.ndim != 2 or not logs.size or not np.isfinite(logs).all():
        raise ValueError(f"log_densities: expected finite numbers of shape (n, K), got shape {logs.shape}")
    kept = np.arange(logs.shape[1])
    while True:
        found = _most_likely(logs[:, kept])
        large = found >= least
        if large.all():
            break
        kept = kept[large]
    weights = np.zeros(logs.shape[1])
    weights[kept] = found / found.sum()
    return weights


def _most_likely(logs: Matrix) -> Vector:
    """Return the weights, any of which may be small, by sequential quadratic programming.

    On the positive orthant f(w) = sum(w) - mean_i log(sum_k w_k p_ik) has its minimum on the simplex, which is the solution.
    With D_ik = p_ik / sum_j w_j p_ij its gradient is g = 1 - D'1/n, its Hessian matrix H = D'D/n, and a step of Newton's method
    minimizes v'Hv/2 - v'(Hw - g) over v >= 0, a problem of least squares with the Cholesky factor of H. At the solution g is
    not negative, so that no D_ik is above n: steps stay where the mixture has 1/(2n) of the largest density at each point.
    """
    n, count = logs.shape
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    w = np.full(count, 1.0 / count)
    mixed = p @ w
    least = 0.5 / max(n, count)
    for _ in range(_MOST_STEPS):
        D = p / mixed[:, None]
        g = 1 - D.mean(axis=0)
        if g.min() >= -_TOLERANCE and np.abs(g[w > 0]).max() <= _TOLERANCE:
            break
        H = D.T @ D / n
        R = cholesky(H + _RIDGE * H.diagonal().max() * np.eye(count))
        v, _ = nnls(R, solve_triangular(R, H @ w - g, trans="T"))
        value, slope, length = w.sum() - np.log(mixed).mean(), float(g @ (v - w)), 1.0
        while True:
            new = v if length == 1.0 else w + length * (v - w)
            mixed = p @ new
            allowed = value + 1e-4 * length * slope + 1e-15 * (1 + abs(value))
            if length < 1e-12 or (mixed.min() >= least and new.sum() - np.log(mixed).mean() <= allowed):
                break
            length /= 2
        w = new
    return np.asarray(w)

"""The weights of a mixture of predictive densities under which points that were left out are most likely."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.blas import with_one_blas_thread

__all__ = ["LEAST", "points_of", "stacking_weights"]

LEAST = 0.01  # the least weight for which a model is kept
POINTS = 5.0  # the points for which the likeliest model is taken to be the only one that is right
_NATS = 20.0  # a model that is e^20 times less likely counts for e times less points
_TOLERANCE = 1e-11  # of the conditions of Karush, Kuhn and Tucker
_RIDGE = 1e-13  # relative, added to the Hessian matrix, which is singular for models of equal densities
_MOST_STEPS = 200


@with_one_blas_thread
def points_of(log_likelihoods: ArrayLike) -> Vector:
    """Return for how many points more each model counts in :func:`stacking_weights`, from how likely the models are.

    Parameters
    ----------
    log_likelihoods : array-like of shape (K,)
        The log evidence of each model, or another log likelihood of all points.

    Returns
    -------
    points : ndarray of shape (K,)
    """
    logs = np.asarray(log_likelihoods, dtype=np.float64)
    return np.asarray(POINTS * np.exp((logs - logs.max()) / _NATS))


def stacking_weights(log_densities: ArrayLike, *, least: float = LEAST, points: ArrayLike = 0.0) -> Vector:
    """Return the weights w on the simplex that maximize sum_i log(sum_k w_k p_ik) + sum_k a_k log w_k, a_k being the points.

    The problem is concave. The second sum is the log density of a Dirichlet distribution of the weights. It keeps them away
    from zero if there are few points: hyperparameters were chosen for all points, the left-out ones included, and so the model
    that predicts those best may owe that to overfitting. Models whose weight is below `least` are left out, and the weights of
    the others found again.

    Parameters
    ----------
    log_densities : array-like of shape (n, K)
        log p_ik, the log density of each of n points that are left out under each of K models.
    least : float
        The least positive weight.
    points : float or array-like of shape (K,)
        Each model counts as the only right one for so many points more.

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
    more = np.asarray(points, dtype=np.float64)
    if logs.ndim != 2 or not logs.size or not np.isfinite(logs).all():
        raise ValueError(f"log_densities: expected finite numbers of shape (n, K), got shape {logs.shape}")
    kept = np.arange(logs.shape[1])
    while True:
        found = _most_likely(logs[:, kept], np.broadcast_to(more, logs.shape[1:])[kept])
        large = found >= least
        if large.all():
            break
        kept = kept[large]
    weights = np.zeros(logs.shape[1])
    weights[kept] = found / found.sum()
    return weights


def _most_likely(logs: Matrix, points: Vector) -> Vector:
    """Return the weights, any of which may be small, by sequential quadratic programming.

    Model k counts for more points: these have the densities p_ik = 1 and p_ij = 0 for other models j. On the positive orthant
    f(w) = sum(w) - sum_i a_i log(sum_k w_k p_ik), where the shares a_i of the points sum to 1, has its minimum on the simplex,
    which is the solution. With D_ik = p_ik / sum_j w_j p_ij its gradient is g = 1 - D'a, its Hessian matrix H = D' diag(a) D,
    and a step of Newton's method minimizes v'Hv/2 - v'(Hw - g) over v >= 0, a problem of least squares with the Cholesky factor
    of H. At the solution g is not negative, so that no D_ik is above 1/a_i: steps stay where the mixture has a_i/2 of the
    largest density at each point.
    """
    n, count = logs.shape
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    share = np.ones(n)
    some = points > 0
    p, share = np.vstack([p, np.eye(count)[some]]), np.append(share, points[some])
    share /= share.sum()
    w = np.full(count, 1.0 / count)
    mixed = p @ w
    least = np.minimum(0.5 * share, 0.5 / count)
    for _ in range(_MOST_STEPS):
        D = p / mixed[:, None]
        g = 1 - share @ D
        if g.min() >= -_TOLERANCE and np.abs(g[w > 0]).max() <= _TOLERANCE:
            break
        H = (D.T * share) @ D
        R = cholesky(H + _RIDGE * H.diagonal().max() * np.eye(count))
        v, _ = nnls(R, solve_triangular(R, H @ w - g, trans="T"))
        value, slope, length = w.sum() - share @ np.log(mixed), float(g @ (v - w)), 1.0
        while True:
            new = v if length == 1.0 else w + length * (v - w)
            mixed = p @ new
            allowed = value + 1e-4 * length * slope + 1e-15 * (1 + abs(value))
            if length < 1e-12 or (np.all(mixed >= least) and new.sum() - share @ np.log(mixed) <= allowed):
                break
            length /= 2
        w = new
    return np.asarray(w)

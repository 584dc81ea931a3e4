"""The weights of a mixture of predictive densities: from the probabilities of the models, and from points left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from scipy.special import softmax

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.blas import with_one_blas_thread

__all__ = ["LEAST", "POINTS", "probabilities_of", "stacking_weights"]

# The least weight for which a model is kept. A model of small weight is worth its cost where the tails of the others are too
# light: it bounds what an outlier costs, because the mixture's density is at least its weight times its density.
LEAST = 0.003
POINTS = 50.0  # the points left out that decide as much as the probabilities of the models do
_DRAWS = 10_000  # of the log likelihoods of other data
_IMPOSSIBLE = 1e-6  # probabilities below this are taken to be zero
_LOWEST = -1e6  # log densities relative to that of the best model are taken to be no less, so that squares are finite
_TOLERANCE = 1e-11  # of the conditions of Karush, Kuhn and Tucker
_RIDGE = 1e-13  # relative, added to the Hessian matrix, which is singular for models of equal densities
_MOST_STEPS = 200


@with_one_blas_thread
def probabilities_of(log_likelihoods: ArrayLike, log_densities: ArrayLike) -> Vector:
    """Return the probabilities that models are expected to have on other data of the same kind and size.

    On these data the probability of model k is p_k = exp(l_k) / sum_j exp(l_j), if none is preferred beforehand. Models that
    are all wrong in some way have probabilities near 0 and 1 that would be others on other data: l_k is a sum over the points,
    and varies with them. On other data it would be l_k + e_k. The e_k are taken to be normal, with 2 n times the covariances of
    the log densities of single points: n times because these points are a sample, and n times because the others are one, too.
    The result is the mean of p, the same function of l + e. It is a bagged posterior distribution (Huggins and Miller,
    "Reproducible model selection using bagged posteriors", 2023), with log densities of points that are left out for the shares
    of points in the evidence.

    Parameters
    ----------
    log_likelihoods : array-like of shape (K,)
        The log evidence of each model, or another log likelihood of all points.
    log_densities : array-like of shape (n, K)
        The log density of each of n points that are left out under each of K models.

    Returns
    -------
    probabilities : ndarray of shape (K,)
        Of sum 1. Those below 1e-6 are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.estimators.stacking.weights import probabilities_of
    >>> alike, unlike = np.zeros((4, 2)), np.array([[3.0, 0.0], [-3.0, 0.0], [3.0, 0.0], [-3.0, 0.0]])
    >>> probabilities_of([0.0, -3.0], alike).round(2), probabilities_of([0.0, -3.0], unlike).round(2)
    (array([0.95, 0.05]), array([0.63, 0.37]))
    """
    likely = np.asarray(log_likelihoods, dtype=np.float64)
    logs = np.asarray(log_densities, dtype=np.float64)
    logs = np.maximum(logs - logs.max(axis=1, keepdims=True), _LOWEST)
    apart = logs - logs.mean(axis=0)
    values, vectors = np.linalg.eigh(2 * apart.T @ apart)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    drawn = np.random.default_rng(0).standard_normal((_DRAWS // 2, len(likely))) @ root
    found = softmax(likely + np.concatenate([drawn, -drawn]), axis=1).mean(axis=0)
    found[found < _IMPOSSIBLE] = 0.0
    return np.asarray(found / found.sum())


def stacking_weights(log_densities: ArrayLike, *, least: float = LEAST, points: ArrayLike = 0.0) -> Vector:
    """Return the weights w on the simplex that maximize sum_i log(sum_k w_k p_ik) + sum_k a_k log w_k, a_k being the points.

    The problem is concave. The second sum is the log density of a Dirichlet distribution of the weights. If there are few
    points, it keeps them near the a_k, divided by their sum: hyperparameters were chosen for all points, the left-out ones
    included, and so the model that predicts those best may owe that to overfitting. With a_k proportional to the probabilities
    of the models (:func:`probabilities_of`), the points left out decide the more the more they are. Models whose weight is
    below `least` are left out, and the weights of the others found again.

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

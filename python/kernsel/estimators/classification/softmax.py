"""The expectation of the softmax of Gaussian latent values."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.stats import qmc

from kernsel._base.annotations import Vector
from kernsel.estimators.classification.links import Logistic

__all__ = ["class_probabilities"]

FIRST = 10  # the binary logarithm of the number of pairs of nodes at the first level
LEVELS = 6  # the largest number of levels; each level after the first doubles the number of nodes
ACCURACY = 1e-3  # nodes are added until averages over two halves of them differ by less
_BLOCK = 2_000_000  # the most numbers in memory at the same time


def class_probabilities(mean: ArrayLike, covariance: ArrayLike) -> Vector:
    """Return the expectation of the softmax of Gaussian latent values.

    For two classes, it is the expectation of the logistic function of their difference, with an error of 1e-11. For more, it is
    computed by quasi-Monte Carlo, with a Sobol sequence in the principal directions of the differences between classes and
    antithetic pairs. There are 2^12 nodes; for a point at which the averages over two halves of the nodes differ by more than
    1e-3, their number is doubled repeatedly, up to 2^16. The nodes are the same for all points and calls. Errors are mostly
    about 1e-4, and below 1e-3 except for many classes of large variances (2e-3 was observed for ten classes with standard
    deviations of at least 10).

    Parameters
    ----------
    mean : array-like of shape (m, classes)
    covariance : array-like of shape (m, classes, classes)

    Returns
    -------
    probabilities : ndarray of shape (m, classes)
        Each row sums to one.

    Examples
    --------
    >>> from kernsel.estimators.classification.softmax import class_probabilities
    >>> class_probabilities([[1.0, 0.0, 0.0]], [[[9.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]).round(2)
    array([[0.54, 0.23, 0.23]])
    """
    means, covariances = np.asarray(mean, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    if means.ndim != 2 or means.shape[1] < 2 or covariances.shape != (*means.shape, means.shape[1]):
        raise ValueError(
            "covariance: expected shape (m, classes, classes) for means of shape (m, at least 2 classes), "
            f"got {covariances.shape} for {means.shape}"
        )
    if means.shape[1] == 2:
        variance = covariances[:, 0, 0] + covariances[:, 1, 1] - covariances[:, 0, 1] - covariances[:, 1, 0]
        second = Logistic().probability(means[:, 1] - means[:, 0], np.maximum(variance, 0.0))
        return np.stack([1.0 - second, second], axis=1)
    # The softmax does not depend on a common shift of the classes; removing it leaves one dimension less.
    contrasts = covariances - covariances.mean(axis=1, keepdims=True)
    contrasts -= contrasts.mean(axis=2, keepdims=True)
    e, Q = np.linalg.eigh(contrasts)
    roots = Q[..., :0:-1] * np.sqrt(np.maximum(e[:, None, :0:-1], 0.0))  # the widest direction first
    probabilities = _averaged(means, roots, 0)
    rough = np.arange(len(means))
    for level in range(1, LEVELS):
        more = _averaged(means[rough], roots[rough], level)
        apart = np.abs(more - probabilities[rough]).max(axis=1)
        probabilities[rough] = 0.5 * (probabilities[rough] + more)
        rough = rough[apart > ACCURACY]
        if not rough.size:
            break
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


def _averaged(means: Vector, roots: Vector, level: int) -> Vector:
    """Return the average of the softmax over the nodes that a level adds."""
    nodes = _nodes(means.shape[1] - 1, level)
    averages = np.empty_like(means)
    size = max(_BLOCK // (len(nodes) * means.shape[1]), 1)
    for begin in range(0, len(means), size):
        block = slice(begin, begin + size)
        middle, moves = means[block, None, :], nodes @ np.swapaxes(roots[block], 1, 2)
        both = special.softmax(middle + moves, axis=2).mean(axis=1) + special.softmax(middle - moves, axis=2).mean(axis=1)
        averages[block] = 0.5 * both
    return averages


@cache
def _nodes(dimensions: int, level: int) -> Vector:
    """Return the standard normal nodes that a level adds: a part of a digitally shifted Sobol sequence.

    From the second level on, a level has as many nodes as all levels before it.
    """
    count, digits = 2 ** (FIRST + max(level - 1, 0)), 2**30
    sequence = qmc.Sobol(dimensions, scramble=False)
    if level:
        sequence.fast_forward(count)
    shift = np.random.default_rng(0).integers(digits, size=dimensions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a part of the sequence is not balanced; all parts together are
        points = (sequence.random(count) * digits).astype(np.int64)
    nodes = np.asarray(special.ndtri(((points ^ shift) + 0.5) / digits))
    nodes.flags.writeable = False
    return nodes

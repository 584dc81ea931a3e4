"""Quantile functions of clouds on a line, in which optimal transport is exact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernsel.structured.clouds import Cloud

__all__ = ["cumulated_weights", "quantile_edges", "quantile_means"]

Vector = NDArray[np.float64]


def cumulated_weights(weights: Vector | None, order: NDArray[np.intp]) -> Vector:
    """Return the weights of all points up to each, in an order; the last is one.

    Parameters
    ----------
    weights : ndarray of shape (n,) or None
        None is equal weights.
    order : ndarray of int of shape (n,)

    Examples
    --------
    >>> cumulated_weights(np.array([0.75, 0.25]), np.array([1, 0]))
    array([0.25, 1.  ])
    """
    n = order.shape[-1]
    if weights is None:
        return np.asarray(np.arange(1, n + 1) / n)  # to the last bit what other clouds of equal weights have
    upto = np.minimum(np.cumsum(weights[order]), 1.0)
    upto[-1] = 1.0
    return np.asarray(upto)


def quantile_means(values: Vector, weights: Vector | None, edges: Vector) -> Vector:
    """Return the means of the quantile function of points on a line over cells of probability.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The points. Of equal weights, they may be several clouds at once, shape (r, n).
    weights : ndarray of shape (n,) or None
        None is equal weights.
    edges : ndarray of shape (q + 1,)
        Increasing from 0 to 1.

    Returns
    -------
    means : ndarray of shape (q,), or (r, q)
        Exact, in O(n log n + q log n). They do not decrease.

    Examples
    --------
    >>> values, weights = np.array([5.0, 1.0]), np.array([0.75, 0.25])
    >>> quantile_means(values, weights, np.array([0.0, 0.25, 0.5, 1.0]))
    array([1., 5., 5.])
    >>> quantile_means(values, weights, np.array([0.0, 0.5, 1.0]))
    array([3., 5.])
    """
    order = np.argsort(values, axis=-1, kind="stable")
    ordered, upto = np.take_along_axis(values, order, axis=-1), cumulated_weights(weights, order)
    if np.array_equal(upto, edges[1:]):
        return np.asarray(ordered)
    pieces = np.union1d(upto[:-1], edges)
    lengths = np.diff(pieces)
    inside = ordered[..., np.minimum(np.searchsorted(upto, pieces[:-1], side="right"), len(upto) - 1)]
    starts = np.minimum(np.searchsorted(pieces, edges[:-1]), len(lengths) - 1)  # a cell may be narrower than rounding
    return np.asarray(np.add.reduceat(lengths * inside, starts, axis=-1) / np.add.reduceat(lengths, starts))


def quantile_edges(clouds: Sequence[Cloud], most: int) -> Vector:
    """Return where quantile functions of clouds on a line jump, with 0 and 1; that many equal cells if there are more.

    Parameters
    ----------
    clouds : sequence of Cloud
        Of dimension one.
    most : int

    Examples
    --------
    >>> quantile_edges([Cloud([[0.0], [1.0]]), Cloud([[0.0], [1.0]], [0.25, 0.75])], 10)
    array([0.  , 0.25, 0.5 , 1.  ])
    """
    sizes = {len(cloud) for cloud in clouds if cloud.equal}
    jumps = [np.arange(1, n + 1) / n for n in sizes]
    for cloud in clouds:
        if not cloud.equal:
            jumps.append(cumulated_weights(cloud.weights, np.argsort(cloud.points[:, 0], kind="stable")))
    edges = np.unique(np.concatenate(jumps))
    # Jumps that differ by the rounding of sums are one.
    edges = np.append(edges[:-1][np.diff(edges) > 1e-12], 1.0)
    edges = np.insert(edges[edges > 1e-12], 0, 0.0)
    return edges if len(edges) <= most + 1 else np.arange(most + 1) / most

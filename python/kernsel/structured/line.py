"""Quantile functions of clouds on a line, by which optimal transport on a line is exact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsel._base.annotations import Indices, Vector
from kernsel.structured.clouds import Cloud

__all__ = ["cumulated_weights", "quantile_edges", "quantile_means"]


def cumulated_weights(weights: Vector | None, order: Indices) -> Vector:
    """Return the cumulated weights of points in a given order; the last one is 1.

    Parameters
    ----------
    weights : ndarray of shape (n,) or None
        None stands for equal weights.
    order : ndarray of int of shape (n,)

    Examples
    --------
    >>> cumulated_weights(np.array([0.75, 0.25]), np.array([1, 0]))
    array([0.25, 1.  ])
    """
    n = order.shape[-1]
    if weights is None:
        return np.asarray(np.arange(1, n + 1) / n)  # bit for bit the same in all clouds with n points of equal weights
    cumulated = np.minimum(np.cumsum(weights[order]), 1.0)
    cumulated[-1] = 1.0
    return np.asarray(cumulated)


def quantile_means(values: Vector, weights: Vector | None, edges: Vector) -> Vector:
    """Return the means of the quantile function of points on a line over cells of probability.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The points; or, with equal weights, the points of r clouds, shape (r, n).
    weights : ndarray of shape (n,) or None
        None stands for equal weights.
    edges : ndarray of shape (q + 1,)
        Increasing from 0 to 1.

    Returns
    -------
    means : ndarray of shape (q,), or (r, q)
        Exact, not decreasing, in O(n log n + q log n).

    Examples
    --------
    >>> values, weights = np.array([5.0, 1.0]), np.array([0.75, 0.25])
    >>> quantile_means(values, weights, np.array([0.0, 0.25, 0.5, 1.0]))
    array([1., 5., 5.])
    >>> quantile_means(values, weights, np.array([0.0, 0.5, 1.0]))
    array([3., 5.])
    """
    order = np.argsort(values, axis=-1, kind="stable")
    ordered, cumulated = np.take_along_axis(values, order, axis=-1), cumulated_weights(weights, order)
    if np.array_equal(cumulated, edges[1:]):
        return np.asarray(ordered)
    # The quantile function is constant between these probabilities.
    breaks = np.union1d(cumulated[:-1], edges)
    lengths = np.diff(breaks)
    quantiles = ordered[..., np.minimum(np.searchsorted(cumulated, breaks[:-1], side="right"), len(cumulated) - 1)]
    starts = np.minimum(np.searchsorted(breaks, edges[:-1]), len(lengths) - 1)  # a cell may be narrower than rounding
    return np.asarray(np.add.reduceat(lengths * quantiles, starts, axis=-1) / np.add.reduceat(lengths, starts))


def quantile_edges(clouds: Sequence[Cloud], most: int) -> Vector:
    """Return the probabilities at which quantile functions of clouds on a line jump, with 0 and 1.

    Parameters
    ----------
    clouds : sequence of Cloud
        Of dimension one.
    most : int
        The greatest number of cells between them. If there would be more, the edges of `most` equal cells are returned.

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
    # Jumps whose difference may be a rounding error are merged.
    edges = np.append(edges[:-1][np.diff(edges) > 1e-12], 1.0)
    edges = np.insert(edges[edges > 1e-12], 0, 0.0)
    return edges if len(edges) <= most + 1 else np.arange(most + 1) / most

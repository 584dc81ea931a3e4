"""Targets that differ from a robust function of the points: where a search for gross errors begins.

A likelihood bends the fit to gross errors, which may then hide each other in its residuals. Robust functions are no good models
of the data, but they are not moved by a few errors.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.kernels import Matern

__all__ = ["far_from_neighbours", "far_from_smooth", "suspects_among"]

_FEW = 300  # points up to which a smooth function is fitted, by as many matrix inverses as there are steps
_FAR = 5.0  # robust standard deviations
_MEDIAN_OF_NORMAL = 0.6744897501960817  # the median of |z| for normal z
_NEIGHBOURS = 7  # points of which the median is compared with each target
_SCALE = 0.4  # the length scale of the smooth function, of the diagonal of the unit cube
_NOISE = 0.1  # the variance of its noise, of the variance of the function
_STEPS = 6  # of reweighting, by Huber's weights and then by Tukey's
_HUBER, _TUKEY = 1.5, 4.7  # standard deviations from which on they count less, and beyond which they do not count
_LEAST = 1e-4  # the least weight


def suspects_among(X: Matrix, y: Vector) -> Indices:
    """Return the points whose targets may be grossly wrong."""
    return far_from_smooth(X, y) if len(y) <= _FEW else far_from_neighbours(X, y)


def far_from_neighbours(X: Matrix, y: Vector) -> Indices:
    """Return the points whose targets differ from the median of their neighbours' by far more than others do."""
    Z = _in_unit_cube(X)
    nearest = cKDTree(Z).query(Z, k=min(_NEIGHBOURS, len(y)))[1]
    off = np.abs(y - np.median(y[nearest], axis=1))
    return np.flatnonzero(off > _FAR * _deviation(off))


def far_from_smooth(X: Matrix, y: Vector) -> Indices:
    """Return the points whose targets are far from a smooth function, fitted by iteratively reweighted least squares.

    The residuals are those of points that are left out. In more than two columns, neighbours are too far for their median to
    tell anything.
    """
    Z = _in_unit_cube(X)
    K = np.asarray(Matern(_SCALE * np.sqrt(Z.shape[1]), nu=2.5)(Z, Z))
    y = (y - np.median(y)) / (_deviation(np.abs(y - np.median(y))) or 1.0)
    weights, sizes = np.ones(len(y)), np.zeros(len(y))
    for weigh in [_of_huber] * _STEPS + [_of_tukey] * _STEPS:
        P = np.linalg.inv(K + np.diag(_NOISE / weights))
        P_one = P.sum(axis=1)  # of a constant trend
        P -= np.outer(P_one, P_one / P_one.sum())
        off = np.abs(P @ y / np.diagonal(P))
        sizes = off / (_deviation(off) or 1.0)
        weights = np.maximum(weigh(sizes), _LEAST)
    return np.flatnonzero(sizes > _FAR)


def _of_huber(sizes: Vector) -> Vector:
    return np.asarray(_HUBER / np.maximum(sizes, _HUBER))


def _of_tukey(sizes: Vector) -> Vector:
    return np.asarray((1 - np.minimum(sizes / _TUKEY, 1.0) ** 2) ** 2)


def _in_unit_cube(X: Matrix) -> Matrix:
    low, high = X.min(axis=0), X.max(axis=0)  # not standard deviations, because squares may overflow
    return np.asarray((X - low) / np.where(high > low, high - low, 1.0))


def _deviation(off: Vector) -> float:
    """Return the standard deviation of normal numbers, given their absolute values, by the median."""
    return float(np.median(off)) / _MEDIAN_OF_NORMAL

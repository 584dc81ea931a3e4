"""The mean of any log-concave likelihood over a normal margin, by quadrature."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kernsel._base.annotations import Vector

__all__ = ["moments_by_quadrature"]

LogDerivatives = Callable[[Vector], tuple[Vector, Vector, Vector]]  # log p and its first two derivatives, elementwise

_NODES = 64  # of each piece
_REACH = 40.0  # |s| beyond which log p is taken to be smooth on the scale of the integrand
_WIDTH = 9.0  # standard deviations after which a normal density is exp(-40) of its maximum
_DROP = 40.0  # what the logarithm of the integrand may fall below its maximum at the ends of the integral
_HALVINGS = 60  # to find the maximum
_COARSE = 30  # to find the ends
_BLOCK = 2048  # margins whose nodes are in memory at once


def moments_by_quadrature(derivatives: LogDerivatives, mean: Vector, variance: Vector) -> tuple[Vector, Vector, Vector]:
    """Return log E p(s) for normal s, and its first two derivatives in the mean of s.

    With s = m + d x, d^2 the variance, the integrand exp(log p(s) - x^2 / 2) has one maximum. Bisection finds it, and on either
    side of it where the integrand is negligible. In between, Gauss-Legendre nodes on up to five pieces, divided where s is 0
    and where it comes to the range in which p bends. With means E over the integrand ::

        (log E p)' = E (log p)',    (log E p)'' = E (log p)'' + Var (log p)'

    Parameters
    ----------
    derivatives : callable
        The logarithm of p and its first two derivatives; p increasing and log-concave, and smooth where s is
        beyond -40 or 40.
    mean, variance : ndarray of shape (n,)

    Returns
    -------
    log_mean, first, second : ndarray of shape (n,)
        Relative errors of E p below 1e-10, and absolute ones of the others, whatever the mean and the variance. Some 450
        evaluations of p for each margin.
    """
    mean, variance = np.broadcast_arrays(np.asarray(mean, dtype=np.float64), np.asarray(variance, dtype=np.float64))
    results = np.empty((3, *mean.shape))
    for begin in range(0, len(mean), _BLOCK):
        at = slice(begin, begin + _BLOCK)
        results[:, at] = _of_block(derivatives, mean[at], np.sqrt(variance[at]))
    return results[0], results[1], results[2]


@cache
def _legendre() -> tuple[Vector, Vector]:
    """Return nodes and weights for the integral from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return 0.5 * (1 + nodes), 0.5 * weights


def _of_block(derivatives: LogDerivatives, mean: Vector, deviation: Vector) -> tuple[Vector, Vector, Vector]:
    def log_integrand(x: Vector) -> Vector:
        return derivatives(mean + deviation * x)[0] - 0.5 * x**2

    def rises(x: Vector) -> NDArray[np.bool_]:
        return np.asarray(deviation * derivatives(mean + deviation * x)[1] > x)

    # Log-concave: the slope of log p falls, so that the maximum is between 0 and the slope at 0.
    middle = _boundary(rises, np.zeros_like(mean), deviation * derivatives(mean)[1], _HALVINGS)
    least = log_integrand(middle) - _DROP

    def counts(x: Vector) -> NDArray[np.bool_]:
        return np.asarray(log_integrand(x) > least)

    right = _boundary(counts, middle, middle + _WIDTH, _COARSE)
    left = _boundary(counts, middle, middle - _WIDTH, _COARSE)
    bends = np.array([-_REACH, 0.0, _REACH])[:, None]
    with np.errstate(over="ignore"):
        places = np.clip((bends - mean) / np.maximum(deviation, np.finfo(float).tiny), left, right)
    places = np.sort(np.vstack([left, middle, right, places]), axis=0)
    nodes, weights = _legendre()
    widths = np.diff(places, axis=0)
    x = places[:-1, None] + widths[:, None] * nodes[:, None]  # (pieces, nodes, margins)
    value, first, second = derivatives(mean + deviation * x)
    logs = value - 0.5 * x**2
    largest = logs.max(axis=(0, 1))
    density = np.exp(logs - largest) * weights[:, None] * widths[:, None]
    total = density.sum(axis=(0, 1))
    density /= total
    slope = (density * first).sum(axis=(0, 1))
    curvature = (density * second).sum(axis=(0, 1)) + (density * (first - slope) ** 2).sum(axis=(0, 1))
    return largest + np.log(total) - 0.5 * np.log(2 * np.pi), slope, np.minimum(curvature, 0.0)


def _boundary(inside: Callable[[Vector], NDArray[np.bool_]], a: Vector, b: Vector, halvings: int) -> Vector:
    """Return where between a, which is inside, and b a condition ends; b if it holds there, too."""
    b_inside = inside(b)
    low, high = a.copy(), b.copy()
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        holds = inside(middle)
        low, high = np.where(holds, middle, low), np.where(holds, high, middle)
    return np.where(b_inside, b, high)

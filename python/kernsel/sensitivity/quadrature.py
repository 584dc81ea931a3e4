"""Nodes and weights with which products of two kernels of one column are integrated to rounding."""

from __future__ import annotations

from math import factorial, inf

import numpy as np

from kernsel._base.annotations import Vector
from kernsel.sensitivity.inputs import Input, Uniform
from kernsel.sensitivity.terms import NoProductError

__all__ = ["nodes_and_weights", "nodes_of_distance"]

_TARGET = 1e-17  # the relative error of an integral over a panel
_MOST_PANELS = 20_000


def nodes_and_weights(one: Input, scale: float, kinks: Vector) -> tuple[Vector, Vector]:
    """Return nodes and weights of a Gauss-Legendre rule for the expectation of a function of an input.

    Panels end where the function has kinks, and are not longer than the lengths in which function and density change.

    Parameters
    ----------
    one : Uniform or Normal
    scale : float
        The length in which the function changes, as :class:`kernsel.sensitivity.terms.Leaf` has it.
    kinks : ndarray
        Where it is not smooth.

    Returns
    -------
    nodes, weights : ndarray of shape (q,)
        The weights sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.sensitivity import Uniform
    >>> nodes, weights = nodes_and_weights(Uniform(0.0, 2.0), 1.0, np.array([0.5]))
    >>> float((weights @ np.abs(nodes - 0.5)).round(12))  # (0.5^2 + 1.5^2) / 4
    0.625
    """
    lower, upper, own = one.span()
    if lower == upper:
        return np.array([lower]), np.ones(1)
    nodes, weights = _panels(np.concatenate([[lower, upper], kinks[(kinks > lower) & (kinks < upper)]]), min(scale, own))
    weights = weights * one.density(nodes)
    return nodes, weights / weights.sum()


def nodes_of_distance(one: Input, scale: float) -> tuple[Vector, Vector]:
    """Return nodes and weights for the expectation of a function of the distance between two independent values of an input.

    The distance of uniform values has the density 2 (L - s) / L^2 on the length L of their range, that of normal values twice
    that of a normal distribution with sqrt(2) times their deviation.
    """
    lower, upper, own = one.span()
    if lower == upper:
        return np.zeros(1), np.ones(1)
    if isinstance(one, Uniform):
        length = upper - lower
        nodes, weights = _panels(np.array([0.0, length]), scale)
        weights = weights * (length - nodes)
    else:
        nodes, weights = _panels(np.array([0.0, 2**0.5 * (upper - one.mean)]), min(scale, own))
        weights = weights * np.exp(-((nodes / own) ** 2) / 4)
    return nodes, weights / weights.sum()


def _panels(breaks: Vector, longest: float) -> tuple[Vector, Vector]:
    breaks = np.unique(breaks)
    gaps = np.diff(breaks)
    counts = np.ceil(gaps / longest)
    if counts.sum() > _MOST_PANELS:
        raise NoProductError(
            f"length scales are so short that integrals over a column would take more than {_MOST_PANELS} intervals"
        )
    counts = counts.astype(int)
    widths = np.repeat(gaps / counts, counts)
    starts = np.repeat(breaks[:-1], counts) + widths * (np.arange(len(widths)) - np.repeat(np.cumsum(counts) - counts, counts))
    x, w = np.polynomial.legendre.leggauss(_order(float(widths.max()) / longest if longest < inf else 1.0))
    nodes = starts[:, None] + widths[:, None] * (x + 1) / 2
    return nodes.ravel(), (widths[:, None] * w / 2).ravel()


def _order(h: float) -> int:
    """Return the number of nodes on a panel that is h times as long as the length in which functions change.

    The rule's error is h^(2q + 1) (q!)^4 / ((2q + 1) (2q)!^3) times the derivative of order 2q, which is 2^(2q) for the product
    of two exponentials, and at most (2q)! / q! for that of two RBF kernels.
    """
    for q in range(4, 12):
        error = h ** (2 * q) * factorial(q) ** 4 / ((2 * q + 1) * factorial(2 * q) ** 3)
        if error * max(4.0**q, factorial(2 * q) / factorial(q)) < _TARGET:
            return q
    return 12

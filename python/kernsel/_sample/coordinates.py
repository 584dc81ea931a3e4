"""Coordinates in which a density of bounded numbers, some of them with heavy tails, suits a gradient-based sampler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from kernsel._base.annotations import Matrix, Vector

__all__ = ["Coordinates"]

_MARGIN = 0.02  # the share of the range within which a point counts as being at a bound


@dataclass(frozen=True)
class Coordinates:
    """Coordinates u of numbers x between bounds.

    x = lower + (upper - lower) / (1 + exp(-u)), so that there are no bounds; and where tails are heavy x = centre + sinh(u), so
    that a Cauchy density has exponential tails.

    Attributes
    ----------
    lower, upper : ndarray of shape (p,)
    centre : ndarray of shape (p,)
    heavy : ndarray of bool of shape (p,)
    """

    lower: Vector
    upper: Vector
    centre: Vector
    heavy: NDArray[np.bool_]

    def x(self, u: Matrix) -> Matrix:
        """Return the numbers themselves, of the same shape (..., p)."""
        with np.errstate(over="ignore"):
            far = self.centre + np.sinh(u)
        return np.where(self.heavy, far, self.lower + (self.upper - self.lower) * expit(u))

    def u(self, x: Vector) -> Vector:
        """Return the coordinates of a point; of one at a bound, those of one that is not."""
        share = np.clip((x - self.lower) / (self.upper - self.lower), _MARGIN, 1 - _MARGIN)
        return np.where(self.heavy, np.arcsinh(x - self.centre), logit(share))

    def slope(self, u: Vector) -> Vector:
        """Return dx / du."""
        with np.errstate(over="ignore"):
            return np.where(self.heavy, np.cosh(u), (self.upper - self.lower) * expit(u) * expit(-u))

    def of(self, density: Callable[[Vector], tuple[float, Vector]]) -> Callable[[Vector], tuple[float, Vector]]:
        """Return the log density of u, and its gradient, from that of x."""

        def in_u(u: Vector) -> tuple[float, Vector]:
            slope = self.slope(u)
            if not (np.isfinite(slope) & (slope > 0)).all():
                return -np.inf, np.zeros(len(u))
            value, gradient = density(self.x(u))
            return value + float(np.log(slope).sum()), gradient * slope + np.where(self.heavy, np.tanh(u), 1 - 2 * expit(u))

        return in_u

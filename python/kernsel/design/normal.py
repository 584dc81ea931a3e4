"""The expected excess of a standard normal variable, without cancellation far out."""

from __future__ import annotations

import numpy as np
from scipy import special

from kernsel._base.annotations import Vector

__all__ = ["LOG_ROOT_TWO_PI", "density", "log_excess"]

LOG_ROOT_TWO_PI = 0.5 * float(np.log(2 * np.pi))
_FAR = -30.0  # from where the series is as exact as rounding
_SERIES = -np.cumprod(-np.arange(1.0, 16.0, 2.0))  # 1, -3, 15, -105, ...: of 1 - |u| r(u) in 1 / u^2


def density(u: Vector) -> Vector:
    """Return the density of a standard normal variable."""
    return np.asarray(np.exp(-0.5 * u**2 - LOG_ROOT_TWO_PI))


def log_excess(u: Vector) -> tuple[Vector, Vector, Vector]:
    """Return log h(u), and Phi(u) / h(u) and phi(u) / h(u), for h(u) = E max(x + u, 0) = phi(u) + u Phi(u), x ~ N(0, 1).

    For negative u, h = phi (1 + u r) with r = Phi / phi = sqrt(pi / 2) erfcx(-u / sqrt(2)); far out 1 + u r is the sum of
    1 / u^2 - 3 / u^4 + 15 / u^6 - ...
    """
    below = np.minimum(u, 0.0)
    r = np.sqrt(np.pi / 2) * special.erfcx(-below / np.sqrt(2))
    left = 1 + below * r
    far = u < _FAR
    if far.any():
        left[far] = _far_excess(u[far])
    value = np.log(left) - 0.5 * below**2 - LOG_ROOT_TWO_PI
    probability, at = r / left, 1 / left
    above = u > 0
    if above.any():
        v = u[above]
        h = density(v) + v * special.ndtr(v)
        value[above], probability[above], at[above] = np.log(h), special.ndtr(v) / h, density(v) / h
    return value, probability, at


def _far_excess(u: Vector) -> Vector:
    """Return h(u) / phi(u) by its series in 1 / u^2."""
    inverse = u**-2.0
    total = np.zeros_like(u)
    for coefficient in _SERIES[::-1]:
        total = (total + coefficient) * inverse
    return total

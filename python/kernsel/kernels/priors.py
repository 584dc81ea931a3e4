"""Prior densities of hyperparameters, for selection by the maximum a posteriori.

Each is a density of the positive number itself, not of its logarithm.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from math import isfinite, lgamma, log, pi
from numbers import Real

import numpy as np

from kernsel._base.annotations import Vector

__all__ = ["Gamma", "HalfCauchy", "LogNormal", "Prior"]


class Prior(ABC):
    """A density of a positive number."""

    @abstractmethod
    def log_density(self, x: Vector) -> Vector:
        """Return the logarithm of the density at each x > 0."""

    @abstractmethod
    def slope(self, x: Vector) -> Vector:
        """Return the derivative of `log_density` in log x."""

    def __post_init__(self) -> None:
        for entry in fields(self):  # type: ignore[arg-type]  # all priors are dataclasses
            value = getattr(self, entry.name)
            number = isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
            if not number or (entry.name != "mean" and value <= 0):
                what = "a finite number" if entry.name == "mean" else "a positive, finite number"
                raise ValueError(f"{entry.name}: expected {what}, got {value!r}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(repr(float(getattr(self, entry.name))) for entry in fields(self))})"  # type: ignore[arg-type]


@dataclass(frozen=True, repr=False)
class LogNormal(Prior):
    """The logarithm of x is normal, with this mean and this standard deviation.

    Examples
    --------
    >>> float(LogNormal(0.0, 1.0).log_density(1.0).round(4))
    -0.9189
    """

    mean: float
    scale: float

    def log_density(self, x: Vector) -> Vector:
        """Return the logarithm of the density."""
        t = np.log(x)
        return np.asarray(-0.5 * ((t - self.mean) / self.scale) ** 2 - t - log(self.scale) - 0.5 * log(2 * pi))

    def slope(self, x: Vector) -> Vector:
        """Return its derivative in log x."""
        return np.asarray(-(np.log(x) - self.mean) / self.scale**2 - 1)


@dataclass(frozen=True, repr=False)
class Gamma(Prior):
    """The gamma density, proportional to x^(shape - 1) exp(-rate x); its mean is shape / rate.

    Examples
    --------
    >>> float(Gamma(1.0, 2.0).log_density(1.0).round(4))
    -1.3069
    """

    shape: float
    rate: float

    def log_density(self, x: Vector) -> Vector:
        """Return the logarithm of the density."""
        return np.asarray(
            self.shape * log(self.rate) - lgamma(self.shape) + (self.shape - 1) * np.log(x) - self.rate * np.asarray(x)
        )

    def slope(self, x: Vector) -> Vector:
        """Return its derivative in log x."""
        return np.asarray(self.shape - 1 - self.rate * np.asarray(x))


@dataclass(frozen=True, repr=False)
class HalfCauchy(Prior):
    """The half-Cauchy density, proportional to 1 / (1 + (x / scale)^2): a long tail.

    Examples
    --------
    >>> float(HalfCauchy(1.0).log_density(1.0).round(4))
    -1.1447
    """

    scale: float

    def log_density(self, x: Vector) -> Vector:
        """Return the logarithm of the density."""
        return np.asarray(log(2 / pi / self.scale) - np.log1p((np.asarray(x) / self.scale) ** 2))

    def slope(self, x: Vector) -> Vector:
        """Return its derivative in log x."""
        square = (np.asarray(x) / self.scale) ** 2
        return np.asarray(-2 * square / (1 + square))

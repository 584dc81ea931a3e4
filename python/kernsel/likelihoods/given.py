"""Likelihoods written in Python, as the core calls them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kernsel._base.annotations import Matrix, Vector

if TYPE_CHECKING:
    from kernsel.likelihoods.base import Likelihood

__all__ = ["Given"]


class Given:
    """What the core asks of a likelihood: arrays of one length, several numbers for each row in columns."""

    def __init__(self, likelihood: Likelihood) -> None:
        self._likelihood = likelihood
        self.name = type(likelihood).__name__
        self.log_concave = bool(likelihood.log_concave)
        lower, upper, discrete = likelihood.outcomes
        self.outcomes = float(lower), float(upper), bool(discrete)
        self.parameters = [(p.name, p.value, p.lower, p.upper, p.log) for p in likelihood.parameters()]

    def check(self, y: Vector, size: Vector | None) -> None:
        self._likelihood.check(y, size)

    def check_sizes(self, size: Vector) -> None:
        self._likelihood.check_sizes(size)

    def rough(self, y: Vector, size: Vector | None) -> Vector:
        return self._likelihood.rough(y, size)

    def density(self, y: Vector, f: Vector, size: Vector | None) -> Matrix:
        likelihood = self._likelihood
        value, (first, second, third) = likelihood.log_density(y, f, size), likelihood.derivatives(y, f, size)
        if self.log_concave:
            precision, slope = -np.asarray(second), -np.asarray(third)
        else:
            precision, slope = likelihood.information(f, size)
        return _columns(y, value, first, second, third, precision, slope)

    def density_slope(self, y: Vector, f: Vector, p: int, size: Vector | None) -> Matrix:
        return _columns(y, *self._likelihood.parameter_derivatives(y, f, p, size))

    def conditional(self, f: Vector, size: Vector | None) -> tuple[Vector, Vector]:
        mean, variance = self._likelihood.conditional(f, size)
        return np.broadcast_to(mean, f.shape), np.broadcast_to(variance, f.shape)

    def probability(self, y: Vector, f: Vector, size: Vector | None) -> Vector:
        return np.broadcast_to(self._likelihood.probability(y, f, size), f.shape)

    def with_values(self, values: Sequence[float]) -> Given:
        return Given(self._likelihood.with_values(values))


def _columns(y: Vector, *columns: Vector) -> Matrix:
    return np.column_stack([np.broadcast_to(np.asarray(column, dtype=np.float64), y.shape) for column in columns])

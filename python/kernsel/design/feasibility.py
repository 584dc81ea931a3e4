"""The probability that constraints hold, each of which is a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.allowed import is_number
from kernsel.design.normal import LOG_ROOT_TWO_PI
from kernsel.design.surrogate import Surrogate
from kernsel.estimators.gaussian_process import GaussianProcessRegressor

__all__ = ["Constraint", "Feasibility", "constraints_of"]


class Constraint:
    """A process c that has to be between two ends, lower <= c(x) <= upper."""

    def __init__(self, model: GaussianProcessRegressor, lower: float = -np.inf, upper: float = 0.0) -> None:
        self.model = model
        self.lower, self.upper = lower, upper

    def with_model(self, model: GaussianProcessRegressor) -> Constraint:
        """Return the same constraint on a model of other data."""
        return Constraint(model, self.lower, self.upper)


class Feasibility:
    """The logarithm of the probability that all of some independent constraints hold at a point."""

    def __init__(self, constraints: Sequence[Constraint]) -> None:
        self._each = [(Surrogate(c.model, name="constraints"), c.lower, c.upper) for c in constraints]

    def evaluate(self, Z: Matrix, gradient: bool) -> tuple[Vector, Matrix | None]:
        """Return the logarithms at points, shape (m,), and, if `gradient`, their derivatives in the points."""
        total, slopes = np.zeros(len(Z)), np.zeros_like(Z)
        for surrogate, lower, upper in self._each:
            mean, variance = surrogate.mean(Z), surrogate.variance(Z)
            std = np.sqrt(variance)
            a, b = (lower - mean) / std, (upper - mean) / std
            value = log_probability(a, b)
            total += value
            if gradient:
                in_a = np.exp(-0.5 * a**2 - LOG_ROOT_TWO_PI - value)
                in_b = np.exp(-0.5 * b**2 - LOG_ROOT_TWO_PI - value)
                in_std = (np.where(np.isfinite(a), a, 0.0) * in_a - np.where(np.isfinite(b), b, 0.0) * in_b) / std
                slopes += ((in_a - in_b) / std)[:, None] * surrogate.mean_gradient(Z)
                slopes += (in_std / (2 * std))[:, None] * surrogate.variance_gradient(Z, variance)
        return total, slopes if gradient else None


def log_probability(a: Vector, b: Vector) -> Vector:
    """Return log P(a <= x <= b) for x ~ N(0, 1) and a < b, also far out."""
    flipped = a > 0  # from the left, where nothing cancels
    a, b = np.where(flipped, -b, a), np.where(flipped, -a, b)
    log_b = special.log_ndtr(b)
    return np.asarray(log_b + np.log(-np.expm1(special.log_ndtr(a) - log_b)))


def constraints_of(constraints: Any, d: int) -> list[Constraint]:
    """Return what the argument `constraints` stands for: models, or triples of a model and two ends."""
    if isinstance(constraints, GaussianProcessRegressor) or not isinstance(constraints, Sequence):
        raise TypeError(
            f"constraints: expected a list of processes, or of (process, lower, upper), got {type(constraints).__name__}"
        )
    found = []
    for one in constraints:
        parts = one if isinstance(one, tuple) else (one,)
        if len(parts) not in (1, 3):
            raise ValueError(f"constraints: expected a process, or (process, lower, upper), got a tuple of {len(parts)}")
        if not all(is_number(end) for end in parts[1:]) or (len(parts) == 3 and not parts[1] < parts[2]):
            raise ValueError(f"constraints: expected (process, lower, upper) with lower < upper, got {parts[1:]}")
        surrogate = Surrogate(parts[0], name="constraints")
        if surrogate.d != d:
            raise ValueError(f"constraints: expected processes of {d} columns, as the model is, got one of {surrogate.d}")
        found.append(Constraint(*parts))
    return found

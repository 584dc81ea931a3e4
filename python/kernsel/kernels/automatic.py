"""Where a search for hyperparameters should start, and how far it may go: read off the data.

Each kind of hyperparameter has a rule that gives a start and bounds (``kernsel/data.hpp`` has them). Starts and bounds follow
the data when those are moved or measured in another unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel import _core

__all__ = ["Anchor", "Data", "Proposal"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Data:
    """What "auto" hyperparameters are resolved from: points, targets, weights, the names of the columns."""

    X: NDArray[np.float64]
    y: NDArray[np.float64] | None = None
    weights: Vector | None = None
    names: Sequence[str] | None = None
    ties: dict[str, Any] = field(default_factory=dict)  # what hyperparameters with a name have become: the first one decides
    anchors: list[Anchor] | None = None  # of all hyperparameters, from left to right, if they are asked for
    by_column: bool = True  # may a kernel have a number for each column?

    def restricted(self, columns: Sequence[int]) -> Data:
        """Return the same with some columns only."""
        names = None if self.names is None else [self.names[i] for i in columns]
        return Data(self.X[:, list(columns)], self.y, self.weights, names, self.ties, self.anchors, self.by_column)

    def moved(self, X: NDArray[np.float64], *, by_column: bool = True) -> Data:
        """Return the same with other points, which have no names."""
        return Data(X, self.y, self.weights, None, self.ties, self.anchors, by_column)

    @cached_property
    def statistics(self) -> _core.Statistics:
        """What the core reads off the data, each number when it is first asked for."""
        weights = [] if self.weights is None else np.asarray(self.weights, dtype=np.float64).tolist()
        y = np.zeros((len(self.X), 0)) if self.y is None else self.y
        return _core.Statistics(self.X, y, weights)

    def proposal(self, rule: str) -> Proposal:
        """Return what a rule proposes."""
        start, lower, upper = self.statistics.propose(rule)
        return Proposal(start, lower, upper)

    def note(self, rule: str, count: int) -> None:
        """Put down what that many numbers of one hyperparameter can be measured by."""
        if self.anchors is not None:
            self.anchors.append(Anchor(rule, count, self))

    @property
    def spreads(self) -> Vector:
        """The standard deviation of each column; 1 for constant columns."""
        return self.statistics.spreads

    @property
    def sizes(self) -> Vector:
        """The root mean square of each column; 1 for columns of zeros."""
        return self.statistics.sizes

    @property
    def variance(self) -> float:
        """The variance of the targets, averaged over outputs; 1 without targets, or if they are constant."""
        return self.statistics.variance


@dataclass(frozen=True)
class Anchor:
    """The rule of a hyperparameter of so many numbers, and the data that it sees."""

    rule: str
    count: int
    data: Data


@dataclass(frozen=True)
class Proposal:
    """A start, and a lower and an upper bound: one number each, or one for each column."""

    start: Vector
    lower: Vector
    upper: Vector

    def value(self, by_column: bool) -> float | Vector:
        """Return the start: with a number for each column if the kernel takes such, and otherwise the mean of these."""
        return self.start if by_column else float(np.mean(self.start))

    def bounds(self, count: int, by_column: bool) -> tuple[float, float] | Vector:
        """Return bounds for that many numbers; one number for all columns has the widest bounds."""
        if by_column and len(self.lower) == count > 1:
            return np.column_stack([self.lower, self.upper])
        return (float(self.lower.min()), float(self.upper.max())) if self.lower.size else (1e-5, 1e5)

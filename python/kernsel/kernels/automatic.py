"""Starting values and bounds of a search for hyperparameters, read off the data.

Each kind of hyperparameter has a rule in the C++ core (``kernsel/data.hpp``) that gives a start and bounds. Both follow the
data when these are shifted or measured in another unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector

if TYPE_CHECKING:
    from kernsel.kernels.hyperparameter import Parameter

__all__ = ["Anchor", "Data", "Proposal"]


@dataclass(frozen=True)
class Data:
    """The data from which "auto" hyperparameters are resolved: points, targets, weights, the names of the columns."""

    X: Matrix
    y: Matrix | None = None
    weights: Vector | None = None
    names: Sequence[str] | None = None
    ties: dict[str, Parameter] = field(default_factory=dict)  # resolved, by the names that tied hyperparameters share
    anchors: list[Anchor] | None = None  # of all hyperparameters, from left to right; None if nobody asks for them
    by_column: bool = True  # may a kernel have a number for each column?

    def restricted(self, columns: Sequence[int]) -> Data:
        """Return the data with some of the columns of X."""
        names = None if self.names is None else [self.names[i] for i in columns]
        return Data(self.X[:, list(columns)], self.y, self.weights, names, self.ties, self.anchors, self.by_column)

    def moved(self, X: Matrix, *, by_column: bool = True) -> Data:
        """Return the data with other points, whose columns have no names."""
        return Data(X, self.y, self.weights, None, self.ties, self.anchors, by_column)

    @cached_property
    def statistics(self) -> _core.Statistics:
        """Statistics of the data that the C++ core computes, each when it is first needed."""
        weights = [] if self.weights is None else np.asarray(self.weights, dtype=np.float64).tolist()
        y = np.zeros((len(self.X), 0)) if self.y is None else self.y
        return _core.Statistics(self.X, y, weights)

    def proposal(self, rule: str) -> Proposal:
        """Return the start and the bounds that a rule proposes."""
        start, lower, upper = self.statistics.propose(rule)
        return Proposal(start, lower, upper)

    def note(self, rule: str, count: int) -> None:
        """Append the anchor of a hyperparameter of `count` numbers, if anchors are asked for."""
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
    """The rule and the number of entries of a hyperparameter, and the data that its kernel is a function of."""

    rule: str
    count: int
    data: Data


@dataclass(frozen=True)
class Proposal:
    """A starting value with its lower and upper bound: one number each, or one for each column."""

    start: Vector
    lower: Vector
    upper: Vector

    def value(self, by_column: bool) -> float | Vector:
        """Return the start: one number for each column if `by_column`, and otherwise their mean."""
        return self.start if by_column else float(np.mean(self.start))

    def bounds(self, count: int, by_column: bool) -> tuple[float, float] | Vector:
        """Return bounds for `count` numbers; one number for all columns gets the widest bounds."""
        if by_column and len(self.lower) == count > 1:
            return np.column_stack([self.lower, self.upper])
        return (float(self.lower.min()), float(self.upper.max())) if self.lower.size else (1e-5, 1e5)

"""Where a search for hyperparameters should start, and how far it may go: read off the data.

Each kind of hyperparameter has a rule that gives a start and bounds. Starts and bounds follow the data when those are moved
or measured in another unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RULES", "Anchor", "Data", "Proposal"]

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
    def _proposals(self) -> dict[str, Proposal]:
        return {}

    def proposal(self, rule: str) -> Proposal:
        """Return what a rule proposes."""
        if rule not in self._proposals:
            self._proposals[rule] = RULES[rule](self)
        return self._proposals[rule]

    def note(self, rule: str, count: int) -> None:
        """Put down what that many numbers of one hyperparameter can be measured by."""
        if self.anchors is not None:
            self.anchors.append(Anchor(rule, count, self))

    @cached_property
    def ranges(self) -> Vector:
        """The range of each column; 1 for constant columns, which have no differences."""
        widths = np.ptp(self.X, axis=0) if len(self.X) else np.zeros(self.X.shape[1])
        return np.where(widths > 0, widths, 1.0)

    @cached_property
    def spacings(self) -> Vector:
        """The median distance between neighbouring values of each column."""
        gaps = np.diff(np.sort(self.X, axis=0), axis=0)
        if len(gaps) and (gaps > 0).all():
            gaps.sort(axis=0)
            half = len(gaps) // 2
            return np.asarray((gaps[half] + gaps[-1 - half]) / 2)
        return np.array([np.median(gap[gap > 0]) if (gap > 0).any() else 1.0 for gap in gaps.T])

    @cached_property
    def spreads(self) -> Vector:
        """The standard deviation of each column; 1 for constant columns."""
        if not self.X.size:
            return np.ones(self.X.shape[1])
        deviations = (self.X - _mean(self.X, self.weights)) / self.ranges  # any unit
        spread = np.sqrt(_mean(deviations**2, self.weights)) * self.ranges
        return np.where(spread > 0, spread, 1.0)

    @cached_property
    def sizes(self) -> Vector:
        """The root mean square of each column; 1 for columns of zeros."""
        if not self.X.size:
            return np.ones(self.X.shape[1])
        largest = np.abs(self.X).max(axis=0)
        unit = np.where(largest > 0, largest, 1.0)
        size = np.sqrt(_mean((self.X / unit) ** 2, self.weights)) * unit
        return np.where(size > 0, size, 1.0)

    @cached_property
    def relevance(self) -> Vector:
        """The share of the targets' variance that a cubic polynomial of each column alone explains."""
        n, d = self.X.shape
        if self.y is None or n < 8:
            return np.ones(d)
        y = self.y.reshape(n, -1)
        y = y - y.mean(axis=0)
        size = np.sqrt(np.mean(y**2, axis=0))
        y = y[:, size > 0] / size[size > 0]
        if not y.size:
            return np.ones(d)
        x = ((self.X - self.X.sum(axis=0) / n) / self.ranges).T[:, :, None]
        basis = np.concatenate([x, x * x, x * x * x], axis=2)
        basis -= basis.sum(axis=1, keepdims=True) / n
        columns = basis.transpose(0, 2, 1)
        moments = columns @ basis
        moments += 1e-10 * n * np.eye(3)  # a column of few values has no cubic
        products = columns @ y
        return np.asarray((products * np.linalg.solve(moments, products)).sum(axis=1).mean(axis=1) / n)

    @cached_property
    def variance(self) -> float:
        """The variance of the targets, averaged over outputs; 1 without targets, or if they are constant."""
        if self.y is None or not len(self.y):
            return 1.0
        centred = self.y - _mean(self.y, self.weights)
        variance = float(np.mean(_mean(centred**2, self.weights)))
        return variance if variance > 0 else 1.0


@dataclass(frozen=True)
class Anchor:
    """The rule of a hyperparameter of so many numbers, and the data that it sees."""

    rule: str
    count: int
    data: Data


@dataclass(frozen=True)
class Proposal:
    """A start, one number or one for each column, and a lower and an upper bound for each."""

    start: float | Vector
    lower: float | Vector
    upper: float | Vector

    def bounds(self, count: int, by_column: bool) -> tuple[float, float] | Vector:
        """Return bounds for that many numbers; one number for all columns has the widest bounds."""
        lower, upper = np.atleast_1d(self.lower), np.atleast_1d(self.upper)
        if by_column and len(lower) == count > 1:
            return np.column_stack([lower, np.broadcast_to(upper, lower.shape)])
        return (float(lower.min()), float(upper.max())) if lower.size and upper.size else (1e-5, 1e5)


def length(data: Data) -> Proposal:
    """Propose a length scale: distances are about 1 at the start; from half the spacing to far beyond the range."""
    lower = np.clip(0.5 * data.spacings, 1e-3 * data.ranges, 1e-2 * data.ranges)
    return Proposal(data.spreads * data.X.shape[1] ** 0.5, lower, 1e4 * data.ranges)


def size(data: Data) -> Proposal:
    """Propose a length scale of inner products: they are about 1 at the start."""
    scale = data.sizes * max(data.X.shape[1], 1) ** 0.5
    return Proposal(scale, 1e-3 * scale, 1e4 * scale)


def norm(data: Data) -> Proposal:
    """Propose a constant beside inner products: as large as a point at the start."""
    scale = float(np.linalg.norm(data.sizes)) if data.X.shape[1] else 1.0
    return Proposal(scale, 1e-3 * scale, 1e3 * scale)


def ratio(data: Data) -> Proposal:
    """Propose a number without a unit."""
    del data
    return Proposal(1.0, 1e-2, 1e3)


def share(data: Data) -> Proposal:
    """Propose a number between zero and one."""
    del data
    return Proposal(0.5, 0.01, 1.0)


def variance(data: Data) -> Proposal:
    """Propose a variance of what is modelled: that of the targets at the start."""
    return Proposal(data.variance, 1e-5 * data.variance, 1e10 * data.variance)


def noise(data: Data) -> Proposal:
    """Propose a variance of noise: a tenth of the targets' at the start, and hardly any at the least."""
    return Proposal(0.1 * data.variance, 1e-10 * data.variance, 10 * data.variance)


def period(data: Data) -> Proposal:
    """Propose a period: the one that a sinusoid fits the targets best with; from twice the spacing to twice the range."""
    lower, upper = np.minimum(2 * data.spacings, 0.5 * data.ranges), 2 * data.ranges
    starts = [_best_period(column, data, a, b) for column, a, b in zip(data.X.T, lower, 0.5 * upper, strict=True)]
    return Proposal(np.array(starts), lower, upper)


def signed(data: Data) -> Proposal:
    """Propose a number without a unit that may be negative."""
    del data
    return Proposal(0.0, -100.0, 100.0)


RULES: dict[str, Callable[[Data], Proposal]] = {
    rule.__name__: rule for rule in (length, size, norm, ratio, share, variance, noise, period, signed)
}


def _mean(values: Vector, weights: Vector | None) -> Vector:
    """Return the mean over the rows."""
    return np.asarray(values.sum(axis=0) / len(values) if weights is None else weights @ values / weights.sum())


def _best_period(x: Vector, data: Data, shortest: float, longest: float) -> float:
    """Return the period of the sinusoid of one column that leaves the least of the targets, by least squares.

    What a straight line explains is taken out first: it would pass for the longest of all periods.
    """
    if data.y is None or len(x) < 8:
        return float(np.sqrt(shortest) * np.sqrt(longest))
    y = data.y.reshape(len(x), -1)[:, 0].astype(np.float64)
    keep = np.linspace(0, len(x) - 1, min(len(x), 1000)).astype(int)  # a thousand points show a period
    x, y = x[keep] - x[keep].mean(), y[keep] - y[keep].mean()
    size = max(float(np.abs(x).max()), np.finfo(float).tiny)
    y = y - x / size * (np.sum(x / size * y) / max(float(np.sum((x / size) ** 2)), np.finfo(float).tiny))
    # Four frequencies for each that the range can tell apart, up to the highest that the spacing shows.
    count = int(np.clip(4 * longest * (1 / shortest - 1 / longest), 8, 2000))
    frequencies = np.linspace(1 / longest, 1 / shortest, count)
    phases = 2 * np.pi * np.outer(frequencies, x)
    power = np.abs(np.exp(-1j * phases) @ y) ** 2
    return float(1 / frequencies[np.argmax(power)])

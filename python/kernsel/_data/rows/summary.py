"""One pass over rows: how many there are, their mean, spread and range, and some of them at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.rows.block import RowBlock
from kernsel._data.rows.draw import Draw
from kernsel._data.rows.source import RowSource

__all__ = ["Statistics", "Subset", "Summary", "summary"]


@dataclass(frozen=True)
class Statistics:
    """Mean, standard deviation and range of each column.

    Attributes
    ----------
    mean, sd, least, greatest : ndarray of shape (d,)
        The standard deviation is the root of the mean square of deviations.
    """

    mean: Vector
    sd: Vector
    least: Vector
    greatest: Vector


@dataclass(frozen=True)
class Subset:
    """Some of the rows, in their order.

    Attributes
    ----------
    rows : ndarray of int
        Their numbers, from 0 on.
    X : ndarray
    y, noise, weights : ndarray or None
    """

    rows: Indices
    X: Matrix
    y: Matrix | None
    noise: Vector | None
    weights: Vector | None


_FIELDS = [field.name for field in fields(Subset)]


@dataclass(frozen=True)
class Summary:
    """What one pass tells of rows.

    Attributes
    ----------
    rows : int
    columns : Statistics
        Of the columns of X.
    targets : Statistics or None
    subset : Subset
        Rows at random, each set of so many with the same probability.
    """

    rows: int
    columns: Statistics
    targets: Statistics | None
    subset: Subset


def summary(source: RowSource, subset: int = 10_000, seed: int = 0) -> Summary:
    """Read all rows once, and return their number, their statistics and some rows at random.

    Which rows are taken depends on the seed and on the number of rows, and not on the blocks. The memory is that of a block and
    of twice the subset.

    Parameters
    ----------
    source : RowSource
    subset : int
        The rows to take; all if there are fewer.
    seed : int

    Returns
    -------
    summary : Summary

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel._data.rows import row_source, summary
    >>> found = summary(row_source(np.arange(10.0).reshape(5, 2)), subset=3)
    >>> found.rows, found.columns.mean, len(found.subset.X)
    (5, array([4., 5.]), 3)
    """
    if subset < 0:
        raise ValueError(f"subset: expected a number of rows from 0 on, got {subset}")
    columns, targets = _Moments(source.n_columns), _Moments(source.n_outputs)
    drawn = _Subsets(Draw(subset, seed))
    for block in source.blocks():
        columns.add(block.X)
        if block.y is not None:
            targets.add(block.y)
        drawn.add(block)
    return Summary(columns.count, columns.statistics(), targets.statistics() if targets.count else None, drawn.subset())


class _Moments:
    """Sums that give the mean and the standard deviation of columns, without the cancellation of squares."""

    def __init__(self, columns: int) -> None:
        self.count = 0
        self._mean = np.zeros(columns)
        self._squares = np.zeros(columns)  # of deviations from the mean
        self._least = np.full(columns, np.inf)
        self._greatest = np.full(columns, -np.inf)

    def add(self, values: Matrix) -> None:
        """Add the rows of a block."""
        count = len(values)
        if not count:
            return
        mean = values.mean(axis=0)
        difference = mean - self._mean
        total = self.count + count
        self._squares += np.square(values - mean).sum(axis=0) + np.square(difference) * (self.count * count / total)
        self._mean += difference * (count / total)
        self.count = total
        self._least = np.minimum(self._least, values.min(axis=0))
        self._greatest = np.maximum(self._greatest, values.max(axis=0))

    def statistics(self) -> Statistics:
        """Return the statistics of the rows that were added."""
        return Statistics(self._mean, np.sqrt(self._squares / max(self.count, 1)), self._least, self._greatest)


class _Subsets:
    """The rows that a draw has not yet displaced."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._parts: list[Subset] = []

    def add(self, block: RowBlock) -> None:
        """Let the rows of a block draw."""
        self._parts.append(_rows_of(block, self._draw.candidates(len(block))))
        if self._draw.is_due():
            self._reduce()

    def subset(self) -> Subset:
        """Return the rows."""
        self._reduce()
        return self._parts[0]

    def _reduce(self) -> None:
        kept = self._draw.kept()
        self._parts = [Subset(*(_joined([getattr(part, name) for part in self._parts], kept) for name in _FIELDS))]


def _rows_of(block: RowBlock, taken: Indices) -> Subset:
    y, noise, weights = (None if values is None else values[taken] for values in (block.y, block.noise, block.weights))
    return Subset(block.first + taken, block.X[taken], y, noise, weights)


def _joined(parts: Sequence[NDArray[Any] | None], kept: Indices) -> Any:
    """Return the rows of parts that are kept, as one array; None if the parts are."""
    return None if parts[0] is None else np.concatenate([part for part in parts if part is not None])[kept]

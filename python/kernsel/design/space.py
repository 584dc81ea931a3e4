"""The points among which is chosen: a box of numbers, whole numbers and categories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Indices, Matrix, Vector

__all__ = ["Space"]

_MOST_COMBINATIONS = 32  # of categories, each of which has points of its own


class Space:
    """A box whose columns are numbers, whole numbers, or one of some given numbers that stand for categories.

    Parameters
    ----------
    bounds : array-like of shape (d, 2)
        The lower and the upper end of each column; of a column of categories it may be None.
    integers : sequence of int
        The columns of whole numbers.
    categories : mapping of int to sequence of float, optional
        The numbers that stand for the categories of a column, as in the points of the model.

    Attributes
    ----------
    lower, upper : ndarray of shape (d,)
    discrete : ndarray of int
        The columns that are not any number.
    continuous : ndarray of int
    """

    def __init__(self, bounds: ArrayLike, integers: Any = (), categories: Mapping[int, Any] | None = None) -> None:
        given: list[Any] = list(bounds) if np.iterable(bounds) else []
        d = len(given)
        if not d:
            raise ValueError(f"bounds: expected a lower and an upper end for each column, got {bounds!r}")
        self.values = _values_of(categories, d)
        self.integers = _columns("integers", integers, d)
        if both := set(self.values) & set(self.integers.tolist()):
            raise ValueError(f"integers: column {min(both)} is one of categories; name it in one of both")
        ends = np.array([_ends(k, given[k], self.values.get(k)) for k in range(d)])
        self.lower, self.upper = ends.T
        for k in self.integers:
            if not (ends[k] == np.rint(ends[k])).all():
                raise ValueError(f"bounds: column {k} is of whole numbers; expected whole ends, got {ends[k].tolist()}")
        self.discrete = np.array(sorted({*self.integers.tolist(), *self.values}), dtype=np.intp)
        self.continuous = np.setdiff1d(np.arange(d), self.discrete)

    @property
    def d(self) -> int:
        """The number of columns."""
        return len(self.lower)

    @property
    def spread(self) -> Vector:
        """The length of each side; one where it has none."""
        sides: Vector = self.upper - self.lower
        return np.asarray(sides + (sides == 0))

    def from_unit(self, U: Matrix) -> Matrix:
        """Return points for points of the unit cube; each whole number and each category has an equal part of it."""
        X: Matrix = self.lower + U * (self.upper - self.lower)
        for k in self.integers:
            X[:, k] = np.minimum(self.lower[k] + np.floor(U[:, k] * (self.upper[k] - self.lower[k] + 1)), self.upper[k])
        for k, values in self.values.items():
            X[:, k] = values[np.minimum((U[:, k] * len(values)).astype(np.intp), len(values) - 1)]
        return X

    def rounded(self, X: Matrix) -> Matrix:
        """Return the nearest points of the space."""
        X = np.asarray(np.clip(X, self.lower, self.upper))
        X[:, self.integers] = np.rint(X[:, self.integers])
        for k, values in self.values.items():
            X[:, k] = values[np.abs(X[:, k, None] - values).argmin(axis=1)]
        return X

    def combinations(self) -> Iterator[tuple[list[int], tuple[float, ...]]]:
        """Yield the columns of categories with each combination of their values, if there are not very many of these."""
        columns = list(self.values)
        if np.prod([float(len(self.values[k])) for k in columns]) <= _MOST_COMBINATIONS:
            for one in product(*(self.values[k].tolist() for k in columns)):
                yield columns, one

    def neighbours(self, x: Vector) -> Matrix:
        """Return the points that differ from x in one whole number, by one, or in one category."""
        found = []
        for k in self.discrete:
            values = self.values.get(int(k), x[k] + np.array([-1.0, 1.0]))
            for value in values[(values != x[k]) & (values >= self.lower[k]) & (values <= self.upper[k])]:
                found.append(x.copy())
                found[-1][k] = value
        return np.array(found).reshape(-1, self.d)


def _ends(k: int, given: Any, values: Vector | None) -> tuple[float, float]:
    """Return the ends of column k."""
    if values is not None:
        return float(values.min()), float(values.max())
    try:
        ends = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        ends = np.zeros(0)
    if ends.shape != (2,) or not np.isfinite(ends).all() or ends[0] > ends[1]:
        raise ValueError(f"bounds: expected finite ends (lower, upper) with lower <= upper for column {k}, got {given!r}")
    return float(ends[0]), float(ends[1])


def _columns(name: str, given: Any, d: int) -> Indices:
    columns = list(given) if np.iterable(given) else [given]
    for k in columns:
        if not isinstance(k, Integral) or isinstance(k, bool) or not 0 <= int(k) < d:
            raise ValueError(f"{name}: expected columns from 0 to {d - 1}, got {k!r}")
    return np.array(sorted({int(k) for k in columns}), dtype=np.intp)


def _values_of(categories: Any, d: int) -> dict[int, Vector]:
    """Return the values of each column of categories."""
    if categories is not None and not isinstance(categories, Mapping):
        raise TypeError(f"categories: expected a dict of columns and their values, got {type(categories).__name__}")
    found = {}
    for k in _columns("categories", categories or (), d):
        values = (categories or {})[k]
        try:
            numbers = np.unique(np.asarray(values, dtype=np.float64))
        except (TypeError, ValueError):
            numbers = np.zeros(0)
        if not len(numbers) or not np.isfinite(numbers).all():
            raise ValueError(f"categories: expected the numbers that stand for the categories of column {k}, got {values!r}")
        found[int(k)] = numbers
    return found

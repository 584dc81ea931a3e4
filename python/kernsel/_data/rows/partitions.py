"""Rows of arrays and data frames of Dask, a partition at a time."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from kernsel._base.errors import ArgumentError
from kernsel._data.rows.block import Piece, RowBlock
from kernsel._data.rows.columns import TableColumns
from kernsel._data.rows.source import ARGUMENTS, Beside, RowSource

__all__ = ["PartitionRows", "is_of_dask"]


class PartitionRows(RowSource):
    """Rows of a collection of Dask; each partition is computed when it is read, and again in the next pass.

    Parameters
    ----------
    X : dask.array.Array of two dimensions, or dask.dataframe.DataFrame
    columns : TableColumns or None
        What is read of a data frame.
    y, noise, weights : collections of Dask with the rows of X, or None
    beside : Beside
        The same where they are arrays.
    n_outputs : int
    """

    def __init__(
        self,
        X: Any,
        columns: TableColumns | None,
        beside: Beside,
        n_outputs: int,
        y: Any = None,
        noise: Any = None,
        weights: Any = None,
    ) -> None:
        self._columns = columns
        n_rows, lengths = None, None
        if columns is None:
            if X.ndim != 2:
                raise ValueError(f"X: expected two dimensions, got shape {X.shape}")
            X = X.rechunk({1: -1})
            lengths = None if np.isnan(X.chunks[0]).any() else X.chunks[0]
            n_rows = None if lengths is None else int(sum(lengths))
        self._parts = _partitions(X)
        firsts = [None] * len(self._parts) if lengths is None else np.cumsum([0, *lengths[:-1]]).tolist()
        self._firsts: list[int | None] = firsts  # of each partition, the number of rows before it
        self._beside_parts = {
            name: _partitions_like(name, value, X)
            for name, value in (("y", y), ("noise", noise), ("weights", weights))
            if value is not None
        }
        for name, parts in self._beside_parts.items():
            if len(parts) != len(self._parts):
                raise ValueError(f"{name}: {len(parts)} partitions, where X has {len(self._parts)}; expected the same ones")
        names, n_columns = (None, int(X.shape[1])) if columns is None else (columns.points, len(columns.points))
        super().__init__(names, n_columns, n_outputs, n_rows, beside)

    @property
    def bytes_at_most(self) -> float:
        """The memory that all blocks take; infinite if nobody knows their lengths."""
        numbers = self.n_columns + self.n_outputs + 2
        return np.inf if self.n_rows is None else 8.0 * self.n_rows * numbers

    def _pieces(self) -> Iterator[Piece]:
        import dask

        for number, part in enumerate(self._parts):
            others = {name: parts[number] for name, parts in self._beside_parts.items()}
            found, *values = dask.compute(part, *others.values())
            yield self._piece(number, found, dict(zip(others, values, strict=True)))

    def _piece(self, number: int, found: Any, beside: dict[str, Any]) -> Piece:
        """Return a partition that was computed, with what is beside it."""
        place = f"partition {number}"
        piece = Piece(found, place=place) if self._columns is None else self._columns.piece(found, place)
        values: dict[str, Any] = {name: np.asarray(value) for name, value in beside.items()}
        return piece._replace(**values)

    def delayed_blocks(self) -> list[Any]:
        """Return what computes each block, for tasks that run on any machine.

        Where the lengths of partitions are not known, `first` of a block is zero.
        """
        from dask import delayed

        for name, value in vars(self._beside).items():
            if value is not None and np.ndim(value):
                raise ArgumentError(f"{ARGUMENTS[name]}: expected a collection of Dask, since X is one, got an array")
        reader = copy(self)
        reader._parts, reader._beside_parts = [], {}
        read = delayed(reader._block, name="block", traverse=False, pure=False)
        beside = [{name: parts[k] for name, parts in self._beside_parts.items()} for k in range(len(self._parts))]
        return [read(k, first, part, beside[k]) for k, (first, part) in enumerate(zip(self._firsts, self._parts, strict=True))]

    def _block(self, number: int, first: int | None, found: Any, beside: dict[str, Any]) -> RowBlock:
        """Return a partition that was computed as a block."""
        return self._checked(self._piece(number, found, beside), first)


def is_of_dask(value: object) -> bool:
    """Tell whether a value is a collection of Dask."""
    return type(value).__module__.partition(".")[0] == "dask" and hasattr(value, "to_delayed")


def _partitions(collection: Any) -> list[Any]:
    """Return what computes each partition by rows."""
    return list(np.asarray(collection.to_delayed(), dtype=object).ravel())


def _partitions_like(name: str, value: Any, X: Any) -> list[Any]:
    """Return what computes the partitions of a collection, divided as X is."""
    if hasattr(value, "rechunk") and hasattr(X, "chunks"):
        if value.ndim == 2:
            value = value.rechunk({1: -1})
        known = not (np.isnan(value.shape[0]) or np.isnan(X.shape[0]))
        if known and value.shape[0] != X.shape[0]:
            raise ValueError(f"{name}: {value.shape[0]} entries, where X has {X.shape[0]} rows; expected one for each")
        if known:
            value = value.rechunk({0: X.chunks[0]})
    return _partitions(value)

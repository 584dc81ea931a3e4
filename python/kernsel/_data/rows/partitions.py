"""Rows of arrays and data frames of Dask, a partition at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernsel._data.rows.block import Piece
from kernsel._data.rows.columns import TableColumns
from kernsel._data.rows.source import Beside, RowSource

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
        n_rows = None
        if columns is None:
            if X.ndim != 2:
                raise ValueError(f"X: expected two dimensions, got shape {X.shape}")
            X = X.rechunk({1: -1})
            lengths = X.chunks[0]
            n_rows = None if np.isnan(lengths).any() else int(sum(lengths))
        self._parts = _partitions(X)
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

    def _pieces(self) -> Iterator[Piece]:
        import dask

        for number, part in enumerate(self._parts):
            place = f"partition {number}"
            others = {name: parts[number] for name, parts in self._beside_parts.items()}
            found, *values = dask.compute(part, *others.values())
            piece = Piece(found, place=place) if self._columns is None else self._columns.piece(found, place)
            beside: dict[str, Any] = {name: np.asarray(value) for name, value in zip(others, values, strict=True)}
            yield piece._replace(**beside)


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

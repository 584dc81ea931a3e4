"""Rows that a function of the user reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kernsel._data.rows.block import Piece
from kernsel._data.rows.columns import TableColumns, is_table, names_of
from kernsel._data.rows.source import Beside, RowSource

__all__ = ["CallRows"]


class CallRows(RowSource):
    """Rows of an iterator that a function returns anew for each pass.

    Parameters
    ----------
    function : callable
        Without arguments. What it returns yields blocks: X, or tuples (X, y), (X, y, noise) or (X, y, noise, weights), or
        tables.
    choice : dict
        The arguments of :meth:`TableColumns.chosen` if blocks are tables.
    """

    def __init__(self, function: Callable[[], Any], beside: Beside, choice: dict[str, Any]) -> None:
        self._function = function
        self._columns: TableColumns | None = None
        first = next(self._items(), None)
        if first is None:
            raise ValueError("X: there are no rows; expected one block at least")
        if is_table(first):
            self._columns = TableColumns.chosen(names_of(first), **choice)
        elif any(value is not None for value in choice.values()):
            raise ValueError("columns, target: expected tables with named columns, where the function yields arrays")
        piece = self._piece(first, 0)
        shape, targets = np.shape(piece.X), beside.y if piece.y is None else piece.y
        if len(shape) != 2:
            raise ValueError(f"X: expected blocks of two dimensions, got shape {shape}")
        outputs = 0 if targets is None else 1 if np.ndim(targets) == 1 else np.shape(targets)[1]
        super().__init__(None if self._columns is None else self._columns.points, shape[1], outputs, None, beside)

    def _items(self) -> Iterator[Any]:
        found = self._function()
        if not hasattr(found, "__iter__"):
            raise TypeError(f"X: expected a function that returns an iterator of blocks, got a {type(found).__name__} from it")
        return iter(found)

    def _pieces(self) -> Iterator[Piece]:
        for number, item in enumerate(self._items()):
            yield self._piece(item, number)

    def _piece(self, item: Any, number: int) -> Piece:
        place = f"block {number}"
        if is_table(item) != (self._columns is not None):
            raise ValueError(f"X in {place}: expected blocks that are all tables, or all arrays, got a {type(item).__name__}")
        if self._columns is not None:
            return self._columns.piece(item, place)
        if not isinstance(item, tuple):
            return Piece(item, place=place)
        if not 1 <= len(item) <= 4:
            raise ValueError(f"X in {place}: expected X, y, noise and weights at most, got {len(item)} values")
        return Piece(*item, **{"place": place})

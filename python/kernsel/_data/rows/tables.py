"""Rows of tables in memory: frames of pandas and polars, tables of pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernsel._data.rows.block import Piece, rows_at_once
from kernsel._data.rows.columns import TableColumns
from kernsel._data.rows.source import Beside, RowSource

__all__ = ["TableRows"]


class TableRows(RowSource):
    """Rows of a frame or a table, of which a block at a time is converted to numbers."""

    def __init__(self, table: Any, columns: TableColumns, beside: Beside, n_outputs: int, block: int | None = None) -> None:
        self._table = table
        self._columns = columns
        self._block = block or rows_at_once(len(columns.all))
        super().__init__(columns.points, len(columns.points), n_outputs, _length(table), beside)

    def _pieces(self) -> Iterator[Piece]:
        for first in range(0, self.n_rows or 0, self._block):
            yield self._columns.piece(_rows(self._table, first, self._block), "")


def _length(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else int(table.num_rows)


def _rows(table: Any, first: int, count: int) -> Any:
    """Return some rows of a table, which are no copy."""
    return table.iloc[first : first + count] if hasattr(table, "iloc") else table.slice(first, count)

"""The rows of a file that does not fit into memory, as the numbers that a model of its columns is fitted to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kernsel._base.annotations import Indices
from kernsel._data.rows.block import Piece
from kernsel._data.rows.source import RowSource
from kernsel.study.tables.encode import encoded_names
from kernsel.study.tables.guess import numbers_in
from kernsel.study.tables.missing import Missing
from kernsel.study.tables.parts import read_in_parts
from kernsel.study.tables.read import require_column, rows_to_predict
from kernsel.study.tables.table import Column

__all__ = ["EncodedRows"]


class EncodedRows(RowSource):
    """The rows of a file with all inputs and the target, encoded as the columns of a table that was read of some of them.

    Rows without a target, with a category that is not known, or with missing values, unless means replace them, are left out.

    Parameters
    ----------
    path : str
        A CSV, TSV or Parquet file, or a directory of Parquet files.
    columns : sequence of Column
    target : Column
    missing : {"drop", "mean", "error"}
    without : ndarray of int, optional
        The numbers of rows that are left out besides, from 1 on.
    """

    def __init__(
        self,
        path: str,
        columns: Sequence[Column],
        target: Column,
        missing: Missing = "drop",
        without: Indices | None = None,
    ) -> None:
        self._path = path
        self._without = np.zeros(0, dtype=np.intp) if without is None else without
        self._described = [column for column in columns if encoded_names(column)]
        self._target = target
        self._missing = missing
        names = [name for column in self._described for name in encoded_names(column)]
        super().__init__(names, len(names), 1)

    def _pieces(self) -> Iterator[Piece]:
        read = 0
        for part in read_in_parts(self._path, {self._target.name, *(column.name for column in self._described)}):
            require_column(part, self._target.name)
            table = rows_to_predict(part, self._described, self._target.name, missing=self._missing, levels=self._target.levels)
            y = numbers_in(part, self._target.name)[table.kept - 1] if table.y is None else table.y  # raises if it is no number
            learnt = ~np.isnan(y) & ~np.isin(read + table.kept, self._without)
            yield Piece(table.X[learnt], y[learnt], place=f"{part.source} from row {read + 1} on")
            read += part.rows

"""Predictions as rows of a file, or of the standard output."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO, TypeAlias

import numpy as np

from kernsel._base.annotations import Vector
from kernsel.cli.outputs import require_format_of_table

__all__ = ["Columns", "Written", "is_empty", "rows_of"]

Columns: TypeAlias = dict[str, Vector | list[str]]  # of the output, one value for each row of the input


class Written(AbstractContextManager["Written"]):
    """What columns are written to, some of their rows at a time.

    Parameters
    ----------
    path : str or None
        A file, whose ending says the format; None for CSV to the standard output.
    """

    def __init__(self, path: str | None) -> None:
        self._path = None if path is None else Path(path)
        self._format = "CSV" if path is None else require_format_of_table(path)
        self._open = ExitStack()
        self._file: Any = None  # a stream of text, or what pyarrow writes to

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        ended = self._open.__exit__(kind, error, trace)
        if kind is not None and self._file is not None and self._path is not None and self._path.is_file():
            self._path.unlink()  # some of the rows would look like all of them
        return ended

    def __enter__(self) -> Self:
        return self

    def write(self, columns: Columns) -> None:
        """Write the next rows. An npz file has them all at once."""
        if self._path is not None and self._format == "npz":
            with self._path.open("wb") as file:
                np.savez(file, **{name: np.asarray(values) for name, values in columns.items()})  # type: ignore[arg-type]
        elif self._format == "Parquet":
            self._write_parquet(columns)
        else:
            first = self._file is None
            if first and self._path is None:
                self._file = sys.stdout
            elif first and self._path is not None:
                self._file = self._open.enter_context(self._path.open("w", newline="", encoding="utf-8"))
            _write_text(self._file, columns, "\t" if self._format == "TSV" else ",", names=first)

    def _write_parquet(self, columns: Columns) -> None:
        try:
            import pyarrow as arrow
            import pyarrow.parquet as parquet
        except ImportError as error:
            raise ImportError("Parquet files need pyarrow: pip install 'kernsel[parquet]'") from error
        table = arrow.table(columns)
        if self._file is None:
            self._file = self._open.enter_context(parquet.ParquetWriter(self._path, table.schema))
        self._file.write_table(table)


def _write_text(file: TextIO, columns: Columns, delimiter: str, *, names: bool) -> None:
    """Write rows as text between delimiters, below the names of the columns if these are asked for."""
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    if names:
        writer.writerow(columns)
    for row in rows_of(columns):
        writer.writerow("" if is_empty(value) else value for value in row)


def rows_of(columns: Columns) -> Iterator[tuple[float | str, ...]]:
    """Yield the values of each row."""
    return zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)


def is_empty(value: float | str) -> bool:
    """Tell whether there is no prediction."""
    return value == "" if isinstance(value, str) else math.isnan(value)

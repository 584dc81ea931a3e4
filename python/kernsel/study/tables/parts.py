"""Files that do not fit into memory, read a part of their rows at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import numpy as np

from kernsel import _core
from kernsel._data.rows.arrow import has_parquet, opened, parquet_batches, parquet_files
from kernsel._data.rows.draw import Draw
from kernsel.study.tables.raw import Raw, Values, unique_names
from kernsel.study.tables.separated import read_separated_in_parts
from kernsel.study.tables.typed import raw_of_arrow

__all__ = ["is_large", "read_in_parts", "read_some"]

_SHARE = 4  # of the memory that is available; a file is large if its numbers take more than one part of it
_ROWS = 20_000  # at a time: texts take ten times the memory of numbers
_PARQUET = (".parquet", ".pq")


def is_large(path: str) -> bool:
    """Tell whether a file is read in parts: a directory of Parquet files, or one whose numbers take a quarter of the memory.

    Text is counted with one number for eight characters. Other formats, and compressed text, are never read in parts.
    """
    file = Path(path)
    if path == "-" or not file.exists():
        return False
    if file.is_dir():
        return has_parquet(file)
    available = _core.available_memory()  # 0 if it is not known
    if not available:
        return False
    if file.suffix.lower() in _PARQUET:
        with opened(file) as content:
            return bool(8 * content.metadata.num_rows * content.metadata.num_columns > available / _SHARE)
    return file.suffix.lower() in ("", ".csv", ".tsv", ".tab", ".txt") and file.stat().st_size > available / _SHARE


def read_in_parts(path: str, wanted: Collection[str] | None = None, rows: int = _ROWS) -> Iterator[Raw]:
    """Yield the rows of a file of text, of a Parquet file or of a directory of Parquet files.

    Parameters
    ----------
    path : str
    wanted : collection of str, optional
        The columns that are needed: of Parquet, no others are read.
    rows : int
        The most rows of a part.
    """
    begun = 0
    for raw in _parts(path, wanted, rows):
        raw.numbers = np.arange(begun, begun + raw.rows)
        begun += raw.rows
        yield raw
    if not begun:
        raise ValueError(f"{path} has no rows")


def read_some(path: str, count: int, seed: int) -> tuple[Raw, int]:
    """Return rows of a file at random, in their order, and the number of all its rows."""
    draw = Draw(count, seed)
    some: Raw | None = None
    total = 0
    for part in read_in_parts(path):
        taken = _rows_of(part, draw.candidates(part.rows).tolist())
        some = taken if some is None else _joined(some, taken)
        total += part.rows
        if draw.is_due():
            some = _rows_of(some, draw.kept().tolist())
    assert some is not None
    return _rows_of(some, draw.kept().tolist()), total


def _parts(path: str, wanted: Collection[str] | None, rows: int) -> Iterator[Raw]:
    file = Path(path)
    if file.is_dir() or file.suffix.lower() in _PARQUET:
        yield from _parts_of_parquet(file, wanted, rows)
        return
    with _text(file) as stream:
        try:
            yield from read_separated_in_parts(stream, path, rows)
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8: {error.reason}; save the file as UTF-8") from None


def _parts_of_parquet(path: Path, wanted: Collection[str] | None, rows: int) -> Iterator[Raw]:
    import pyarrow as arrow

    files = parquet_files(path)
    with opened(files[0]) as file:
        there = file.schema_arrow.names
    names, _ = unique_names([name.strip() for name in there], str(path))
    chosen = [column for column, name in zip(there, names, strict=True) if wanted is None or name in wanted]
    for batch, _ in parquet_batches(files, chosen or there, rows):
        yield raw_of_arrow(arrow.Table.from_batches([batch]), str(path))


def _text(file: Path) -> TextIO:
    with file.open("rb") as content:
        wide = content.read(2) in (b"\xff\xfe", b"\xfe\xff")
    return file.open(encoding="utf-16" if wide else "utf-8-sig", newline="")


def _rows_of(raw: Raw, rows: list[int]) -> Raw:
    """Return some rows of columns."""
    columns = {
        name: [values[row] for row in rows] if isinstance(values, list) else values[rows]
        for name, values in raw.columns.items()
    }
    lines, numbers = (None if values is None else values[rows] for values in (raw.lines, raw.numbers))
    return replace(raw, columns=columns, lines=lines, numbers=numbers)


def _joined(first: Raw, second: Raw) -> Raw:
    """Return the rows of two parts of a file."""
    columns: dict[str, Values] = {}
    for name, values in first.columns.items():
        more = second.columns[name]
        if isinstance(values, list) and isinstance(more, list):
            columns[name] = values + more
        else:
            columns[name] = np.concatenate([np.asarray(values), np.asarray(more)])
    lines, numbers = (
        None if one is None or other is None else np.concatenate([one, other])
        for one, other in ((first.lines, second.lines), (first.numbers, second.numbers))
    )
    return replace(first, columns=columns, lines=lines, numbers=numbers, remarks=[*first.remarks, *second.remarks])

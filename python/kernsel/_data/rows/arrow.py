"""Rows of Parquet files and of datasets of Arrow, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kernsel._data.rows.block import Piece, rows_at_once
from kernsel._data.rows.columns import TableColumns
from kernsel._data.rows.source import Beside, RowSource

__all__ = ["DatasetRows", "ParquetRows", "has_parquet", "opened", "parquet_batches", "parquet_files"]

_BUFFER = 2**20  # bytes of a column that are read at a time


class ParquetRows(RowSource):
    """Rows of Parquet files, one file after the other.

    Only the columns that are needed are read, and of these a part of a row group at a time.
    """

    def __init__(
        self, files: Sequence[Path], columns: TableColumns, beside: Beside, n_outputs: int, block: int | None = None
    ) -> None:
        self._files = files
        self._columns = columns
        self._block = block or rows_at_once(len(columns.all))
        n_rows = 0
        for path in files:
            with opened(path) as file:
                n_rows += file.metadata.num_rows
        super().__init__(columns.points, len(columns.points), n_outputs, n_rows, beside)

    def _pieces(self) -> Iterator[Piece]:
        for batch, place in parquet_batches(self._files, self._columns.all, self._block):
            yield self._columns.piece(batch, place)


class DatasetRows(RowSource):
    """Rows of a dataset of Arrow, one of its fragments after the other; row groups of Parquet are held whole."""

    def __init__(self, dataset: Any, columns: TableColumns, beside: Beside, n_outputs: int, block: int | None = None) -> None:
        self._dataset = dataset
        self._columns = columns
        self._block = block or rows_at_once(len(columns.all))
        super().__init__(columns.points, len(columns.points), n_outputs, None, beside)

    def _pieces(self) -> Iterator[Piece]:
        for number, fragment in enumerate(self._dataset.get_fragments()):
            place = str(getattr(fragment, "path", "")) or f"fragment {number}"
            # A scan reads far ahead, but not beyond what it is of.
            for part in fragment.split_by_row_group() if hasattr(fragment, "split_by_row_group") else [fragment]:
                for batch in part.to_batches(self._dataset.schema, columns=self._columns.all, batch_size=self._block):
                    yield self._columns.piece(batch, place)


def parquet_files(path: str | Path) -> list[Path]:
    """Return the Parquet file of a path, or all below a directory in the order of their names, without hidden ones."""
    path = Path(path)
    if not path.is_dir():
        return [path]
    found = sorted(_below(path))
    if not found:
        raise FileNotFoundError(f"{path} is a directory without Parquet files")
    return found


def has_parquet(directory: Path) -> bool:
    """Tell whether there are Parquet files below a directory."""
    return any(True for _ in _below(directory))


def _below(directory: Path) -> Iterator[Path]:
    for ending in ("*.parquet", "*.pq"):
        for file in directory.rglob(ending):
            if not any(part.startswith((".", "_")) for part in file.relative_to(directory).parts):
                yield file


def opened(path: Path) -> Any:
    """Open a Parquet file."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'kernsel[parquet]'") from error
    try:
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER)  # otherwise it reads row groups whole
    except arrow.ArrowException as error:
        raise ValueError(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}") from None


def parquet_batches(files: Sequence[Path], names: Sequence[str] | None, rows: int) -> Iterator[tuple[Any, str]]:
    """Read files, and yield batches of at most so many rows with the file and row group that they are of.

    Parameters
    ----------
    files : sequence of Path
    names : sequence of str, optional
        The columns to read, all by default.
    rows : int
    """
    for path in files:
        with opened(path) as file:
            absent = [name for name in names or [] if name not in file.schema_arrow.names]
            if absent:
                raise ValueError(f"X: there is no column {absent[0]!r} in {path}")
            for group in range(file.metadata.num_row_groups):
                batches = file.iter_batches(batch_size=rows, row_groups=[group], columns=names)
                skipped = 0
                for batch in batches:
                    place = f"{path}, row group {group}" + (f" from its row {skipped} on" if skipped else "")
                    yield batch, place
                    skipped += batch.num_rows

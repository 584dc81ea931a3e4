"""The source of rows that the arguments of a user stand for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernsel._base.errors import ArgumentError
from kernsel._data.rows.arrays import ArrayRows, NpyFile
from kernsel._data.rows.arrow import DatasetRows, ParquetRows, opened, parquet_files
from kernsel._data.rows.calls import CallRows
from kernsel._data.rows.columns import TableColumns, is_table, names_of
from kernsel._data.rows.partitions import PartitionRows, is_of_dask
from kernsel._data.rows.source import Beside, RowSource
from kernsel._data.rows.tables import TableRows

__all__ = ["is_of_rows", "row_source"]


def row_source(
    X: Any,
    y: Any = None,
    *,
    noise: Any = None,
    sample_weight: Any = None,
    columns: Any = None,
    target: Any = None,
    block: int | None = None,
) -> RowSource:
    """Return rows that are read in blocks, as often as asked, and never all at a time.

    Estimators take it in the place of X, with y=None, if they are fitted by landmarks (:class:`kernsel.Nystrom`); so does
    :func:`kernsel.evaluate`. They also take paths of files, datasets of pyarrow and collections of Dask as they are, and the
    name of a column in the place of y.

    Parameters
    ----------
    X : array, path, table, collection or callable
        An array or memory map of shape (n, d). The path of a ``.npy`` file, or of one or several Parquet files, or of a
        directory of them. A frame of pandas or polars, a table or dataset of pyarrow. An array or data frame of Dask. A
        function that returns an iterator of blocks each time it is called: arrays X, tuples (X, y, noise, weights) or the first
        of these, or tables.
    y : array-like of shape (n,) or (n, outputs), path of a ``.npy`` file, collection of Dask, or name of a column, optional
    noise : float, array-like of shape (n,), path or collection, or name of a column, optional
        Variances.
    sample_weight : array-like of shape (n,), path or collection, or name of a column, optional
    columns : sequence of str or int, optional
        The columns of X that are inputs: by default all that are not named otherwise. Arrays have indices in place of names.
    target : str or int, or sequence of them, optional
        The columns of X that are targets, in place of `y`.
    block : int, optional
        The rows of a block, where a source can be divided anywhere; by default those of eight megabytes.

    Returns
    -------
    source : RowSource

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> source = ks.row_source(np.arange(10.0).reshape(5, 2), np.ones(5), block=2)
    >>> [(block.first, len(block)) for block in source.blocks()]
    [(0, 2), (2, 2), (4, 1)]
    """
    if isinstance(X, RowSource):
        if any(value is not None for value in (y, noise, sample_weight, columns, target, block)):
            raise ValueError("X: it is a source of rows already, which knows its targets, noise, weights and columns")
        return X
    if isinstance(X, Iterator) or hasattr(X, "read_next_batch"):
        raise ArgumentError(f"X: a {type(X).__name__} can be read only once; expected a function that returns a new one")
    if block is not None and (not isinstance(block, int) or block < 1):
        raise ValueError(f"block: expected a whole number from 1 on, got {block!r}")
    if y is not None and target is not None:
        raise ValueError("y, target: expected one of them")
    if (of_column := _name(y)) is not None:
        y, target = None, of_column
    given: dict[str, Any] = {"y": y, "noise": noise, "weights": sample_weight}
    lazy = {name: value for name, value in given.items() if is_of_dask(value)}
    if lazy and not is_of_dask(X):
        raise ArgumentError(f"{', '.join(lazy)}: expected no collection of Dask, since X is none")
    named = bool(lazy or is_of_dask(X)) and hasattr(X, "columns")
    paths = _parquet_paths(X)
    tables = is_table(X) or paths is not None or named or callable(X) or _is_dataset(X)
    beside = Beside(
        **{name: _array(name, value, tables) for name, value in given.items() if value is not None and name not in lazy}
    )
    choice = {"columns": columns, "target": target, "noise": _name(noise), "weights": _name(sample_weight)}
    choice = choice if tables else {"columns": columns, "target": target}

    def chosen(names: Sequence[Any]) -> TableColumns:
        return TableColumns.chosen(names, **choice)

    def outputs(found: TableColumns) -> int:
        return len(found.targets) or _outputs(lazy.get("y", beside.y))

    if is_of_dask(X):
        if not hasattr(X, "columns") and (columns is not None or target is not None):
            raise ValueError("columns, target: expected neither for an array of Dask; take slices of it")
        found = chosen(X.columns) if hasattr(X, "columns") else None
        n_outputs = _outputs(lazy.get("y", beside.y)) if found is None else outputs(found)
        return PartitionRows(X, found, beside, n_outputs, **lazy)
    if paths is not None:
        with opened(paths[0]) as file:
            found = chosen(names_of(file.schema_arrow.empty_table()))
        return ParquetRows(paths, found, beside, outputs(found), block)
    if is_table(X):
        found = chosen(names_of(X))
        return TableRows(X, found, beside, outputs(found), block)
    if _is_dataset(X):
        found = chosen(X.schema.names)
        return DatasetRows(X, found, beside, outputs(found), block)
    if callable(X):
        return CallRows(X, beside, choice)
    return ArrayRows(_array("X", X, tables), beside, columns, target, block)


def is_of_rows(value: object) -> bool:
    """Tell whether a value is read in blocks where others are arrays: a source, a path, a dataset, a collection of Dask."""
    return isinstance(value, RowSource | str | os.PathLike) or is_of_dask(value) or _is_dataset(value)


def _name(value: object) -> str | None:
    """Return the name of a column; None for what is none."""
    return value if isinstance(value, str) and not value.endswith(".npy") else None


def _array(name: str, value: Any, tables: bool) -> Any:
    """Return an argument as something that slices can be taken of; None if it is the name of a column."""
    if isinstance(value, str | os.PathLike):
        if str(value).endswith(".npy"):
            return NpyFile(value)
        if tables and isinstance(value, str) and name in ("noise", "weights"):
            return None
        expected = "a .npy or Parquet file, or a directory of these" if name == "X" else "an array or the path of a .npy file"
        raise ArgumentError(f"{name}: expected {expected}, got {value!r}")
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise ArgumentError(f"{name}: expected numbers, got {type(value).__name__} with entries of type {array.dtype}")
    return array


def _parquet_paths(X: Any) -> list[Path] | None:
    """Return the Parquet files that X names, one, several or a directory; None if it names none."""
    given = X if isinstance(X, list | tuple) and X else [X]
    if not all(isinstance(path, str | os.PathLike) for path in given):
        return None
    paths = [Path(path) for path in given]
    absent = next((path for path in paths if not path.exists()), None)
    if absent is not None:
        raise FileNotFoundError(f"X: there is no file {absent}")
    if not all(path.is_dir() or path.suffix.lower() in (".parquet", ".pq") for path in paths):
        return None
    return [file for path in paths for file in parquet_files(path)]


def _is_dataset(X: object) -> bool:
    return type(X).__module__.startswith("pyarrow") and hasattr(X, "get_fragments")


def _outputs(y: Any) -> int:
    """Return the number of targets; 0 without any."""
    if y is None:
        return 0
    return int(y.shape[1]) if y.ndim == 2 else 1

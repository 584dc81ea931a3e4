"""Files whose columns have types: Parquet, and NumPy's npz."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kernsel.study.tables.raw import Raw, Values, unique_names

if TYPE_CHECKING:
    from pyarrow import ChunkedArray
    from pyarrow import Table as ArrowTable

__all__ = ["raw_of_arrow", "read_npz", "read_parquet"]


def read_npz(content: bytes, source: str) -> Raw:
    """Return the columns of an archive of arrays; those of an array X with two dimensions are X1, X2, ..."""
    columns: dict[str, Values] = {}
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            for name in archive.files:
                array = archive[name]
                if array.ndim == 1:
                    columns[name] = _values(array, name)
                elif array.ndim == 2:
                    for k in range(array.shape[1]):
                        columns[f"{name}{k + 1}"] = _values(array[:, k], name)
                else:
                    raise ValueError(f"array {name!r} has {array.ndim} dimensions; expected 1, or 2 for several columns")
    except (ValueError, zipfile.BadZipFile, EOFError, OSError, KeyError) as error:
        raise ValueError(f"{source} cannot be read as npz: {error}") from None
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in list(lengths.items())[:6])
        raise ValueError(f"{source}: expected arrays of equal length, got {listed}")
    if not columns or not next(iter(lengths.values())):
        raise ValueError(f"{source} has no rows")
    return Raw(source, columns)


def read_parquet(content: bytes, source: str) -> Raw:
    """Return the columns of a Parquet file, read by pyarrow."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'kernsel[parquet]'") from error
    try:
        table = parquet.read_table(io.BytesIO(content))
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(f"{source} cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    if not table.num_rows:
        raise ValueError(f"{source} has no rows")
    return raw_of_arrow(table, source)


def raw_of_arrow(table: ArrowTable, source: str) -> Raw:
    """Return the columns of a table of pyarrow."""
    names, remarks = unique_names([str(name).strip() for name in table.column_names], source)
    columns = {name: _of_arrow(column, source, name) for name, column in zip(names, table.columns, strict=True)}
    return Raw(source, columns, remarks=remarks)


def _of_arrow(column: ChunkedArray, source: str, name: str) -> Values:
    """Return a column of pyarrow as numbers or as texts."""
    from pyarrow import types

    kind = column.type
    if types.is_dictionary(kind):
        kind, column = kind.value_type, column.cast(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return np.asarray(column.cast("float64").to_numpy(), dtype=np.float64)
    if types.is_boolean(kind) or types.is_string(kind) or types.is_large_string(kind):
        return ["" if value is None else str(value) for value in column.to_pylist()]
    if types.is_date(kind) or types.is_timestamp(kind):
        return ["" if value is None else value.isoformat() for value in column.to_pylist()]
    if types.is_null(kind):
        return [""] * len(column)
    raise ValueError(f"{source}: column {name!r} is of type {kind}; expected numbers, text, booleans or dates")


def _values(array: NDArray[np.generic], name: str) -> Values:
    """Return an array as numbers or as texts."""
    if array.dtype.kind in "fiu":
        return array.astype(np.float64)
    if array.dtype.kind in "bU":
        return [str(value) for value in array.tolist()]
    if array.dtype.kind == "M":
        return ["" if np.isnat(value) else str(value) for value in array.astype("datetime64[s]")]
    raise ValueError(f"array {name!r} is of type {array.dtype}; expected numbers, text, booleans or dates")

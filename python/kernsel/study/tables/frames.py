"""Tables that are objects in Python: frames of pandas and polars, tables of pyarrow, dictionaries of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from numbers import Real
from typing import Any

import numpy as np

from kernsel._base.annotations import Vector
from kernsel.study.tables.raw import Raw, Values, unique_names

__all__ = ["read_frame"]


def read_frame(frame: Any) -> Raw:
    """Return the columns of a frame of pandas or polars, a table of pyarrow, or a dictionary of arrays.

    Raises
    ------
    TypeError
        If the object has no columns with names, or a column holds what is neither a number, a text, a boolean nor a date.
    """
    source = f"the {type(frame).__name__}"
    named = frame if isinstance(frame, Mapping) else getattr(frame, "column_names", getattr(frame, "columns", []))
    given = list(named)
    if not given:
        raise TypeError(f"X: expected a frame with named columns, a dictionary of them, or the path of a file, got {source}")
    names, remarks = unique_names([str(name).strip() for name in given], source)
    if len(set(given)) < len(given):  # frame[name] would be several columns
        raise ValueError(f"{source} has two columns of the same name; expected different ones")
    columns = {name: _values(frame[key], name, source) for name, key in zip(names, given, strict=True)}
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"{source}: expected columns of equal length, got {sorted(lengths)}")
    if lengths == {0}:
        raise ValueError(f"{source} has no rows")
    return Raw(source, columns, remarks=remarks, in_python=True)


def _values(column: Any, name: str, source: str) -> Values:
    """Return a column as numbers, with nan for missing ones, or as texts, with empty ones."""
    array = np.asarray(column)
    if array.ndim != 1:
        raise TypeError(f"{source}: column {name!r} has {array.ndim} dimensions; expected 1")
    if array.dtype.kind in "fiu":
        return array.astype(np.float64)
    if array.dtype.kind == "M":
        return ["" if np.isnat(value) else str(value) for value in array.astype("datetime64[us]")]
    values = [None if _is_missing(value) else value for value in array.tolist()]
    if all(value is None or (isinstance(value, Real) and not isinstance(value, bool)) for value in values):
        return _numbers(values)
    return [_text(value, name, source) for value in values]


def _is_missing(value: object) -> bool:
    """Tell whether a value is None, nan, or what pandas has for missing values, which is equal to nothing."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _numbers(values: list[Any]) -> Vector:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)


def _text(value: object, name: str, source: str) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, str | bool | Real):
        return str(value)
    raise TypeError(f"{source}: column {name!r} has {value!r:.60}; expected numbers, texts, booleans or dates")

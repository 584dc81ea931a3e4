"""Which columns of a table are points, targets, noise and weights, and their numbers as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.rows.block import Piece

__all__ = ["TableColumns", "is_table", "names_of"]


@dataclass(frozen=True)
class TableColumns:
    """The names of the columns that are read of tables.

    Attributes
    ----------
    points, targets : list of str
    noise, weights : str or None
    """

    points: list[str]
    targets: list[str]
    noise: str | None = None
    weights: str | None = None

    @classmethod
    def chosen(
        cls, names: Sequence[Any], columns: Any = None, target: Any = None, noise: Any = None, weights: Any = None
    ) -> TableColumns:
        """Return the columns that arguments of a user name: of points by default all that are nothing else.

        What is not text among `noise` and `weights` are numbers, and no columns.
        """
        available = [str(name) for name in names]
        targets = [] if target is None else [target] if isinstance(target, str) else list(target)
        beside = [name if isinstance(name, str) else None for name in (noise, weights)]
        taken = {*targets, *beside}
        points = [name for name in available if name not in taken] if columns is None else list(columns)
        wanted = [*(("columns", name) for name in points), *(("target", name) for name in targets)]
        wanted += [(argument, name) for argument, name in zip(("noise", "sample_weight"), beside, strict=True) if name]
        for argument, name in wanted:
            _require_column(argument, name, available)
        if not points:
            raise ValueError(f"columns: there is none to predict from besides {', '.join(map(repr, taken - {None}))}")
        if shared := taken.intersection(points):
            raise ValueError(
                f"columns: {sorted(map(str, shared))[0]!r} cannot be an input, since it is target, noise or weight"
            )
        return cls(points, targets, *beside)

    @property
    def all(self) -> list[str]:
        """The names of all columns that are read."""
        named = [*self.points, *self.targets, self.noise, self.weights]
        return list(dict.fromkeys(name for name in named if name is not None))

    def piece(self, table: Any, place: str) -> Piece:
        """Return the columns of a table, or of some of its rows."""
        return Piece(
            _together(table, self.points, place),
            _together(table, self.targets, place) if self.targets else None,
            None if self.noise is None else _column(table, self.noise, place),
            None if self.weights is None else _column(table, self.weights, place),
            place,
        )


def is_table(value: object) -> bool:
    """Tell whether a value is a frame of pandas or polars, or a table or batch of pyarrow."""
    package = type(value).__module__.partition(".")[0]
    return package in ("pandas", "polars", "pyarrow") and hasattr(value, "columns")


def names_of(table: Any) -> list[str]:
    """Return the names of the columns of a table; raise if two are equal."""
    names = [str(name) for name in (table.schema.names if _is_arrow(table) else table.columns)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"X: there are two columns named {twice!r}; expected different names")
    return names


def _require_column(argument: str, name: Any, available: list[str]) -> None:
    if name not in available:
        by_lower = {one.lower(): one for one in available}
        close = get_close_matches(str(name).lower(), by_lower, 1, 0.6)
        hint = f"; did you mean {by_lower[close[0]]!r}?" if close else f"; there are {', '.join(available[:12])}"
        raise ValueError(f"{argument}: there is no column {name!r}{hint}{', ...' * (not close and len(available) > 12)}")


def _together(table: Any, names: Iterable[str], place: str) -> Matrix:
    columns = [_column(table, name, place) for name in names]
    return np.ascontiguousarray(np.column_stack(columns))


def _column(table: Any, name: str, place: str) -> Vector:
    """Return a column of a table as numbers, with nan for missing values."""
    where = f" of {place}" if place else ""
    if name not in (table.schema.names if _is_arrow(table) else table.columns):
        raise ValueError(f"X: there is no column {name!r} in {place or 'a block'}, other than in the first")
    if _is_arrow(table):
        from pyarrow import types

        column = table.column(name)
        kind = column.type
        if not any(is_a(kind) for is_a in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)):
            raise ValueError(f"X: column {name!r}{where} is of type {kind}; expected numbers")
        found = column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
    elif hasattr(table, "to_arrow"):  # of polars
        column = table[name]
        if not (column.dtype.is_numeric() or str(column.dtype) == "Boolean"):
            raise ValueError(f"X: column {name!r}{where} is of type {column.dtype}; expected numbers")
        found = column.cast(float).to_numpy()
    else:
        column = table[name]
        if getattr(column.dtype, "kind", "O") not in "fiub":
            raise ValueError(f"X: column {name!r}{where} is of type {column.dtype}; expected numbers")
        found = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(found, dtype=np.float64)


def _is_arrow(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] == "pyarrow"

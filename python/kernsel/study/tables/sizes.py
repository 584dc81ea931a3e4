"""The column that tells the size of each observation: the exposure of a count, or the number of trials."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsel._base.annotations import Indices, Vector
from kernsel._data.together import counted
from kernsel.study.tables.guess import numbers_in
from kernsel.study.tables.raw import Raw
from kernsel.study.tables.table import SIZES, Column

__all__ = ["rows_with_sizes", "size_column", "sizes_of_new_rows"]


def size_column(raw: Raw, name: str, kind: str) -> tuple[Vector, Column]:
    """Return the sizes in a column, nan for missing ones, and the column, whose kind is "exposure" or "trials"."""
    sizes = numbers_in(raw, name)
    present = sizes[~np.isnan(sizes)]
    if not len(present):
        raise ValueError(f"{raw.source}: column {name!r}, the {kind} of each row, has no values")
    missing = len(sizes) - len(present)
    least, greatest, mean = float(present.min()), float(present.max()), float(present.mean())
    return sizes, Column(name, kind, f"the {kind} of each row", [], missing, least, greatest, mean)


def rows_with_sizes(sizes: Vector, column: Column, kept: Indices, effect: str) -> tuple[Indices, list[str]]:
    """Return those of the rows `kept` whose size is known and positive, and a remark on the others."""
    with np.errstate(invalid="ignore"):
        good = sizes[kept] > 0
    if good.all():
        return kept, []
    without = counted(int((~good).sum()), "row")
    return kept[good], [f"{without} without a positive value of {column.name!r}, the {column.kind}: {effect}."]


def sizes_of_new_rows(raw: Raw, columns: Sequence[Column], kept: Indices) -> tuple[Vector | None, str, Indices, list[str]]:
    """Return the sizes of new rows and their kind, the rows that have one, and remarks; None where nothing is told of sizes."""
    column = next((one for one in columns if one.kind in SIZES), None)
    if column is None:
        return None, "", kept, []
    if column.name not in raw.columns:
        return None, "", kept, [f"There is no column {column.name!r}: predictions are for {column.kind} of 1."]
    sizes = numbers_in(raw, column.name)
    kept, remarks = rows_with_sizes(sizes, column, kept, "no prediction is made for them")
    return sizes[kept], column.kind, kept, remarks

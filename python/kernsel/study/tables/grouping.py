"""Rows of a file that are left out together: groups by the values of a column, or blocks of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernsel._base.annotations import Indices, Vector
from kernsel._data.together import blocks_of_time, counted, numbered
from kernsel.study.tables.encode import encode
from kernsel.study.tables.guess import guess
from kernsel.study.tables.numerals import missing_in
from kernsel.study.tables.raw import Raw

__all__ = ["Grouping", "grouping_by"]


@dataclass(frozen=True)
class Grouping:
    """The groups of the rows of a file that are kept.

    Attributes
    ----------
    kept : ndarray of int
        The rows that are kept: those with a group.
    labels : ndarray of int, of the length of `kept`, or None
        The number of the group of each; None if nothing was told.
    name : str
        The groups in words, such as ``groups of 'patient'``; empty if nothing was told.
    remarks : list of str
        Sentences that a user should read.
    """

    kept: Indices
    labels: Indices | None
    name: str
    remarks: list[str]


def grouping_by(raw: Raw, groups: str | None, time: str | None, kept: Indices) -> Grouping:
    """Return the groups of the rows `kept` by a column of groups or a column of time, at most one of which is given."""
    column = groups or time
    if column is None:
        return Grouping(kept, None, "", [])
    times = _times(raw, column) if time else None
    gaps = np.isnan(times) if times is not None else _gaps(raw, column)
    without = gaps[kept]
    remarks = []
    if without.any():
        remarks.append(
            f"{counted(int(without.sum()), 'row')} without a value of {column!r}, by which rows are left out: not used."
        )
        kept = kept[~without]
    if times is not None:
        labels, name = (
            (blocks_of_time(times[kept]) if len(np.unique(times[kept])) > 1 else np.zeros(0)),
            f"blocks of {column!r}",
        )
    else:
        labels, name = numbered(np.asarray(raw.columns[column])[kept])[0], f"groups of {column!r}"
    if len(np.unique(labels)) < 2:
        option = "--groups" if groups else "--time"
        raise ValueError(f"{raw.source}: all rows have the same {column!r}; {option} needs a column with two values at least")
    what = name if groups else f"{name} that follow each other"
    remarks.append(f"Left out together: {int(labels.max()) + 1:,} {what}.")
    return Grouping(kept, labels.astype(np.intp), name, remarks)


def _times(raw: Raw, name: str) -> Vector:
    """Return a column of numbers or dates as numbers, with nan for missing values."""
    column = guess(raw, name, wanted=True)
    if column.kind not in ("number", "date", "boolean", "constant") or (column.kind == "constant" and np.isnan(column.least)):
        raise ValueError(f"{raw.source}: --time needs a column of numbers or dates; {name!r} has {column.why or column.kind}")
    if column.kind == "constant":
        return np.zeros(raw.rows)
    return encode(raw, column)[:, 0]


def _gaps(raw: Raw, name: str) -> NDArray[np.bool_]:
    """Return whether each row has no value of a column."""
    values = raw.columns[name]
    return np.asarray(missing_in(values) if isinstance(values, list) else np.isnan(values))

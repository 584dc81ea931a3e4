"""Missing values: rows that have some are dropped, or the values are replaced by means."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.study.tables.encode import encoded_names, stand_ins
from kernsel.study.tables.raw import Raw
from kernsel.study.tables.table import Column

__all__ = ["Missing", "counted_rows", "filled", "rows_kept"]

Missing = Literal["drop", "mean", "error"]


def rows_kept(
    raw: Raw,
    X: Matrix,
    y: Vector,
    inputs: list[Column],
    target: str,
    missing: Missing,
    *,
    to_predict: bool = False,
) -> tuple[Indices, list[str]]:
    """Return the indices of the rows that are kept, and remarks about missing values."""
    gaps = np.isnan(X)
    no_target = np.isnan(y)
    in_inputs: NDArray[np.bool_] = np.asarray(gaps.any(axis=1))
    counts = _counts(inputs, gaps)
    if missing == "error" and (in_inputs.any() or no_target.any()):
        row = int((in_inputs | no_target).argmax())
        name = target if no_target[row] else _first_gap(inputs, gaps[row])
        raise ValueError(f"{raw.source}, {raw.where(row)}: column {name!r} has no value; --missing drop or --missing mean")
    remarks = []
    if no_target.any():
        remarks.append(f"{counted_rows(no_target)} without a value of {target!r} cannot be learnt from.")
    if in_inputs.any() and missing == "mean":
        remarks.append(f"Missing values ({counts}) are taken to be the mean of the column.")
        dropped = no_target
    else:
        dropped = no_target | in_inputs
        if in_inputs.any():
            kept = "" if raw.in_python else " (--missing mean would keep them)"
            effect = "no prediction is made for them" if to_predict else f"they are left out{kept}"
            remarks.append(f"{counted_rows(in_inputs)} with missing values ({counts}): {effect}.")
    if in_inputs.mean() > 0.5 and missing == "drop" and not to_predict:
        worst = max(inputs, key=lambda column: column.missing)
        cure = "fill them first" if raw.in_python else "--missing mean puts the mean of the column there"
        raise ValueError(
            f"{raw.source}: {int(in_inputs.sum()):,} of {len(X):,} rows have missing values ({counts}), and without them too "
            f"few are left; {cure}, {raw.without(worst.name)} leaves a column out ({worst.name} is the emptiest)"
        )
    return np.flatnonzero(~dropped), remarks


def filled(X: Matrix, inputs: list[Column]) -> Matrix:
    """Return X with missing values replaced by the mean of their column."""
    means = np.array([mean for column in inputs for mean in stand_ins(column)])
    return np.where(np.isnan(X), means, X)


def _counts(inputs: list[Column], gaps: NDArray[np.bool_]) -> str:
    """Return the number of missing values of each column, in words."""
    phrases, place = [], 0
    for column in inputs:
        count = int(gaps[:, place].sum())
        place += len(encoded_names(column))
        if count:
            phrases.append(f"{count:,} in {column.name}")
    return ", ".join(phrases[:8]) + (f" and {len(phrases) - 8} more columns" if len(phrases) > 8 else "")


def _first_gap(inputs: list[Column], gaps: NDArray[np.bool_]) -> str:
    """Return the name of the first column with a missing value in a row."""
    return [column.name for column in inputs for _ in encoded_names(column)][int(gaps.argmax())]


def counted_rows(mask: NDArray[np.bool_]) -> str:
    """Return the number of rows in a mask, in words."""
    count = int(mask.sum())
    return f"{count:,} row{'s' * (count != 1)}"

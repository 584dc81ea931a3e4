"""Values that are not there: counted, and left out or replaced."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kernsel.tables.encode import encoded_names, stand_ins
from kernsel.tables.raw import Raw
from kernsel.tables.table import Column

__all__ = ["Missing", "filled", "rows_kept"]

Missing = Literal["drop", "mean", "error"]


def rows_kept(
    raw: Raw,
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    used: list[Column],
    target: str,
    missing: Missing,
    *,
    to_predict: bool = False,
) -> tuple[NDArray[np.intp], list[str]]:
    """Return which rows are used, counted from 0, and what is to be said about missing values."""
    gaps = np.isnan(X)
    no_target = np.isnan(y)
    in_inputs: NDArray[np.bool_] = np.asarray(gaps.any(axis=1))
    counts = _counts(used, gaps)
    if missing == "error" and (in_inputs.any() or no_target.any()):
        row = int((in_inputs | no_target).argmax())
        name = target if no_target[row] else _first_gap(used, gaps[row])
        raise ValueError(f"{raw.source}, {raw.where(row)}: column {name!r} has no value; --missing drop or --missing mean")
    remarks = []
    if no_target.any():
        remarks.append(f"{_rows(no_target)} without a value of {target!r} cannot be learnt from.")
    if in_inputs.any() and missing == "mean":
        remarks.append(f"Missing values ({counts}) are taken to be the mean of the column.")
        dropped = no_target
    else:
        dropped = no_target | in_inputs
        if in_inputs.any():
            what = "no prediction is made for them" if to_predict else "they are left out (--missing mean would keep them)"
            remarks.append(f"{_rows(in_inputs)} with missing values ({counts}): {what}.")
    if in_inputs.mean() > 0.5 and missing == "drop" and not to_predict:
        worst = max(used, key=lambda column: column.missing)
        raise ValueError(
            f"{raw.source}: {int(in_inputs.sum()):,} of {len(X):,} rows have missing values ({counts}), and without them too "
            "few are left; --missing mean puts the mean of the column there, --leave-out NAME leaves a column out "
            f"({worst.name} is the emptiest)"
        )
    return np.flatnonzero(~dropped), remarks


def filled(X: NDArray[np.float64], used: list[Column]) -> NDArray[np.float64]:
    """Return numbers with the mean of the column for what is missing."""
    means = np.array([mean for column in used for mean in stand_ins(column)])
    return np.where(np.isnan(X), means, X)


def _counts(used: list[Column], gaps: NDArray[np.bool_]) -> str:
    """Return how many values each column lacks, in words."""
    said, at = [], 0
    for column in used:
        count = int(gaps[:, at].sum())
        at += len(encoded_names(column))
        if count:
            said.append(f"{count:,} in {column.name}")
    return ", ".join(said[:8]) + (f" and {len(said) - 8} more columns" if len(said) > 8 else "")


def _first_gap(used: list[Column], gaps: NDArray[np.bool_]) -> str:
    at = int(gaps.argmax())
    return [column.name for column in used for _ in encoded_names(column)][at]


def _rows(chosen: NDArray[np.bool_]) -> str:
    count = int(chosen.sum())
    return f"{count:,} row{'s' * (count != 1)}"

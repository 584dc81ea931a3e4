"""The encoding of columns as numbers, the same for training data and for points to predict at."""

from __future__ import annotations

from typing import cast

import numpy as np

from kernsel._base.annotations import Matrix
from kernsel.study.tables.dates import Order, day_of
from kernsel.study.tables.guess import numbers_in
from kernsel.study.tables.numerals import MISSING
from kernsel.study.tables.raw import Raw
from kernsel.study.tables.table import SIZES, Column

__all__ = ["encode", "encode_new", "encoded_names", "stand_ins"]


def encoded_names(column: Column) -> list[str]:
    """Return the names of the columns of X that a column becomes."""
    if column.kind in ("constant", "left out", *SIZES):
        return []
    if column.kind == "category":
        levels = column.levels[1:] if len(column.levels) == 2 else column.levels
        return [f"{column.name}={level}" for level in levels]
    return [column.name]


def stand_ins(column: Column) -> list[float]:
    """Return the numbers that replace a missing value: the means of the columns of X that a column becomes."""
    if column.kind == "category":
        return column.shares[1:] if len(column.levels) == 2 else column.shares
    return [column.mean]


def encode(raw: Raw, column: Column) -> Matrix:
    """Return the numbers of a column, shape (rows, k), with nan for missing values.

    Raises
    ------
    ValueError
        If a value is not of the column's kind, or not one of its levels.
    """
    codes, unknown = encode_new(raw, column)
    if unknown:
        raise ValueError(_not_expected(raw, column, unknown[0], "one of " + ", ".join(column.levels)))
    return codes


def encode_new(raw: Raw, column: Column) -> tuple[Matrix, list[int]]:
    """Return the numbers of a column as :func:`encode` does, and the rows whose value is none of its levels.

    The numbers of such rows are zeros.

    Raises
    ------
    ValueError
        If a value is not a number, or not a date, where the column has such.
    """
    if column.kind == "number" or (column.kind == "boolean" and not column.levels):
        return numbers_in(raw, column.name)[:, None], []
    values = raw.columns[column.name]
    texts = values if isinstance(values, list) else ["" if np.isnan(v) else f"{v:.17g}" for v in values]
    codes, unknown = _codes_of(column, texts)
    if unknown and column.kind == "date":
        raise ValueError(_not_expected(raw, column, unknown[0], "a date such as 2024-12-31"))
    return codes, unknown


def _codes_of(column: Column, texts: list[str]) -> tuple[Matrix, list[int]]:
    """Return the codes of texts, shape (rows, k), and the rows of the texts that have none."""
    width = len(encoded_names(column))
    zero, gap = [0.0] * width, [float("nan")] * width
    codes = _codes_of_levels(column)
    cache: dict[str, list[float] | None] = {}  # with texts as they are in the file
    for text in texts:
        if text not in cache:
            level = text.strip().lower() if column.kind == "boolean" else text.strip()
            if level.lower() in MISSING:
                cache[text] = gap
            elif column.kind == "date":
                day = day_of(level, cast(Order, column.order))
                cache[text] = None if np.isnan(day) else [day]
            else:
                cache[text] = codes.get(level)
    unknown = [row for row, text in enumerate(texts) if cache[text] is None]
    found = [cache[text] or zero for text in texts]
    return np.array(found, dtype=np.float64).reshape(len(texts), width), unknown


def _codes_of_levels(column: Column) -> dict[str, list[float]]:
    """Return the numbers of each level of a boolean or a category."""
    if column.kind == "boolean":
        return {column.levels[0]: [0.0], column.levels[1]: [1.0]}
    levels = column.levels[1:] if len(column.levels) == 2 else column.levels
    return {level: [float(level == other) for other in levels] for level in column.levels}


def _not_expected(raw: Raw, column: Column, row: int, expected: str) -> str:
    value = str(raw.columns[column.name][row]).strip()[:40]
    return f"{raw.source}, {raw.where(row)}: column {column.name!r} has {value!r}; expected {expected}"

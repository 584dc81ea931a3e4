"""The encoding of columns as numbers, the same for training data and for points to predict at."""

from __future__ import annotations

import numpy as np

from kernsel._base.annotations import Matrix
from kernsel.study.tables.guess import numbers_in
from kernsel.study.tables.numerals import MISSING, day_of
from kernsel.study.tables.raw import Raw
from kernsel.study.tables.table import Column

__all__ = ["encode", "encoded_names", "stand_ins"]


def encoded_names(column: Column) -> list[str]:
    """Return the names of the columns of X that a column becomes."""
    if column.kind in ("constant", "left out"):
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
    values = raw.columns[column.name]
    if column.kind == "number" or (column.kind == "boolean" and not column.levels):
        return numbers_in(raw, column.name)[:, None]
    texts = values if isinstance(values, list) else ["" if np.isnan(v) else f"{v:.17g}" for v in values]
    if column.kind == "date":
        return _codes_of(raw, column, texts, {}, "a date such as 2024-12-31")
    if column.kind == "boolean":
        codes = {column.levels[0]: [0.0], column.levels[1]: [1.0]}
        return _codes_of(raw, column, texts, codes, f"{column.levels[0]} or {column.levels[1]}")
    levels = column.levels[1:] if len(column.levels) == 2 else column.levels
    indicators = {level: [float(level == other) for other in levels] for level in column.levels}
    return _codes_of(raw, column, texts, indicators, "one of " + ", ".join(column.levels))


def _codes_of(raw: Raw, column: Column, texts: list[str], codes: dict[str, list[float]], expected: str) -> Matrix:
    """Return the codes of texts, shape (rows, k); raise for a text that has none."""
    width = len(next(iter(codes.values()))) if codes else 1
    cache = dict(codes)  # with texts as they are in the file
    for row, text in enumerate(texts):
        if text in cache:
            continue
        level = text.strip()
        level = level.lower() if column.kind == "boolean" else level
        if level.lower() in MISSING:
            code = [float("nan")] * width
        elif column.kind == "date":
            code = [day_of(level)]
        else:
            code = codes.get(level, [])
        if level.lower() not in MISSING and (not code or np.isnan(code[0])):
            raise ValueError(
                f"{raw.source}, {raw.where(row)}: column {column.name!r} has {text.strip()[:40]!r}; expected {expected}"
            )
        cache[text] = code
    return np.array([cache[text] for text in texts], dtype=np.float64).reshape(len(texts), width)

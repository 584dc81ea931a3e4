"""Columns as numbers, in the same way for what is learnt from and for what is predicted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernsel.tables.guess import numbers_in
from kernsel.tables.numerals import MISSING, day_of
from kernsel.tables.raw import Raw
from kernsel.tables.table import Column

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
    """Return what may stand for a missing value, for each of them: the mean."""
    if column.kind == "category":
        return column.shares[1:] if len(column.levels) == 2 else column.shares
    return [column.mean]


def encode(raw: Raw, column: Column) -> NDArray[np.float64]:
    """Return the numbers of a column, shape (rows, k), with nan for what is missing.

    Raises
    ------
    ValueError
        If a value is not what the column has been before.
    """
    values = raw.columns[column.name]
    if column.kind == "number" or (column.kind == "boolean" and not column.levels):
        return numbers_in(raw, column.name)[:, None]
    texts = values if isinstance(values, list) else ["" if np.isnan(v) else f"{v:.17g}" for v in values]
    if column.kind == "date":
        return _known(raw, column, texts, {}, "a date such as 2024-12-31")
    if column.kind == "boolean":
        codes = {column.levels[0]: [0.0], column.levels[1]: [1.0]}
        return _known(raw, column, texts, codes, f"{column.levels[0]} or {column.levels[1]}")
    levels = column.levels[1:] if len(column.levels) == 2 else column.levels
    rows = {level: [float(level == each) for each in levels] for level in column.levels}
    return _known(raw, column, texts, rows, "one of " + ", ".join(column.levels))


def _known(raw: Raw, column: Column, texts: list[str], codes: dict[str, list[float]], expected: str) -> NDArray[np.float64]:
    """Return the codes of texts."""
    width = len(next(iter(codes.values()))) if codes else 1
    known = dict(codes)
    for row, text in enumerate(texts):
        if text in known:
            continue
        plain = text.strip()
        plain = plain.lower() if column.kind == "boolean" else plain
        if plain.lower() in MISSING:
            code = [float("nan")] * width
        elif column.kind == "date":
            code = [day_of(plain)]
        else:
            code = codes.get(plain, [])
        if plain.lower() not in MISSING and (not code or np.isnan(code[0])):
            raise ValueError(
                f"{raw.source}, {raw.where(row)}: column {column.name!r} has {text.strip()[:40]!r}; expected {expected}"
            )
        known[text] = code
    return np.array([known[text] for text in texts], dtype=np.float64).reshape(len(texts), width)

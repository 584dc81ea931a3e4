"""The column that is to be predicted: numbers, or classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsel._base.annotations import Vector
from kernsel.study.tables.guess import numbers_in
from kernsel.study.tables.numerals import is_number, missing_in
from kernsel.study.tables.raw import Raw
from kernsel.study.tables.table import Column

__all__ = ["class_target", "number_target", "numbers_of_classes"]

_MOST_CLASSES = 20


def number_target(raw: Raw, name: str) -> tuple[Vector, Column]:
    """Return the values of a target, nan for missing ones, and its column; raise unless it is numbers."""
    values = raw.columns[name]
    try:
        y = numbers_in(raw, name)
    except ValueError as error:
        if not isinstance(values, list):
            raise
        levels = {text.strip() for text in values} - {""}
        advice = ""
        if len(levels) <= _MOST_CLASSES and len(levels) < len(values):
            advice = f"; it has {len(levels)} different values: for classes, use {raw.for_classes}"
        raise ValueError(f"{error}; the target has to be numbers{advice}") from None
    present = y[~np.isnan(y)]
    if not len(present):
        raise ValueError(f"{raw.source}: the target {name!r} has no values")
    with np.errstate(over="ignore"):
        mean = float(np.mean(present))
    missing = len(y) - len(present)
    return y, Column(name, "number", "", [], missing, float(present.min()), float(present.max()), mean)


def class_target(raw: Raw, name: str) -> tuple[Vector, Column]:
    """Return the number of the class in each row, nan for missing ones, and the column, whose levels are the classes."""
    texts = _texts(raw, name)
    present = set(texts) - {""}
    levels = sorted(present, key=float) if all(is_number(text, False) for text in present) else sorted(present)
    if not 2 <= len(levels) <= _MOST_CLASSES:
        raise ValueError(
            f"{raw.source}: the target {name!r} has {len(levels):,} different value{'s' * (len(levels) != 1)}; expected 2 to "
            f"{_MOST_CLASSES} classes"
        )
    codes = numbers_of_classes(raw, name, levels)
    counts = [float(np.sum(codes == code)) for code in range(len(levels))]
    shares = [count / sum(counts) for count in counts]
    missing = int(np.isnan(codes).sum())
    return codes, Column(name, "category", f"{len(levels)} classes", levels, missing, shares=shares)


def numbers_of_classes(raw: Raw, name: str, levels: Sequence[str]) -> Vector:
    """Return the number of the class in each row, nan where the value is missing, or none of them."""
    codes = {level: float(code) for code, level in enumerate(levels)}
    return np.array([codes.get(text, np.nan) for text in _texts(raw, name)])


def _texts(raw: Raw, name: str) -> list[str]:
    """Return the values of a column as texts without blanks around them, empty for missing ones."""
    values = raw.columns[name]
    if not isinstance(values, list):
        return ["" if np.isnan(value) else f"{value:.17g}" for value in values]
    missing = missing_in(values)
    return ["" if gap else text.strip() for text, gap in zip(values, missing, strict=True)]

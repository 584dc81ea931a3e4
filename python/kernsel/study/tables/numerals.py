"""The parsing of texts as numbers or missing values."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from kernsel._base.annotations import Vector

__all__ = ["MISSING", "is_infinite", "is_number", "missing_in", "numbers_of"]

MISSING = frozenset(["", "na", "n/a", "#n/a", "nan", "null", "?", "-"])  # in lower case

_NUMBER = re.compile(r"[+-]?(\d+([.]\d*)?|[.]\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[+-]?(inf|infinity|∞)")
_NUMBER_WITH_COMMA = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)


def is_number(text: str, comma: bool) -> bool:
    """Tell whether a text is a number, which may have a decimal comma if `comma`."""
    return bool((_NUMBER_WITH_COMMA if comma else _NUMBER).fullmatch(text.strip()))


def is_infinite(text: str) -> bool:
    """Tell whether a text stands for infinity, or for a number that is too large, such as 1e999."""
    stripped = text.strip().lower()
    return bool(_INFINITE.fullmatch(stripped)) or (bool(_NUMBER.fullmatch(stripped)) and np.isinf(float(stripped)).item())


def missing_in(texts: list[str]) -> NDArray[np.bool_]:
    """Return a mask of the texts that stand for missing values."""
    return np.fromiter((text.strip().lower() in MISSING for text in texts), dtype=bool, count=len(texts))


def numbers_of(texts: list[str], comma: bool) -> tuple[Vector, list[int]]:
    """Return texts as numbers, nan for other texts, and the indices of texts that are neither numbers nor missing values."""
    try:
        # The fast way for columns of numbers only. float() also takes nan, infinity and underscores, which are excluded.
        values = np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
        if np.isfinite(values).all() and "_" not in "".join(texts):
            return values, []
    except ValueError:
        pass
    pattern = _NUMBER_WITH_COMMA if comma else _NUMBER
    values = np.full(len(texts), np.nan)
    others = []
    for row, text in enumerate(texts):
        stripped = text.strip()
        if pattern.fullmatch(stripped) and np.isfinite(number := float(stripped.replace(",", "."))):
            values[row] = number
        elif stripped.lower() not in MISSING:
            others.append(row)
    return values, others

"""The parsing of texts as numbers, dates or missing values."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from kernsel._base.annotations import Vector

__all__ = ["MISSING", "date_of", "day_of", "is_number", "looks_like_other_date", "missing_in", "numbers_of"]

MISSING = frozenset(["", "na", "n/a", "#n/a", "nan", "null", "?", "-"])  # in lower case

_NUMBER = re.compile(r"[+-]?(\d+([.]\d*)?|[.]\d+)([eE][+-]?\d+)?", re.ASCII)
_NUMBER_WITH_COMMA = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?", re.ASCII)
_OTHER_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([ T].*)?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_number(text: str, comma: bool) -> bool:
    """Tell whether a text is a number, which may have a decimal comma if `comma`."""
    return bool((_NUMBER_WITH_COMMA if comma else _NUMBER).fullmatch(text.strip()))


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


def day_of(text: str) -> float:
    """Return a date of ISO 8601, with or without a time, as days since 1970-01-01; nan for any other text.

    Examples
    --------
    >>> day_of("1970-01-11"), day_of("1970-01-01 18:00"), day_of("1970-02"), day_of("11.1.1970")
    (10.0, 0.75, 31.0, nan)
    """
    stripped = text.strip()
    if not _DATE.fullmatch(stripped):
        return float("nan")
    try:
        when = datetime.fromisoformat(stripped + "-01" if len(stripped) == 7 else stripped)
    except ValueError:  # such as 2023-02-30
        return float("nan")
    return (when.replace(tzinfo=when.tzinfo or UTC) - _EPOCH).total_seconds() / 86400


def date_of(day: float) -> str:
    """Return the date of a day since 1970-01-01."""
    return (_EPOCH + timedelta(days=day)).date().isoformat()


def looks_like_other_date(text: str) -> bool:
    """Tell whether a text may be a date in another format than ISO 8601."""
    return bool(_OTHER_DATE.fullmatch(text.strip())) and np.isnan(day_of(text)).item()

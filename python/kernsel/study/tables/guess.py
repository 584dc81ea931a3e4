"""The kinds of columns, guessed from their values."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from kernsel._base.annotations import Vector
from kernsel.study.tables.dates import day_of, has_short_year, is_ambiguous, looks_like_date, order_of
from kernsel.study.tables.numerals import is_infinite, missing_in, numbers_of
from kernsel.study.tables.raw import Raw
from kernsel.study.tables.table import Column

__all__ = ["DIFFERENT_TEXTS", "EIGHT_DIGITS", "SHORT_YEARS", "guess", "numbers_in"]

SHORT_YEARS = "dates with years of two digits, as days since 1970-01-01"
EIGHT_DIGITS = "dates of eight digits, as days since 1970-01-01"
_DATES_FOR_SURE = 5  # different numbers that all are dates
_DATES = frozenset(["date", "dates", "day", "days", "when", "time", "datum", "tag", "jour", "fecha", "data", "ymd", "yyyymmdd"])
DIFFERENT_TEXTS = "text that is different in every row"  # the reason why such a column is left out
_MOST_LEVELS = 20  # the largest number of levels of a category; a column of text with more is an error
# In a column that is mostly numbers, texts are levels, and not mistakes, if values occur this many times on average.
_REPEATED = 5
_BOOLEANS = [("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("off", "on")]
_COUNTERS = frozenset(["id", "index", "row", "rowid", "row_id", "rownumber", "row_number", "nr", "no", "number", "#", "x.1"])

_KEYS = frozenset(["id", "ids", "index", "row", "no", "nr", "key", "uuid", "guid", "number", "#"])


def guess(raw: Raw, name: str, *, wanted: bool) -> Column:
    """Return a column with its kind and its statistics.

    Parameters
    ----------
    raw : Raw
    name : str
    wanted : bool
        Whether the user names the column, which is then not left out even if it numbers the rows.

    Returns
    -------
    column : Column

    Raises
    ------
    ValueError
        If the column cannot be an input; the message says what to do.
    """
    values = raw.columns[name]
    if isinstance(values, list):
        numbers, others = numbers_of(values, raw.decimal_comma)
        if others:
            return _of_texts(raw, name, values, others, int(np.isfinite(numbers).sum()))
    else:
        numbers = numbers_in(raw, name)
    return _of_eight_digits(name, numbers) or _of_numbers(name, numbers, wanted)


def numbers_in(raw: Raw, name: str) -> Vector:
    """Return a numeric column, with nan for missing values.

    Raises
    ------
    ValueError
        If a value is no number, or infinite; the message names the first one.
    """
    values = raw.columns[name]
    if not isinstance(values, list):
        if np.isinf(values).any():
            raise ValueError(f"{raw.source}, {raw.where(int(np.isinf(values).argmax()))}: column {name!r} is infinite")
        return values
    numbers, others = numbers_of(values, raw.decimal_comma)
    if others:
        row = others[0]
        raise ValueError(f"{raw.source}, {raw.where(row)}: column {name!r} has {_short(values[row])}, which is not a number")
    return numbers


def _of_eight_digits(name: str, numbers: Vector) -> Column | None:
    """Return a column of dates that are written as numbers, such as 20240131; None if one of its numbers is none.

    Of numbers between 19000101 and 21001231, one in 27 is a date: five different ones are dates by chance once in 10^7 columns.
    Fewer are taken for dates only if the name of the column says so.
    """
    present = numbers[~np.isnan(numbers)]
    if not len(present) or present.min() < 19000101 or present.max() > 21001231:
        return None
    different = np.unique(present)
    days = {number: day_of(f"{number:.17g}", "eight digits") for number in different.tolist()}
    if np.isnan(list(days.values())).any() or len(days) < (2 if _names_a_date(name) else _DATES_FOR_SURE):
        return None
    missing = len(numbers) - len(present)
    column = Column(name, "date", EIGHT_DIGITS, missing=missing, order="eight digits")
    return _measured(column, np.array([days[number] for number in present.tolist()]))


def _of_numbers(name: str, numbers: Vector, wanted: bool) -> Column:
    present = numbers[~np.isnan(numbers)]
    missing = len(numbers) - len(present)
    if not len(present):
        return Column(name, "left out", "no values", missing=missing)
    column = _measured(Column(name, "number", missing=missing), present)
    if column.least == column.greatest:
        return replace(column, kind="constant", why=f"all values are {column.least:g}")
    is_counter = _counts_rows(numbers)
    if is_counter and not wanted and (name.lower().replace(" ", "") in _COUNTERS or _was_made_up(name)):
        return replace(column, kind="left out", why="counts the rows")
    if set(np.unique(present[:1000])) <= {0.0, 1.0} and set(np.unique(present)) == {0.0, 1.0}:
        return replace(column, kind="boolean", why="0 and 1")
    return replace(column, why=_like_a_row_number(name, numbers))


def _of_texts(raw: Raw, name: str, texts: list[str], others: list[int], numbers: int) -> Column:
    is_missing = missing_in(texts)
    missing = int(is_missing.sum())
    present = [text.strip() for text, gap in zip(texts, is_missing, strict=True) if not gap]
    levels = sorted(set(present))
    _refuse_infinite(raw, name, texts, others, numbers)
    row = others[0]
    repeated = len(levels) <= _MOST_LEVELS and len(present) >= _REPEATED * len(levels)  # such as "0", "1", "2" and "3+"
    if numbers >= len(others) and not repeated:
        raise ValueError(
            f"{raw.source}, {raw.where(row)}: column {name!r} has {_short(texts[row])}, and {numbers:,} of its "
            f"{len(present):,} values are numbers; correct it, or leave the column out: {raw.without(name)}"
        )
    lower = {level.lower() for level in levels}
    for no, yes in _BOOLEANS:
        if lower == {no, yes}:
            codes = np.array([float(text.lower() == yes) for text in present])
            return _measured(Column(name, "boolean", f"{no} and {yes}", [no, yes], missing), codes)
    dates = _of_dates(raw, name, present, missing)
    if dates is not None and dates.least < dates.greatest:
        return dates
    if len(levels) == 1:
        return Column(name, "constant", f"all values are {_short(levels[0])}", levels, missing)
    if len(levels) == len(present):
        return Column(name, "left out", DIFFERENT_TEXTS, missing=missing)
    if len(levels) <= _MOST_LEVELS:
        shares = [present.count(level) / len(present) for level in levels]
        return Column(name, "category", f"text with {len(levels)} different values", levels, missing, shares=shares)
    hint = "; dates have to be written as 2024-12-31" if looks_like_date(present[0]) else ""
    raise ValueError(
        f"{raw.source}: column {name!r} is text with {len(levels):,} different values, such as {_short(present[0])}; "
        f"at most {_MOST_LEVELS} can be learnt from{hint}. Leave it out: {raw.without(name)}"
    )


def _refuse_infinite(raw: Raw, name: str, texts: list[str], others: list[int], numbers: int) -> None:
    """Raise if a column of numbers has infinities; `others` are the rows of texts that are no finite numbers."""
    infinite = [row for row in others if is_infinite(texts[row])]
    if infinite and (len(infinite) == len(others) or (numbers and numbers + len(infinite) >= len(others) - len(infinite))):
        row = infinite[0]
        raise ValueError(
            f"{raw.source}, {raw.where(row)}: column {name!r} has {_short(texts[row])}, which is no finite number; correct "
            f"it, leave it empty, or leave the column out: {raw.without(name)}"
        )


def _of_dates(raw: Raw, name: str, present: list[str], missing: int) -> Column | None:
    """Return a column of dates; None if one of its texts is none."""
    order = order_of(present)
    days = np.array([day_of(text, order) for text in present])
    if not np.isnan(days).any():
        why = SHORT_YEARS if any(map(has_short_year, present)) else "dates, as days since 1970-01-01"
        return _measured(Column(name, "date", why, missing=missing, order=order), days)
    ambiguous = [text for text in present if is_ambiguous(text)]
    if len(set(present)) <= _MOST_LEVELS and any(map(has_short_year, ambiguous)):
        return None  # few different texts such as 10/11/12 may be anything
    if ambiguous and not any(np.isnan(day_of(text, order or "day first")) for text in present):
        raise ValueError(
            f"{raw.source}: column {name!r} has dates such as {_short(ambiguous[0])}, of which day and month cannot be told "
            f"apart; write them as 2024-12-31, or leave the column out: {raw.without(name)}"
        )
    return None


def _measured(column: Column, present: Vector) -> Column:
    """Return a column with the least, the greatest and the mean of its numbers."""
    with np.errstate(over="ignore"):
        mean = float(np.mean(present))
    return replace(column, least=float(present.min()), greatest=float(present.max()), mean=mean)


def _counts_rows(numbers: Vector) -> bool:
    """Tell whether numbers are 0, 1, 2, ... or 1, 2, 3, ..."""
    return bool(numbers[0] in (0.0, 1.0) and (numbers == numbers[0] + np.arange(len(numbers))).all())


def _like_a_row_number(name: str, numbers: Vector) -> str:
    """Return why a column of numbers may say nothing but which row it is; empty if nothing speaks for that."""
    if len(numbers) < 3 or np.isnan(numbers).any() or (numbers != np.round(numbers)).any():
        return ""
    if _counts_rows(numbers):
        return "counts the rows"
    step = float(numbers[1] - numbers[0])
    if step > 0 and (np.diff(numbers) == step).all():
        return f"counts up by {step:g}"
    return "has a different number in each row" if _names_a_key(name) and len(np.unique(numbers)) == len(numbers) else ""


def _names_a_date(name: str) -> bool:
    """Tell whether one of the words of a name is one for dates, as in "start_date" or "dayOfVisit"."""
    return bool(_DATES & {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)})


def _names_a_key(name: str) -> bool:
    """Tell whether the last word of a name is one for keys and numbers of rows, as in "customer_id" or "orderNo"."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|#", name)
    return bool(words) and words[-1].lower() in _KEYS


def _was_made_up(name: str) -> bool:
    """Tell whether a name stands for a column without one, such as the index of a table of pandas."""
    return name in ("column1", "Unnamed: 0", "__index_level_0__")


def _short(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 40 else text[:37] + "...")

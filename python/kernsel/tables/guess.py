"""What is a column? Guessed from its values, and said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kernsel.tables.numerals import day_of, looks_like_other_date, missing_in, numbers_of
from kernsel.tables.raw import Raw
from kernsel.tables.table import Column

__all__ = ["guess", "numbers_in"]

_MOST_LEVELS = 20  # of a category; more would be more columns than the rows can say something about
_REPEATED = 5  # times on average: of texts that are mostly numbers, then these are levels and not mistakes
_BOOLEANS = [("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("off", "on")]
_COUNTERS = frozenset(["id", "index", "row", "rowid", "row_id", "rownumber", "row_number", "nr", "no", "number", "#", "x.1"])


def guess(raw: Raw, name: str, *, wanted: bool) -> Column:
    """Return what a column is.

    Parameters
    ----------
    raw : Raw
    name : str
    wanted : bool
        Has it been asked for by name? Then it is not left out as a number of the row.

    Raises
    ------
    ValueError
        If it cannot be learnt from, with what to do.
    """
    values = raw.columns[name]
    if isinstance(values, list):
        numbers, others = numbers_of(values, raw.decimal_comma)
        if others:
            return _of_texts(raw, name, values, others, int(np.isfinite(numbers).sum()))
    else:
        numbers = values
        if np.isinf(numbers).any():
            raise ValueError(f"{raw.source}, {raw.where(int(np.isinf(numbers).argmax()))}: column {name!r} is infinite")
    return _of_numbers(name, numbers, wanted)


def numbers_in(raw: Raw, name: str) -> NDArray[np.float64]:
    """Return a column that has to be numbers, nan where they are missing.

    Raises
    ------
    ValueError
        That names the first value that is none.
    """
    values = raw.columns[name]
    if not isinstance(values, list):
        return values
    numbers, others = numbers_of(values, raw.decimal_comma)
    if others:
        row = others[0]
        raise ValueError(f"{raw.source}, {raw.where(row)}: column {name!r} has {_short(values[row])}, which is not a number")
    return numbers


def _of_numbers(name: str, numbers: NDArray[np.float64], wanted: bool) -> Column:
    present = numbers[~np.isnan(numbers)]
    missing = len(numbers) - len(present)
    if not len(present):
        return Column(name, "left out", "no values", missing=missing)
    column = _measured(Column(name, "number", missing=missing), present)
    if column.least == column.greatest:
        return replace(column, kind="constant", why=f"all values are {column.least:g}")
    counted = _counts_rows(numbers)
    if counted and not wanted and (name.lower().replace(" ", "") in _COUNTERS or _was_made_up(name)):
        return replace(column, kind="left out", why="counts the rows")
    if set(np.unique(present[:1000])) <= {0.0, 1.0} and set(np.unique(present)) == {0.0, 1.0}:
        return replace(column, kind="boolean", why="0 and 1")
    return replace(column, why="counts the rows" if counted and len(numbers) > 2 else "")


def _of_texts(raw: Raw, name: str, texts: list[str], others: list[int], numbers: int) -> Column:
    absent = missing_in(texts)
    missing = int(absent.sum())
    present = [text.strip() for text, no in zip(texts, absent, strict=True) if not no]
    levels = sorted(set(present))
    row = others[0]
    repeated = len(levels) <= _MOST_LEVELS and len(present) >= _REPEATED * len(levels)  # 0, 1, 2 and 3+, say
    if numbers >= len(others) and not repeated:
        raise ValueError(
            f"{raw.source}, {raw.where(row)}: column {name!r} has {_short(texts[row])}, and {numbers:,} of its "
            f"{len(present):,} values are numbers; correct it, or leave the column out: --leave-out {_quoted(name)}"
        )
    lower = {level.lower() for level in levels}
    for no, yes in _BOOLEANS:
        if lower == {no, yes}:
            whole = np.array([float(text.lower() == yes) for text in present])
            return _measured(Column(name, "boolean", f"{no} and {yes}", [no, yes], missing), whole)
    days = np.fromiter(map(day_of, present), dtype=np.float64, count=len(present))
    if not np.isnan(days).any():
        column = _measured(Column(name, "date", "dates, as days since 1970-01-01", missing=missing), days)
        if column.least < column.greatest:
            return column
    if len(levels) == 1:
        return Column(name, "constant", f"all values are {_short(levels[0])}", levels, missing)
    if len(levels) == len(present):
        return Column(name, "left out", "text that is different in every row", missing=missing)
    if len(levels) <= _MOST_LEVELS:
        shares = [present.count(level) / len(present) for level in levels]
        return Column(name, "category", f"text with {len(levels)} different values", levels, missing, shares=shares)
    hint = "; dates have to be written as 2024-12-31" if looks_like_other_date(present[0]) else ""
    raise ValueError(
        f"{raw.source}: column {name!r} is text with {len(levels):,} different values, such as {_short(present[0])}; "
        f"at most {_MOST_LEVELS} can be learnt from{hint}. Leave it out: --leave-out {_quoted(name)}"
    )


def _measured(column: Column, present: NDArray[np.float64]) -> Column:
    """Return a column with the least, the greatest and the mean of its numbers."""
    with np.errstate(over="ignore"):
        mean = float(np.mean(present))
    return replace(column, least=float(present.min()), greatest=float(present.max()), mean=mean)


def _counts_rows(numbers: NDArray[np.float64]) -> bool:
    return bool(numbers[0] in (0.0, 1.0) and (numbers == numbers[0] + np.arange(len(numbers))).all())


def _was_made_up(name: str) -> bool:
    """Tell whether a file had no name for a column, as for the index of a table of pandas."""
    return name in ("column1", "Unnamed: 0", "__index_level_0__")


def _short(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _quoted(name: str) -> str:
    return f"'{name}'" if any(c in name for c in " \t;&|()<>$*'\"") else name

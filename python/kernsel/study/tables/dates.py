"""Dates in text, as days since 1970-01-01."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Literal

__all__ = ["Order", "date_of", "day_of", "has_short_year", "is_ambiguous", "looks_like_date", "order_of"]

# Which number comes first in dates such as 3/4/2024, or that dates are eight digits, such as 20240304; "" is not known.
Order = Literal["", "day first", "month first", "eight digits"]

_MONTHS = [
    *["january", "february", "march", "april", "may", "june"],
    *["july", "august", "september", "october", "november", "december"],
]
_NUMBER_OF = {name[:length]: number for number, name in enumerate(_MONTHS, 1) for length in (3, len(name))} | {"sept": 9}

_MONTH = r"(?P<name>[a-z]{3,9})[.]?"
_TIME = re.compile(
    r"(?P<date>[^:]+?)(?:(?:[T ]|, )\s*(?P<time>\d{1,2}:\d{2}(?::\d{2}(?:[.]\d+)?)?)"
    r"(?:\s*(?P<half>[AP])[.]?M[.]?)?\s*(?P<zone>Z|UTC|[+-]\d{2}(?::?\d{2})?)?)?",
    re.ASCII | re.IGNORECASE,
)
_YEAR_FIRST = re.compile(r"(?P<year>\d{4})(?P<by>[-/.])(?P<month>\d{1,2})(?P=by)(?P<day>\d{1,2})", re.ASCII)
_YEAR_AND_MONTH = re.compile(r"(?P<year>\d{4})[-/](?P<month>\d{1,2})(?P<day>)", re.ASCII)
_DAY_FIRST = re.compile(r"(?P<day>\d{1,2})[.] ?(?P<month>\d{1,2})[.] ?(?P<year>\d{4})", re.ASCII)
# With a year of two digits, day and month have two as well, unlike those of most numbers of versions.
_DAY_FIRST_SHORT = re.compile(r"(?P<day>\d{2})[.](?P<month>\d{2})[.](?P<year>\d{2})", re.ASCII)
_EITHER_FIRST = re.compile(r"(?P<first>\d{1,2})(?P<by>[-/])(?P<second>\d{1,2})(?P=by)(?P<year>\d{4}|\d{2})", re.ASCII)
_EIGHT_DIGITS = re.compile(r"(?P<year>19\d{2}|20\d{2}|2100)(?P<month>\d{2})(?P<day>\d{2})(?:[.]0*)?", re.ASCII)
_WITH_NAME = [
    re.compile(pattern, re.ASCII | re.IGNORECASE)
    for pattern in (
        rf"(?:(?P<day>\d{{1,2}})[.]?[- /]?)?{_MONTH}[- /,]{{0,2}}(?P<year>\d{{4}})",  # 1 Mar 2024, 01-Mar-2024, Mar 2024
        rf"(?P<day>\d{{1,2}})(?P<by>[- /]){_MONTH}(?P=by)(?P<year>\d{{2}})",  # 01-Mar-24
        rf"{_MONTH} (?P<day>\d{{1,2}}),? (?P<year>\d{{4}})",  # Mar 1, 2024
        rf"(?P<year>\d{{4}})[- /]{_MONTH}(?:[- /](?P<day>\d{{1,2}}))?",  # 2024-Mar-01, 2024 Mar
    )
]
_LIKE_A_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([ T].*)?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def day_of(text: str, order: Order = "") -> float:
    """Return a date, with or without a time, as days since 1970-01-01; nan for any other text.

    A month stands for its first day, and a time without a zone is one of UTC. Numbers that are separated by slashes or hyphens
    and end with the year are no date unless their order is known, or one of them can be no month. Years of two digits are those
    from 1969 to 2068. Eight digits are a date, from 1900 to 2100, only if that is their order.

    Examples
    --------
    >>> day_of("1970-01-11"), day_of("1970-01-01 18:00"), day_of("Feb 1970"), day_of("11.1.1970")
    (10.0, 0.75, 31.0, 10.0)
    >>> day_of("02-Jan-70"), day_of("31.01.70"), day_of("19700111"), day_of("19700111", "eight digits")
    (1.0, 30.0, nan, 10.0)
    >>> day_of("2/1/1970"), day_of("2/1/1970", "day first"), day_of("2/1/1970", "month first"), day_of("1/31/1970")
    (nan, 1.0, 31.0, 30.0)
    """
    whole = _TIME.fullmatch(text.strip())
    numbers = _numbers_of(whole["date"].strip(), order) if whole else None
    if whole is None or numbers is None:
        return float("nan")
    try:
        when = datetime(*numbers, tzinfo=UTC)
        return (when - _EPOCH).days + _seconds_of(whole) / 86400
    except ValueError:  # such as 2023-02-30 or 25:00
        return float("nan")


def date_of(day: float) -> str:
    """Return the date of a day since 1970-01-01."""
    return (_EPOCH + timedelta(days=day)).date().isoformat()


def has_short_year(text: str) -> bool:
    """Tell whether a text is a date whose year has two digits."""
    whole = _TIME.fullmatch(text.strip())
    found = _match(whole["date"].strip()) if whole else None
    return found is not None and len(found["year"]) == 2


def looks_like_date(text: str) -> bool:
    """Tell whether a text may be a date, maybe in a format that is not read, such as 24/12/31."""
    return bool(_LIKE_A_DATE.fullmatch(text.strip()))


def order_of(texts: Iterable[str]) -> Order:
    """Return the order that dates such as 3/14/2024 of one column have, "" if they do not tell, or contradict each other."""
    orders = set()
    for text in texts:
        first, second = _first_two(text)
        if first > 12 or second > 12:
            orders.add("day first" if first > 12 else "month first")
    if orders == {"day first"}:
        return "day first"
    return "month first" if orders == {"month first"} else ""


def is_ambiguous(text: str) -> bool:
    """Tell whether a text is a date whose day and month may be exchanged, such as 3/4/2024."""
    first, second = _first_two(text)
    return 1 <= first <= 12 and 1 <= second <= 12


def _first_two(text: str) -> tuple[int, int]:
    """Return the first two numbers of a date that has its year at the end; zeros for any other text."""
    whole = _TIME.fullmatch(text.strip())
    found = _EITHER_FIRST.fullmatch(whole["date"].strip()) if whole else None
    return (int(found["first"]), int(found["second"])) if found else (0, 0)


def _numbers_of(date: str, order: Order) -> tuple[int, int, int] | None:
    """Return year, month and day; None if the text is no date."""
    found = _EIGHT_DIGITS.fullmatch(date) if order == "eight digits" else _match(date)
    if found is None:
        return None
    parts = found.groupdict()
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 1900 if year >= 69 else 2000  # as in POSIX
    if "first" in parts:
        order = order or order_of([date])
        first, second = int(parts["first"]), int(parts["second"])
        if not order:
            return None
        return (year, second, first) if order == "day first" else (year, first, second)
    month = _NUMBER_OF.get(parts["name"].lower()) if "name" in parts else int(parts["month"])
    return (year, month, int(parts["day"] or 1)) if month else None


def _match(date: str) -> re.Match[str] | None:
    """Return the parts of a date, whose year may have two digits; None if the text is no date."""
    patterns = (_YEAR_FIRST, _YEAR_AND_MONTH, _DAY_FIRST, _DAY_FIRST_SHORT, _EITHER_FIRST, *_WITH_NAME)
    return next((match for pattern in patterns if (match := pattern.fullmatch(date))), None)


def _seconds_of(whole: re.Match[str]) -> float:
    """Return the seconds from midnight of UTC to a time; raise ValueError if there is none such."""
    if whole["time"] is None:
        return 0.0
    hours, minutes, seconds = (float(part) for part in [*whole["time"].split(":"), "0"][:3])
    if hours >= 24 or minutes >= 60 or seconds >= 60 or (whole["half"] and not 1 <= hours <= 12):
        raise ValueError(f"there is no time {whole['time']}")
    if whole["half"]:
        hours = hours % 12 + 12 * (whole["half"].lower() == "p")
    zone = (whole["zone"] or "Z").upper()
    shift = 0.0
    if zone[0] in "+-":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        shift = (-1 if zone[0] == "-" else 1) * (3600 * int(digits[:2]) + 60 * int(digits[2:]))
    return 3600 * hours + 60 * minutes + seconds - shift

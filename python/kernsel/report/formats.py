"""Numbers and names as text for readers, and text as HTML can contain it."""

from __future__ import annotations

import re
from html import escape as _escape
from math import floor, inf, isfinite, isnan, log10

import numpy as np

__all__ = [
    "clean",
    "count",
    "counted",
    "date",
    "escape",
    "listed",
    "number",
    "percent",
    "power_of_ten",
    "seconds",
    "short",
    "split_unit",
]

_MINUS, _TIMES, _NONE = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}", "\N{EN DASH}"
# Characters that HTML does not allow, or that change the direction of text: control characters, surrogates, direction marks.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]"
)
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_UNIT = re.compile(r"(.*\S)\s*[(\[]([^()\[\]]{1,20})[)\]]", re.DOTALL)


def clean(text: str) -> str:
    """Return a text on one line, with characters replaced that HTML does not allow or that change the direction of text."""
    return re.sub(r"\s+", " ", _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text))


def escape(text: str) -> str:
    """Return a text escaped for HTML, also for attributes."""
    return _escape(clean(text), quote=True)


def short(text: str, most: int = 32) -> str:
    """Return a name, shortened in the middle if it is long, because names differ at their ends or their beginnings."""
    text = clean(text)
    if len(text) <= most:
        return text
    head = (most - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


def split_unit(name: str) -> tuple[str, str]:
    """Return the name of a column without its unit, and the unit: of "speed (km/h)" or "speed [km/h]", or empty.

    Examples
    --------
    >>> from kernsel.report.formats import split_unit
    >>> split_unit("speed (km/h)"), split_unit("speed")
    (('speed', 'km/h'), ('speed', ''))
    """
    match = _UNIT.fullmatch(clean(name))
    return (match[1], match[2].strip()) if match else (clean(name), "")


def number(value: float, digits: int = 3) -> str:
    """Return a number with `digits` significant digits, but with all digits before the point, and with commas at thousands.

    Examples
    --------
    >>> from kernsel.report.formats import number
    >>> number(15.3791), number(1234567.8), number(-0.00002), number(0.0)
    ('15.4', '1,234,568', '−2.00 × 10⁻⁵', '0')
    """
    value = float(value)
    if isnan(value):
        return _NONE
    if not isfinite(value):
        return "∞" if value == inf else f"{_MINUS}∞"
    if value == 0:
        return "0"
    sign, size = (_MINUS if value < 0 else ""), abs(value)
    power = floor(log10(size))
    if round(size / 10.0**power, digits - 1) >= 10 and power < 300:
        power += 1
    if -4 <= power < 7:
        text = f"{size:,.{max(digits - 1 - power, 0)}f}"
        if "." in text and float(text.replace(",", "")) == size:  # 18.00 is 18, and 42.20 is 42.2
            text = text.rstrip("0").rstrip(".")
        return sign + text
    mantissa = f"{size:.{digits - 1}e}".split("e")
    return f"{sign}{mantissa[0]} {_TIMES} {power_of_ten(int(mantissa[1]))}"


def power_of_ten(power: int) -> str:
    """Return 10 to a whole power."""
    return "10" + str(power).translate(_RAISED)


def percent(share: float) -> str:
    """Return a share of one in percent, with enough digits to be distinct from 0 % and 100 %.

    Examples
    --------
    >>> from kernsel.report.formats import percent
    >>> percent(0.936), percent(0.99987), percent(1.0), percent(0.002)
    ('94 %', '99.987 %', '100 %', '0.2 %')
    """
    if not isfinite(share):
        return _NONE
    distance = min(abs(share), abs(1 - share))  # from 0 % or from 100 %
    if distance < 1e-9:
        return f"{round(share):.0%}".replace("%", " %")
    # Whole percents between 1 % and 99 %; beyond, one or two digits of the distance.
    digits = 0 if distance >= 0.01 else min(max(-floor(log10(distance)) - 2, 0) + (share > 0.5), 8)
    text = f"{100 * share:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %".replace("-", _MINUS)


def date(days: float) -> str:
    """Return the date of a number of days since 1970-01-01, with the time if it is not midnight.

    Examples
    --------
    >>> from kernsel.report.formats import date
    >>> date(19000.0), date(0.25)
    ('2022-01-08', '1970-01-01 06:00')
    """
    if not abs(days) < 1e6:
        return number(days)
    return str(np.datetime64(round(days * 1440), "m")).replace("T", " ").removesuffix(" 00:00")


def count(value: int) -> str:
    """Return a whole number with commas at thousands."""
    return f"{value:,}"


def seconds(value: float) -> str:
    """Return a duration in milliseconds, seconds, minutes or hours."""
    if not isfinite(value):
        return _NONE
    if value < 0.0995:
        return f"{number(1000 * value, 2)} ms"
    if value < 99.5:
        return f"{number(value, 2)} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def counted(value: int, noun: str) -> str:
    """Return a number with a noun, which gets an s in the plural."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def listed(items: list[str], last: str = "and") -> str:
    """Return items with commas, and with a conjunction before the last one."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}" if items else ""

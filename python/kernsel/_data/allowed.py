"""The allowed values of the parameters of an estimator: one table for each class, checked in `fit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TypeGuard

import numpy as np

__all__ = ["FLAG", "Allowed", "function", "is_auto", "is_number", "number", "one_of", "require", "whole"]


@dataclass(frozen=True)
class Allowed:
    """The allowed values of a parameter: in words, as a test of a value, and the exception for other values."""

    expected: str
    accepts: Callable[[object], bool]
    error: type[Exception] = ValueError

    def __or__(self, other: str | None) -> Allowed:
        """Return the allowed values extended by a text, or by None."""
        words = "None" if other is None else f'"{other}"'
        joined = f"{self.expected.replace(' or ', ', ')} or {words}"

        def accepts(value: object) -> bool:
            return value is None if other is None else isinstance(value, str) and value == other

        return Allowed(joined, lambda value: accepts(value) or self.accepts(value), self.error)

    def said(self, expected: str) -> Allowed:
        """Return the same allowed values, described by other words in errors."""
        return replace(self, expected=expected)


def require(estimator: object, table: Mapping[str, Allowed]) -> None:
    """Raise for the first parameter of an estimator whose value the table does not allow.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from kernsel._data.allowed import number, one_of, require, whole
    >>> table = {"solver": one_of("auto", "dual"), "max_iter": whole(1), "sigma": number("positive") | None}
    >>> require(SimpleNamespace(solver="dual", max_iter=10, sigma=None), table)
    >>> require(SimpleNamespace(solver="dual", max_iter=0, sigma=None), table)
    Traceback (most recent call last):
        ...
    ValueError: max_iter: expected a whole number from 1 on, got 0
    """
    for name, allowed in table.items():
        value = getattr(estimator, name)
        if not allowed.accepts(value):
            raise allowed.error(f"{name}: expected {allowed.expected}, got {value!r}")


def one_of(*texts: str) -> Allowed:
    """Allow any of two or more texts."""
    quoted = [f'"{text}"' for text in texts]
    return Allowed(f"{', '.join(quoted[:-1])} or {quoted[-1]}", lambda value: isinstance(value, str) and value in texts)


def whole(least: int) -> Allowed:
    """Allow whole numbers that are at least `least`."""

    def accepts(value: object) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least

    return Allowed(f"a whole number from {least} on", accepts)


def number(kind: str, *, infinite: bool = False) -> Allowed:
    """Allow numbers that are "positive", or "from 0 on".

    Parameters
    ----------
    kind : {"positive", "from 0 on"}
    infinite : bool
        Whether infinity is allowed.
    """

    def accepts(value: object) -> bool:
        if not is_number(value) or not (infinite or np.isfinite(value)):
            return False
        return value > 0 or (kind == "from 0 on" and value == 0)

    return Allowed("a positive number" if kind == "positive" else "a number from 0 on", accepts)


def function(*texts: str) -> Allowed:
    """Allow functions, and any of the texts."""
    words = ", ".join(f'"{text}"' for text in texts)
    return Allowed(f"{words} or a function", lambda value: callable(value) or (isinstance(value, str) and value in texts))


FLAG = Allowed("True or False", lambda value: isinstance(value, bool | np.bool_), TypeError)


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a real number, and not True or False."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_auto(value: object) -> bool:
    """Tell whether a value is the text "auto"."""
    return isinstance(value, str) and value == "auto"

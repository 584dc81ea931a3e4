"""The levels of a column of categories, which are given as texts or other values, and their codes."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from kernsel._base.annotations import Vector

__all__ = ["Categories", "Levels", "is_missing", "plain_level"]


class Categories(list[Any]):
    """The values of a column of categories whose levels are declared, as those of a Categorical of pandas are."""

    def __init__(self, values: Iterable[Any], levels: Sequence[Any], ordered: bool) -> None:
        super().__init__(values)
        self.levels = levels
        self.ordered = ordered


class Levels:
    """The levels of a column, whose codes are their places in the order; a new level gets the next code.

    Kernels compute with codes. One that has a table of its levels knows those of the training points, or those that it was
    told; for others, such as the exchangeable kernel, a new level is one more.

    Attributes
    ----------
    names : list
        The levels that are known from the training points, in their order.
    ordered : bool
        Whether the order means something: it was told, or the levels are numbers.
    """

    def __init__(self, names: Sequence[Any], *, ordered: bool) -> None:
        self.names = [plain_level(name) for name in names]
        self.ordered = ordered
        self._codes = {name: code for code, name in enumerate(self.names)}
        self._lock = threading.Lock()

    @classmethod
    def of(cls, values: Sequence[Any], told: Sequence[Any] | None, name: str) -> Levels:
        """Return the levels of the training values: those that were told, or else all values, in ascending order."""
        found = [plain_level(value) for value in values]
        missing = [row for row, value in enumerate(found) if is_missing(value)]
        if missing:
            raise ValueError(_about_missing(name, missing[0]))
        if told is None and isinstance(values, Categories):
            return cls(values.levels, ordered=values.ordered)
        if told is not None:
            known = {plain_level(level) for level in told}
            other = [value for value in found if value not in known]
            if other:
                raise ValueError(f"levels: expected all levels of {name!r}, got {list(told)!r:.60} without {other[0]!r}")
            return cls(told, ordered=True)
        numbers = all(isinstance(value, int | float) for value in found)
        different = dict.fromkeys(found)
        return cls(sorted(different) if numbers else sorted(different, key=str), ordered=numbers)

    def codes(self, values: Sequence[Any], name: str) -> Vector:
        """Return the codes of values, shape (n,)."""
        result = np.empty(len(values))
        with self._lock:
            for row, given in enumerate(values):
                value = plain_level(given)
                if is_missing(value):
                    raise ValueError(_about_missing(name, row))
                result[row] = self._codes.setdefault(value, len(self._codes))
        return result

    def all_names(self) -> list[Any]:
        """Return the levels that have codes, in the order of these, also those that no training point had."""
        return list(self._codes)

    def __getstate__(self) -> dict[str, object]:
        return {"names": self.names, "ordered": self.ordered, "_codes": dict(self._codes)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: object) -> Self:
        return self  # copies of a kernel share the codes: these never change once a level has one


def is_missing(value: object) -> bool:
    """Tell whether a value of a column stands for one that is missing."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def plain_level(value: Any) -> Any:
    """Return a level as a text or a number of Python, by which equal levels are found."""
    return value.item() if isinstance(value, np.generic) else value


def _about_missing(name: str, row: int) -> str:
    return (
        f"X: column {name!r} has a missing value in row {row}; expected a level in each row: leave the row out, or give "
        "missing values a level of their own, as .fillna('missing') does"
    )

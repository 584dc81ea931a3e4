"""A file as its columns stand in it: texts or numbers, nothing guessed yet."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Raw", "Values", "names_of_numbers"]

# The texts of a column, or its numbers with nan for what is missing.
Values = list[str] | NDArray[np.float64]


@dataclass
class Raw:
    """The columns of a file.

    Attributes
    ----------
    source : str
    columns : dict of str to list of str or ndarray
        By name, in the order of the file.
    lines : ndarray or None
        Of each row its line in the file; None if the file has no lines.
    remarks : list of str
        What was done to read it, in sentences.
    decimal_comma : bool
        May a comma stand for the point of a number?
    """

    source: str
    columns: dict[str, Values]
    lines: NDArray[np.intp] | None = None
    remarks: list[str] = field(default_factory=list)
    decimal_comma: bool = False

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values()), []))

    def where(self, row: int) -> str:
        """Return in words where a row, counted from 0, is."""
        return f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"


def names_of_numbers(names: list[str], source: str) -> tuple[list[str], list[str]]:
    """Return names that are neither empty nor the same, and what was done to make them so."""
    named: list[str] = []
    remarks = []
    for number, name in enumerate(names, 1):
        new = name or f"column{number}"
        if new in named:
            base, count = new, 2
            while new in named or new in names:
                new, count = f"{base}_{count}", count + 1
            remarks.append(f"{source} has two columns named {base!r}; the later one is called {new!r} here.")
        elif not name:
            remarks.append(f"Column {number} of {source} has no name; it is called {new!r} here.")
        named.append(new)
    return named, remarks

"""The columns of a file or a frame as texts or numbers, before their kinds are guessed."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernsel._base.annotations import Indices, Vector

__all__ = ["Raw", "Values", "unique_names"]

# The texts of a column, or its numbers with nan for what is missing.
Values = list[str] | Vector


@dataclass
class Raw:
    """The columns of a file.

    Attributes
    ----------
    source : str
    columns : dict of str to list of str or ndarray
        The values of each column by its name, in the order of the file.
    lines : ndarray or None
        For each row, its line in the file; None if the file has no lines.
    remarks : list of str
        Sentences about what was changed on reading.
    decimal_comma : bool
        Whether numbers may have a decimal comma.
    in_python : bool
        Whether these are columns of an object in Python, whose user has no options of the command.
    numbers : ndarray or None
        For each row, its number in the file, from 0 on, if these are some of its rows only.
    """

    source: str
    columns: dict[str, Values]
    lines: Indices | None = None
    remarks: list[str] = field(default_factory=list)
    decimal_comma: bool = False
    in_python: bool = False
    numbers: Indices | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values()), []))

    def where(self, row: int) -> str:
        """Return the position of a row in the file in words; `row` counts from 0."""
        if self.lines is not None:
            return f"line {self.lines[row]}"
        return f"row {(row if self.numbers is None else int(self.numbers[row])) + 1}"

    @property
    def for_classes(self) -> str:
        """What a user takes for classes."""
        return "estimator=GaussianProcessClassifier()" if self.in_python else "--classify"

    def without(self, name: str) -> str:
        """Return the advice how to leave a column out."""
        if self.in_python:
            return f"drop(columns=[{name!r}])"
        return f"--leave-out '{name}'" if any(c in name for c in " \t;&|()<>$*'\"") else f"--leave-out {name}"


def unique_names(names: list[str], source: str) -> tuple[list[str], list[str]]:
    """Return names without empty ones and duplicates, and remarks about those that were changed."""
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

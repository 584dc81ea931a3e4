"""A file with columns as numbers, and the description of its columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import Any

from kernsel._base.annotations import Indices, Matrix, Vector

__all__ = ["SIZES", "Column", "Table"]

SIZES = ("exposure", "trials")  # kinds of columns that tell the size of each observation


@dataclass(frozen=True)
class Column:
    """A column of a file.

    Attributes
    ----------
    name : str
    kind : {"number", "boolean", "category", "date", "constant", "left out", "exposure", "trials"}
        Columns of the last four kinds are not inputs.
    why : str
        The reason for the kind, such as "text with 3 different values" or "all values are equal".
    levels : list of str
        The distinct texts: of a category in the order of its 0/1 columns (with two levels, there is one column, for the
        second), of a boolean the one for 0 and the one for 1.
    missing : int
        The number of missing values.
    least, greatest, mean : float
        Statistics of numbers, dates and booleans; nan for other kinds.
    shares : list of float
        The share of rows with each level of a category.
    order : {"", "day first", "month first", "eight digits"}
        For dates such as 3/14/2024: which number comes first; or that they are written as 20240314.
    """

    name: str
    kind: str
    why: str = ""
    levels: list[str] = field(default_factory=list)
    missing: int = 0
    least: float = nan
    greatest: float = nan
    mean: float = nan
    shares: list[float] = field(default_factory=list)
    order: str = ""


@dataclass(frozen=True)
class Table:
    """A file as arrays of numbers.

    Attributes
    ----------
    source : str
        The name of the file.
    rows : int
        The number of rows in the file, without blank lines and the header.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or None
        The target, if there is one.
    names : list of str
        The names of the columns of X. A category has several, such as ``colour=red``.
    columns : list of Column
        The columns of the file, in its order, without the target.
    target : Column or None
    remarks : list of str
        Sentences that a user should read.
    kept : ndarray of shape (n,)
        The rows of X as numbers in the file, from 1 on.
    groups : ndarray of int of shape (n,) or None
        The number of the group with which each row is left out, if a column of groups or of time was told.
    grouped_by : str
        The groups in words, such as ``groups of 'patient'`` or ``blocks of 'date'``.
    sizes : ndarray of shape (n,) or None
        The exposure of each row, or the number of its trials, if a column was told.
    sized_by : {"", "exposure", "trials"}
    """

    source: str
    rows: int
    X: Matrix
    y: Vector | None
    names: list[str]
    columns: list[Column]
    target: Column | None
    remarks: list[str]
    kept: Indices
    groups: Indices | None = None
    grouped_by: str = ""
    sizes: Vector | None = None
    sized_by: str = ""

    @property
    def told_sizes(self) -> dict[str, Any]:
        """The sizes by the name that methods of models have for them; nothing if there are none."""
        return {} if self.sizes is None else {self.sized_by: self.sizes}

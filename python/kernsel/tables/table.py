"""What a file with columns is as numbers, and what was done to make it so."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

import numpy as np
from numpy.typing import NDArray

__all__ = ["Column", "Table"]


@dataclass(frozen=True)
class Column:
    """A column of a file.

    Attributes
    ----------
    name : str
    kind : {"number", "boolean", "category", "date", "constant", "left out"}
        Those of the last two kinds are not learnt from.
    why : str
        What was guessed or done, in words: "text with 3 different values", "all values are equal", ...
    levels : list of str
        The different texts: of a category in the order of its 0/1 columns (if there are two, there is only the second's), of a
        boolean the one that is 0 and the one that is 1.
    missing : int
        How many values are missing.
    least, greatest, mean : float
        Of what is a number, a date or a boolean, as numbers; otherwise nan.
    shares : list of float
        Of each level of a category, the share of the rows that have it.
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


@dataclass(frozen=True)
class Table:
    """What a file is as numbers.

    Attributes
    ----------
    source : str
        The file.
    rows : int
        In the file, blank lines and the header not counted.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or None
        The target, if there is one.
    names : list of str
        Of the columns of X. A category is several of them, such as ``colour=red``.
    columns : list of Column
        Of the file, in its order, without the target.
    target : Column or None
    remarks : list of str
        What one has to know, in sentences.
    kept : ndarray of shape (n,)
        The numbers of the rows in the file, from 1 on, that X has.
    """

    source: str
    rows: int
    X: NDArray[np.float64]
    y: NDArray[np.float64] | None
    names: list[str]
    columns: list[Column]
    target: Column | None
    remarks: list[str]
    kept: NDArray[np.intp]

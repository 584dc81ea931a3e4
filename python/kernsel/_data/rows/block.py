"""A block of rows: points with their targets, noise and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from kernsel._base.annotations import Matrix, Vector

__all__ = ["Piece", "RowBlock", "rows_at_once"]

_NUMBERS = 2**20  # of a block: 8 MiB


@dataclass(frozen=True)
class RowBlock:
    """Consecutive rows of a source, checked.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Contiguous by rows. It may be a view of the user's array, and is not to be written to.
    y : ndarray of shape (n, outputs) or None
    noise : ndarray of shape (n,) or None
        Variances.
    weights : ndarray of shape (n,) or None
    first : int
        The number of rows before the block.
    place : str
        The partition or file in words, such as ``a.parquet, row group 2``; empty if there is only one.
    """

    X: Matrix
    y: Matrix | None
    noise: Vector | None
    weights: Vector | None
    first: int
    place: str = ""

    def __len__(self) -> int:
        return len(self.X)


class Piece(NamedTuple):
    """What a source reads at a time, before it is checked: arrays, or what NumPy can make arrays of."""

    X: Any
    y: Any = None
    noise: Any = None
    weights: Any = None
    place: str = ""


def rows_at_once(columns: int) -> int:
    """Return how many rows of so many columns are read at a time, if a source can be divided anywhere."""
    return max(_NUMBERS // max(columns, 1), 1)

"""How many rows there are, and some of them at random, from one pass over blocks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import count
from typing import Any

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.rows import RowBlock
from kernsel._solve.passes import Passes

__all__ = ["DrawnRows", "draw_rows"]


@dataclass
class DrawnRows:
    """Rows at random, in their order: each set of so many has the same probability.

    Attributes
    ----------
    rows : int
        The number of all rows.
    most : int
        The number of rows that are kept at most.
    keys : ndarray
        The numbers that the rows have drawn; those with the least ones are kept.
    X, y : ndarray of shape (k, d), (k, outputs)
    noise, weights : ndarray of shape (k,) or None
    """

    rows: int = 0
    most: int = 0
    keys: Vector | None = None
    X: Matrix | None = None
    y: Matrix | None = None
    noise: Vector | None = None
    weights: Vector | None = None

    def add(self, other: DrawnRows) -> None:
        """Add rows that come after these."""
        self.rows += other.rows
        self.most = max(self.most, other.most)
        if other.keys is None:
            return
        of_rows = [field.name for field in fields(self)][2:]
        joined: dict[str, Any] = {name: _joined(getattr(self, name), getattr(other, name)) for name in of_rows}
        if len(joined["keys"]) > self.most:
            kept = np.sort(np.argsort(joined["keys"], kind="stable")[: self.most])
            joined = {name: None if values is None else values[kept] for name, values in joined.items()}
        vars(self).update(joined)


def draw_rows(passes: Passes, most: int, seed: int) -> DrawnRows:
    """Draw rows in one pass; all are taken if there are fewer.

    Which ones depends on the seed and on the partitions, and not on where they are read.
    """
    return passes.summed("some rows", _drawn_of, (most, seed), count())


def _drawn_of(chosen: tuple[int, int], block: RowBlock, number: int) -> DrawnRows:
    most, seed = chosen
    drawn = DrawnRows(most=most)
    keys = np.random.default_rng([seed, number]).random(len(block))
    drawn.add(DrawnRows(len(block), most, keys, block.X, block.y, block.noise, block.weights))
    return drawn


def _joined(first: Any, second: Any) -> Any:
    return second if first is None else first if second is None else np.concatenate([first, second])

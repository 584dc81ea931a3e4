"""Rows in a random order on which all machines agree: each row has a key, a hash of its number."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.rows import RowBlock
from kernsel._solve.passes import Passes

__all__ = ["FirstRows", "KeyedRows", "Keys", "first_rows"]

Keys = NDArray[np.uint64]


@dataclass(frozen=True)
class KeyedRows:
    """Rows with a weight, and their keys, which are all different.

    Attributes
    ----------
    keys : ndarray of shape (n,)
    X, y : ndarray of shape (n, d), (n, outputs)
    noise, weights : ndarray of shape (n,) or None
    """

    keys: Keys
    X: Matrix
    y: Matrix
    noise: Vector | None
    weights: Vector | None

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return sum(values.nbytes for values in self._columns() if values is not None)

    def __sizeof__(self) -> int:
        """Return the bytes of all arrays, which Dask asks for."""
        return self.nbytes

    @classmethod
    def of_block(cls, block: RowBlock, first: int, seed: int) -> KeyedRows:
        """Return the rows of a block that have a weight, where `first` rows are before the block."""
        assert block.y is not None
        rows = cls(_hashed(first, len(block), seed), block.X, block.y, block.noise, block.weights)
        return rows if block.weights is None or (block.weights > 0).all() else rows.part(np.flatnonzero(block.weights))

    def part(self, rows: Indices) -> KeyedRows:
        """Return some of the rows."""
        return KeyedRows(*(None if values is None else values[rows] for values in self._columns()))  # type: ignore[arg-type]

    @classmethod
    def in_order(cls, parts: list[KeyedRows], most: int | None = None) -> KeyedRows:
        """Return the rows of all parts in the order of their keys, or the first ones."""
        joined = [_joined(values) for values in zip(*(part._columns() for part in parts), strict=True)]
        return cls(*joined).part(np.argsort(joined[0])[:most])

    def _columns(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]


@dataclass
class FirstRows:
    """The first rows in the order of their keys: a random sample of all rows.

    Attributes
    ----------
    count : int
        The number of all rows with a weight.
    most : int
        The number of rows that are kept at most.
    rows : KeyedRows or None
        In their order.
    """

    count: int = 0
    most: int = 0
    rows: KeyedRows | None = None

    def add(self, other: FirstRows) -> None:
        """Add other rows."""
        self.count += other.count
        self.most = max(self.most, other.most)
        if other.rows is not None:
            parts = [other.rows] if self.rows is None else [self.rows, other.rows]
            self.rows = KeyedRows.in_order(parts, self.most)


def first_rows(passes: Passes, most: int, seed: int) -> tuple[FirstRows, list[int]]:
    """Return the first rows in the order of their keys, and for each block the number of rows before it.

    Which rows these are depends on the seed and not on the blocks.
    """
    lengths = passes.listed("lengths", _length, None)
    before = [0, *np.cumsum(lengths).tolist()[:-1]]
    return passes.summed("some rows", _first_of, (most, seed), before), before


def _length(_: None, block: RowBlock) -> int:
    return len(block)


def _first_of(chosen: tuple[int, int], block: RowBlock, before: int) -> FirstRows:
    most, seed = chosen
    rows = KeyedRows.of_block(block, before, seed)
    return FirstRows(len(rows), most, KeyedRows.in_order([rows], most))


def _hashed(first: int, count: int, seed: int) -> Keys:
    """Return the numbers of the generator splitmix64 (Steele, Lea and Flood, 2014) at places from `first` on."""
    start = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    z: Keys = start + np.arange(first + 1, first + 1 + count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def _joined(parts: tuple[Any, ...]) -> Any:
    return None if parts[0] is None else np.concatenate(parts)

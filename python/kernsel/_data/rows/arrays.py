"""Rows of arrays in memory, and of `.npy` files, of which only slices are read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel._data.rows.block import Piece, rows_at_once
from kernsel._data.rows.source import Beside, RowSource

__all__ = ["ArrayRows", "NpyFile"]


class NpyFile:
    """An array in a `.npy` file: each slice is read into memory, and nothing else.

    The file is mapped for each slice, and never for long: pages of a map that have been read count as memory of the process.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        mapped = self._mapped()
        self.shape: tuple[int, ...] = mapped.shape
        self.ndim = mapped.ndim
        self.dtype = mapped.dtype

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 0

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        return np.array(self._mapped()[rows])

    def _mapped(self) -> NDArray[Any]:
        try:
            mapped: NDArray[Any] = np.load(self._path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise ValueError(f"{self._path} cannot be read as .npy: {error}") from None
        return mapped


class ArrayRows(RowSource):
    """Rows of an array, a memory map or a `.npy` file.

    Parameters
    ----------
    X : array of two dimensions, or NpyFile
    beside : Beside
    columns : sequence of int, optional
        The columns of X that are points, all but the targets by default.
    target : int or sequence of int, optional
        The columns of X that are targets.
    block : int, optional
        The rows of a block.
    """

    def __init__(self, X: Any, beside: Beside, columns: Any = None, target: Any = None, block: int | None = None) -> None:
        if X.ndim != 2:
            raise ValueError(f"X: expected two dimensions, got shape {X.shape}")
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X: expected numbers, got an array of type {X.dtype}")
        self._X = X
        width = X.shape[1]
        self._targets = [] if target is None else _indices("target", target, width)
        if self._targets and beside.y is not None:
            raise ValueError("y, target: expected one of them")
        self._columns = None
        if columns is not None:
            self._columns = _indices("columns", columns, width)
        elif self._targets:
            self._columns = [k for k in range(width) if k not in self._targets]
        n_columns = width if self._columns is None else len(self._columns)
        n_outputs = len(self._targets) or _outputs(beside.y)
        self._block = block or rows_at_once(width)
        super().__init__(None, n_columns, n_outputs, len(X), beside)

    def _pieces(self) -> Iterator[Piece]:
        for first in range(0, len(self._X), self._block):
            rows = self._X[first : first + self._block]
            X = rows if self._columns is None else rows[:, self._columns]
            yield Piece(X, rows[:, self._targets] if self._targets else None)


def _indices(name: str, value: Any, width: int) -> list[int]:
    """Return indices of columns, one or several."""
    given = [value] if np.ndim(value) == 0 else list(value)
    if not all(isinstance(k, int | np.integer) and not isinstance(k, bool) and -width <= k < width for k in given):
        raise ValueError(f"{name}: expected indices of the {width} columns of X, which has no names, got {value!r}")
    return [int(k) % width for k in given]


def _outputs(y: Any) -> int:
    """Return the number of targets in an array; 0 without one."""
    if y is None:
        return 0
    if y.ndim not in (1, 2):
        raise ValueError(f"y: expected one or two dimensions, got shape {y.shape}")
    return 1 if y.ndim == 1 else int(y.shape[1])

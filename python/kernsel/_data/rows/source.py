"""What all sources of rows have in common: the checks of what they read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.rows.block import Piece, RowBlock

__all__ = ["ARGUMENTS", "Beside", "RowSource"]


@dataclass(frozen=True)
class Beside:
    """Arrays with one entry for each row of a source that is read from elsewhere.

    Attributes
    ----------
    y, noise, weights : array, or None
        Anything with a length that slices can be taken of. `noise` may be one number.
    """

    y: Any = None
    noise: Any = None
    weights: Any = None

    def added_to(self, piece: Piece, first: int, count: int) -> Piece:
        """Return a piece of rows with the entries for them, where the piece has none itself."""
        rows = slice(first, first + count)
        return piece._replace(
            **{
                name: value if np.ndim(value) == 0 else value[rows]
                for name, value in vars(self).items()
                if value is not None and getattr(piece, name) is None
            }
        )

    def require_length(self, rows: int) -> None:
        """Raise unless there is an entry for each of so many rows."""
        for name, value in vars(self).items():
            if value is not None and np.ndim(value) and len(value) != rows:
                raise ValueError(f"{ARGUMENTS[name]}: {len(value)} entries, where X has {rows} rows; expected one for each")


class RowSource(ABC):
    """Rows that are read in blocks, as often as asked.

    Each pass gives the same blocks, so that sums over them have the same bits.

    Attributes
    ----------
    names : list of str or None
        The names of the columns of X.
    n_columns : int
    n_outputs : int
        The number of targets; 0 if there are none.
    n_rows : int or None
        The number of rows; None as long as nobody has counted them: a whole pass does.
    """

    def __init__(
        self, names: list[str] | None, n_columns: int, n_outputs: int, n_rows: int | None = None, beside: Beside | None = None
    ) -> None:
        self.names = names
        self.n_columns = n_columns
        self.n_outputs = n_outputs
        self.n_rows = n_rows
        self._beside = beside or Beside()
        if n_rows is not None:
            self._beside.require_length(n_rows)

    @abstractmethod
    def _pieces(self) -> Iterator[Piece]:
        """Read all rows once."""

    def blocks(self) -> Iterator[RowBlock]:
        """Read all rows once, and yield them in blocks, of which some may be empty.

        Raises
        ------
        ValueError
            If there are no rows, or another number than in the last pass; if a block has other columns than the source; or if
            a number is not finite. The error names the row, from 0 on, the column, and the file or partition.
        """
        first = 0
        for piece in self._pieces():
            block = self._checked(piece, first)
            first += len(block)
            yield block
        if self.n_rows is not None and first != self.n_rows:
            raise ValueError(
                f"X: {first} rows, where it had {self.n_rows} before; each pass has to read all rows anew, and a function has "
                "to return a new iterator each time"
            )
        if not first:
            raise ValueError("X: there are no rows; expected one at least")
        if self.n_rows is None:
            self._beside.require_length(first)
        self.n_rows = first

    def _checked(self, piece: Piece, first: int | None) -> RowBlock:
        """Return a piece as a block; `first` is None if nobody knows how many rows are before it."""
        X = _numbers("X", piece.X, piece.place)
        if X.ndim != 2 or X.shape[1] != self.n_columns:
            raise ValueError(f"X{_in(piece.place)}: expected {self.n_columns} columns, got shape {X.shape}")
        piece = self._beside.added_to(piece, first or 0, len(X))
        y = self._targets_of(piece, len(X))
        _require_finite("X", X, first, piece.place, self.names)
        if y is not None:
            _require_finite("y", y, first, piece.place, None)
        noise = _of_each_row("noise", piece.noise, len(X), first, piece.place)
        weights = _of_each_row("weights", piece.weights, len(X), first, piece.place)
        return RowBlock(X, y, noise, weights, first or 0, piece.place)

    def _targets_of(self, piece: Piece, count: int) -> Matrix | None:
        """Return the targets of a piece of so many rows, with a column for each output; None if there are none."""
        if piece.y is None and not self.n_outputs:
            return None
        given = np.zeros(0) if piece.y is None else _numbers("y", piece.y, piece.place)
        y = given[:, None] if given.ndim == 1 else given
        if y.shape != (count, self.n_outputs):
            got = "none" if piece.y is None else f"shape {given.shape}"
            raise ValueError(f"y{_in(piece.place)}: expected {self.n_outputs} targets for each of {count} rows, got {got}")
        return y


ARGUMENTS = {"y": "y", "noise": "noise", "weights": "sample_weight"}  # the names of users for what is beside X


def _numbers(name: str, values: Any, place: str) -> Matrix:
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}{_in(place)}: expected numbers: {error}") from None


def _require_finite(argument: str, values: Matrix, first: int | None, place: str, names: list[str] | None) -> None:
    """Raise if there is a number that is not finite, saying where the first one is."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # only if all numbers are, and without a mask of them
            return
    finite = np.isfinite(values)
    if finite.all():
        return
    row, column = np.unravel_index(int((~finite).argmax()), values.shape)
    if argument == "y" and values.shape[1] == 1:
        where = ""
    else:
        where = f", column {column if names is None else repr(names[int(column)])}"
    raise ValueError(f"{argument}: contains NaN or infinity, first at {_row(first, int(row), place, where)}")


def _of_each_row(name: str, value: Any, count: int, first: int | None, place: str) -> Vector | None:
    """Return one number for each row of a block, which must not be negative; None stays None."""
    if value is None:
        return None
    numbers = _numbers(name, value, place)
    if numbers.shape not in ((), (1,), (count,), (count, 1)):
        raise ValueError(f"{ARGUMENTS[name]}{_in(place)}: expected one number for each of {count} rows, got {numbers.shape}")
    numbers = np.ascontiguousarray(np.broadcast_to(numbers.reshape(-1), count)) if count else np.zeros(0)
    bad = ~(np.isfinite(numbers) & (numbers >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"{ARGUMENTS[name]}: expected finite numbers that are not negative, got {numbers[row]} at {_row(first, row, place)}"
        )
    return numbers


def _in(place: str) -> str:
    return f" in {place}" if place else ""


def _row(first: int | None, row: int, place: str, column: str = "") -> str:
    """Return words for a row of a block."""
    if first is None:
        return f"row {row} of {place}{column}"
    return f"row {first + row}{column}" + (f" (row {row} of {place})" if place else "")

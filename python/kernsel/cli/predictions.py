"""What the command asks of a model, whatever it predicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from kernsel.cli.written import Columns
from kernsel.study.tables import Column, Table

__all__ = ["Predictions"]


class Predictions(Protocol):
    """The predictions of a model that `kernsel select` has saved.

    Attributes
    ----------
    target : Column
    columns : list of Column
        The columns of the table that the model was learnt from.
    levels : list of str
        The classes; none if numbers are predicted.
    intervals : float or None
        The percentage of observations in intervals, if there are any.
    """

    target: Column
    columns: list[Column]
    levels: list[str]
    intervals: float | None

    def steps(self, table: Table) -> int:
        """Return in how many steps predictions at the rows of a table are made."""

    def at(self, table: Table, begin: Callable[[int], None]) -> tuple[Columns, dict[str, float]]:
        """Return the predictions at all rows of a table, empty where there is none, and their scores if it has the target.

        `begin` is called with the number of the row that each step begins with.
        """

    def together(self, scores: Sequence[dict[str, float]]) -> dict[str, float]:
        """Return the scores of all rows from those of one part at least."""

    def in_words(self, source: str, scores: dict[str, float]) -> str:
        """Return scores as a sentence."""

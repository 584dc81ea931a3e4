"""Predictions of numbers at the rows of a table, with intervals, and how far the target is from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy as np

from kernsel._base.annotations import Vector
from kernsel.cli.written import Columns
from kernsel.study import Study
from kernsel.study.tables import Table

__all__ = ["NumberPredictions"]

_NAMES = ("predicted", "std", "lower", "upper")
_BLOCK = 2000  # rows in a step of the progress bar


class NumberPredictions:
    """The predictions of a model of numbers; see :class:`kernsel.cli.predictions.Predictions`."""

    def __init__(self, model: str, intervals: float) -> None:
        self._study = Study.load(model)
        self.target = self._study.target
        self.columns = self._study.columns
        self.levels: list[str] = []
        self.intervals: float | None = intervals
        self._level = intervals / 100

    def steps(self, table: Table) -> int:
        """Return in how many steps predictions at the rows of a table are made."""
        return len(range(0, len(table.X), _BLOCK))

    def at(self, table: Table, begin: Callable[[int], None]) -> tuple[Columns, dict[str, float]]:
        """Return the predictions at all rows of a table, empty where there is none, and their scores if it has the target."""
        parts = [np.zeros((0, len(_NAMES)))]
        ends = [0.5 - self._level / 2, 0.5 + self._level / 2]
        for start in range(0, len(table.X), _BLOCK):
            begin(start + 1)
            rows = slice(start, start + _BLOCK)
            sizes: dict[str, Any] = {name: values[rows] for name, values in table.told_sizes.items()}
            found = self._study.model.predictive(table.X[rows], **sizes)
            parts.append(np.column_stack([found.mean, found.std, found.quantiles(ends)[:, 0]]))
        columns: dict[str, Vector] = dict(zip(_NAMES, np.concatenate(parts).T, strict=True))
        output: Columns = {}
        for name, values in columns.items():
            output[name] = whole = np.full(table.rows, np.nan)
            whole[table.kept - 1] = values
        return output, self._errors(table, columns)

    def _errors(self, table: Table, columns: dict[str, Vector]) -> dict[str, float]:
        measured = np.zeros(0, dtype=bool) if table.y is None else ~np.isnan(table.y)
        if table.y is None or not measured.any():
            return {}
        y = table.y[measured]
        errors = y - columns["predicted"][measured]
        within = (columns["lower"][measured] <= y) & (y <= columns["upper"][measured])
        study = self._study
        of_mean = y - (float(np.mean(study.model.y_train_)) if study.keeps_rows else study.target.mean)
        return {
            "rows": float(len(y)),
            "rmse": float(np.sqrt(np.mean(errors**2))),
            "rmse_of_mean": float(np.sqrt(np.mean(of_mean**2))),
            "coverage": float(np.mean(within)),
        }

    def together(self, errors: Sequence[dict[str, float]]) -> dict[str, float]:
        """Return the scores of all rows from those of one part at least."""
        rows = sum(one["rows"] for one in errors)

        def mean(name: str, power: int) -> float:
            return sum(one["rows"] * one[name] ** power for one in errors) / rows

        return {
            "rows": rows,
            "rmse": sqrt(mean("rmse", 2)),
            "rmse_of_mean": sqrt(mean("rmse_of_mean", 2)),
            "coverage": mean("coverage", 1),
        }

    def in_words(self, source: str, errors: dict[str, float]) -> str:
        """Return scores as a sentence."""
        return (
            f"{source} has {self.target.name}, too: error {errors['rmse']:.4g} (root mean square), where the mean of "
            f"what was learnt from has {errors['rmse_of_mean']:.4g}; {self.intervals:g} % intervals contain "
            f"{100 * errors['coverage']:.0f} %."
        )

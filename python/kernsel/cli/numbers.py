"""Predictions of a study at the rows of a table, and how far the target is from them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernsel._base.annotations import Vector
from kernsel.cli.written import Columns
from kernsel.study import Study
from kernsel.study.tables import Table

__all__ = ["errors_of", "in_all_rows", "in_words", "predicted", "steps_of"]

_NAMES = ("predicted", "std", "lower", "upper")
_BLOCK = 2000  # rows in a step of the progress bar


def steps_of(table: Table) -> int:
    """Return the number of steps in which predictions at the rows of a table are made."""
    return len(range(0, len(table.X), _BLOCK))


def predicted(study: Study, table: Table, level: float, begin: Callable[[int], None]) -> dict[str, Vector]:
    """Return means, standard deviations and the ends of intervals of observations.

    Parameters
    ----------
    study : Study
    table : Table
    level : float
        The share of observations in the intervals.
    begin : callable
        Called with the number of the row that each step begins with.
    """
    parts = [np.zeros((0, len(_NAMES)))]
    ends = [0.5 - level / 2, 0.5 + level / 2]
    for start in range(0, len(table.X), _BLOCK):
        begin(start + 1)
        found = study.model.predictive(table.X[start : start + _BLOCK])
        parts.append(np.column_stack([found.mean, found.std, found.quantiles(ends)[:, 0]]))
    return dict(zip(_NAMES, np.concatenate(parts).T, strict=True))


def in_all_rows(columns: dict[str, Vector], table: Table) -> Columns:
    """Return predictions with nan for rows without one, so that row i of the output belongs to row i of the input."""
    output: Columns = {}
    for name, values in columns.items():
        output[name] = whole = np.full(table.rows, np.nan)
        whole[table.kept - 1] = values
    return output


def errors_of(study: Study, table: Table, columns: dict[str, Vector]) -> dict[str, float]:
    """Return the errors of predictions where the file has the target; empty if it has it nowhere."""
    if table.y is None:
        return {}
    measured = ~np.isnan(table.y)
    if not measured.any():
        return {}
    y = table.y[measured]
    errors = y - columns["predicted"][measured]
    within = (columns["lower"][measured] <= y) & (y <= columns["upper"][measured])
    of_mean = y - float(np.mean(study.model.y_train_))
    return {
        "rows": float(len(y)),
        "rmse": float(np.sqrt(np.mean(errors**2))),
        "rmse_of_mean": float(np.sqrt(np.mean(of_mean**2))),
        "coverage": float(np.mean(within)),
    }


def in_words(source: str, target: str, intervals: float, error: dict[str, float]) -> str:
    """Return errors as a sentence; nothing if there are none."""
    if not error:
        return ""
    return (
        f"{source} has {target}, too: error {error['rmse']:.4g} (root mean square), where the mean of "
        f"what was learnt from has {error['rmse_of_mean']:.4g}; {intervals:g} % intervals contain "
        f"{100 * error['coverage']:.0f} %."
    )

"""Tables with named columns as the numbers that a model is fitted to, and its predictions at their rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from kernsel._base.annotations import Indices
from kernsel.study.tables import Column, Table
from kernsel.study.tables.files import read_raw
from kernsel.study.tables.frames import read_frame
from kernsel.study.tables.raw import Raw
from kernsel.study.tables.read import rows_to_predict, table_of

__all__ = ["Encoding", "PredictsTables", "TableModel", "encoded", "labels_of"]


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become numbers.

    Attributes
    ----------
    names : list of str
        The names of the columns of X that the model is fitted to, such as ``colour=red``.
    columns : list of Column
        The columns of the table, without the target; :attr:`Column.kind <kernsel.study.tables.Column>` says what each is.
    target : Column
    remarks : list of str
        Sentences about what was left out or changed.
    kept : ndarray of int
        The rows of the table that are learnt from, counted from 0 on.
    source : str
        The table in words, or the name of its file.
    table_rows : int
        The number of rows of the table.
    """

    names: list[str]
    columns: list[Column] = field(repr=False)
    target: Column = field(repr=False)
    remarks: list[str] = field(repr=False)
    kept: Indices = field(repr=False)
    source: str = ""
    table_rows: int = 0

    def rows(self, X: Any) -> Table:
        """Return new rows as numbers, with the target if they have it."""
        return rows_to_predict(raw_of(X), self.columns, self.target.name, levels=self.target.levels)

    def predicted(self, X: Any, predict: Callable[..., Any], options: dict[str, Any]) -> Any:
        """Return predictions at all rows; nan, or None for classes, with a warning where there is none."""
        table = self.rows(X)
        unread = [remark for remark in table.remarks if "no prediction" in remark]
        if unread:
            warnings.warn(" ".join(unread), UserWarning, stacklevel=3)
        if not len(table.kept):
            raise ValueError(f"X: there is no row to predict at: {' '.join(table.remarks)}")
        found = predict(table.X, **table.told_sizes, **options)
        if len(table.kept) == table.rows:
            return found
        if isinstance(found, tuple):
            return tuple(_spread(np.asarray(part), table) for part in found)
        return _spread(np.asarray(found), table)

    def targets(self, table: Table) -> NDArray[np.generic]:
        """Return the targets of a table: numbers or labels."""
        if table.y is None or np.isnan(table.y).any():
            raise ValueError(f"X: expected a value of {self.target.name!r} in each row, to compare the predictions with")
        return labels_of(self.target.levels)[table.y.astype(int)] if self.target.levels else table.y


class PredictsTables:
    """The predictions of a model at the rows of a table, if an encoding of its columns is known; otherwise at points."""

    best_estimator_: BaseEstimator
    encoding: Encoding | None

    def predict(self, X: Any, **options: Any) -> Any:  # with return_std=True, a tuple
        """Return predictions of the best model, see its method `predict`.

        After a selection with `target`, X is a frame or the path of a file; its rows that have missing values or categories
        that were not learnt get nan (None, if classes are predicted) and a warning.
        """
        if self.encoding is None:
            return self.best_estimator_.predict(X, **options)
        return self.encoding.predicted(X, self.best_estimator_.predict, options)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes by the best model, if it is a classifier; X as in :meth:`predict`."""
        if self.encoding is None:
            return self.best_estimator_.predict_proba(X)
        return self.encoding.predicted(X, self.best_estimator_.predict_proba, {})

    def score(self, X: Any, y: ArrayLike | None = None) -> float:
        """Return the score of the best model, which is R^2 for most, see its method `score`.

        After a selection with `target`, y is that column of X.
        """
        if self.encoding is None:
            return float(self.best_estimator_.score(X, y))
        if y is not None:
            raise ValueError(f"y: expected None, because column {self.encoding.target.name!r} of X is the target")
        table = self.encoding.rows(X)
        return float(self.best_estimator_.score(table.X, self.encoding.targets(table)))


@dataclass(frozen=True)
class TableModel(PredictsTables):
    """A model that predicts from tables: what :func:`kernsel.load` returns if a selection with `target` was saved.

    Attributes
    ----------
    best_estimator_ : estimator
        The model of the encoded columns.
    encoding : Encoding
    notes : dict
        What was saved with the model, as values of JSON.
    """

    best_estimator_: BaseEstimator
    encoding: Encoding
    notes: dict[str, Any] = field(repr=False)


def encoded(X: Any, target: str, *, classes: bool, **sizes: Any) -> tuple[Table, Encoding]:
    """Return a frame, or the file of this path, as a table of numbers, and how its columns are encoded.

    `sizes` may name the column with the `exposure` or the `trials` of each row.
    """
    table = table_of(raw_of(X), target, classes=classes, **sizes)
    assert table.target is not None
    return table, Encoding(table.names, table.columns, table.target, table.remarks, table.kept - 1, table.source, table.rows)


def raw_of(X: Any) -> Raw:
    """Return the columns of a frame, or of the file of this path."""
    return read_raw(os.fspath(X)) if isinstance(X, str | os.PathLike) else read_frame(X)


def labels_of(levels: list[str]) -> NDArray[np.generic]:
    """Return the labels of classes: numbers if all of them are."""
    try:
        numbers = np.array([float(level) for level in levels])
    except ValueError:
        return np.array(levels)
    return numbers.astype(int) if (numbers == np.round(numbers)).all() else numbers


def _spread(values: NDArray[Any], table: Table) -> NDArray[Any]:
    """Return values for the rows that are kept, with gaps for the others; a covariance matrix has both as its sides."""
    number = values.dtype.kind == "f"
    count = len(table.kept)
    square = values.shape == (count, count) and values.ndim == 2 and number and np.array_equal(values, values.T)
    shape = (table.rows, table.rows) if square else (table.rows, *values.shape[1:])
    spread: NDArray[Any] = np.full(shape, np.nan if number else None, dtype=values.dtype if number else object)
    places = table.kept - 1
    spread[np.ix_(places, places) if square else places] = values
    return spread

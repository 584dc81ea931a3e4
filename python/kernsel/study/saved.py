"""Selections from tables on disk: the model with the encoding of its columns, and the study that the command asks for."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from kernsel.criteria.names import direction, name_of, offered
from kernsel.estimators.classification import GaussianProcessClassifier
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.stacking.regressor import StackedRegressor
from kernsel.saving import keep, restore
from kernsel.study import classes, result
from kernsel.study.choose import line_of
from kernsel.study.classes import ClassStudy, line_of_classes
from kernsel.study.encoded import Encoding, TableModel
from kernsel.study.notes import of_table, plain
from kernsel.study.result import Study
from kernsel.study.select import Selected

__all__ = ["study_of_selection"]

_MARK, _VERSION = "selection", 1  # the name of the format of notes, and its version


def study_of_selection(selected: Selected) -> Study | ClassStudy | None:
    """Return what the command knows of a study, of a selection with `target`; None for models that it has no studies of."""
    model, encoding = selected.best_estimator_, selected.encoding
    assert encoding is not None
    criterion, seconds = name_of(selected.criterion), sum(one.seconds for one in selected.tried)
    about = (encoding.source, encoding.table_rows, encoding.names, encoding.columns, encoding.target)
    remarks, kept = [*encoding.remarks, *selected.remarks], encoding.kept + 1
    if isinstance(model, GaussianProcessClassifier):
        criterion = "loo" if criterion == "loo_log_density" else criterion
        together = getattr(model.processes()[0], "groups", None) is not None
        lines = [line_of_classes(one, len(kept), criterion, encoding.names) for one in selected.tried]
        by = "groups" if together else ""
        return ClassStudy(*about, remarks, lines, criterion, model, {}, kept, seconds, selected.ended, by)
    if not isinstance(model, GaussianProcessRegressor | StackedRegressor) or criterion not in offered():
        return None
    process = model.processes[0][1] if isinstance(model, StackedRegressor) else model
    state = process.state()
    if any(np.ndim(one.noise_) for one in selected.tried):
        return None
    X, y = model.kept_data()
    lines = [line_of(one, X, np.asarray(y), state.posterior.trend, encoding.names, state.groups) for one in selected.tried]
    if not np.all(state.factor == 1) or np.any(state.alpha):  # the kernels are of targets in another unit, or with more noise
        lines = [replace(line, loo_rmse=nan, loo_log_density=nan, coverage=nan) for line in lines]
    by = "groups" if state.groups is not None else ""
    better = {criterion: direction(criterion)}
    return Study(*about, remarks, {criterion: lines}, better, criterion, model, {}, kept, seconds, selected.ended, by)


def _notes(selected: Selected) -> dict[str, object] | None:
    """Return what is saved of a selection besides its model: nothing, unless it is one from a table."""
    encoding = selected.encoding
    if encoding is None:
        return None
    study = study_of_selection(selected)
    if isinstance(study, Study):
        return {_MARK: _VERSION, "study": result.VERSION} | study.as_json()
    if study is not None:
        return {_MARK: _VERSION, classes.MARK: classes.VERSION} | study.as_json()
    notes: dict[str, object] = plain(
        {
            "source": encoding.source,
            "rows": encoding.table_rows,
            "names": encoding.names,
            "columns": encoding.columns,
            "target": encoding.target,
            "remarks": [*encoding.remarks, *selected.remarks],
            "kept": encoding.kept + 1,
        }
    )
    return {_MARK: _VERSION} | notes


def _restored(model: BaseEstimator, notes: dict[str, Any]) -> TableModel:
    """Return the model with the encoding of its columns."""
    if notes[_MARK] != _VERSION:
        raise ValueError(f"the selection in it is of version {notes[_MARK]!r}, expected {_VERSION}; upgrade kernsel")
    table = of_table(notes)
    if len(table["names"]) != model.n_features_in_:
        raise ValueError("it is of other columns than the model")
    encoding = Encoding(
        table["names"], table["columns"], table["target"], table["remarks"], table["kept"] - 1, table["source"], table["rows"]
    )
    return TableModel(model, encoding, notes)


keep(Selected, _notes)
keep(TableModel, lambda model: model.notes)
restore(_MARK, _restored)

"""Saving and loading of what a fitted estimator was given: the parameters of its constructor, and the columns of its points."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from kernsel._base.renamed import CRITERIA
from kernsel._data.points import reading_of
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.objects import read_objects, write_objects

__all__ = ["read_given", "write_given"]

Estimator = TypeVar("Estimator", bound=BaseEstimator)

# Parameters that files of version 0.1.0 do not have, with what that version did.
_LATER = {
    "shrinkage": None,
    "likelihood": None,
    "inference": "auto",
    "hyperparameters": "optimize",
    "n_draws": None,
    "mean": None,
}


def write_given(model: BaseEstimator, to: Writing) -> None:
    """Write the parameters and the columns of a fitted estimator."""
    parameters = to.part("parameters")
    for name, value in model.get_params(deep=False).items():
        parameters.value(name, value)
    reading = reading_of(getattr(model, "kernel_", None))
    if reading is not None:
        write_objects(reading, to.part("objects"))
        to.json["columns"] = reading.first.shape[1]
        return
    if not hasattr(model, "n_features_in_"):
        raise TypeError("model: its points are objects, or parts with names, and no array; use pickle or joblib for this model")
    to.json["columns"] = int(model.n_features_in_)
    if hasattr(model, "feature_names_in_"):
        to.json["column_names"] = [str(name) for name in model.feature_names_in_]


def read_given(kind: type[Estimator], given: Fields) -> Estimator:
    """Return an estimator with the parameters and the columns that :func:`write_given` has written."""
    given.json.pop("core_kernel", None)  # only for programs in C++
    with given.part("parameters") as parameters:
        values: dict[str, Any] = {
            name: _LATER[name] if name in _LATER and not parameters.has(name) else parameters.value(name)
            for name in kind().get_params(deep=False)
        }
    if isinstance(values.get("criterion"), str):
        values["criterion"] = CRITERIA.get(values["criterion"], values["criterion"])
    model: Estimator = kind(**values)
    model.n_features_in_ = given.whole("columns", 1)
    if given.has("objects"):
        given.reading = read_objects(given.part("objects"), model.n_features_in_)
        if given.reading.first.shape[1] != model.n_features_in_:
            raise ValueError(f"objects: expected {model.n_features_in_} columns, got {given.reading.first.shape[1]}")
    if given.has("column_names"):
        given.column_names = given.texts("column_names", model.n_features_in_)
        model.feature_names_in_ = np.array(given.column_names, dtype=object)
    return model

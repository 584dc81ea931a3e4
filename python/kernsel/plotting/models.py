"""The parts of estimators that all displays need: the fitted model, and the names of its columns and its target."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from kernsel.estimators.fitted import require_fitted
from kernsel.estimators.stacking.regressor import StackedRegressor
from kernsel.study.encoded import PredictsTables

__all__ = ["column_names", "likeliest", "model_and_points", "name_of_target", "require_two_classes"]


def model_and_points(estimator: BaseEstimator, X: Any) -> tuple[BaseEstimator, Any]:
    """Return the model that displays show, and points as it has them.

    That is the estimator itself, the best one of what :func:`kernsel.select` returns or of what is loaded of it, or the last
    step of a pipeline, whose other steps are applied to X.
    """
    if isinstance(estimator, PredictsTables):
        encoding = estimator.encoding
        return estimator.best_estimator_, X if X is None or encoding is None else encoding.rows(X).X
    if isinstance(estimator, Pipeline):
        if X is not None and len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        return model_and_points(estimator.steps[-1][1], X)
    return estimator, X


def likeliest(model: BaseEstimator) -> BaseEstimator:
    """Return the likeliest of stacked processes, where a display shows one kernel; any other model as it is."""
    if isinstance(model, StackedRegressor):
        require_fitted(model)
        return model.processes[0][1]
    return model


def require_two_classes(model: BaseEstimator) -> None:
    """Raise TypeError for a classifier of more classes."""
    count = len(getattr(model, "classes_", ()))
    if count > 2:
        raise TypeError(f"estimator: expected a classifier of two classes, got one of {count}")


def column_names(estimator: BaseEstimator, d: int) -> list[str]:
    """Return the names of the columns that an estimator was fitted to; x, or x0, x1, ... if they have none."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and len(names) == d:
        return [str(name) for name in names]
    return ["x"] if d == 1 else [f"x{k}" for k in range(d)]


def name_of_target(given: str | None, y: ArrayLike | None) -> str:
    """Return the name of the target: the given one, the one of the table's column, or y."""
    if given is not None:
        return given
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"

"""The parts of estimators that displays need: the fitted model, the names of columns, and the targets of its points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.training import for_objects
from kernsel.kernels.objects import Points
from kernsel.study.select import Selected

__all__ = [
    "as_array",
    "column",
    "column_names",
    "model_in",
    "name_of_target",
    "require_fitted",
    "require_training_data",
    "targets_for",
]


def model_in(estimator: BaseEstimator) -> BaseEstimator:
    """Return the estimator itself, or the best estimator of a :class:`kernsel.Selected`."""
    return estimator.best_estimator_ if isinstance(estimator, Selected) else estimator


def require_fitted(model: BaseEstimator) -> None:
    """Raise NotFittedError for a model that is not fitted, also for one that can predict from its prior."""
    names = ("kernel_", "coef_", "classes_")
    check_is_fitted(model, next((name for name in names if hasattr(model, name)), names[0]))


def require_training_data(
    model: BaseEstimator, X: Points | None, y: ArrayLike | None, points: Matrix, targets: Vector | None = None
) -> None:
    """Raise if X and y differ from the points and targets that a model has kept of its training data."""
    if X is not None and not for_objects(model.kernel_):
        given = as_array(X)
        if given.shape != points.shape or not np.array_equal(given.astype(points.dtype), points):
            raise ValueError(f"X: expected the points that this {type(model).__name__} was fitted to, or None")
    if y is not None and targets is not None:
        values = np.asarray(y, dtype=np.float64).reshape(len(np.asarray(y)), -1)
        kept = targets.reshape(len(targets), -1)
        size = np.abs(kept).max(initial=0.0)
        if values.shape != kept.shape or (np.abs(values - kept) > 1e-9 * size).any():
            raise ValueError(f"y: expected the targets that this {type(model).__name__} was fitted to, or None")


def as_array(X: Points) -> NDArray[np.generic]:
    """Return points, which may be a sparse matrix, as an array."""
    return np.asarray(X.toarray() if isinstance(X, sparse.spmatrix | sparse.sparray) else X)


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


def targets_for(model: BaseEstimator, y: ArrayLike | None, n: int) -> NDArray[np.generic]:
    """Return the targets of an estimator that keeps none; raise if they are not given."""
    if y is None:
        raise ValueError(f"y: a {type(model).__name__} keeps no targets; give those that it was fitted to")
    targets = np.asarray(y)
    if targets.ndim not in (1, 2) or len(targets) != n:
        raise ValueError(f"y: expected one target for each of {n} points, got shape {targets.shape}")
    return targets


def column(values: ArrayLike, output: int | None, n: int | None = None, name: str = "y") -> Vector:
    """Return one number for each point: of several targets, those of the target `output`."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 2:
        if output is None or not -array.shape[1] <= output < array.shape[1]:
            raise ValueError(f"output: expected the number of one of {array.shape[1]} targets, got {output!r}")
        array = array[:, output]
    if array.ndim != 1 or not len(array) or not np.isfinite(array).all() or (n is not None and len(array) != n):
        expected = "finite numbers" if n is None else f"{n} finite numbers"
        raise ValueError(f"{name}: expected {expected}, one for each point, got shape {np.shape(values)}")
    return array

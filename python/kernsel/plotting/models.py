"""What displays ask of estimators: the model itself, names of columns, targets that go with its points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from kernsel.points import for_objects
from kernsel.selector import Selected

__all__ = ["column", "column_names", "model_in", "name_of_target", "require_fitted", "require_training_data", "targets_for"]

Vector = NDArray[np.float64]


def model_in(estimator: Any) -> Any:
    """Return the estimator itself, or the best one of what :func:`kernsel.select` returns."""
    return estimator.best_estimator_ if isinstance(estimator, Selected) else estimator


def require_fitted(model: Any) -> None:
    """Raise NotFittedError for a model that is not fitted; a Gaussian process could predict from its prior, too."""
    names = ("kernel_", "coef_", "classes_")
    check_is_fitted(model, next((name for name in names if hasattr(model, name)), names[0]))


def require_training_data(model: Any, X: Any, y: Any, points: NDArray[Any], targets: Vector | None = None) -> None:
    """Raise if what is given is not what a model was fitted to, as far as it knows that."""
    if X is not None and not for_objects(model.kernel_):
        given = np.asarray(X.toarray() if sparse.issparse(X) else X)
        if given.shape != points.shape or not np.array_equal(given.astype(points.dtype), points):
            raise ValueError(f"X: expected the points that this {type(model).__name__} was fitted to, or None")
    if y is not None and targets is not None:
        values = np.asarray(y, dtype=np.float64).reshape(len(np.asarray(y)), -1)
        known = targets.reshape(len(targets), -1)
        size = np.abs(known).max(initial=0.0)
        if values.shape != known.shape or (np.abs(values - known) > 1e-9 * size).any():
            raise ValueError(f"y: expected the targets that this {type(model).__name__} was fitted to, or None")


def column_names(estimator: Any, d: int) -> list[str]:
    """Return the names of the columns that an estimator was fitted to; x, or x0, x1, ... without any."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and len(names) == d:
        return [str(name) for name in names]
    return ["x"] if d == 1 else [f"x{k}" for k in range(d)]


def name_of_target(given: str | None, y: Any) -> str:
    """Return what the target is called: as it was said, as the table has it, or y."""
    if given is not None:
        return given
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def targets_for(model: Any, y: Any, n: int) -> NDArray[Any]:
    """Return targets, which an estimator has not kept."""
    if y is None:
        raise ValueError(f"y: a {type(model).__name__} keeps no targets; give those that it was fitted to")
    targets = np.asarray(y)
    if targets.ndim not in (1, 2) or len(targets) != n:
        raise ValueError(f"y: expected one target for each of {n} points, got shape {targets.shape}")
    return targets


def column(values: Any, output: int | None, n: int | None = None, name: str = "y") -> Vector:
    """Return numbers, one for each point; of several targets the one that is asked for."""
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

"""What displays ask of estimators: the model itself, names of columns, targets that go with its points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel.selector import Selected

__all__ = ["both_or_none", "column", "column_names", "model_in", "name_of_target", "targets_for"]

Vector = NDArray[np.float64]


def model_in(estimator: Any) -> Any:
    """Return the estimator itself, or the best one of what :func:`kernsel.select` returns."""
    return estimator.best_estimator_ if isinstance(estimator, Selected) else estimator


def both_or_none(X: Any, y: Any, *, alone: str = "") -> None:
    """Raise if only one of X and y is given, but for the one that may be alone."""
    for name, given, other in (("X", X, y), ("y", y, X)):
        if given is not None and other is None and name != alone:
            raise ValueError(f"X, y: expected both of them, or none, got {name} alone")


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


def targets_for(model: Any, y: Any, n: int | None) -> NDArray[Any]:
    """Return targets, which an estimator has not kept."""
    if y is None:
        raise ValueError(f"y: a {type(model).__name__} keeps no targets; give those that it was fitted to")
    targets = np.asarray(y)
    if targets.ndim not in (1, 2) or (n is not None and len(targets) != n):
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

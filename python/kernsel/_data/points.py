"""The points of estimators: arrays as scikit-learn checks them, or objects as a kernel reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import column_or_1d, validate_data

from kernsel.kernels import Kernel
from kernsel.kernels.objects import Mixed, Reading, are_numbers

__all__ = ["checked_targets", "for_objects", "in_parts", "new_points", "reading_of", "require_squares", "training_points"]

_AT_ONCE = 2048  # objects that predictions are made of at a time: their table with the training points is whole


def for_objects(kernel: Any, X: Any = None) -> bool:
    """Tell whether a kernel reads the points: they have parts, or are no vectors."""
    parts = isinstance(X, Mixed | Reading)
    if parts and not isinstance(kernel, Kernel):
        raise TypeError(f"kernel: expected one that names the parts of X, got {kernel!r}")
    return isinstance(kernel, Kernel) and (parts or kernel.for_objects())


def reading_of(kernel: Any) -> Reading | None:
    """Return how a fitted kernel reads points; None if they are arrays."""
    return kernel.reading() if isinstance(kernel, Kernel) else None


def training_points(estimator: Any, kernel: Any, X: Any) -> tuple[Kernel, NDArray[np.float64]]:
    """Return the kernel bound to the objects of X, and the points as numbers: those of a kernel that is bound may be given."""
    if kernel.reading() is not None and are_numbers(X):
        return kernel, X
    reading = X if isinstance(X, Reading) else Reading(X)
    for name in ("n_features_in_", "feature_names_in_"):
        estimator.__dict__.pop(name, None)
    bound = kernel.bound_to(reading)
    if bound.reading() is None:
        raise TypeError(f"kernel: expected one that names the parts of X, such as {kernel!r}.on([...]), got {kernel!r}")
    return bound, reading.first


def checked_targets(X: NDArray[Any], y: Any, *, labels: bool = False, multi_output: bool = True) -> NDArray[Any]:
    """Return y as an array, of as many rows as X."""
    if y is None:
        raise ValueError("y: expected one target for each point, got None")
    check_consistent_length(X, y)
    if labels or not multi_output:
        y = column_or_1d(y, warn=True)
    return np.asarray(check_array(y, dtype=None if labels else np.float64, ensure_2d=False, input_name="y"))


def require_squares(y: NDArray[Any]) -> None:
    """Raise if the squares of targets, which criteria are made of, are too large or too small for a double."""
    largest = float(np.abs(y).max(initial=0.0))
    if largest > 1e150 or 0 < largest < 1e-140:
        what = "overflow; divide" if largest > 1 else "underflow; multiply"
        raise ValueError(f"y: its squares {what} it by a number, such as {1 / largest if largest < 1 else largest:.0e}")


def new_points(estimator: Any, kernel: Any, X: Any, *, keep: bool = False, **checks: Any) -> Any:
    """Return points to predict at, checked or read as those of `fit` were."""
    if (reading := reading_of(kernel)) is not None:
        return reading.numbers(X, keep=keep)
    return validate_data(estimator, X, reset=False, **checks)


def in_parts(kernel: Any, X: Any) -> list[Any] | None:
    """Return many objects as several lists, so that no table of them is too large; None for what is small enough."""
    if reading_of(kernel) is None or not hasattr(X, "__len__") or len(X) <= _AT_ONCE:
        return None
    rows = [slice(begun, begun + _AT_ONCE) for begun in range(0, len(X), _AT_ONCE)]
    return [X.iloc[part] if hasattr(X, "iloc") else X[part] for part in rows]

"""The points at which a fitted model predicts: arrays that scikit-learn checks, or objects that the kernel reads."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import validate_data

from kernsel.kernels import Kernel
from kernsel.kernels.objects import Reading

__all__ = ["in_parts", "new_points", "reading_of"]

_AT_ONCE = 2048  # the most objects in one prediction, for which a table with all training points is stored


def reading_of(kernel: Any) -> Reading | None:
    """Return the reading by which a fitted kernel converts objects to numbers; None if points are arrays."""
    return kernel.reading() if isinstance(kernel, Kernel) else None


def new_points(estimator: Any, kernel: Any, X: Any, *, keep: bool = False, **checks: Any) -> Any:
    """Return the points at which to predict, checked or read in the same way as those of `fit`."""
    if (reading := reading_of(kernel)) is not None:
        return reading.numbers(X, keep=keep)
    return validate_data(estimator, X, reset=False, **checks)


def in_parts(kernel: Any, X: Any) -> list[Any] | None:
    """Split many objects into parts, so that no table of them is too large; return None if no split is needed."""
    if reading_of(kernel) is None or not hasattr(X, "__len__") or len(X) <= _AT_ONCE:
        return None
    rows = [slice(begun, begun + _AT_ONCE) for begun in range(0, len(X), _AT_ONCE)]
    return [X.iloc[part] if hasattr(X, "iloc") else X[part] for part in rows]

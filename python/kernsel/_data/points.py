"""The points at which a fitted model predicts: arrays that scikit-learn checks, or objects that the kernel reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from kernsel._data.categories import columns_of_texts
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Reading

__all__ = ["blocks", "in_parts", "new_points", "reading_of", "validated"]

_BLOCK = 2_000_000  # numbers of a block of k(X, Z), so that predictions at any number of points take little memory
_AT_ONCE = 2048  # objects that predictions are made of at a time: their table with the training points is whole


def reading_of(kernel: Any) -> Reading | None:
    """Return the reading by which a fitted kernel converts objects to numbers; None if points are arrays."""
    return kernel.reading() if isinstance(kernel, Kernel) else None


def new_points(estimator: Any, kernel: Any, X: Any, *, keep: bool = False, **checks: Any) -> Any:
    """Return the points at which to predict, checked or read in the same way as those of `fit`."""
    if (reading := reading_of(kernel)) is not None:
        numbers = reading.numbers(X, keep=keep)
        kernel.require_known(numbers)
        return numbers
    return validated(estimator, X, reset=False, **checks)


def validated(estimator: Any, X: Any, *y: Any, **checks: Any) -> Any:
    """Return what scikit-learn's `validate_data` does; its error about numbers that are not finite says where the first is."""
    try:
        return validate_data(estimator, X, *y, **checks)
    except ValueError as error:
        if texts := columns_of_texts(X):
            raise ValueError(
                f"X: column {texts[0]!r} has texts or levels, and this kernel is one of numbers; expected it "
                f'to name its columns, k.on([...]), times one of categories, such as Exchangeable("auto").on([{texts[0]!r}])'
            ) from error
        if not any(word in str(error) for word in ("NaN", "infinity")):
            raise
        place = next((found for name, data in zip("Xy", (X, *y), strict=False) if (found := _not_finite(name, data))), "")
        if not place:
            raise
        raise ValueError(f"{place}. {error}") from None


def _not_finite(name: str, data: Any) -> str:
    """Return where the first entry is that is not a finite number; nothing if all are, or if `data` are not numbers."""
    try:
        bad = ~np.isfinite(np.asarray(data, dtype=np.float64))
    except (TypeError, ValueError):
        return ""
    if not bad.any():
        return ""
    place = [int(k) for k in np.unravel_index(bad.argmax(), bad.shape)]
    where = f"entry {place[0]}" if len(place) == 1 else f"row {place[0]}, column {place[1]}"
    return f"{name}: contains NaN or infinity, first at {where}"


def in_parts(kernel: Any, X: Any) -> list[Any] | None:
    """Split many objects into parts, so that no table of them is too large; return None if no split is needed."""
    if reading_of(kernel) is None or not hasattr(X, "__len__") or len(X) <= _AT_ONCE:
        return None
    rows = [slice(begun, begun + _AT_ONCE) for begun in range(0, len(X), _AT_ONCE)]
    return [X.iloc[part] if hasattr(X, "iloc") else X[part] for part in rows]


def blocks(n: int, m: int) -> Iterator[slice]:
    """Yield slices of m points such that n numbers for each fit into a block."""
    size = max(_BLOCK // max(n, 1), 16)
    for begin in range(0, m, size):
        yield slice(begin, min(begin + size, m))

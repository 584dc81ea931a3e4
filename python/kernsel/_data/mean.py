"""A mean of the process that is known: a function of the points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Matrix

__all__ = ["Mean", "mean_at"]

Mean = Callable[..., ArrayLike] | None


def mean_at(mean: Mean, X: Matrix, outputs: int) -> Matrix:
    """Return the values of a mean function at points, shape (n, outputs); zeros if there is none.

    Parameters
    ----------
    mean : callable or None
        A function of points of shape (n, d) that returns (n,), or (n, outputs).
    X : ndarray of shape (n, d)
    outputs : int

    Examples
    --------
    >>> import numpy as np
    >>> mean_at(lambda X: X[:, 0] ** 2, np.array([[1.0], [3.0]]), 1)
    array([[1.],
           [9.]])
    """
    if mean is None:
        return np.zeros((len(X), outputs))
    if not callable(mean):
        raise TypeError(
            f"mean: expected a function of points of shape (n, d), such as model.predict, or None, got {mean!r:.200}"
        )
    values = np.asarray(mean(X), dtype=np.float64)
    if values.shape == (len(X),):
        values = np.repeat(values[:, None], outputs, axis=1)
    if values.shape != (len(X), outputs):
        expected = f"({len(X)},)" if outputs == 1 else f"({len(X)},) or ({len(X)}, {outputs})"
        raise ValueError(f"mean: expected the function to return an array of shape {expected}, got {values.shape}")
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values).all(axis=1)))
        raise ValueError(f"mean: expected the function to return finite numbers, got {values[row].tolist()} in row {row}")
    return values

"""Trends: a few functions of the points whose coefficients are estimated by generalized least squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Trend", "require_trend_of_objects", "trend_matrix"]

# None, "constant", "linear", "quadratic", a matrix with one row for each point, or a function of the points.
Trend = str | ArrayLike | Callable[..., Any] | None


def trend_matrix(
    trend: Trend, X: NDArray[np.float64], used: NDArray[np.intp] | None = None, *, check: bool = True
) -> NDArray[np.float64]:
    """Return the functions of a trend at points, one column for each; raise if they are linearly dependent.

    Parameters
    ----------
    trend : None, "constant", "linear", "quadratic", array-like of shape (n, q), or callable
        "linear" is a constant and all columns of X; "quadratic" adds all products of two columns. A function takes X, (n, d),
        and returns an array of shape (n, q).
    X : ndarray of shape (n, d)
    used : ndarray of int, optional
        The indices of the points to return, all by default.
    check : bool
        Whether to check linear independence, which points of a prediction need not have.

    Returns
    -------
    H : ndarray of shape (n_used, q)

    Examples
    --------
    >>> import numpy as np
    >>> trend_matrix("quadratic", np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0], [1.0, 1.0], [2.0, 5.0], [4.0, 1.0]]))[1]
    array([ 1.,  3.,  4.,  9., 12., 16.])
    """
    n, d = X.shape
    names = ["the constant"]
    columns = [np.ones((n, 1))]
    if trend is None:
        return np.zeros((n if used is None else len(used), 0))
    if isinstance(trend, str):
        if trend not in ("constant", "linear", "quadratic"):
            raise ValueError(f'trend: expected None, "constant", "linear", "quadratic", a matrix or a function, got {trend!r}')
        if trend != "constant":
            columns.append(X)
            names += [f"column {k}" for k in range(d)]
        if trend == "quadratic":
            pairs = [(j, k) for j in range(d) for k in range(j, d)]
            columns.append(np.column_stack([X[:, j] * X[:, k] for j, k in pairs]))
            names += [f"column {j} times column {k}" for j, k in pairs]
        H = np.hstack(columns)
    else:
        H = np.asarray(trend(X) if callable(trend) else trend, dtype=np.float64)
        if H.ndim != 2 or len(H) != n:
            raise ValueError(f"trend: expected one row for each of {n} points, got shape {H.shape}")
        if not np.isfinite(H).all():
            raise ValueError("trend: expected finite numbers")
        names = [f"column {k} of the trend" for k in range(H.shape[1])]
    H = np.ascontiguousarray(H if used is None else H[used])
    if check:
        _require_independent(H, names)
    return H


def require_trend_of_objects(trend: Trend) -> None:
    """Raise if a trend is a function of the columns of X, for points that are objects."""
    if callable(trend) or (isinstance(trend, str) and trend not in ("auto", "constant")):
        raise ValueError(f'trend: expected "constant" or None for points that are objects, got {trend!r}')


def _require_independent(H: NDArray[np.float64], names: list[str]) -> None:
    n, q = H.shape
    if q == 0 or (q == 1 and H.any()):
        return
    if n < q:
        raise ValueError(f"trend: its {q} functions need {q} points at least, got n_samples = {n}")
    from scipy import linalg

    scale = np.linalg.norm(H, axis=0)
    R, order = linalg.qr(H / np.where(scale > 0, scale, 1.0), mode="r", pivoting=True)
    diagonal = np.abs(np.diag(R))
    dependent = [names[k] for k in sorted(order[diagonal <= 1e-12 * max(n, q) ** 0.5])]
    if dependent:
        raise ValueError(f"trend: {', '.join(dependent)} can be made of the others at these {n} points; leave them out")


def points_of_leverage_one(H: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the points without which the coefficients of the trend are not determined."""
    if not H.shape[1]:
        return np.zeros(0, dtype=np.intp)
    Q = H / np.linalg.norm(H, axis=0)
    if H.shape[1] > 1:
        from scipy import linalg

        Q = linalg.qr(Q, mode="economic")[0]
    return np.flatnonzero(np.sum(Q**2, axis=1) > 1 - 1e-10)


def require_leverage_below_one(H: NDArray[np.float64]) -> None:
    """Raise if the coefficients of the trend are not determined without one of the points, naming these points."""
    points = points_of_leverage_one(H)
    if len(points):
        named = ", ".join(str(i) for i in points[:10]) + (", ..." if len(points) > 10 else "")
        raise ValueError(f"trend: without point {named} it is not determined (leverage one); use a simpler trend")


def require_groups_can_be_left_out(H: NDArray[np.float64], groups: NDArray[np.intp], count: int) -> None:
    """Raise if the coefficients of the trend are not determined without one of the groups, naming the group by its points."""
    if not H.shape[1]:
        return
    from scipy import linalg

    Q = linalg.qr(H / np.linalg.norm(H, axis=0), mode="economic")[0]
    for group in range(count):
        points = np.flatnonzero(groups == group)
        if linalg.norm(Q[points], 2) ** 2 > 1 - 1e-10:
            named = ", ".join(str(i) for i in points[:10]) + (", ..." if len(points) > 10 else "")
            raise ValueError(f"trend: without the group of points {named} it is not determined; use a simpler trend")

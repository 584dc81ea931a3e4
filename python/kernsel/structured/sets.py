"""Sets of points, and the check that turns arrays into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from kernsel._base.annotations import Matrix

__all__ = ["PointSet", "as_sets"]


class PointSet:
    """A set of points that has been checked; :func:`as_sets` makes them.

    Attributes
    ----------
    points : ndarray of shape (k, d)
        Finite. Kept, not copied, if it is float64.
    """

    __slots__ = ("points",)

    def __init__(self, points: Matrix) -> None:
        self.points = points

    def __len__(self) -> int:
        return len(self.points)

    def __reduce__(self) -> tuple[type[PointSet], tuple[Matrix]]:
        return PointSet, (self.points,)

    def __repr__(self) -> str:
        return f"PointSet({len(self)} points)"


def as_sets(X: Iterable[object], name: str = "X") -> list[PointSet]:
    """Return a list of checked sets of points, ready to be compared many times.

    Parameters
    ----------
    X : iterable of array-likes of shape (k_i, d)
        Sets of any numbers of points. A set may be empty, where its mean is not needed. The points of a set may be equal, and
        their order does not matter.
    name : str
        What errors call X.

    Returns
    -------
    sets : list of PointSet
        X itself, if it is such a list.

    Examples
    --------
    >>> from kernsel.structured.sets import as_sets
    >>> as_sets([[[0.0, 1.0], [2.0, 3.0]], [[5.0, 6.0]]])
    [PointSet(2 points), PointSet(1 points)]
    """
    if type(X) is list and set(map(type, X)) <= {PointSet}:
        return X
    if isinstance(X, str | bytes | Mapping) or not isinstance(X, Iterable):
        raise TypeError(f"{name}: expected a list of sets of points, got {X!r}")
    sets = [one if type(one) is PointSet else _checked(one, f"{name}[{i}]") for i, one in enumerate(X)]
    _check_columns(sets, name)
    return sets


def _checked(points: object, where: str) -> PointSet:
    try:
        array = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{where}: expected numbers, of shape (k, d), got {points!r}") from None
    if array.shape == (0,):
        array = array.reshape(0, 0)
    if array.ndim != 2 or (len(array) and not array.shape[1]):
        raise ValueError(f"{where}: expected shape (k, d), got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{where}: expected finite numbers, got {array[~np.isfinite(array)][0]}")
    return PointSet(array)


def _check_columns(sets: list[PointSet], name: str) -> None:
    """Raise unless all points have the same number of columns."""
    first_with = {one.points.shape[1]: i for i, one in reversed(list(enumerate(sets))) if len(one)}
    if len(first_with) > 1:
        (d, first), (other, i), *_ = sorted(first_with.items(), key=lambda item: item[1])
        raise ValueError(f"{name}[{i}]: expected points of {d} columns, as in {name}[{first}], got {other}")

"""Points that are left out together: rows that are equal, groups that a user tells, and blocks of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Indices, Matrix, Vector

__all__ = [
    "LearntOnce",
    "Repeats",
    "blocks_of_time",
    "checked_groups",
    "copies_in",
    "counted",
    "first_of_equal",
    "groups_told",
    "learnt_once",
    "numbered",
    "repeats_in",
    "said_of_copies",
    "weights_of_first",
]

_BLOCKS = 10
_LEAST_ROWS = 10  # different rows, each of which occurs several times, from which on that is no chance
_MOST = 0.9  # the share of pairs of equal inputs that have the same target, too, from which on that is no chance
_MEASURED = 0.99  # the number of different targets for each different row from which on two measurements never agree


def first_of_equal(X: Matrix) -> Indices | None:
    """Return for each row the index of the first row that equals it, or None if all rows are distinct.

    Examples
    --------
    >>> import numpy as np
    >>> first_of_equal(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]))
    array([0, 1, 0])
    >>> first_of_equal(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 5.0]])) is None
    True
    """
    n, d = X.shape
    if n < 2 or not d or any(len(np.unique(X[:, k])) == n for k in range(d)):
        return None
    rows = np.ascontiguousarray(X + 0.0)  # -0.0 + 0.0 = 0.0, so that equal numbers have equal bytes
    as_bytes = rows.view(np.dtype((np.void, rows.dtype.itemsize * d))).ravel()
    _, first, group = np.unique(as_bytes, return_index=True, return_inverse=True)
    return None if len(first) == n else first[group].astype(np.intp)


@dataclass(frozen=True)
class Repeats:
    """The numbers of rows of a data set that repeat earlier ones.

    Attributes
    ----------
    rows : int
        The number of rows.
    points : int
        The number of rows whose inputs equal those of an earlier row.
    copies : int
        The number of rows whose inputs and targets equal those of an earlier row.
    """

    rows: int
    points: int = 0
    copies: int = 0

    def __str__(self) -> str:
        have = "has" if self.points == 1 else "have"
        said = f"{self.points:,} of {counted(self.rows, 'row')} {have} the inputs of an earlier one"
        if not self.copies:
            return said
        return f"{said}, and its target" if self.copies == self.points else f"{said}, {self.copies:,} of them its target, too"


def repeats_in(X: Matrix, y: Matrix) -> Repeats:
    """Return how many rows repeat earlier ones.

    Examples
    --------
    >>> import numpy as np
    >>> repeats_in(np.array([[1.0], [2.0], [1.0], [1.0]]), np.array([0.0, 1.0, 0.0, 2.0]))
    Repeats(rows=4, points=2, copies=1)
    """
    first = first_of_equal(X)
    if first is None:
        return Repeats(len(X))
    both = first_of_equal(np.column_stack([X, y]))
    return Repeats(len(X), _later(first), 0 if both is None else _later(both))


def copies_in(X: Matrix, y: Matrix) -> Indices | None:
    """Return for each row the index of the row of which it is a copy, itself if of none; None if there are no copies.

    A row that was copied tells nothing new, but a likelihood takes it for another measurement, and one that agrees to the last
    digit: it finds a noise of zero, however large the noise is. Equal rows may also be measurements that were repeated and had
    the same result, by chance; then they tell how large the noise is, together with the repeats that differ. Rows of equal
    inputs and targets are taken for copies

    - if each different row (ten at least) occurs k times, or a multiple of k: the table was concatenated with itself;
    - among what is then left, if nine in ten pairs of rows of equal inputs have the same target, too, and that is no chance:
      two of all rows have the same target with a probability below one half;
    - or if hardly any two different rows have the same target (one row in a hundred, of twenty at least), so that two
      measurements never agree. Repeats that differ are then measurements, and equal ones are copies.

    Otherwise rows of equal inputs are measurements that were repeated, and none of them is a copy.

    Examples
    --------
    >>> import numpy as np
    >>> copies_in(np.array([[1.0], [2.0], [1.0], [4.0]]), np.array([0.5, 0.2, 0.5, 0.1]))
    array([0, 1, 0, 3])
    >>> copies_in(np.array([[1.0], [2.0], [1.0], [4.0]]), np.array([0.5, 0.2, 0.4, 0.1])) is None
    True
    """
    equal = None if first_of_equal(X) is None else first_of_equal(np.column_stack([X, y]))
    if equal is None:
        return None
    of = _in_one_table(equal)
    kept = np.flatnonzero(of == np.arange(len(of)))
    points, rows = first_of_equal(X[kept]), first_of_equal(np.column_stack([X, y])[kept])
    if points is not None and rows is not None and _are_copies(points, rows, y[kept]):
        of = kept[rows][np.searchsorted(kept, of)]
    return of if _later(of) else None


def _in_one_table(equal: Indices) -> Indices:
    """Return for each row the row of which it is a copy because the table was concatenated with itself.

    Parameters
    ----------
    equal : ndarray of int of shape (n,)
        For each row the index of the first row that equals it.
    """
    _, number, counts = np.unique(equal, return_inverse=True, return_counts=True)
    times = int(np.gcd.reduce(counts))
    if times < 2 or len(counts) < _LEAST_ROWS:
        return np.arange(len(equal))
    order = np.argsort(number, kind="stable")  # equal rows follow each other
    begin = np.cumsum(counts) - counts
    place = np.arange(len(equal)) - np.repeat(begin, counts)  # in its set of equal rows
    of = np.empty(len(equal), dtype=np.intp)
    of[order] = order[np.repeat(begin, counts) + place % np.repeat(counts // times, counts)]
    return of


def _are_copies(points: Indices, rows: Indices, y: Matrix) -> bool:
    """Tell whether rows of equal inputs and targets are copies, from the first rows of equal inputs and of equal rows."""
    _, counts = np.unique(y, axis=0, return_counts=True)
    if _pairs(rows) >= _MOST * _pairs(points) and np.sum((counts / len(y)) ** 2) < 0.5:
        return True
    different = np.unique(rows)
    return len(different) >= 2 * _LEAST_ROWS and len(counts) >= _MEASURED * len(different)


@dataclass(frozen=True)
class LearntOnce:
    """The rows that are left if each row is learnt from once.

    Attributes
    ----------
    of : ndarray of int of shape (n,)
        For each row the index of the one of which it is a copy, itself if of none.
    kept : ndarray of int
        The rows without copies, in their order.
    """

    of: Indices
    kept: Indices

    def places(self, rows: Indices) -> Indices:
        """Return where rows, or those of which they are copies, are among the rows that are kept."""
        return np.unique(np.searchsorted(self.kept, self.of[rows]))

    def __str__(self) -> str:
        return said_of_copies(len(self.of) - len(self.kept))


def said_of_copies(count: int) -> str:
    """Return a remark on rows that are copies of others and are not learnt from."""
    return (
        f"{counted(count, 'row')} {'is a copy of another' if count == 1 else 'are copies of others'}: each is learnt from once."
    )


def learnt_once(X: Matrix, y: Matrix, groups: Indices | None = None) -> LearntOnce | None:
    """Return the rows without copies of others, see :func:`copies_in`; None if there are no copies.

    It is what a fit that finds the noise learns from. A copy is one also if it is in another one of the `groups` that are left
    out together, unless all groups but one are copies.

    Examples
    --------
    >>> import numpy as np
    >>> str(learnt_once(np.array([[1.0], [2.0], [1.0], [4.0]]), np.array([0.5, 0.2, 0.5, 0.1])))
    '1 row is a copy of another: each is learnt from once.'
    """
    of = copies_in(X, y)
    if of is None:
        return None
    kept = np.flatnonzero(of == np.arange(len(of)))
    if groups is not None and len(np.unique(groups[kept])) < 2 <= len(np.unique(groups)):
        return None
    return LearntOnce(of, kept)


def _later(first: Indices) -> int:
    return int(np.sum(first != np.arange(len(first))))


def _pairs(first: Indices) -> int:
    counts = np.bincount(first)
    return int(np.sum(counts * (counts - 1)) // 2)


def weights_of_first(first: Indices, weights: Vector | None) -> Vector:
    """Return weights by which each set of equal rows counts as its first row: the sum of theirs for that, and zero for others.

    Parameters
    ----------
    first : ndarray of int of shape (n,)
        For each row the index of the first row that equals it.
    weights : ndarray of shape (n,) or None

    Returns
    -------
    weights : ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> weights_of_first(np.array([0, 1, 0]), None)
    array([2., 1., 0.])
    """
    return np.bincount(first, weights, len(first)).astype(np.float64)


def checked_groups(groups: ArrayLike | None, n: int) -> Indices | None:
    """Return the number of the group of each of n points; raise unless there is a label for each, and two groups at least."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise ValueError(f"groups: expected one label for each of {n} points, got shape {labels.shape}")
    numbers, count = numbered(labels)
    if count < 2:
        raise ValueError(
            f"groups: expected two at least, since one must be left to learn from, got {labels[0]!r} for all points"
        )
    return numbers


def numbered(labels: ArrayLike) -> tuple[Indices, int]:
    """Return labels as numbers from 0 on, and the number of different labels.

    Examples
    --------
    >>> numbered(["b", "a", "b"])
    (array([1, 0, 1]), 2)
    """
    values, numbers = np.unique(np.asarray(labels), return_inverse=True)
    return numbers.ravel().astype(np.intp), len(values)


def blocks_of_time(time: ArrayLike, blocks: int = _BLOCKS) -> Indices:
    """Return the block of each point, of about `blocks` blocks of equal size that follow each other in time.

    Points of the same time are in the same block.

    Parameters
    ----------
    time : array-like of shape (n,)
        Numbers, dates or texts that are sorted like times, in any order.
    blocks : int

    Returns
    -------
    labels : ndarray of int of shape (n,)

    Examples
    --------
    >>> blocks_of_time([5.0, 1.0, 4.0, 2.0, 3.0, 3.0], 3)
    array([2, 0, 2, 0, 1, 1])
    """
    times = np.asarray(time)
    if times.ndim != 1:
        raise ValueError(f"time: expected one time for each point, got shape {times.shape}")
    missing = np.isnan(times) if times.dtype.kind == "f" else np.isnat(times) if times.dtype.kind in "mM" else times != times
    if np.any(missing):
        raise ValueError(f"time: point {int(np.argmax(missing))} has none; leave such points out")
    _, moment, counts = np.unique(times, return_inverse=True, return_counts=True)
    if len(counts) < 2:
        raise ValueError("time: expected two different times at least, since one must be left to learn from")
    middle = np.cumsum(counts) - 0.5 * counts  # in the order of time, of the points of each moment
    number = np.floor(middle * min(int(blocks), len(counts)) / len(times)).astype(np.intp)
    if number[0] == number[-1]:  # one moment has nearly all points
        number[-1] += 1
    return numbered(number[moment.ravel()])[0]


def groups_told(groups: ArrayLike | None, time: ArrayLike | None, n: int) -> Indices | None:
    """Return the groups of n points that are left out together, if groups or times are given; raise if both are."""
    if time is None:
        return checked_groups(groups, n)
    if groups is not None:
        raise ValueError("groups, time: expected one of them, since both tell what is left out together")
    if np.shape(time) != (n,):
        raise ValueError(f"time: expected one for each of {n} points, got shape {np.shape(time)}")
    return blocks_of_time(time)


def counted(count: int, what: str) -> str:
    """Return a count with its noun, in the plural if need be.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {what}{'s' * (count != 1)}"

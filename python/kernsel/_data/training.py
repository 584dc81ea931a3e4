"""The training set: points, targets, weights and the kernel that reads them, checked once for every estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import column_or_1d

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._base.errors import ArgumentError
from kernsel._data.kernel import matrix_of_indices, require_square
from kernsel._data.noise import point_weights
from kernsel._data.points import validated
from kernsel._data.together import checked_groups, copies_in, first_of_equal, learnt_once, numbered, weights_of_first
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data
from kernsel.kernels.objects import Mixed, Points, Reading, are_numbers, needs_reading

__all__ = ["TrainingSet", "dense", "for_objects", "objects_as_numbers", "require_squares", "training_set"]

_EITHER = (np.float64, np.float32)


@dataclass(frozen=True)
class TrainingSet:
    """The data of a fit.

    Attributes
    ----------
    X : ndarray of shape (n, d), or (n, n) if the kernel is precomputed
        The points as numbers. Objects are represented by numbers that the kernel has assigned to them.
    y : ndarray of shape (n,) or (n, m)
        The targets, in the shape in which they were given.
    kernel : Kernel or "precomputed"
    weights : ndarray of shape (n,) or None
    names : list of str or None
        The names of the columns.
    original : ndarray or sparse matrix
        The points, as a sparse matrix if they were given as one.
    told : ndarray of int of shape (n,) or None
        The groups of points that are left out together, if a user has told them.
    """

    X: Matrix
    y: NDArray[Any]  # numbers, or labels of any type
    kernel: Kernel | str
    weights: Vector | None = None
    names: list[str] | None = None
    original: Any = None  # scipy has no common type of its sparse formats
    told: Indices | None = None

    @property
    def targets(self) -> Matrix:
        """The targets with a column for each output, shape (n, m)."""
        return self.y.reshape(len(self.y), -1)

    @cached_property
    def used(self) -> slice | Indices:
        """The points of positive weight."""
        return slice(None) if self.weights is None or self.weights.all() else np.flatnonzero(self.weights)

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return len(self.y) if self.weights is None else float(self.weights.sum())

    @property
    def weights_used(self) -> Vector | None:
        """The weights of the points of positive weight."""
        return None if self.weights is None else self.weights[self.used]

    @property
    def least(self) -> float:
        """The least regularization that has an effect in single precision; zero for double, where searches add a jitter."""
        if self.X.dtype != np.float32:
            return 0.0
        diagonal = np.diag(self.X) if isinstance(self.kernel, str) else self.kernel.diag(self.X[:1000].astype(np.float64))
        return float(len(self.X) * np.finfo(np.float32).eps * np.mean(np.abs(diagonal)))

    def with_groups(self, groups: ArrayLike | None) -> TrainingSet:
        """Return the same data with groups of points that are left out together."""
        return self if groups is None else replace(self, told=checked_groups(groups, len(self.X)))

    @property
    def groups(self) -> Indices | None:
        """The groups that a user has told; equal rows of a precomputed matrix; otherwise None.

        Criteria find equal rows themselves, but for a precomputed matrix, whose points are indices.
        """
        return first_of_equal(self.X) if self.told is None and isinstance(self.kernel, str) else self.told

    @cached_property
    def together(self) -> Indices | None:
        """What each point of positive weight is left out with: its group, or equal rows; None if each is left out alone.

        Also None if all rows are equal, since then nothing would be left.
        """
        if self.told is not None:
            return self.told[self.used]
        first = first_of_equal(self.X[self.used])
        return first if first is not None and first.any() else None

    @property
    def left_out_together(self) -> Indices:
        """The number of the group with which each point is left out, shape (n,); all different if each is left out alone."""
        together = first_of_equal(self.X) if self.told is None else self.told
        return np.arange(len(self.X)) if together is None else numbered(together)[0]

    def with_copies_once(self) -> TrainingSet:
        """Return the data with one row of positive weight, the sum of theirs, in place of copies; itself if there are none."""
        used: Any = np.arange(len(self.X))[self.used]
        first = copies_in(self.X[used], self.targets[used])
        if first is None:
            return self
        weights = np.zeros(len(self.X))
        weights[used] = weights_of_first(first, self.weights_used)
        return replace(self, weights=weights)

    def with_rows_once(self) -> tuple[TrainingSet, Indices]:
        """Return the data without copies, which get a weight of zero, and the rows that are copies.

        See :func:`kernsel._data.together.learnt_once`. A weight tells how well a target is known, which a copy does not change:
        a row and its copies count with the largest of their weights. It is one without weights, as with equal ones.
        """
        used: Any = np.arange(len(self.X))[self.used]
        once = learnt_once(self.X[used], self.targets[used], None if self.told is None else self.told[used])
        if once is None:
            return self, np.zeros(0, dtype=np.intp)
        largest = np.zeros(len(used))
        np.maximum.at(largest, once.of, 1.0 if self.weights_used is None else self.weights_used)
        weights = np.zeros(len(self.X))
        weights[used] = largest
        copies = np.setdiff1d(used, used[once.kept])
        return replace(self, weights=weights), copies

    def only(self, rows: Indices) -> TrainingSet:
        """Return the data of some rows, without weights; a precomputed matrix has their columns as well."""
        X = self.X[np.ix_(rows, rows)] if isinstance(self.kernel, str) else self.X[rows]
        told = None if self.told is None else self.told[rows]
        return replace(self, X=X, y=self.y[rows], weights=None, original=None, told=told)

    def in_double(self) -> TrainingSet:
        """Return the same data in double precision, which searches and paths use."""
        X, y = (np.asarray(a, dtype=np.float64) for a in (self.X, self.y))
        return replace(self, X=X, y=y)

    def resolved(self) -> TrainingSet:
        """Return the same data with the "auto" parameters of the kernel set."""
        if isinstance(self.kernel, str):
            return self
        X = self.X.astype(np.float64, copy=False)
        return replace(self, kernel=self.kernel.resolve(Data(X, self.y, self.weights, self.names)))

    def kernel_and_points(self) -> tuple[Kernel, Matrix]:
        """Return the kernel and the points for the core. A precomputed matrix becomes a kernel on the indices of its rows."""
        points = np.asarray(self.X, dtype=np.float64)
        return matrix_of_indices(points) if isinstance(self.kernel, str) else (self.kernel, points)

    def matrix_used(self) -> Matrix:
        """Return the block of a precomputed kernel matrix for the points of positive weight."""
        return self.X if isinstance(self.used, slice) else self.X[np.ix_(self.used, self.used)]

    def matrix(self) -> Matrix:
        """Return the kernel matrix of the points of positive weight; a precomputed one keeps its precision."""
        if isinstance(self.kernel, str):
            K = self.matrix_used()
            return np.asarray((K + K.T) / 2)
        return self.kernel(np.asarray(self.X[self.used], dtype=np.float64))


def training_set(
    estimator: BaseEstimator,
    kernel: Kernel | str,
    X: Points,
    y: ArrayLike | None,
    sample_weight: ArrayLike | float | None = None,
    *,
    named: Callable[[str, Matrix], Kernel] | None = None,
    single: bool = False,
    accept_sparse: tuple[str, ...] | bool = False,
    labels: bool = False,
    multi_output: bool = True,
    targets: bool = True,
) -> TrainingSet:
    """Return the data that an estimator is fitted to, checked by scikit-learn's validation, or read by a kernel on objects.

    Parameters
    ----------
    estimator : estimator
        Its attributes for the number and the names of the columns are set, against which later points are checked.
    kernel : Kernel or str
        A kernel, "precomputed", or a name whose kernel depends on the points.
    X : array-like of shape (n, d) or (n, n); or n objects, for a kernel on objects
    y : array-like of shape (n,) or (n, m)
    sample_weight : None, float or array-like of shape (n,)
    named : callable, optional
        Returns the kernel for a name and the points.
    single : bool
        Whether points and targets may stay in single precision.
    accept_sparse : tuple of str or bool
        The formats of sparse matrices that are accepted without conversion.
    labels : bool
        Whether the targets are labels instead of numbers.
    multi_output : bool
        Whether there may be several targets.
    targets : bool
        Whether there are targets; if not, `y` is not looked at, and the set has zeros.

    Returns
    -------
    given : TrainingSet
    """
    names: list[str] | None = None
    original: Any
    if for_objects(kernel, X):
        assert isinstance(kernel, Kernel)
        kernel, original = objects_as_numbers(estimator, kernel, X)
        y = _targets_of_objects(original, y, labels=labels, multi_output=multi_output) if targets else np.zeros(len(original))
    elif not targets:
        original = validated(estimator, X, dtype=_EITHER if single else np.float64, accept_sparse=accept_sparse)
        names, y = _names_of(estimator), np.zeros(original.shape[0])
    elif not labels and _as_they_are(X, y, multi_output):  # full validation would take most of the time of a small fit
        original = X
        estimator.n_features_in_ = original.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
    else:
        checks: dict[str, Any] = {"dtype": _EITHER if single else np.float64, "accept_sparse": accept_sparse}
        if not labels:
            checks |= {"y_numeric": True, "multi_output": multi_output}
        original, y = validated(estimator, X, y, **checks)
        names = _names_of(estimator)
    points = dense(original)
    values = np.asarray(y) if labels else np.asarray(y, dtype=points.dtype)
    if isinstance(kernel, str):
        if kernel == "precomputed":
            require_square(points)
        else:
            assert named is not None
            kernel = named(kernel, points)
    return TrainingSet(points, values, kernel, point_weights(sample_weight, points), names, original)


def for_objects(kernel: object, X: object = None) -> bool:
    """Tell whether the kernel has to convert the points to numbers: they consist of parts, or are objects."""
    parts = isinstance(X, Mixed | Reading)
    if parts and not isinstance(kernel, Kernel):
        raise ArgumentError(f"kernel: expected one that names the parts of X, got {kernel!r}")
    return isinstance(kernel, Kernel) and (parts or needs_reading(kernel, X) or kernel.reading() is not None)


def dense(X: Any) -> Matrix:
    """Return points as an array, also if they are a sparse matrix."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def require_squares(y: Matrix) -> None:
    """Raise if the squares of the targets, which criteria compute, overflow or underflow in double precision."""
    largest = float(np.abs(y).max(initial=0.0))
    if largest > 1e150 or 0 < largest < 1e-140:
        what = "overflow; divide" if largest > 1 else "underflow; multiply"
        raise ValueError(f"y: its squares {what} it by a number, such as {1 / largest if largest < 1 else largest:.0e}")


def objects_as_numbers(estimator: BaseEstimator, kernel: Kernel, X: Points) -> tuple[Kernel, Matrix]:
    """Return the kernel bound to the objects of X, and their numbers; for a bound kernel, X may be such numbers already."""
    if kernel.reading() is not None and are_numbers(X):
        return kernel, np.asarray(X)
    reading = X if isinstance(X, Reading) else Reading.of([kernel], X)
    for name in ("n_features_in_", "feature_names_in_"):
        estimator.__dict__.pop(name, None)
    bound = kernel.bound_to(reading)
    if bound.reading() is None:
        raise TypeError(f"kernel: expected one that names the parts of X, such as {kernel!r}.on([...]), got {kernel!r}")
    return bound, reading.first


def _names_of(estimator: BaseEstimator) -> list[str] | None:
    """Return the names of the columns, if the points had any."""
    columns = getattr(estimator, "feature_names_in_", None)
    return None if columns is None else [str(name) for name in columns]


def _targets_of_objects(X: Matrix, y: ArrayLike | None, *, labels: bool, multi_output: bool) -> NDArray[Any]:
    """Return y as an array; raise unless it has one row for each object."""
    if y is None:
        raise ValueError("y: expected one target for each point, got None")
    check_consistent_length(X, y)
    if labels or not multi_output:
        y = column_or_1d(y, warn=True)
    return np.asarray(check_array(y, dtype=None if labels else np.float64, ensure_2d=False, input_name="y"))


def _as_they_are(X: object, y: object, multi_output: bool) -> bool:
    """Tell whether X and y are arrays that scikit-learn's validation would return unchanged."""
    if type(X) is not np.ndarray or type(y) is not np.ndarray or not X.dtype == y.dtype == np.float64:
        return False
    if X.ndim != 2 or y.ndim not in ((1, 2) if multi_output else (1,)) or len(X) != len(y) or not X.size or not y.size:
        return False
    return bool(np.isfinite(X).all() and np.isfinite(y).all())

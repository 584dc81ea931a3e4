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
from sklearn.utils.validation import column_or_1d, validate_data

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._base.errors import ArgumentError
from kernsel._data.kernel import matrix_of_indices, require_square
from kernsel._data.noise import point_weights
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data
from kernsel.kernels.objects import Mixed, Points, Reading, are_numbers

__all__ = ["TrainingSet", "dense", "for_objects", "objects_as_numbers", "require_squares", "training_set"]

_EITHER = (np.float64, np.float32)


@dataclass(frozen=True)
class TrainingSet:
    """The data of a fit.

    Attributes
    ----------
    X : ndarray of shape (n, d), or (n, n) if the kernel is precomputed
        Numbers, also where points are objects, which the kernel then reads.
    y : ndarray of shape (n,) or (n, m)
        As it came.
    kernel : Kernel or "precomputed"
    weights : ndarray of shape (n,) or None
    names : list of str or None
        Of the columns.
    original : ndarray or sparse matrix
        The points, sparse if they came so.
    """

    X: Matrix
    y: NDArray[Any]  # numbers, or labels of any type
    kernel: Kernel | str
    weights: Vector | None = None
    names: list[str] | None = None
    original: Any = None  # scipy has no common type of its sparse formats

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
        """The weights of the points that count."""
        return None if self.weights is None else self.weights[self.used]

    @property
    def least(self) -> float:
        """The least regularization that single precision can tell from none; zero for double, where a search sees to it."""
        if self.X.dtype != np.float32:
            return 0.0
        diagonal = np.diag(self.X) if isinstance(self.kernel, str) else self.kernel.diag(self.X[:1000].astype(np.float64))
        return float(len(self.X) * np.finfo(np.float32).eps * np.mean(np.abs(diagonal)))

    def in_double(self) -> TrainingSet:
        """Return the same in the precision of searches and paths."""
        X, y = (np.asarray(a, dtype=np.float64) for a in (self.X, self.y))
        return replace(self, X=X, y=y)

    def resolved(self) -> TrainingSet:
        """Return the same with all set in the kernel that is "auto"."""
        if isinstance(self.kernel, str):
            return self
        X = self.X.astype(np.float64, copy=False)
        return replace(self, kernel=self.kernel.resolve(Data(X, self.y, self.weights, self.names)))

    def kernel_and_points(self) -> tuple[Kernel, Matrix]:
        """Return what the core computes with: a matrix that was given is the kernel of the numbers of its rows."""
        points = np.asarray(self.X, dtype=np.float64)
        return matrix_of_indices(points) if isinstance(self.kernel, str) else (self.kernel, points)

    def matrix_used(self) -> Matrix:
        """Return the part of a given kernel matrix for the points that count."""
        return self.X if isinstance(self.used, slice) else self.X[np.ix_(self.used, self.used)]

    def matrix(self) -> Matrix:
        """Return the kernel matrix of the points that count; a given one is only as precise as it came."""
        if isinstance(self.kernel, str):
            K = self.matrix_used()
            return np.asarray((K + K.T) / 2)
        return self.kernel(np.asarray(self.X[self.used], dtype=np.float64))


def training_set(
    estimator: BaseEstimator,
    kernel: Kernel | str,
    X: Points,
    y: ArrayLike,
    sample_weight: ArrayLike | float | None = None,
    *,
    named: Callable[[str, Matrix], Kernel] | None = None,
    single: bool = False,
    accept_sparse: tuple[str, ...] | bool = False,
    labels: bool = False,
    multi_output: bool = True,
) -> TrainingSet:
    """Return the data that an estimator is fitted to, checked as scikit-learn checks them, or read by the kernel.

    Parameters
    ----------
    estimator : estimator
        Learns the number and the names of the columns, for the points to come.
    kernel : Kernel or str
        What the argument stands for: "precomputed", or a name whose kernel depends on the points.
    X : array-like of shape (n, d) or (n, n); or n objects, for a kernel of such
    y : array-like of shape (n,) or (n, m)
    sample_weight : None, float or array-like of shape (n,)
    named : callable, optional
        Returns the kernel of a name.
    single : bool
        May the points stay in single precision? The targets then are, too.
    accept_sparse : tuple of str or bool
        The formats of sparse matrices that are taken as they are.
    labels : bool
        Are targets labels, and no numbers?
    multi_output : bool
        May there be several targets?
    """
    names: list[str] | None = None
    original: Any
    if for_objects(kernel, X):
        assert isinstance(kernel, Kernel)
        kernel, original = objects_as_numbers(estimator, kernel, X)
        y = _targets_of_objects(original, y, labels=labels, multi_output=multi_output)
    elif not labels and _as_they_are(X, y, multi_output):  # most of the time of small fits would go into finding that out
        original = X
        estimator.n_features_in_ = original.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
    else:
        checks: dict[str, Any] = {"dtype": _EITHER if single else np.float64, "accept_sparse": accept_sparse}
        if not labels:
            checks |= {"y_numeric": True, "multi_output": multi_output}
        original, y = validate_data(estimator, X, y, **checks)
        columns = getattr(estimator, "feature_names_in_", None)
        names = None if columns is None else [str(name) for name in columns]
    points = dense(original)
    targets = np.asarray(y) if labels else np.asarray(y, dtype=points.dtype)
    if isinstance(kernel, str):
        if kernel == "precomputed":
            require_square(points)
        else:
            assert named is not None
            kernel = named(kernel, points)
    return TrainingSet(points, targets, kernel, point_weights(sample_weight, points), names, original)


def for_objects(kernel: object, X: object = None) -> bool:
    """Tell whether a kernel reads the points: they have parts, or are no vectors."""
    parts = isinstance(X, Mixed | Reading)
    if parts and not isinstance(kernel, Kernel):
        raise ArgumentError(f"kernel: expected one that names the parts of X, got {kernel!r}")
    return isinstance(kernel, Kernel) and (parts or kernel.for_objects())


def dense(X: Any) -> Matrix:
    """Return an array, of a sparse matrix too."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def require_squares(y: Matrix) -> None:
    """Raise if the squares of targets, which criteria are made of, are too large or too small for a double."""
    largest = float(np.abs(y).max(initial=0.0))
    if largest > 1e150 or 0 < largest < 1e-140:
        what = "overflow; divide" if largest > 1 else "underflow; multiply"
        raise ValueError(f"y: its squares {what} it by a number, such as {1 / largest if largest < 1 else largest:.0e}")


def objects_as_numbers(estimator: BaseEstimator, kernel: Kernel, X: Points) -> tuple[Kernel, Matrix]:
    """Return the kernel bound to the objects of X, and the points as numbers: those of a kernel that is bound may be given."""
    if kernel.reading() is not None and are_numbers(X):
        return kernel, np.asarray(X)
    reading = X if isinstance(X, Reading) else Reading(X)
    for name in ("n_features_in_", "feature_names_in_"):
        estimator.__dict__.pop(name, None)
    bound = kernel.bound_to(reading)
    if bound.reading() is None:
        raise TypeError(f"kernel: expected one that names the parts of X, such as {kernel!r}.on([...]), got {kernel!r}")
    return bound, reading.first


def _targets_of_objects(X: Matrix, y: ArrayLike, *, labels: bool, multi_output: bool) -> NDArray[Any]:
    """Return y as an array, of as many rows as there are objects."""
    if y is None:
        raise ValueError("y: expected one target for each point, got None")
    check_consistent_length(X, y)
    if labels or not multi_output:
        y = column_or_1d(y, warn=True)
    return np.asarray(check_array(y, dtype=None if labels else np.float64, ensure_2d=False, input_name="y"))


def _as_they_are(X: object, y: object, multi_output: bool) -> bool:
    """Tell whether X and y are arrays that scikit-learn's validation would return as they are."""
    if type(X) is not np.ndarray or type(y) is not np.ndarray or not X.dtype == y.dtype == np.float64:
        return False
    if X.ndim != 2 or y.ndim not in ((1, 2) if multi_output else (1,)) or len(X) != len(y) or not X.size or not y.size:
        return False
    return bool(np.isfinite(X).all() and np.isfinite(y).all())

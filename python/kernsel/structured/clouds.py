"""Probability distributions as data: clouds of points with weights, and Gaussians."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Matrix, Vector

__all__ = ["Cloud", "Distribution", "Gaussian", "as_clouds", "as_distribution"]

D = TypeVar("D", "Cloud", "Gaussian")

_SUM_TOLERANCE = 1e-6  # of the sum of weights, which may be in single precision
_EPS = float(np.finfo(np.float64).eps)


class Cloud:
    """A distribution on finitely many points, sum_i w_i delta(x_i).

    Points of weight zero are dropped. Weights that differ by rounding only are taken to be equal.

    Parameters
    ----------
    points : array-like of shape (n, d)
    weights : array-like of shape (n,), optional
        Not negative, with a sum of one (to 1e-6, for weights in single precision). Equal by default.

    Attributes
    ----------
    points : ndarray of shape (n, d)
    weights : ndarray of shape (n,)
    equal : bool
        Whether all weights are 1 / n.
    dimension : int
        The number d of columns.
    mean : ndarray of shape (d,)
    covariance : ndarray of shape (d, d)
        sum_i w_i (x_i - mean)(x_i - mean)'.

    Examples
    --------
    >>> from kernsel.structured.clouds import Cloud
    >>> cloud = Cloud([[0.0, 1.0], [2.0, 5.0], [9.0, 9.0]], [0.5, 0.5, 0.0])
    >>> cloud
    Cloud(2 points of dimension 2, equal weights)
    >>> cloud.mean
    array([1., 3.])
    """

    points: Matrix
    weights: Vector
    equal: bool
    dimension: int

    def __init__(self, points: ArrayLike, weights: ArrayLike | None = None) -> None:
        self._set(points, weights, "points", "weights")

    @classmethod
    def named(cls, points: ArrayLike, weights: ArrayLike | None, name: str) -> Cloud:
        """Return a cloud; errors call its points `name`."""
        cloud = object.__new__(cls)
        cloud._set(points, weights, name, f"weights of {name}")
        return cloud

    def _set(self, points: ArrayLike, weights: ArrayLike | None, name: str, name_of_weights: str) -> None:
        X = _numbers(points, name, "points of shape (n, d)")
        if X.ndim != 2:
            line = "; for points on a line, points.reshape(-1, 1)" if X.ndim == 1 else ""
            raise ValueError(f"{name}: expected points of shape (n, d), got shape {X.shape}{line}")
        if not X.size:
            raise ValueError(f"{name}: expected one point and one column at least, got shape {X.shape}: the cloud is empty")
        if not np.isfinite(X).all():
            i, k = (int(at) for at in np.argwhere(~np.isfinite(X))[0])
            raise ValueError(f"{name}: expected finite numbers, got {X[i, k]} in column {k} of point {i}")
        n, self.dimension = X.shape
        if weights is not None:
            w = _checked_weights(weights, n, name_of_weights)
            if not w.all():
                X, w = X[w > 0], w[w > 0]
                n = len(X)
            if np.ptp(w) > 16 * _EPS * w[0]:
                self.points, self.weights, self.equal = X, w, False
                return
        self.points, self.weights, self.equal = X, np.full(n, 1 / n), True

    @cached_property
    def mean(self) -> Vector:
        """The mean, shape (d,)."""
        origin = self.points[0]  # sums of differences from a point round less than sums of points that are far from zero
        return np.asarray(origin + self.weights @ (self.points - origin))

    @cached_property
    def covariance(self) -> Matrix:
        """The covariance matrix, shape (d, d)."""
        centred = self.points - self.mean
        return np.asarray((centred * self.weights[:, None]).T @ centred)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        n, d = self.points.shape
        return f"Cloud({n} points of dimension {d}, {'equal' if self.equal else 'unequal'} weights)"


class Gaussian:
    """A Gaussian distribution.

    Parameters
    ----------
    mean : array-like of shape (d,), or float
    covariance : array-like of shape (d, d), or float
        Symmetric and positive semidefinite, to rounding.

    Attributes
    ----------
    mean : ndarray of shape (d,)
    covariance : ndarray of shape (d, d)
    dimension : int

    Examples
    --------
    >>> from kernsel.structured.clouds import Gaussian
    >>> Gaussian(0.0, 4.0).covariance
    array([[4.]])
    """

    mean: Vector
    covariance: Matrix
    dimension: int

    def __init__(self, mean: ArrayLike, covariance: ArrayLike) -> None:
        m = np.atleast_1d(_numbers(mean, "mean", "numbers of shape (d,)"))
        S = np.atleast_2d(_numbers(covariance, "covariance", "numbers of shape (d, d)"))
        if m.ndim != 1 or not m.size:
            raise ValueError(f"mean: expected shape (d,), got {m.shape}")
        if S.shape != (len(m), len(m)):
            raise ValueError(f"covariance: expected shape ({len(m)}, {len(m)}), as of the mean, got {S.shape}")
        if not np.isfinite(m).all() or not np.isfinite(S).all():
            raise ValueError("mean, covariance: expected finite numbers")
        rounding = 16 * len(m) * _EPS * np.abs(S).max()
        if np.abs(S - S.T).max() > rounding:
            raise ValueError(f"covariance: expected a symmetric matrix, got entries that differ by {np.abs(S - S.T).max():.3g}")
        S = (S + S.T) / 2
        least = float(np.linalg.eigvalsh(S)[0])
        if least < -rounding:
            raise ValueError(f"covariance: expected a positive semidefinite matrix, got one with the eigenvalue {least:.3g}")
        self.mean, self.covariance, self.dimension = m, S, len(m)

    def __repr__(self) -> str:
        return f"Gaussian(mean={self.mean.tolist()}, covariance={self.covariance.tolist()})"


# What stands for a distribution: points with equal weights, or a tuple (points, weights), stand for a cloud.
Distribution = Cloud | Gaussian | ArrayLike | tuple[ArrayLike, ArrayLike]


def as_distribution(value: Distribution, name: str) -> Cloud | Gaussian:
    """Return the distribution that a value stands for.

    Parameters
    ----------
    value : Cloud, Gaussian, array-like of shape (n, d), or tuple (points, weights)
    name : str
        What errors call the value.

    Examples
    --------
    >>> as_distribution(([[0.0], [1.0]], [0.25, 0.75]), "reference").mean
    array([0.75])
    """
    if isinstance(value, Cloud | Gaussian):
        return value
    if isinstance(value, tuple):
        if len(value) != 2:
            raise ValueError(f"{name}: expected points, or a tuple (points, weights), got a tuple of length {len(value)}")
        return Cloud.named(value[0], value[1], name)
    return Cloud.named(value, None, name)


@overload
def as_clouds(X: object, name: str = "X", dimension: int | None = None, kind: None = None) -> list[Cloud] | list[Gaussian]: ...
@overload
def as_clouds(X: object, name: str = "X", dimension: int | None = None, *, kind: type[D]) -> list[D]: ...
def as_clouds(X: object, name: str = "X", dimension: int | None = None, kind: Any = None) -> Any:
    """Return a list of distributions of one kind and one dimension; raise if X does not stand for one.

    A list that it has returned is checked again in O(N).

    Parameters
    ----------
    X : sequence
        Each item is a :class:`Cloud`, a :class:`Gaussian`, points of shape (n, d) with equal weights, or a tuple (points,
        weights). An array of shape (N, n, d) is N clouds.
    name : str
        What errors call X.
    dimension : int, optional
        The expected number of columns; by default that of the first distribution.
    kind : {Cloud, Gaussian}, optional
        The expected kind of distribution; by default that of the first.

    Returns
    -------
    clouds : list of Cloud, or of Gaussian
        Items of X that are of this kind already are not copied.

    Examples
    --------
    >>> as_clouds([[[0.0], [1.0]], ([[2.0], [3.0]], [0.1, 0.9])])
    [Cloud(2 points of dimension 1, equal weights), Cloud(2 points of dimension 1, unequal weights)]
    """
    if isinstance(X, Cloud | Gaussian | str | bytes) or not isinstance(X, Sequence | np.ndarray):
        raise TypeError(f"{name}: expected a list of clouds, got {X!r:.80}")
    if isinstance(X, np.ndarray) and X.dtype != object and X.ndim != 3:
        hint = "; one cloud is a list of length one, [points]" if X.ndim == 2 else ""
        raise ValueError(f"{name}: expected a list of clouds, or an array of shape (N, n, d), got shape {X.shape}{hint}")
    if not len(X):
        raise ValueError(f"{name}: expected one cloud at least, got none")
    clouds = [one if isinstance(one, Cloud | Gaussian) else as_distribution(one, f"{name}[{i}]") for i, one in enumerate(X)]
    expected = type(clouds[0]) if kind is None else kind
    columns = clouds[0].dimension if dimension is None else dimension
    for i, one in enumerate(clouds):
        if type(one) is not expected:
            first = f", as {name}[0] is one" if kind is None else ""
            raise TypeError(f"{name}[{i}]: expected a {expected.__name__}{first}, got {one!r:.80}")
        if one.dimension != columns:
            first = f", as {name}[0] has" if dimension is None else ""
            raise ValueError(f"{name}[{i}]: expected points of {columns} columns{first}, got {one.dimension}")
    return clouds


def _numbers(value: ArrayLike, name: str, expected: str) -> Matrix:
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name}: expected {expected}, got rows of different lengths") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name}: expected {expected}, got {value!r:.80}")
    return array.astype(np.float64)


def _checked_weights(weights: ArrayLike, n: int, name: str) -> Vector:
    w = _numbers(weights, name, f"numbers of shape ({n},)")
    if w.shape != (n,):
        raise ValueError(f"{name}: expected one for each of {n} points, got shape {w.shape}")
    if not np.isfinite(w).all():
        raise ValueError(f"{name}: expected finite numbers")
    if (w < 0).any():
        i = int(np.argmin(w))
        raise ValueError(f"{name}: expected numbers that are not negative, got {w[i]:.6g} for point {i}")
    total = float(w.sum())
    if abs(total - 1) > _SUM_TOLERANCE:
        raise ValueError(f"{name}: expected a sum of one, got {total:.9g}; divide by it")
    return np.asarray(w / total)

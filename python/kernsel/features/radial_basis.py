"""Kernel functions at centres."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state

from kernsel._base.annotations import Matrix, Seed
from kernsel.features.base import Transformer, whole_number
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data

__all__ = ["RadialBasis"]


class RadialBasis(ClassNamePrefixFeaturesOutMixin, Transformer):  # type: ignore[misc]
    """Kernel functions at some centres: phi_j(x) = k(x, c_j).

    The centres c_j are given, or points of `fit`, each the farthest from all centres before it, so that the greatest distance
    of a point from a centre is at most twice that of the best choice of as many centres. Distances are taken after dividing
    each column by its standard deviation. O(n n_centers d) operations.

    Parameters
    ----------
    n_centers : int or array-like of shape (n_centers, d)
        Their number, or the centres themselves. If there are fewer distinct points than the number, these are the centres.
    kernel : Kernel, optional
        None stands for ``RBF("auto")``. "auto" parameters are set in `fit`, from the points.
    random_state : int, RandomState instance or None
        With None, the first centre is the point nearest to the mean, and the centres are always the same. Otherwise it is the
        outermost point in a random direction.

    Attributes
    ----------
    centers_ : ndarray of shape (n_centers, d)
        The centres in the order in which they were chosen, so that the first ones alone are a good choice of fewer centres.
    kernel_ : Kernel
        The kernel in use, "auto" parameters set.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        If X has column names.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.features import RadialBasis
    >>> basis = RadialBasis(4).fit(np.arange(9.0).reshape(-1, 1))
    >>> basis.centers_.ravel()
    array([4., 0., 8., 2.])
    >>> basis.transform([[0.0], [4.0]]).shape
    (2, 4)
    """

    def __init__(self, n_centers: int | ArrayLike = 100, *, kernel: Kernel | None = None, random_state: Seed = None) -> None:
        self.n_centers = n_centers
        self.kernel = kernel
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | float | None = None) -> Self:
        """Choose the centres, and set "auto" parameters of the kernel.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        sample_weight : float or array-like of shape (n,), optional
            Weights of points in means and standard deviations. Points of weight zero are no centres.

        Returns
        -------
        self : RadialBasis
        """
        del y
        given = np.ndim(self.n_centers) > 0
        count = 0 if given else whole_number("n_centers", self.n_centers)
        points, weights = self.points_of_fit(X, sample_weight)
        self.kernel_ = self.resolved(self.kernel, points, weights)
        if given:
            self.centers_ = _given_centers(self.n_centers, points.shape[1])
            return self
        scaled = (points - np.average(points, axis=0, weights=weights)) / Data(points, None, weights).spreads
        if self.random_state is None:
            first = int(np.argmin(np.sum(scaled**2, axis=1)))
        else:
            first = int(np.argmax(scaled @ check_random_state(self.random_state).standard_normal(scaled.shape[1])))
        self.centers_ = points[_farthest_points(scaled, count, first)]
        return self

    def transform(self, X: ArrayLike) -> Matrix:
        """Return k(X, centers_).

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        features : ndarray of shape (n, n_centers)
        """
        points = self.new_points(X)
        return self.kernel_(points, self.centers_.astype(points.dtype, copy=False))

    @property
    def _n_features_out(self) -> int:
        return len(self.centers_)


def _given_centers(centers: ArrayLike, d: int) -> Matrix:
    """Return centres that were given; raise unless they are points of d columns."""
    array = np.asarray(centers, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != d or not len(array) or not np.isfinite(array).all():
        raise ValueError(f"n_centers: expected a number, or finite centres of shape (n, {d}), got shape {array.shape}")
    return array.copy()


def _farthest_points(points: Matrix, count: int, first: int) -> list[int]:
    """Return indices of `count` points, each the farthest from all before it; fewer if there are fewer distinct points."""
    centers = [first]
    distances = np.sum((points - points[first]) ** 2, axis=1)  # squared, to the nearest centre
    while len(centers) < count:
        farthest = int(np.argmax(distances))
        if distances[farthest] == 0:
            break
        centers.append(farthest)
        np.minimum(distances, np.sum((points - points[farthest]) ** 2, axis=1), out=distances)
    return centers

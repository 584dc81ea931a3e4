"""Features whose inner products are a kernel as landmarks see it."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state

from kernsel import _core, approximations
from kernsel._base.annotations import Matrix, Seed, Vector
from kernsel.features.base import Transformer
from kernsel.kernels import Kernel

__all__ = ["Nystrom"]

_JITTER = 1e-10  # of the diagonal of the kernel matrix of the landmarks, as in the core


class Nystrom(ClassNamePrefixFeaturesOutMixin, Transformer):  # type: ignore[misc]
    """Features phi(x) = L^-1 k(Z, x) of landmarks Z, k(Z, Z) = L L', whose inner products are what landmarks see of a kernel.

    phi(x)'phi(z) = k(x, Z) k(Z, Z)^-1 k(Z, z), which is k(x, z) if x or z is a landmark, and at most that for x = z. If the
    kernel is smooth, or if points are not spread over very many columns, it is nearer to k(x, z) than the inner product of as
    many random Fourier features. The diagonal of k(Z, Z) is multiplied by 1 + 1e-10. O(n m (d + m)) operations for m landmarks.

    Parameters
    ----------
    landmarks : int or array-like of shape (m, d)
        Their number, or the landmarks themselves.
    kernel : Kernel, optional
        None stands for ``RBF("auto")``. "auto" parameters are set in `fit`, from the points.
    placement : {"pivoted", "k-means", "random"}
        How landmarks are chosen, see :class:`kernsel.Nystrom`.
    random_state : int, RandomState instance or None
        Determines which are chosen; None always chooses the same.

    Attributes
    ----------
    landmarks_ : ndarray of shape (m, d)
    kernel_ : Kernel
        The kernel in use, "auto" parameters set.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        If X has column names.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.features import Nystrom
    >>> from kernsel.kernels import RBF
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> features = Nystrom(40, kernel=RBF(0.5)).fit_transform(X)
    >>> features.shape
    (500, 40)
    >>> bool(np.abs(features @ features.T - RBF(0.5)(X)).max() < 1e-4)
    True
    """

    def __init__(
        self,
        landmarks: int | ArrayLike = 100,
        *,
        kernel: Kernel | None = None,
        placement: Literal["pivoted", "k-means", "random"] = "pivoted",
        random_state: Seed = None,
    ) -> None:
        self.landmarks = landmarks
        self.kernel = kernel
        self.placement = placement
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | float | None = None) -> Self:
        """Choose the landmarks, and set "auto" parameters of the kernel.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        sample_weight : float or array-like of shape (n,), optional
            Weights of points in means and standard deviations. Points of weight zero are no landmarks.

        Returns
        -------
        self : Nystrom
        """
        del y
        points, weights = self.points_of_fit(X, sample_weight)
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31))
        wish = approximations.Nystrom(self.landmarks, self.placement, seed)
        self.kernel_ = self.resolved(self.kernel, points, weights)
        approximations.approximation_given(wish, self.kernel_, points.shape[1])
        self.landmarks_ = _core.choose_landmarks(self.kernel_.build(), np.ascontiguousarray(points), wish.core())
        self.factorize()
        return self

    def factorize(self) -> None:
        """Compute the Cholesky factor of the kernel matrix of the landmarks; raise if they are not different enough."""
        of_landmarks = np.asarray(self.kernel_(self.landmarks_, self.landmarks_.copy()))
        of_landmarks[np.diag_indices_from(of_landmarks)] *= 1 + _JITTER
        self._lower = np.linalg.cholesky(of_landmarks)

    def transform(self, X: ArrayLike) -> Matrix:
        """Return k(X, Z) L^-T.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        features : ndarray of shape (n, m)
        """
        points = self.new_points(X)
        features = solve_triangular(self._lower, self._values(points).T, lower=True, check_finite=False).T
        return np.asarray(features.astype(points.dtype, copy=False))

    def _values(self, points: Matrix) -> Matrix:
        return np.asarray(self.kernel_(points.astype(np.float64, copy=False), self.landmarks_))

    def pullback(self, X: ArrayLike, W: ArrayLike, *, wrt: Literal["theta", "X", "landmarks"] = "theta") -> Matrix | Vector:
        """Return the derivatives of a function J of the features, given W = dJ/dfeatures, in O(n m^2).

        With K = k(X, Z), F = K L^-T and T = tril(-F'W), in which diagonal entries count half, ::

            dJ/dK = W L^-1        dJ/dk(Z, Z) = sym(L^-T T L^-1)

        Parameters
        ----------
        X : array-like of shape (n, d)
        W : array-like of shape (n, m)
        wrt : {"theta", "X", "landmarks"}
            With respect to the hyperparameters ``kernel_.theta``, the coordinates of the points or those of the landmarks.

        Returns
        -------
        gradient : ndarray of shape (p,), (n, d) or (m, d)
        """
        points = self.new_points(X).astype(np.float64, copy=False)
        Z, others = self.landmarks_, self.landmarks_.copy()
        slopes = np.asarray(W, dtype=np.float64)
        if slopes.shape != (len(points), len(Z)):
            raise ValueError(f"W: expected shape {(len(points), len(Z))}, a number for each feature, got {slopes.shape}")
        of_values = solve_triangular(self._lower, slopes.T, lower=True, trans="T", check_finite=False).T
        if wrt == "X":
            return np.asarray(self.kernel_.pullback(points, of_values, Z, wrt="X"))
        features = self.transform(points)
        T = np.tril(-slopes.T @ features)
        T[np.diag_indices_from(T)] /= 2
        half = solve_triangular(self._lower, T, lower=True, trans="T", check_finite=False)
        of_landmarks = solve_triangular(self._lower, half.T, lower=True, trans="T", check_finite=False)
        of_landmarks = (of_landmarks + of_landmarks.T) / 2
        of_landmarks[np.diag_indices_from(of_landmarks)] *= 1 + _JITTER
        if wrt == "theta":
            return np.asarray(self.kernel_.pullback(points, of_values, Z) + self.kernel_.pullback(Z, of_landmarks, others))
        if wrt != "landmarks":
            raise ValueError(f'wrt: expected "theta", "X" or "landmarks", got {wrt!r}')
        return np.asarray(
            self.kernel_.pullback(Z, of_values.T, points, wrt="X") + 2 * self.kernel_.pullback(Z, of_landmarks, others, wrt="X")
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.landmarks_)

"""What acquisition functions ask of a fitted process: moments, joint covariances, and their derivatives in the points."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.points import reading_of
from kernsel._data.trend import Trend, trend_matrix
from kernsel._solve.functional_posterior import FunctionalPosterior
from kernsel.estimators.gaussian_process import GaussianProcessRegressor

__all__ = ["CovarianceWith", "Surrogate"]


class Surrogate:
    """A process of one output as its posterior has it now, multiplied by -1 if y is to be minimized.

    Moments are those of the function, without the noise of observations, in the unit of y.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Fitted to one output with normal noise.
    maximize : bool
    name : str
        The argument that errors name.

    Attributes
    ----------
    noise : float
        The noise variance of a new observation, the mean of those of the data.
    """

    def __init__(self, model: GaussianProcessRegressor, maximize: bool = True, name: str = "model") -> None:
        if not isinstance(model, GaussianProcessRegressor):
            raise TypeError(f"{name}: expected a fitted GaussianProcessRegressor, got {type(model).__name__}")
        check_is_fitted(model, "kernel_")
        if model._observed is not None:
            given = type(model.likelihood_).__name__
            raise ValueError(f"{name}: {given} observations are not normal; expected a process without a likelihood")
        if model.posterior_.y.shape[1] > 1:
            raise ValueError(f"{name}: expected one output, got {model.posterior_.y.shape[1]}; fit one process for each")
        if model.mean is not None:
            raise ValueError(
                f"{name}: expected a process without a known mean, whose derivatives are not known; fit y without it"
            )
        if reading_of(model.kernel_) is not None:
            raise ValueError(f"{name}: expected points that are numbers, got a kernel of objects, {model.kernel_}")
        if isinstance(model.posterior_, FunctionalPosterior):
            raise ValueError(
                f"{name}: expected a fit to values, got one with slopes or averages, which no point may be added to"
            )
        self.name = name
        self.posterior = model.posterior_
        self.sign = 1.0 if maximize else -1.0
        self._unit = float(np.ravel(model._y_train_std)[0])
        self._offset = float(np.ravel(model._y_train_mean)[0])
        self.factor = float(model.scale_[0]) * self._unit**2  # of variances
        self._least = float(model.jitter_) or np.finfo(float).tiny
        self.noise = self.factor * float(np.mean(model.noise_ + model._alpha_known))

    @property
    def d(self) -> int:
        """The number of columns of points."""
        return int(self.posterior.X.shape[1])

    def points(self, X: Any) -> Matrix:
        """Return points as an array of shape (m, d), checked."""
        Z = np.asarray(check_array(X, dtype=np.float64))
        if Z.shape[1] != self.d:
            raise ValueError(f"X: expected {self.d} columns, as the process has, got {Z.shape[1]}")
        return Z

    def mean(self, Z: Matrix) -> Vector:
        """Return the mean, shape (m,)."""
        return np.asarray(self.sign * (self.posterior.mean(Z)[:, 0] * self._unit + self._offset))

    def mean_gradient(self, Z: Matrix) -> Matrix:
        """Return the derivatives of the mean in the points, shape (m, d)."""
        return np.asarray(self.sign * self._unit * self.posterior.mean_gradient(Z)[:, :, 0])

    def variance(self, Z: Matrix) -> Vector:
        """Return the variance, shape (m,)."""
        return np.asarray(self.factor * np.maximum(self.posterior.variance(Z), self._least))

    def variance_gradient(self, Z: Matrix, variance: Vector) -> Matrix:
        """Return the derivatives of the variance in the points, shape (m, d); none where it is the least there may be."""
        above = variance > self.factor * self._least
        return np.asarray((self.factor * above)[:, None] * self.posterior.variance_gradient(Z))

    def in_its_sign(self, y: float) -> float:
        """Return a value of y as the means are, larger if better."""
        return self.sign * y

    @cached_property
    def best(self) -> float:
        """The largest of the posterior means at the data, which noise hardly biases, unlike the largest target."""
        return float(self.mean(self.posterior.X).max())

    def covariance_with(self, R: Matrix) -> CovarianceWith:
        """Return the covariance of the function at any points with the function at points R, in O(n^2) for each of R."""
        if not self.posterior.exact:
            raise ValueError(
                f"{self.name}: this acquisition takes joint covariances, which neighbours and landmarks do not have; expected "
                "approximation=None, or an acquisition of means and deviations such as LogExpectedImprovement"
            )
        return CovarianceWith(self, R)

    @cached_property
    def _lower(self) -> Matrix:
        return np.asarray(self.posterior.lower())

    @cached_property
    def _trend_seen(self) -> tuple[Matrix, Matrix]:
        """G = L^-1 H and the Cholesky factor of G'G."""
        G = linalg.solve_triangular(self._lower, self.posterior.H, lower=True)
        return G, linalg.cholesky(G.T @ G, lower=True)

    def coefficients(self, R: Matrix) -> tuple[Matrix, Matrix]:
        """Return A and C with K~ A + H C = k(X, R) and H'A = h(R)'."""
        posterior = self.posterior
        B = linalg.solve_triangular(self._lower, posterior.kernel(posterior.X, R), lower=True)
        C = np.zeros((0, len(R)))
        if posterior.H.shape[1]:
            G, root = self._trend_seen
            C = linalg.cho_solve((root, True), G.T @ B - trend_matrix(posterior.trend, R, check=False).T)
            B = B - G @ C
        return linalg.solve_triangular(self._lower, B, lower=True, trans="T"), C


class CovarianceWith:
    """The posterior covariance of the function at points z with that at points R.

    ::

        cov(z, R) = k(z, R) - k(z, X) A - h(z) C

    Attributes
    ----------
    R : ndarray of shape (r, d)
    """

    def __init__(self, surrogate: Surrogate, R: Matrix) -> None:
        self.R = R
        self._surrogate = surrogate
        self._A, self._C = surrogate.coefficients(R)

    def at(self, Z: Matrix) -> Matrix:
        """Return the covariances, shape (m, r)."""
        posterior = self._surrogate.posterior
        found = posterior.kernel(Z, self.R) - posterior.kernel(Z, posterior.X) @ self._A
        if len(self._C):
            found -= trend_matrix(posterior.trend, Z, check=False) @ self._C
        return np.asarray(self._surrogate.factor * found)

    def pull(self, Z: Matrix, W: Matrix) -> Matrix:
        """Return the derivatives of sum_ij W_ij cov(z_i, R_j) in the points Z, shape (m, d); R stays where it is."""
        posterior = self._surrogate.posterior
        slopes = posterior.kernel.pullback(Z, W, self.R, wrt="X")
        slopes = slopes - posterior.kernel.pullback(Z, W @ self._A.T, posterior.X, wrt="X")
        if len(self._C):
            slopes = slopes - pull_trend(posterior.trend, Z, W @ self._C.T)
        return np.asarray(self._surrogate.factor * slopes)


def pull_trend(trend: Trend, Z: Matrix, V: Matrix) -> Matrix:
    """Return the derivatives of sum_ij V_ij h_j(z_i) in the points Z, shape (m, d)."""
    d = Z.shape[1]
    if callable(trend):
        return _pull_function(trend, Z, V)
    slopes = np.zeros_like(Z)
    if isinstance(trend, str) and trend != "constant":
        slopes += V[:, 1 : 1 + d]
    if isinstance(trend, str) and trend == "quadratic":
        pairs = [(j, k) for j in range(d) for k in range(j, d)]
        for v, (j, k) in zip(V[:, 1 + d :].T, pairs, strict=True):
            slopes[:, j] += v * Z[:, k]
            slopes[:, k] += v * Z[:, j]
    return slopes


def _pull_function(trend: Callable[..., Any], Z: Matrix, V: Matrix) -> Matrix:
    """Return the derivatives for a trend without any of its own, by central differences."""
    slopes = np.empty_like(Z)
    for k in range(Z.shape[1]):
        step = np.cbrt(np.finfo(float).eps) * np.maximum(np.abs(Z[:, k]), 1.0)
        above, below = Z.copy(), Z.copy()
        above[:, k] += step
        below[:, k] -= step
        change = np.asarray(trend(above), dtype=np.float64) - np.asarray(trend(below), dtype=np.float64)
        slopes[:, k] = np.sum(V * change, axis=1) / (above[:, k] - below[:, k])
    return slopes

"""The posterior: what a fitted model knows, for every prediction, plot and file that is made of it."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Vector
from kernsel._data.trend import Trend, trend_matrix
from kernsel.criteria.base import Criterion, Given
from kernsel.kernels import Kernel

__all__ = ["Posterior"]


class _State(TypedDict):
    """What a posterior is pickled as."""

    kernel: Kernel
    X: Vector
    y: Vector
    noise: Vector
    trend: Trend
    weights: Vector
    beta: Vector
    lower: Vector


class Posterior:
    """A Gaussian process conditioned on data.

    With the weights c = P y and the trend's coefficients beta, K~ = k(X, X) + diag(noise) ::

        mean(z) = k(z, X) c + h(z) beta
        var(z) = k(z, z) - k(z, X) K~^-1 k(X, z) + r'(H'K~^-1 H)^-1 r,    r = h(z) - H'K~^-1 k(X, z)

    n^3 / 3 operations once; O(n) for a mean and O(n^2) for a variance at a point. The core computes all of it
    (``kernsel/posterior.hpp``).

    Attributes
    ----------
    kernel : Kernel
    X : ndarray of shape (n, d)
    y : ndarray of shape (n, outputs)
    noise : ndarray of shape (n,)
        All that is added to the diagonal of k(X, X).
    H : ndarray of shape (n, q)
        The functions of the trend.
    weights : ndarray of shape (n, outputs)
        c.
    beta : ndarray of shape (q, outputs)
    """

    def __init__(self, kernel: Kernel, X: Vector, y: Vector, noise: Vector, trend: Trend) -> None:
        self.kernel = kernel
        self.trend = trend
        self.H = trend_matrix(trend, X)
        self._core = _core.Posterior.condition(kernel.build(), X, y, noise, trend, self.H.shape[1])
        self._of_objects = kernel.reading() is not None
        self._read(X, y, noise)

    def _read(self, X: Vector, y: Vector, noise: Vector) -> None:
        self.X, self.y, self.noise = X, y, noise
        self.weights, self.beta = self._core.weights, self._core.beta

    def __getstate__(self) -> _State:
        return {
            "kernel": self.kernel,
            "X": self.X,
            "y": self.y,
            "noise": self.noise,
            "trend": self.trend,
            "weights": self.weights,
            "beta": self.beta,
            "lower": self.lower(),
        }

    def __setstate__(self, state: _State) -> None:
        self.kernel, self.trend = state["kernel"], state["trend"]
        X, y, noise = state["X"], state["y"], state["noise"]
        self.H = trend_matrix(self.trend, X, check=False)
        of_trend = self.trend, self.H.shape[1]
        known = state["weights"], state["beta"], state["lower"]
        self._core = _core.Posterior.restore(self.kernel.build(), X, y, noise, *of_trend, *known)
        self._of_objects = self.kernel.reading() is not None
        self._read(X, y, noise)

    def _at(self) -> _core.Posterior:
        """Return the core's posterior; kernels of objects are built anew, since they keep tables of the objects they met."""
        if self._of_objects:
            self._core.set_kernel(self.kernel.build())
        return self._core

    def mean(self, Z: Vector) -> Vector:
        """Return the mean at other points, shape (m, outputs): the kernel matrix is never stored."""
        self._require_trend_of_others()
        return self._at().mean(Z)

    def variance(self, Z: Vector) -> Vector:
        """Return the variance at other points, shape (m,), block after block of them."""
        self._require_trend_of_others()
        return self._at().variance(Z)

    def covariance(self, Z: Vector) -> Vector:
        """Return the joint covariance of other points, shape (m, m)."""
        self._require_trend_of_others()
        return self._at().covariance(Z)

    def mean_gradient(self, Z: Vector) -> Vector:
        """Return the derivatives of the mean in the points, shape (m, d, outputs)."""
        self._require_trend_of_others()
        return self._core.mean_gradient(Z).reshape(*Z.shape, self.y.shape[1])

    def variance_gradient(self, Z: Vector) -> Vector:
        """Return the derivatives of the variance in the points, shape (m, d)."""
        self._require_trend_of_others()
        return self._core.variance_gradient(Z)

    def _require_trend_of_others(self) -> None:
        if self.H.shape[1] and not (isinstance(self.trend, str) or callable(self.trend)):
            raise ValueError("trend: a matrix says nothing of other points; give a name or a function to predict")

    def leave_one_out(self) -> tuple[Vector, Vector, Vector]:
        """Return of each point, in the fit without it, the residual, (n, outputs), and its variance, (n,); and its leverage."""
        return self._at().leave_one_out()

    def lower(self) -> Vector:
        """Return the lower Cholesky factor of K~, shape (n, n)."""
        return self._core.lower()

    def log_likelihood(self, scale: Vector, *, restricted: bool = False) -> float:
        """Return the log likelihood, the sum over outputs, of kernel and noise times `scale` for each."""
        n, m = self.y.shape
        q = self.H.shape[1] if restricted else 0
        squares = float(np.sum(np.einsum("ik,ik->k", self.y, self.weights) / scale))
        value = -0.5 * (squares + m * self._core.log_det + (n - q) * float(np.sum(np.log(2 * np.pi * scale))))
        if q:
            value -= 0.5 * m * self._core.log_det_trend
        return float(value)

    def core_of(self, criterion: Criterion) -> _core.Criterion:
        """Return a criterion of these data for the C++ core; raise if it cannot be one of theirs."""
        given = Given(self.X, self.y, np.arange(len(self.X)))
        criterion.require_trend(self.H, given)
        return criterion.core(given)

    def value_of(self, criterion: Criterion) -> float:
        """Return the value of a criterion for this kernel and noise, read off the factor that is there.

        O(n) operations for likelihoods, n^3 / 3 for criteria of the diagonal of P. Those of groups see blocks of P, which is
        then formed from a factorization of its own.
        """
        return float(criterion.with_prior(self.kernel, self._at().value(self.core_of(criterion)), None)[0])

    def append(self, X: Vector, y: Vector, noise: Vector) -> None:
        """Take more points in, O(n^2) for each; none of them if one cannot be."""
        self._require_trend_of_others()
        self._at().append(X, y, noise)
        self.H = np.vstack([self.H, trend_matrix(self.trend, X, check=False)])
        self._read(np.vstack([self.X, X]), np.vstack([self.y, y]), np.append(self.noise, noise))

    def remove(self, i: int) -> None:
        """Leave a point out from now on, O(n^2)."""
        i %= len(self.X)
        self._at().remove(i)
        self.H = np.delete(self.H, i, axis=0)
        self._read(np.delete(self.X, i, axis=0), np.delete(self.y, i, axis=0), np.delete(self.noise, i))

"""The posterior of a Gaussian process, from which predictions, plots and saved files of a fitted model are made."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Indices, Vector
from kernsel._data.trend import Trend, trend_matrix
from kernsel._solve.evaluate import left_out_in_groups, require_takes_groups
from kernsel.criteria.base import Criterion, Given
from kernsel.kernels import Kernel

__all__ = ["Posterior"]


class _State(TypedDict):
    """The contents of a pickled posterior."""

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

    With K~ = k(X, X) + diag(noise), the weights c = K~^-1 (y - H beta) and the coefficients beta of the trend ::

        mean(z) = k(z, X) c + h(z) beta
        var(z) = k(z, z) - k(z, X) K~^-1 k(X, z) + r'(H'K~^-1 H)^-1 r,    r = h(z) - H'K~^-1 k(X, z)

    The factorization takes n^3 / 3 operations; a mean at a point takes O(n), and a variance O(n^2). The C++ core does all
    computations (``kernsel/posterior.hpp``).

    Attributes
    ----------
    kernel : Kernel
    X : ndarray of shape (n, d)
    y : ndarray of shape (n, outputs)
    noise : ndarray of shape (n,)
        The variances that are added to the diagonal of k(X, X), jitter included.
    H : ndarray of shape (n, q)
        The functions of the trend at the points.
    weights : ndarray of shape (n, outputs)
        The weights c.
    beta : ndarray of shape (q, outputs)
        The coefficients of the trend.
    exact : bool
        Whether it uses the whole kernel matrix.
    """

    exact = True

    def __init__(self, kernel: Kernel, X: Vector, y: Vector, noise: Vector, trend: Trend) -> None:
        self.kernel = kernel
        self.trend = trend
        self.H = trend_matrix(trend, X)
        self._core = _core.Posterior.condition(kernel.build(), X, y, noise, trend, self.H.shape[1])
        self._of_objects = kernel.reading() is not None
        self._read(X, y, noise)

    @property
    def n_rows(self) -> int:
        """The number of rows that it was conditioned on."""
        return len(self.y)

    def arguments(self) -> dict[str, object]:
        """Return the arguments from which an equal posterior can be made."""
        return {name: getattr(self, name) for name in ("kernel", "X", "y", "noise", "trend")}

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

    def _at(self) -> _core.AnyPosterior:
        """Return the core's posterior; a kernel on objects is rebuilt first, since it holds a table of the objects read."""
        if self._of_objects:
            self._core.set_kernel(self.kernel.build())
        return self._core

    def mean_and_variance(self, Z: Vector) -> tuple[Vector, Vector]:
        """Return the mean at points Z, shape (m, outputs), and the variance, (m,)."""
        return self.mean(Z), self.variance(Z)

    def mean(self, Z: Vector) -> Vector:
        """Return the mean at points Z, shape (m, outputs). The kernel matrix between Z and X is not stored."""
        self._require_trend_of_others()
        return self._at().mean(Z)

    def variance(self, Z: Vector) -> Vector:
        """Return the variance at points Z, shape (m,), computed for blocks of points."""
        self._require_trend_of_others()
        return self._at().variance(Z)

    def covariance(self, Z: Vector) -> Vector:
        """Return the joint covariance at points Z, shape (m, m)."""
        self._require_trend_of_others()
        return self._at().covariance(Z)

    def mean_gradient(self, Z: Vector) -> Vector:
        """Return the derivatives of the mean with respect to the points Z, shape (m, d, outputs)."""
        self._require_trend_of_others()
        return self._at().mean_gradient(Z).reshape(*Z.shape, self.y.shape[1])

    def variance_gradient(self, Z: Vector) -> Vector:
        """Return the derivatives of the variance with respect to the points Z, shape (m, d)."""
        self._require_trend_of_others()
        return self._at().variance_gradient(Z)

    def _require_trend_of_others(self) -> None:
        if self.H.shape[1] and not (isinstance(self.trend, str) or callable(self.trend)):
            raise ValueError("trend: a matrix says nothing of other points; give a name or a function to predict")

    def centres(self) -> tuple[Vector, Vector]:
        """Return the points and the coefficients, shape (m, d) and (m, outputs), of the mean k(z, points) coefficients."""
        return self.X, self.weights

    def leave_one_out(self, groups: Indices | None = None) -> tuple[Vector, Vector, Vector]:
        """Return the leave-one-out residuals, shape (n, outputs), their variances, (n,), and the leverages, (n,).

        Equal rows are left out together, or the points of each group if there are groups.
        """
        alone = self._at().leave_one_out()
        together = self.given(groups).left_out_together()
        return alone if together is None else (*left_out_in_groups(self._at().value, *together), alone[2])

    def lower(self) -> Vector:
        """Return the lower Cholesky factor of K~, shape (n, n)."""
        return self._core.lower()

    def log_likelihood(self, scale: Vector, *, restricted: bool = False) -> float:
        """Return the log likelihood, summed over outputs, with kernel and noise multiplied by each output's `scale`."""
        return self._log_density(len(self.y), scale, restricted=restricted)

    def _log_density(self, n: int, scale: Vector, *, restricted: bool) -> float:
        """Return the log density of the targets of n points."""
        m = len(self.squares())
        q = self.H.shape[1] if restricted else 0
        log_det, log_det_trend = self.log_dets()
        squares = float(np.sum(self.squares() / scale))
        value = -0.5 * (squares + m * log_det + (n - q) * float(np.sum(np.log(2 * np.pi * scale))))
        if q:
            value -= 0.5 * m * log_det_trend
        return float(value)

    def squares(self) -> Vector:
        """Return y'c of each output."""
        return np.asarray(np.einsum("ik,ik->k", self.y, self.weights))

    def log_dets(self) -> tuple[float, float]:
        """Return the logarithms of the determinants of K~, and of H'PH over that of H'H."""
        return self._core.log_det, self._core.log_det_trend

    def given(self, groups: Indices | None = None) -> Given:
        """Return the data for which a criterion is evaluated, with the groups that a user has told."""
        return Given(self.X, self.y, np.arange(len(self.X)), groups)

    def core_of(self, criterion: Criterion, groups: Indices | None = None) -> _core.Criterion:
        """Return the core's object for a criterion of these data; raise if the criterion is not defined for them."""
        given = self.given(groups)
        require_takes_groups(criterion, groups)
        criterion.require_trend(self.H, given)
        return criterion.core(given)

    def value_of(self, criterion: Criterion, groups: Indices | None = None) -> float:
        """Return the value of a criterion for this kernel and noise, from the existing factorization.

        It takes O(n) operations for likelihoods, and n^3 / 3 for criteria that need the diagonal of P, see
        :mod:`kernsel.criteria`. Criteria that leave out groups need blocks of P, for which K~ is factorized again.
        """
        return float(criterion.with_prior(self.kernel, self._at().value(self.core_of(criterion, groups)), None)[0])

    def append(self, X: Vector, y: Vector, noise: Vector) -> None:
        """Add points in O(n^2) for each. If one of them cannot be added, none is."""
        self._require_trend_of_others()
        self._at().append(X, y, noise)
        self.H = np.vstack([self.H, trend_matrix(self.trend, X, check=False)])
        self._read(np.vstack([self.X, X]), np.vstack([self.y, y]), np.append(self.noise, noise))

    def remove(self, i: int) -> None:
        """Remove point i in O(n^2)."""
        i %= len(self.X)
        self._at().remove(i)
        self.H = np.delete(self.H, i, axis=0)
        self._read(np.delete(self.X, i, axis=0), np.delete(self.y, i, axis=0), np.delete(self.noise, i))

"""Mixtures of normal distributions, the predictive distributions of several Gaussian processes with weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, logsumexp, ndtri, ndtri_exp

from kernsel._base.annotations import Matrix, Vector

__all__ = ["Mixture"]

_HALF_LOG_2PI = 0.5 * float(np.log(2 * np.pi))
_MOST_STEPS = 400


@dataclass(frozen=True)
class Mixture:
    """The distribution with density sum_k w_k N(y; m_k, s_k^2), for each point and output.

    Attributes
    ----------
    weights : ndarray of shape (K,)
        Positive, of sum 1.
    means, stds : ndarray of shape (K, n, n_targets)
        The mean m_k and the standard deviation s_k of each point and output under each model.
    """

    weights: Vector
    means: NDArray[np.float64]
    stds: NDArray[np.float64]

    @property
    def mean(self) -> Matrix:
        """The mean, shape (n, n_targets)."""
        return np.asarray(np.tensordot(self.weights, self.means, 1))

    @property
    def std(self) -> Matrix:
        """The standard deviation, the root of sum_k w_k (s_k^2 + (m_k - mean)^2), shape (n, n_targets)."""
        return np.asarray(np.sqrt(np.tensordot(self.weights, self.stds**2 + (self.means - self.mean) ** 2, 1)))

    def log_density(self, y: Matrix) -> Vector:
        """Return the joint log density of the outputs of each point, which are independent under each model, shape (n,)."""
        of_models = _log_normal(y, self.means, self.stds).sum(axis=2)
        return _log_mean(self.weights, of_models)

    def standardized(self, y: Matrix) -> Matrix:
        """Return the quantile of the standard normal distribution that corresponds to y, ndtri(F(y)), shape (n, n_targets).

        For one model that is (y - m) / s. It is exact in both tails, where F is 0 or 1 up to rounding.
        """
        return _standardized(self.weights, self.means, self.stds, y)

    def quantiles(self, probabilities: ArrayLike) -> NDArray[np.float64]:
        """Return the quantiles, shape (n, n_targets) followed by the shape of the probabilities.

        Newton's method for ndtri(F(x)) = ndtri(p), which is nearly linear in x, within the quantiles of the models, between
        which the root lies; steps that would leave what is known of it, and every third one, halve it instead.

        Parameters
        ----------
        probabilities : array-like
            Between 0 and 1, both excluded.
        """
        p = np.asarray(probabilities, dtype=np.float64)
        if not ((p > 0) & (p < 1)).all():
            raise ValueError(f"probabilities: expected numbers between 0 and 1, got {probabilities!r}")
        shape = self.means.shape[1:]
        wanted = np.broadcast_to(ndtri(p).ravel(), (*shape, p.size)).ravel()
        means, stds = (np.repeat(values.reshape(len(values), -1), p.size, axis=1) for values in (self.means, self.stds))
        ends = means + stds * wanted
        low, high = ends.min(axis=0), ends.max(axis=0)
        first = np.repeat(self.mean.ravel(), p.size) + np.repeat(self.std.ravel(), p.size) * wanted
        x = np.clip(first, low, high)
        rounding = 2e-16 * np.maximum(np.abs(low), np.abs(high))
        todo = np.flatnonzero(low < high)
        for step in range(_MOST_STEPS):
            if not len(todo):
                break
            m, s, at, q = means[:, todo], stds[:, todo], x[todo], wanted[todo]
            z = _standardized(self.weights, m, s, at)
            low[todo] = np.where(z <= q, at, low[todo])
            high[todo] = np.where(z >= q, at, high[todo])
            least, most = low[todo], high[todo]
            slope = np.exp(_log_mean(self.weights, _log_normal(at, m, s)) + 0.5 * z**2 + _HALF_LOG_2PI)
            with np.errstate(divide="ignore", invalid="ignore"):
                new = at - (z - q) / slope
            halved = 0.5 * (least + most)
            new = np.where((least < new) & (new < most) & (step % 3 < 2), new, halved)
            done = (np.abs(z - q) <= 1e-13 * (1 + np.abs(q))) | (most - least <= rounding[todo])
            x[todo] = np.where(done, at, new)
            todo = todo[~done]
        return np.asarray(x.reshape(*shape, *p.shape))


def _log_normal(y: Vector, means: Matrix, stds: Matrix) -> Matrix:
    """Return the log density of normal distributions; where a standard deviation is zero, of a very narrow one."""
    s = np.maximum(stds, np.finfo(np.float64).tiny)
    with np.errstate(over="ignore"):
        return np.asarray(-0.5 * ((y - means) / s) ** 2 - np.log(s) - _HALF_LOG_2PI)


def _log_mean(weights: Vector, logs: Matrix) -> Vector:
    """Return log(sum_k w_k exp(logs_k))."""
    with np.errstate(divide="ignore"):
        of_weights = np.log(weights).reshape(-1, *[1] * (logs.ndim - 1))
    return np.asarray(logsumexp(of_weights + logs, axis=0))


def _standardized(weights: Vector, means: Matrix, stds: Matrix, y: Vector) -> Vector:
    with np.errstate(over="ignore"):
        z = (y - means) / np.maximum(stds, np.finfo(np.float64).tiny)
    if len(weights) == 1:
        return np.asarray(z[0])
    below, above = _log_mean(weights, log_ndtr(z)), _log_mean(weights, log_ndtr(-z))
    return np.asarray(np.where(below < above, ndtri_exp(np.minimum(below, 0.0)), -ndtri_exp(np.minimum(above, 0.0))))

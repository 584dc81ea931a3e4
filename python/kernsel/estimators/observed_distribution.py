"""Predictive distributions of observations of a likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from kernsel._base.annotations import Matrix, Vector
from kernsel.likelihoods import Likelihood

__all__ = ["ObservedDistribution"]

_LEAST = 1e-16  # probability; a tail in which nothing can be told from rounding


@dataclass(frozen=True)
class ObservedDistribution:
    """The distribution of an observation at each of n points, where the latent function is known to be normal.

    It has the members of :class:`kernsel.estimators.stacking.mixture.Mixture`, for one output.

    Attributes
    ----------
    likelihood : Likelihood
    latent_mean, latent_variance : ndarray of shape (n,)
    sizes : ndarray of shape (n,) or None
        The exposures, or numbers of trials.
    """

    likelihood: Likelihood
    latent_mean: Vector
    latent_variance: Vector
    sizes: Vector | None = None

    @cached_property
    def _moments(self) -> tuple[Vector, Vector]:
        return self.likelihood.core().predict(self.latent_mean, self.latent_variance, self.sizes)

    @property
    def mean(self) -> Matrix:
        """The mean, shape (n, 1)."""
        return self._moments[0][:, None]

    @property
    def std(self) -> Matrix:
        """The standard deviation, which may be infinite, shape (n, 1)."""
        return np.asarray(np.sqrt(self._moments[1]))[:, None]

    def log_density(self, y: Matrix) -> Vector:
        """Return the log density, or log probability, of an observation at each point, shape (n,)."""
        moments = self.likelihood.core().moments(y[:, 0], self.latent_mean, self.latent_variance, self.sizes)
        return np.asarray(moments[:, 0])

    def probability(self, y: Vector) -> Vector:
        """Return the probability of values up to y, shape (n,)."""
        core = self.likelihood.core()
        return np.asarray(core.predict_probability(y, self.latent_mean, self.latent_variance, self.sizes))

    def quantiles(self, probabilities: ArrayLike) -> NDArray[np.float64]:
        """Return the quantiles, shape (n, 1) followed by the shape of the probabilities.

        Parameters
        ----------
        probabilities : array-like
            Between 0 and 1, both excluded.
        """
        p = np.asarray(probabilities, dtype=np.float64)
        core, n = self.likelihood.core(), len(self.latent_mean)
        found = [
            core.predict_quantile(np.full(n, level), self.latent_mean, self.latent_variance, self.sizes) for level in p.ravel()
        ]
        return np.stack(found, axis=1).reshape(n, 1, *p.shape) if found else np.zeros((n, 1, *p.shape))

    def standardized(self, y: Matrix) -> Matrix:
        """Return randomized quantile residuals, shape (n, 1): independent and standard normal if the distribution is right.

        That is ndtri(u) with u = F(y), the probability of values up to y. Where y has a probability of its own, as counts and
        censored numbers do, u is a random number between F just below y and F(y), see Dunn and Smyth, "Randomized quantile
        residuals", Journal of Computational and Graphical Statistics 5 (1996). The random numbers are always the same.
        """
        values = y[:, 0]
        up_to, below = self.probability(values), self._below(values)
        random = np.random.default_rng(0).uniform(size=len(values))
        u = np.where(np.isnan(below), up_to, below + random * (up_to - below))
        return np.asarray(ndtri(np.clip(u, _LEAST, 1 - _LEAST)))[:, None]

    def frequencies(self, most: int) -> Vector:
        """Return the expected numbers of points whose count is 0, 1, ..., `most`, and last of those whose count is larger."""
        n = len(self.latent_mean)
        up_to = np.array([self.probability(np.full(n, float(k))).sum() for k in range(most + 1)])
        return np.diff(up_to, prepend=0.0, append=float(n))

    def _below(self, y: Vector) -> Vector:
        """Return the probability of values below y where y has one of its own, otherwise nan."""
        lower, upper, discrete = self.likelihood.outcomes
        if discrete:
            return np.where(y > lower, self.probability(y - 1), 0.0)
        below = np.full(len(y), np.nan)
        below[y == lower] = 0.0
        at_upper = y == upper
        if at_upper.any():
            below[at_upper] = self.probability(np.nextafter(y, -np.inf))[at_upper]
        return below

"""Predictive distributions of observations of a likelihood, over draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel._base.annotations import Matrix, Vector
from kernsel.estimators.observed_distribution import ObservedDistribution
from kernsel.estimators.sampled_process import SampledProcess

__all__ = ["SampledDistribution"]


@dataclass(frozen=True)
class SampledDistribution(ObservedDistribution):
    """The distribution of an observation at each of n points, averaged over draws.

    Attributes
    ----------
    process : SampledProcess
    Z : ndarray of shape (n, d)
    """

    process: SampledProcess | None = None
    Z: Matrix | None = None

    @classmethod
    def at(cls, process: SampledProcess, Z: Matrix, sizes: Vector | None) -> SampledDistribution:
        """Return the distribution at points Z."""
        likelihood = process.members[0].likelihood
        assert likelihood is not None
        mean, variance = process.latent(Z)
        return cls(likelihood, mean, variance, sizes, process, Z)

    @property
    def _drawn(self) -> tuple[SampledProcess, Matrix]:
        assert self.process is not None
        assert self.Z is not None
        return self.process, self.Z

    @cached_property
    def _moments(self) -> tuple[Vector, Vector]:
        process, Z = self._drawn
        return process.observed(Z, self.sizes, None)

    def log_density(self, y: Matrix) -> Vector:
        """Return the log density, or log probability, of an observation at each point, shape (n,)."""
        process, Z = self._drawn
        return process.log_densities(Z, y[:, 0], self.sizes)

    def probability(self, y: Vector) -> Vector:
        """Return the probability of values up to y, shape (n,)."""
        process, Z = self._drawn
        return process.probability(Z, y, self.sizes)

    def quantiles(self, probabilities: ArrayLike) -> NDArray[np.float64]:
        """Return the quantiles, shape (n, 1) followed by the shape of the probabilities."""
        process, Z = self._drawn
        p = np.asarray(probabilities, dtype=np.float64)
        return process.quantiles(Z, p.ravel(), self.sizes).reshape(len(Z), 1, *p.shape)

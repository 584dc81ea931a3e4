"""The one place where the type of an approximation decides which posterior a process has."""

from __future__ import annotations

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.trend import Trend
from kernsel._solve.landmark_posterior import LandmarkPosterior
from kernsel._solve.near import NearPosterior
from kernsel._solve.posterior import Posterior
from kernsel.approximations import Approximation, Nystrom
from kernsel.kernels import Kernel

__all__ = ["conditioned"]


def conditioned(
    kernel: Kernel, X: Matrix, y: Matrix, noise: Vector, trend: Trend, approximation: Approximation | None
) -> Posterior:
    """Return the process of a kernel and a noise, conditioned on data, by the whole kernel matrix or by an approximation."""
    if approximation is None:
        return Posterior(kernel, X, y, noise, trend)
    if isinstance(approximation, Nystrom):
        return LandmarkPosterior(kernel, X, y, noise, trend, approximation)
    return NearPosterior(kernel, X, y, noise, trend, approximation)

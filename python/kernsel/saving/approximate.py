"""Saving and loading of posteriors that approximate the kernel matrix; each approximation has its own fields."""

from __future__ import annotations

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.trend import Trend
from kernsel._solve.landmark_posterior import LandmarkPosterior
from kernsel._solve.near import NearPosterior
from kernsel._solve.posterior import Posterior
from kernsel.kernels import Kernel
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.landmarks import read_landmarks, write_landmarks
from kernsel.saving.neighbours import read_neighbours, write_neighbours

__all__ = ["is_by_landmarks", "read_approximate", "write_approximate"]


def write_approximate(posterior: Posterior, to: Writing) -> None:
    """Write what a posterior has beside its data."""
    if isinstance(posterior, LandmarkPosterior):
        write_landmarks(posterior, to)
    else:
        assert isinstance(posterior, NearPosterior)
        write_neighbours(posterior, to)


def read_approximate(
    given: Fields, kernel: Kernel, X: Matrix, y: Matrix, diagonal: Vector, trend: Trend, beta: Matrix
) -> Posterior:
    """Return the posterior of data and coefficients of a trend that have been read."""
    if is_by_landmarks(given):
        return read_landmarks(given, kernel, X, y, diagonal, trend, beta)
    return read_neighbours(given, kernel, X, y, diagonal, trend, beta)


def is_by_landmarks(given: Fields) -> bool:
    """Tell whether the posterior of a file is one by landmarks, which may have kept no rows."""
    numbers = given.json.get("approximation")
    return isinstance(numbers, dict) and "landmarks" in numbers

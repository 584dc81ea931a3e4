"""Saving and loading of posteriors in which predictions see the nearest points."""

from __future__ import annotations

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.trend import Trend
from kernsel._solve.near import NearPosterior
from kernsel.approximations import Vecchia
from kernsel.kernels import Kernel
from kernsel.saving.fields import Fields, Writing

__all__ = ["read_neighbours", "write_neighbours"]

_NUMBERS = ("neighbors", "predict_neighbors", "random_state")


def write_neighbours(posterior: NearPosterior, to: Writing) -> None:
    """Write the numbers of neighbours, and the triangle of the trend."""
    to.part("approximation").json |= {name: int(getattr(posterior.approximation, name)) for name in _NUMBERS}
    q = posterior.H.shape[1]
    to.array("trend_triangle", np.reshape(posterior.triangle, (q, q)).T)


def read_neighbours(
    given: Fields, kernel: Kernel, X: Matrix, y: Matrix, diagonal: Vector, trend: Trend, beta: Matrix
) -> NearPosterior:
    """Return the posterior of data and coefficients of a trend that have been read."""
    with given.part("approximation") as numbers:
        approximation = Vecchia(**{name: numbers.whole(name) for name in _NUMBERS})
    triangle = np.asarray(given.array("trend_triangle", len(beta), len(beta)))
    if (np.diag(triangle) == 0).any():
        raise ValueError("trend_triangle: expected no zeros on its diagonal")
    return NearPosterior.restored(kernel, X, y, diagonal, trend, approximation, beta, triangle)

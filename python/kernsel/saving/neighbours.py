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

_NUMBERS = ("neighbors", "predict_neighbors", "random_state", "inducing")


def write_neighbours(posterior: NearPosterior, to: Writing) -> None:
    """Write the numbers of neighbours, the triangle of the trend, and the inducing points."""
    to.part("approximation").json |= {name: int(getattr(posterior.approximation, name)) for name in _NUMBERS}
    columns, landmarks = len(posterior.coefficients), posterior.landmarks
    to.array("trend_triangle", np.reshape(posterior.triangle, (columns, columns)).T)
    if len(landmarks):
        to.array("landmarks", landmarks)
        to.array("inducing_coefficients", posterior.coefficients[: len(landmarks)])


def read_neighbours(
    given: Fields, kernel: Kernel, X: Matrix, y: Matrix, diagonal: Vector, trend: Trend, beta: Matrix
) -> NearPosterior:
    """Return the posterior of data and coefficients of a trend that have been read."""
    with given.part("approximation") as numbers:
        approximation = Vecchia(**{name: numbers.whole(name) for name in _NUMBERS if name != "inducing" or numbers.has(name)})
    landmarks, coefficients = np.zeros((0, X.shape[1])), beta
    if approximation.inducing:
        landmarks = np.asarray(given.array("landmarks", None, X.shape[1]))
        if not 0 < len(landmarks) <= approximation.inducing:
            raise ValueError(f"landmarks: expected {approximation.inducing} at most, got {len(landmarks)}")
        coefficients = np.vstack([given.array("inducing_coefficients", len(landmarks), y.shape[1]), beta])
    triangle = np.asarray(given.array("trend_triangle", len(coefficients), len(coefficients)))
    if (np.diag(triangle) == 0).any():
        raise ValueError("trend_triangle: expected no zeros on its diagonal")
    return NearPosterior.restored(kernel, X, y, diagonal, trend, approximation, coefficients, triangle, landmarks)

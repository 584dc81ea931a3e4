"""Saving and loading of what a Gaussian process was told besides values: slopes and averages."""

from __future__ import annotations

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.trend import Trend
from kernsel._solve.functional_posterior import FunctionalPosterior
from kernsel.kernels import Kernel
from kernsel.saving.fields import Fields, Writing

__all__ = ["read_functionals", "write_functionals"]


def write_functionals(posterior: FunctionalPosterior, to: Writing) -> None:
    """Write how many rows are values, and the noises that were found; the rows themselves are the points of the process."""
    to.json["values"] = posterior.n_values
    to.array("slope_noise", posterior.slope_noise)
    to.array("average_noise", np.array(posterior.average_noise))


def read_functionals(
    given: Fields, kernel: Kernel, rows: Matrix, y: Matrix, diagonal: Vector, trend: Trend
) -> FunctionalPosterior:
    """Read these, and condition the process; rows that are no functionals are refused by the core."""
    with given:
        n_values = given.whole("values")
        if n_values > len(rows) or rows[:n_values, -1].any():
            raise ValueError(f"{given.prefix}values: expected as many rows of values, got {n_values}")
        found = given.array("slope_noise", rows.shape[1] // 2, finite=False), float(given.array("average_noise", finite=False))
    return FunctionalPosterior(kernel, rows, y, diagonal, trend, n_values, found)

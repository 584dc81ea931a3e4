"""The regularization path by landmarks of rows that are read in blocks, for an estimator that chooses along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernsel._base.annotations import Matrix
from kernsel._data.rows import row_source
from kernsel._data.trend import trend_matrix
from kernsel._solve.by_blocks import passes_over
from kernsel._solve.drawn_rows import DrawnRows
from kernsel._solve.path import RegularizationPath
from kernsel._solve.path_by_blocks import path_by_blocks
from kernsel.estimators.rows_everywhere import approximation_of_rows, choose_landmarks, drawn_from, fitted_to_some

__all__ = ["PathOfRows", "path_of_rows"]


@dataclass(frozen=True)
class PathOfRows:
    """The path of all rows.

    Attributes
    ----------
    path : RegularizationPath
    some : KernelRidgeCV
        The model fitted to some rows, which has chosen the kernel.
    missing : float
        What landmarks miss of the function, in units of alpha if that is one.
    one_output : bool
    """

    path: RegularizationPath
    some: Any
    missing: float
    one_output: bool


def path_of_rows(model: Any, X: Any, y: Any, sample_weight: Any, groups: object) -> PathOfRows:
    """Return the path of all rows, for the kernel and the landmarks that some of them choose.

    Parameters
    ----------
    model : KernelRidgeCV
    X, y, sample_weight : collections of Dask, or a source of rows as X
    groups : None
    """
    if groups is not None:
        raise ValueError("groups: expected None for rows that are read in blocks, which are left out one by one")
    near = approximation_of_rows(model.approximation)
    source = row_source(X, y, sample_weight=sample_weight)
    trend = "constant" if model.has_intercept else None
    with passes_over(source) as passes:
        drawn = drawn_from(passes, near)
        some = fitted_to_some(model, source, drawn, near, sample_weight=drawn.weights)
        assert drawn.X is not None
        path, missing = path_by_blocks(
            passes,
            some.kernel_,
            choose_landmarks(some.kernel_, drawn.X, near)[0],
            trend=trend,
            of_trend=_trend_of(drawn, trend),
            alphas=model.alphas,
            sigma=model.sigma,
            mean_of_errors=model.alpha_scale == "n",
            bound=near.bound,
        )
    return PathOfRows(path, some, missing, source.n_outputs == 1)


def _trend_of(drawn: DrawnRows, trend: str | None) -> Matrix:
    """Return the least squares fit of some rows by the trend."""
    assert drawn.X is not None
    assert drawn.y is not None
    H = trend_matrix(trend, drawn.X)
    root = np.ones((len(H), 1)) if drawn.weights is None else np.sqrt(drawn.weights)[:, None]
    return np.asarray(np.linalg.lstsq(H * root, drawn.y * root, rcond=None)[0], dtype=np.float64)

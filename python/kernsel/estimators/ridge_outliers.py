"""Gross errors among the targets of a kernel ridge regression, found as those of a Gaussian process with noise alpha."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Indices
from kernsel._data.together import copies_in, first_of_equal
from kernsel._data.training import TrainingSet
from kernsel._search import Selection
from kernsel._search.far_rows import FarRows
from kernsel.criteria import LeaveOneOut
from kernsel.estimators.outliers import LEAST_POINTS, given_rows
from kernsel.estimators.process_fit import ProcessData, outliers_in
from kernsel.kernels import Kernel

__all__ = ["outliers_given", "outliers_of_ridge", "without"]


def outliers_of_ridge(
    given: TrainingSet,
    found: tuple[TrainingSet, float],
    choose: Callable[[TrainingSet], tuple[TrainingSet, float]],
    *,
    intercept: bool,
) -> tuple[Indices, FarRows | None]:
    """Return the rows that are outliers, see :func:`kernsel.estimators.process_fit.outliers_in`, and the report on far rows.

    Copies do not tell whether what they are copies of is an outlier, so that only one row of each is asked; those of an outlier
    are outliers.

    Parameters
    ----------
    given : TrainingSet
        With one target, and a kernel that is not a matrix. Weights only tell which rows are copies.
    found : TrainingSet and float
        The data with the kernel that was chosen, and the noise variance that alpha stands for.
    choose : callable
        Returns the same for other data.
    intercept : bool
    """
    none, everything = np.zeros(0, dtype=np.intp), np.arange(len(given.y))
    copied = copies_in(given.X, given.targets)
    rows = everything if copied is None else np.flatnonzero(copied == everything)
    if len(rows) < LEAST_POINTS:
        return none, None
    once = given.only(rows)
    kernel, points = once.kernel_and_points()
    targets = np.asarray(once.targets, dtype=np.float64)
    data = ProcessData(points, targets, 0.0, True, "constant" if intercept else None, once.together)

    def selected(chosen: TrainingSet, noise: float) -> Selection:
        assert isinstance(chosen.kernel, Kernel)
        return Selection(chosen.kernel, noise, 0.0, LeaveOneOut(), np.nan)

    def select(some: ProcessData) -> Selection:
        others = TrainingSet(some.X, some.targets[:, 0], kernel, None, given.names)
        return selected(*choose(others if given.told is None else replace(others, told=some.groups)))

    answer = outliers_in(data, data.conditioned(selected(*found)), select)
    far = None if answer.far is None else replace(answer.far, rows=rows[answer.far.rows])
    outliers = rows[answer.rows]
    return outliers if copied is None else np.flatnonzero(np.isin(copied, outliers)), far


def outliers_given(rows: ArrayLike, given: TrainingSet, copies: Indices) -> Indices:
    """Return the outliers that a user has told, and the rows that are copies of them."""
    outliers = given_rows(rows, len(given.y))
    if len(copies) and (first := first_of_equal(np.column_stack([given.X, given.y]))) is not None:
        outliers = np.flatnonzero(np.isin(first, first[outliers]))
    return outliers


def without(rows: Indices, given: TrainingSet) -> TrainingSet:
    """Return the data in which rows have no weight, and all others the weight one."""
    weights = np.ones(len(given.y))
    weights[rows] = 0.0
    return replace(given, weights=weights)

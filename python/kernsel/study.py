"""Which kernel for this table, and by which criterion? All that was tried, as plain data."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from math import isfinite, nan
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from kernsel.criteria import criterion_named
from kernsel.evaluation import loo
from kernsel.gaussian_process import GaussianProcessRegressor
from kernsel.kernels import Kernel
from kernsel.kernels.written import kernel_argument
from kernsel.saving import load, read_notes, save
from kernsel.selector import Tried, select
from kernsel.tables import Column, Table
from kernsel.trend import Trend

__all__ = ["Line", "Study", "study"]

_95 = 1.959963984540054  # half the width of a 95 % interval, in standard deviations


@dataclass(frozen=True)
class Line:
    """One kernel, at its best by one criterion.

    Attributes
    ----------
    kernel, fitted : str
        As it was tried, and with the hyperparameters that were found; that is empty if it could not be fitted.
    value : float
        Of the criterion; nan if the kernel could not be fitted.
    loo_rmse, loo_log_density, coverage : float
        The root mean square of the errors of points left out, the mean of the logarithms of their predictive densities, and
        the share of them within the 95 % intervals that the others give: the same three for all criteria.
    noise : float
        A variance.
    parameters, evaluations : int
        How many numbers were found, and how many evaluations of the criterion that took.
    seconds : float
    problem : str
        Why the kernel could not be fitted; empty if it could.
    ended : str
        Why the search ended, see :class:`kernsel.selection.Selection`.
    """

    kernel: str
    fitted: str
    value: float
    loo_rmse: float
    loo_log_density: float
    coverage: float
    noise: float
    parameters: int
    evaluations: int
    seconds: float
    problem: str
    ended: str


@dataclass(frozen=True)
class Study:
    """What was tried on a table, and the model that was chosen.

    Attributes
    ----------
    source : str
        The file.
    rows : int
        In the file.
    names : list of str
        Of the columns of X.
    columns : list of Column
        Of the file, without the target.
    target : Column
    remarks : list of str
        What one has to know, in sentences.
    lines : dict of str to list of Line
        By criterion, in the order that was asked for; the best line first.
    better : dict of str to str
        "larger" or "smaller" by criterion.
    criterion : str
        The first of them: the one that chose the model.
    model : GaussianProcessRegressor
        Fitted.
    test : dict of str to float
        On rows that were not learnt from: "rows", "rmse", "coverage" of 95 % intervals, and "rmse_of_mean", the error of always
        predicting the mean of what was learnt from. Empty if there are none.
    kept : ndarray
        The numbers of the rows in the file, from 1 on, that the model has learnt from: those of its X_train_.
    seconds : float
    ended : str
        Why not all was tried; empty if it was.
    """

    source: str
    rows: int
    names: list[str]
    columns: list[Column]
    target: Column
    remarks: list[str]
    lines: dict[str, list[Line]]
    better: dict[str, str]
    criterion: str
    model: GaussianProcessRegressor = field(repr=False)
    test: dict[str, float]
    kept: NDArray[np.intp] = field(repr=False)
    seconds: float
    ended: str = ""


def study(
    table: Table,
    *,
    kernels: Iterable[Any] | Literal["search"] | None = None,
    criteria: Sequence[str] = ("reml", "loo"),
    noise: float | Literal["auto"] = "auto",
    trend: Trend = "constant",
    rows: int = 2000,
    test: float = 0.0,
    budget: float | None = None,
    seed: int = 0,
    progress: Callable[[str, str], None] | None = None,
) -> Study:
    """Choose a kernel by each criterion, and keep the model that the first of them chooses.

    Parameters
    ----------
    table : Table
        With a target.
    kernels : iterable of kernels or texts, "search" or None
        See :func:`kernsel.select`.
    criteria : sequence of str
        Names of :mod:`kernsel.criteria`.
    noise : float or "auto"
        A variance.
    trend : {"constant", "linear", "quadratic"} or None
    rows : int
        How many rows are learnt from at most; of more, a random sample.
    test : float
        The share of the rows that is held out, to test the model.
    budget : float, optional
        Seconds.
    seed : int
    progress : callable, optional
        Told of the criterion and the kernel that is tried next.

    Returns
    -------
    study : Study
    """
    began = time.perf_counter()
    if table.y is None or table.target is None:
        raise ValueError("table: expected one with a target")
    learnt, tested = _split(len(table.y), rows, test, seed)
    X, y = table.X[learnt], table.y[learnt]
    lines: dict[str, list[Line]] = {}
    better = {name: "larger" if criterion_named(name, {}).larger_is_better else "smaller" for name in criteria}
    model: GaussianProcessRegressor | None = None
    for name in criteria:
        selected = select(X, y, kernels, name, noise=noise, trend=trend, max_seconds=budget, random_state=seed)
        lines[name] = [_line(one, X, y, trend) for one in selected.tried]
        if model is None:
            model = selected.best_estimator_
    assert model is not None
    return Study(
        table.source,
        table.rows,
        table.names,
        table.columns,
        table.target,
        table.remarks,
        lines,
        better,
        criteria[0],
        model,
        _tested(model, table.X[tested], table.y[tested]),
        table.kept[learnt],
        time.perf_counter() - began,
    )


def _split(n: int, rows: int, test: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which rows are learnt from, and which test the model."""
    order = np.random.default_rng(seed).permutation(n)
    held = round(test * n)
    learnt = np.sort(order[held:][:rows])
    rest = order[:held] if held else order[rows:][:10_000]
    return learnt, np.sort(rest)


def _line(one: Tried, X: NDArray[np.float64], y: NDArray[np.float64], trend: Trend) -> Line:
    """Return a line with what leave-one-out says of it, whatever it was chosen by."""
    rmse = density = coverage = nan
    if one.kernel_ is not None:
        fit = loo(one.kernel_, X, y, noise=one.noise_ + one.jitter_, trend=trend)
        rmse, density, coverage = scores(fit.residuals, np.sqrt(fit.variances))
    return Line(
        str(one.kernel),
        "" if one.kernel_ is None else str(one.kernel_),
        one.value,
        rmse,
        density,
        coverage,
        float(one.noise_),
        one.parameters,
        one.n_evaluations_,
        one.seconds,
        one.problem,
        one.ended,
    )


def scores(errors: NDArray[np.float64], std: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the root mean square of errors, the mean of their log densities, and the share within 95 % intervals."""
    z = errors / std
    density = -0.5 * z**2 - np.log(std) - 0.5 * np.log(2 * np.pi)
    return float(np.sqrt(np.mean(errors**2))), float(np.mean(density)), float(np.mean(np.abs(z) <= _95))


def _tested(model: GaussianProcessRegressor, X: NDArray[np.float64], y: NDArray[np.float64]) -> dict[str, float]:
    """Return how the model does on rows that it has not learnt from."""
    if not len(y):
        return {}
    mean, std = model.predict(X, return_std=True, noisy=True)
    rmse, _, coverage = scores(y - mean, std)
    of_mean = float(np.sqrt(np.mean((y - np.mean(model.y_train_)) ** 2)))
    return {"rows": float(len(y)), "rmse": rmse, "coverage": coverage, "rmse_of_mean": of_mean}

"""A Gaussian process by nearest neighbours of rows in a collection of Dask: all of them choose its hyperparameters."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from kernsel import _core
from kernsel._base.annotations import Matrix
from kernsel._data.allowed import is_auto
from kernsel._data.rows import RowSource
from kernsel._data.rows.partitions import PartitionRows
from kernsel._data.trend import Trend, trend_matrix
from kernsel._solve.by_blocks import passes_over
from kernsel.approximations import Vecchia
from kernsel.criteria import LeaveOneOut, Likelihood
from kernsel.criteria.base import Given
from kernsel.criteria.names import criterion_named
from kernsel.estimators.found_by_parts import FoundByParts, find_by_parts
from kernsel.estimators.process_state import ProcessState
from kernsel.kernels import Kernel

__all__ = ["all_rows_choose", "state_of_parts"]

_START_ROWS = 50_000  # by which the search begins; fewer rows are a search for rows in memory
_COMPARED_ROWS, _TIMES_NEIGHBORS = 1000, 4  # by which start and end of the search are compared, as by the core


def all_rows_choose(model: Any, source: RowSource, rows: int) -> bool:
    """Tell whether hyperparameters are chosen by all rows where they are, and not by a search for rows in memory."""
    criterion = criterion_named(model.criterion, {})
    numbers = all(value is None or is_auto(value) or np.ndim(value) == 0 for value in (model.alpha, model.noise))
    return (
        isinstance(source, PartitionRows)
        and rows > _START_ROWS
        and isinstance(model.optimizer, str)
        and not model.approximation.inducing
        and not model.normalize_y
        and source.n_outputs == 1
        and numbers
        and type(criterion) in (Likelihood, LeaveOneOut)
        and criterion.sees_scale
    )


def state_of_parts(model: Any, source: RowSource, X: Any, y: Any) -> tuple[ProcessState, Any]:
    """Return the state of a process that all rows have chosen, and a copy of the model that is conditioned on them.

    A search for some rows is where the one for all begins. What comes of it is taken unless rows that are left out are
    predicted worse, by more neighbours: few of them may mislead a search.

    Parameters
    ----------
    model : GaussianProcessRegressor
    source : RowSource
    X, y : ndarray or DataFrame of shape (n, d), ndarray of shape (n,)
        The same rows in memory, from which predictions are made.
    """
    near, began = model.approximation, time.perf_counter()
    patience = np.inf if model.max_seconds is None else float(model.max_seconds)
    some = np.sort(np.random.default_rng(near.random_state).choice(len(y), min(_START_ROWS, len(y)), replace=False))
    start = clone(model).fit(X.iloc[some] if hasattr(X, "iloc") else X[some], y[some])
    state = start.state()
    finds_noise, trend = bool(np.isfinite(state.selection.noise)), state.posterior.trend
    known = float(state.alpha) + state.jitter
    criterion = criterion_named(model.criterion, {})
    noise = known + float(state.noise)
    with passes_over(source) as passes:
        fit = find_by_parts(
            criterion,
            state.posterior.kernel,
            passes,
            near,
            noise=noise,
            least_noise=known if finds_noise else None,
            trend=trend,
            most=model.max_evaluations,
            seconds=max(patience - (time.perf_counter() - began), 0.0),
        )
    points = np.asarray(X, dtype=np.float64)
    places = ((state.posterior.kernel, noise), (fit.kernel, fit.noise))
    before, after = (_left_out_density(kernel, at, near, trend, points, y) for kernel, at in places)
    said, improves = _said(fit, len(some)), after >= before
    if not improves:
        fit = replace(fit, kernel=state.posterior.kernel, noise=noise)
        said += " Rows that are left out were predicted worse by what was found, so that the start was kept."
    more = {"noise": fit.noise - known} if finds_noise else {}
    whole = clone(model).set_params(kernel=fit.kernel, trend=trend, optimizer=None, outliers=None, **more).fit(X, y)
    found = whole.state()
    selection = replace(
        state.selection,
        kernel=found.posterior.kernel,
        noise=fit.noise - known if finds_noise else np.nan,
        value=fit.found.value if improves else float(found.criterion_value or np.nan),
        n_evaluations=fit.n_evaluations,
        n_evaluations_subset=state.selection.n_evaluations + state.selection.n_evaluations_subset,
        approximation=f"{said} {found.selection.approximation[:1].upper()}{found.selection.approximation[1:]}",
        far=None,
        ended=fit.ended,
        seconds=time.perf_counter() - began,
        rows=found.selection.rows,
    )
    value = criterion.with_prior(fit.kernel, fit.found.value, None)[0] if improves else found.criterion_value
    noise_found = fit.noise - known if finds_noise else found.noise
    return replace(found, selection=selection, criterion_value=value, noise=noise_found, alpha=state.alpha), whole


def _said(fit: FoundByParts, some: int) -> str:
    return f"hyperparameters were chosen by all rows, from what {some:,} of them chose: {fit.found.said}"


def _left_out_density(kernel: Kernel, noise: float, near: Vecchia, trend: Trend, X: Matrix, y: Matrix) -> float:
    """Return the log density of some rows that are left out, by more neighbours among all rows than a search has."""
    rng = np.random.default_rng([near.random_state, 1])
    terms = np.sort(rng.choice(len(X), min(_COMPARED_ROWS, len(X)), replace=False))
    neighbors = min(_TIMES_NEIGHBORS * near.neighbors, 500)
    criterion = LeaveOneOut("log_density").core(Given(np.arange(len(X))[:, None].astype(float), y, np.arange(len(X))))
    H = trend_matrix(trend, X)
    numbers = near.core(terms.tolist(), neighbors)
    found = _core.evaluate(criterion, kernel.build(), X, y, [noise], H, None, False, _core.Workspace(), numbers, False)
    return float(found["value"])

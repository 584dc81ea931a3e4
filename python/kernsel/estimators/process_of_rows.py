"""A Gaussian process of rows that are read in blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from kernsel._data.allowed import is_auto
from kernsel._data.rows import RowSource, row_source
from kernsel._solve.by_blocks import passes_over
from kernsel.approximations import Nystrom
from kernsel.criteria.names import criterion_named
from kernsel.estimators.process_state import ProcessState
from kernsel.estimators.rows_everywhere import (
    approximation_of_rows,
    choose_landmarks,
    drawn_from,
    fit_to_all,
    fitted_to_some,
    take_columns,
)

__all__ = ["conditioned_on_rows", "state_of_rows"]


def state_of_rows(model: Any, X: Any, y: Any, groups: object) -> tuple[ProcessState, Any]:
    """Return the state of a process that is conditioned on rows, and a copy of the model that is fitted to some of them."""
    if groups is not None:
        raise ValueError("groups: expected None for rows that are read in blocks, which are left out one by one")
    if model.normalize_y:
        raise ValueError("normalize_y: expected False for rows that are read in blocks; a trend serves better")
    for name in ("alpha", "noise"):
        value = getattr(model, name)
        if value is not None and not is_auto(value) and np.ndim(value):
            raise ValueError(f"{name}: expected one number for rows that are read in blocks, got shape {np.shape(value)}")
    near = approximation_of_rows(model.approximation)
    source = row_source(X, y)
    with passes_over(source) as passes:
        drawn = drawn_from(passes, near)
        assert drawn.X is not None
        some = fitted_to_some(model, source, drawn, near)
        state = some.state()
        found, kernel = np.isfinite(state.selection.noise), state.posterior.kernel
        known = float(state.alpha) + state.jitter
        noise = known + float(state.noise)
        landmarks, near = choose_landmarks(kernel, drawn.X, near, noise, may_grow=is_auto(model.approximation))
        fit = fit_to_all(
            passes,
            some._criterion_used,
            kernel,
            landmarks,
            near,
            noise=noise,
            least_noise=known if found else None,
            trend=state.posterior.trend,
            searches=near.search_rows is None and model.optimizer is not None,
            most=model.max_evaluations,
        )
    noise = fit.noise - known if found else state.noise
    selection = replace(
        state.selection,
        kernel=fit.kernel,
        noise=noise if found else np.nan,
        scale=1.0,
        amplitude=1.0,
        n_evaluations=fit.n_evaluations,
        n_evaluations_subset=state.selection.n_evaluations,
        approximation=fit.said(len(drawn.X)),
        far=None,
    )
    value = some._criterion_used.with_prior(fit.kernel, fit.found.value, None)[0]
    return (
        replace(
            state,
            posterior=fit.posterior,
            kernel=fit.kernel,
            selection=selection,
            criterion_value=float(value),
            noise=noise,
            outliers=np.zeros(0, dtype=np.intp),
        ),
        some,
    )


def conditioned_on_rows(model: Any, source: RowSource, near: Nystrom) -> Any:
    """Return a copy of a fitted process that is conditioned on other rows, by landmarks among those that it was fitted to.

    Kernel, noise and trend are those of the model.
    """
    state = model.state()
    if state.posterior.y.shape[1] != 1 or not (state.factor == 1).all() or state.offset.any() or np.ndim(state.noise):
        raise ValueError("model: expected a process of one target, with its own mean and scale and one variance of the noise")
    kernel = state.posterior.kernel
    landmarks, near = choose_landmarks(kernel, state.posterior.X, near)
    with passes_over(source) as passes:
        fit = fit_to_all(
            passes,
            criterion_named("lml", {}),
            kernel,
            landmarks,
            near,
            noise=float(state.noise + state.alpha + state.jitter),
            least_noise=None,
            trend=state.posterior.trend,
            searches=False,
        )
    said = fit.said(len(state.posterior.X))
    made = clone(model).set_params(approximation=near)
    take_columns(made, model)
    made.restore(
        replace(
            state,
            posterior=fit.posterior,
            kernel=kernel,
            selection=replace(state.selection, approximation=said, far=None),
            criterion_value=float("nan"),
            outliers=np.zeros(0, dtype=np.intp),
            groups=None,
        )
    )
    return made

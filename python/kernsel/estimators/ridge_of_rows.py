"""Kernel ridge regression of rows that are read in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernsel._data.allowed import is_auto
from kernsel._data.rows import row_source
from kernsel._solve.by_blocks import passes_over
from kernsel.criteria import Likelihood
from kernsel.criteria.names import criterion_named
from kernsel.criteria.table import TABLE
from kernsel.estimators.rows_everywhere import (
    FitToAll,
    approximation_of_rows,
    choose_landmarks,
    drawn_from,
    fit_to_all,
    fitted_to_some,
)

__all__ = ["RidgeOfRows", "ridge_of_rows"]


@dataclass(frozen=True)
class RidgeOfRows:
    """A fit to rows that were read in blocks.

    Attributes
    ----------
    fit : FitToAll
        Of the Gaussian process whose mean is the function, with the noise variance alpha / w.
    some : KernelRidge
        The model fitted to some rows.
    said : str
        A sentence on what was approximated.
    value : float or None
        The value of the criterion for all rows, if it was evaluated for them.
    one_output : bool
    """

    fit: FitToAll
    some: Any
    said: str
    value: float | None
    one_output: bool


def ridge_of_rows(model: Any, X: Any, y: Any, sample_weight: Any, groups: object) -> RidgeOfRows:
    """Return the fit of a model to all rows, whose alpha and kernel are chosen by some of them, or by all.

    Parameters
    ----------
    model : KernelRidge
    X, y, sample_weight : collections of Dask, or a source of rows as X
    groups : None
    """
    if groups is not None:
        raise ValueError("groups: expected None for rows that are read in blocks, which are left out one by one")
    if model.alpha_scale != "none":
        raise ValueError(f'alpha_scale: expected "none" for rows that are read in blocks, got {model.alpha_scale!r}')
    near = approximation_of_rows(model.approximation)
    source = row_source(X, y, sample_weight=sample_weight)
    with passes_over(source) as passes:
        drawn = drawn_from(passes, near)
        assert drawn.X is not None
        some = fitted_to_some(model, source, drawn, near, sample_weight=drawn.weights)
        if np.ndim(some.alpha_):
            raise ValueError(f"alpha: expected one number for all targets of rows that are read in blocks, got {some.alpha_}")
        searches = near.search_rows is None and (model.chooses_alpha or model.criterion is not None)
        criterion = _criterion(model, searches)
        alpha, may_grow = float(some.alpha_), is_auto(model.approximation)
        landmarks, near = choose_landmarks(some.kernel_, drawn.X, near, alpha, may_grow=may_grow)
        fit = fit_to_all(
            passes,
            criterion,
            some.kernel_,
            landmarks,
            near,
            noise=alpha,
            least_noise=0.0 if searches and model.chooses_alpha else None,
            trend="constant" if some.has_intercept else None,
            searches=searches,
        )
    return RidgeOfRows(fit, some, fit.said(len(drawn.X)), fit.found.value if searches else None, source.n_outputs == 1)


def _criterion(model: Any, searches: bool) -> Any:
    """Return the criterion for all rows, whose common factor of kernel and noise is the best one; a likelihood without search.

    A likelihood takes no pass besides that of the fit.
    """
    if not searches:
        return Likelihood(scale="shared")
    name = model.default_criterion if model.criterion is None else model.criterion
    if isinstance(name, str) and not TABLE[name].for_search:
        raise ValueError(f"criterion: expected one that has a gradient, to be searched for on all rows, got {name!r}")
    criterion = criterion_named(name, {"sigma": model.sigma} if name == "risk" else {})
    return criterion.without_scale() or criterion

"""The fit of a Gaussian process whose observations have a likelihood of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Vector
from kernsel._data.allowed import is_auto
from kernsel._data.together import checked_groups
from kernsel._data.training import training_set
from kernsel._search import Budget, Selection, require_few_if_interrupted
from kernsel._search.checks import checked
from kernsel._search.observations import choose_with_likelihood
from kernsel._search.plan import plan_for
from kernsel._search.progress import remark, watched
from kernsel.criteria import Criterion
from kernsel.criteria import Likelihood as LogLikelihood
from kernsel.criteria.names import name_of
from kernsel.estimators.observed_process import conditioned_on
from kernsel.estimators.process_sampling import sample_observed
from kernsel.estimators.process_state import ProcessState
from kernsel.estimators.two_processes import fit_two
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data
from kernsel.kernels.objects import Points
from kernsel.likelihoods import Likelihood
from kernsel.likelihoods.named import likelihoods_among
from kernsel.likelihoods.observations import Observations, sizes_of
from kernsel.linalg.jitter import least_jitter

__all__ = ["fit_to_observations"]

_FAR = 40.0  # from the observations on the scale of logarithms, whose functions are nearly zero or infinite there


def fit_to_observations(
    model: Any, X: Points, y: ArrayLike, groups: ArrayLike | None, sizes: Mapping[str, ArrayLike | None]
) -> ProcessState:
    """Return the state of a Gaussian process that is fitted to observations of its likelihood, or the best one of several.

    Parameters
    ----------
    model : GaussianProcessRegressor
    X, y, groups
        As of its `fit`.
    sizes : dict
        The exposure, trials or weights of the observations, by name; None for those that were not given.
    """
    among = likelihoods_among(model.likelihood, y)
    states = [_fitted(model, likelihood, X, y, groups, sizes, len(among)) for likelihood in among]
    if len(states) == 1:
        return states[0]
    criterion = model._criterion()
    scores = [_score(criterion, state) for state in states]
    best = int(np.argmax(scores))
    order = sorted(range(len(among)), key=lambda i: -scores[i])
    told = ", ".join(f"{type(among[i]).__name__} {states[i].criterion_value:.6g}" for i in order)
    compared = f"Likelihoods compared by {name_of(criterion)}: {told}."
    if model.verbose:
        remark(f"{type(model).__name__}: {compared}")
    return replace(states[best], selection=replace(states[best].selection, compared=compared))


def _score(criterion: Criterion, state: ProcessState) -> float:
    """Return what is largest for the likelihood to take: of log likelihoods each parameter costs 1, as by Akaike."""
    assert state.observed is not None
    assert state.criterion_value is not None
    value = state.criterion_value if criterion.larger_is_better else -state.criterion_value
    if not isinstance(criterion, LogLikelihood):
        return value
    return value - sum(not parameter.fixed for parameter in state.observed.likelihood.parameters())


def _fitted(
    model: Any,
    likelihood: Likelihood,
    X: Points,
    y: ArrayLike,
    groups: ArrayLike | None,
    sizes: Mapping[str, ArrayLike | None],
    shares: int,
) -> ProcessState:
    """Return the state of the process with one likelihood, whose search takes one of `shares` equal parts of the time."""
    _require_defaults(model, likelihood)
    given = training_set(model, model._prior_kernel(X), X, y)
    kernel, X = given.kernel_and_points()
    if given.y.ndim != 1 and given.y.shape[1] != 1:
        raise ValueError(
            f"y: {type(likelihood).__name__} observations are one for each point, got shape {given.y.shape}; "
            "sklearn.multioutput.MultiOutputRegressor fits a model for each column"
        )
    observed = np.ravel(given.y).astype(np.float64)
    model._check(observed)
    criterion = model._criterion()
    samples = model.hyperparameters == "sample" or model.inference == "mcmc"
    if samples:
        model._require_sampling(criterion, 1)
    if likelihood.is_of_two:
        if samples:
            raise ValueError(f"likelihood: {type(likelihood).__name__} is of two processes, of which nothing can be sampled")
        return fit_two(model, kernel, X, observed)
    told = checked_groups(groups, len(observed))
    counts = sizes_of(likelihood, dict(sizes), len(observed))
    likelihood.check(observed, counts)
    likelihood = likelihood.with_units_of(observed)
    inference = "auto" if model.inference == "mcmc" else model.inference
    observations = Observations(likelihood, observed, counts, inference)
    X = X.copy() if model.copy_X_train else X
    trend = model._trend()
    if trend is not None:
        _require_bounds(observations)
    plan = plan_for(
        None if samples else model.approximation,
        kernel,
        criterion,
        len(X),
        searches=model.optimizer is not None,
        max_seconds=model.max_seconds,
        columns=X.shape[1],
    )
    alpha = 0.0 if is_auto(model.alpha) else float(model._numbers("alpha", None))
    if model.optimizer is None:
        selection, found = _as_it_is(model, criterion, kernel, X, observations), likelihood
    else:
        with watched(model, model.verbose, model.max_evaluations) as tell:
            selection, found = choose_with_likelihood(
                criterion,
                kernel,
                X,
                observations,
                noise=alpha,
                jitter=None if is_auto(model.alpha) else 0.0,
                trend=trend,
                groups=told,
                names=model.feature_names(),
                n_restarts=model.n_restarts_optimizer,
                random_state=model.random_state,
                budget=Budget(model.max_evaluations, np.inf if model.max_seconds is None else model.max_seconds / shares, tell),
                approximation=plan.search,
            )
    selection = replace(selection, not_sought=model._not_sought(criterion, kernel))
    if selection.interrupt is not None:
        model.selection_ = selection
        require_few_if_interrupted(selection.interrupt, len(X))
    fit = conditioned_on(selection, X, replace(observations, likelihood=found), alpha, trend, plan.posterior)
    plan, posterior, check = checked(plan, fit.process.posterior)
    process = replace(fit.process, posterior=posterior)
    selection = replace(selection, approximation=plan.said(len(X), check))
    if model.verbose and selection.approximation:
        remark(f"{type(model).__name__}: {selection.approximation}")
    sampled = None
    if samples:
        sampled = sample_observed(kernel, X, observations, selection, process, noise=alpha, trend=trend, how=model.sampling())
    state = ProcessState(
        posterior=posterior,
        kernel=posterior.kernel,
        selection=selection,
        criterion_value=selection.value if model.optimizer is not None else process.value,
        noise=0.0,
        alpha=np.asarray(alpha),
        jitter=fit.jitter,
        outliers=np.zeros(0, dtype=np.intp),
        offset=np.zeros(1),
        factor=np.ones(1),
        one_output=True,
        restricted=posterior.H.shape[1] > 0,
        groups=told,
        observed=process,
        sampled=sampled,
    )
    if selection.interrupt is not None:
        model.restore(state)
        raise selection.interrupt
    return state


def _require_defaults(model: Any, likelihood: Likelihood) -> None:
    """Raise for parameters that belong to normal noise."""
    if model.noise is not None:
        raise ValueError(
            f"noise: {type(likelihood).__name__} observations have no noise but that of the likelihood; "
            "a WhiteKernel in the kernel adds one to the latent function"
        )
    for name, usual in (("normalize_y", False), ("scale", "auto")):
        if getattr(model, name) != usual:
            raise ValueError(f"{name}: expected {usual!r} with a likelihood, got {getattr(model, name)!r}")
    if model.outliers is not None and not is_auto(model.outliers):
        raise ValueError("outliers: rows with a noise of their own are for normal noise; StudentT() is robust by itself")
    if model.shrinkage is not None and not is_auto(model.shrinkage):
        raise ValueError(f'shrinkage: expected "auto" or None with a likelihood, got {model.shrinkage!r}')
    if callable(model.optimizer):
        raise ValueError('optimizer: expected "auto" or None with a likelihood, got a function')


def _require_bounds(observations: Observations) -> None:
    """Raise for observations that are the more probable the larger the latent function is everywhere, or the smaller.

    The coefficients of a trend have a flat prior, and then no posterior.
    """
    y, likelihood = observations.y, observations.likelihood
    for end, size in ((-_FAR, "small"), (_FAR, "large")):
        latent = np.full(len(y), (np.min if end < 0 else np.max)(observations.rough) + end)
        if np.sum(likelihood.derivatives(y, latent, observations.sizes)[0]) * end >= 0:
            raise ValueError(
                f"y: all {len(y)} {type(likelihood).__name__} observations are as {size} as they can be, such as {y[0]:g}, "
                "which leaves the trend without a bound; expected others, too, or trend=None, whose latent function is zero "
                "on average"
            )


def _as_it_is(model: Any, criterion: Criterion, kernel: Kernel, X: Vector, observations: Observations) -> Selection:
    """Return the kernel and the likelihood as they are, where nothing is searched for."""
    resolved = kernel.resolve(Data(X, observations.rough, None, model.feature_names())).on_points(X)[0]
    size = max(float(np.mean(resolved.diag(X[:1000]))), np.finfo(float).tiny)
    return Selection(
        kernel=resolved,
        noise=np.nan,
        jitter=least_jitter(len(X), size) if is_auto(model.alpha) else 0.0,
        criterion=criterion,
        value=np.nan,
        ended="converged",
        likelihood=observations.likelihood,
    )

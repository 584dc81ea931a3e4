"""The fit of one kernel of a selection, and what a table of the selection says of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from kernsel._base.annotations import Vector
from kernsel.estimators.fitted import STRENGTHS
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.stacking.set_aside import SetAside
from kernsel.kernels import Kernel
from kernsel.likelihoods.words import numbers_of
from kernsel.study.structure import numbers_found

__all__ = ["LeftOutScores", "Outcome", "Tried", "outcome_of", "strengths_of"]

_AT_END = ("converged", "evaluations")  # why a search ended that has evaluated the criterion


@dataclass(frozen=True)
class LeftOutScores:
    """How well observations of a likelihood are predicted from all others.

    Attributes
    ----------
    rmse, log_density, coverage : float
        The root mean squared error, the mean log density, and the share of observations from the 2.5 % to the 97.5 % quantile.
    """

    rmse: float
    log_density: float
    coverage: float


@dataclass(frozen=True)
class Tried:
    """A kernel that :func:`select` has fitted.

    Attributes
    ----------
    kernel : Kernel
        The kernel before the fit.
    value : float
        The best value of the criterion; nan if the kernel could not be fitted.
    seconds : float
    problem : str
        The reason why it could not be fitted; empty if it could.
    kernel_ : Kernel or None
        The fitted kernel.
    noise_, jitter_, n_evaluations_
        The attributes of :class:`kernsel.GaussianProcessRegressor`; zero for other models.
    others : dict of str to float
        Other numbers that were selected, which models other than Gaussian processes have: `C` and `epsilon`, or `alpha`.
    parameters : int
        The number of hyperparameters of the kernel that were selected, without redundant amplitudes.
    ended : str
        The reason why its search ended, see :class:`kernsel._search.Selection`.
    outliers_ : tuple of int
        The rows that count as outliers, the same for all kernels; the criterion is of all others.
    weight, log_density : float
        With ``combine="stack"`` or a likelihood: the weight in the mixture, and the mean log density of points that are
        left out; or nan.
    as_good : bool
        Whether it is about as good as the best: see `criterion` of :func:`select`.
    left_out : LeftOutScores or None
        How well observations are predicted from all others; only with a likelihood.
    """

    kernel: Kernel
    value: float
    seconds: float
    problem: str = ""
    kernel_: Kernel | None = None
    noise_: float | Vector = 0.0
    jitter_: float = 0.0
    n_evaluations_: int = 0
    parameters: int = 0
    ended: str = "converged"
    others: dict[str, float] = field(default_factory=dict)
    weight: float = np.nan
    log_density: float = np.nan
    as_good: bool = False
    outliers_: tuple[int, ...] = ()
    left_out: LeftOutScores | None = None


@dataclass(frozen=True)
class Outcome:
    """What the fit of one kernel has given.

    Attributes
    ----------
    one : Tried
    model : estimator
        Fitted, unless there is an error.
    aside : SetAside or None
        What is to be combined.
    error : Exception or None
    interrupt : KeyboardInterrupt or None
        What has ended the fit before its end, if it has.
    """

    one: Tried
    model: Any
    aside: SetAside | None
    error: Exception | None
    interrupt: BaseException | None


def outcome_of(
    estimator: BaseEstimator,
    kernel: Kernel,
    X: Any,
    y: ArrayLike,
    to_fit: dict[str, Any],
    seconds: float | None,
    in_time: bool,
    keeps: bool,
) -> Outcome | None:
    """Fit a kernel, within so many seconds, and keep what is to be combined if it `keeps`; None if there was no time left."""
    if not in_time:
        return None
    start = perf_counter()
    model: Any = clone(estimator).set_params(kernel=kernel)
    if "max_seconds" in model.get_params():
        model.set_params(max_seconds=seconds)
    problem, aside, failed, interrupted = "", None, None, None
    try:
        model.fit(X, y, **to_fit)
        if keeps:
            aside = SetAside.of(model)
        if not hasattr(model, "criterion_value_"):
            raise ValueError(f'estimator: expected one that chooses by a criterion, such as alpha="auto", got {estimator}')
        if np.isnan(model.criterion_value_) and getattr(getattr(model, "selection_", None), "ended", "") in _AT_END:
            raise ValueError("the criterion has no value at the end of the search: the kernel matrix is too close to singular")
    except Exception as error:  # a function in a user's kernel may raise any
        problem = (str(error).split("\n")[0].split(". ")[0] or type(error).__name__).removesuffix(".")
        aside, failed = None, error
    except KeyboardInterrupt as interrupt:
        interrupted = interrupt
    fitted = vars(model)
    if problem or not hasattr(model, "criterion_value_"):
        return Outcome(Tried(kernel, np.nan, perf_counter() - start, problem), model, aside, failed, interrupted)
    one = Tried(
        kernel,
        float(model.criterion_value_),
        perf_counter() - start,
        kernel_=model.kernel_,
        parameters=sum(numbers_found(k, getattr(model, "trend", None) is not None) for k in _kernels_of(model)),
        noise_=fitted.get("noise_", 0.0),
        jitter_=fitted.get("jitter_", 0.0),
        n_evaluations_=fitted.get("n_evaluations_", 0),
        ended=getattr(fitted.get("selection_"), "ended", "converged"),
        outliers_=_outliers_of(model),
        others={name: float(np.mean(fitted[f"{name}_"])) for name in strengths_of(model) if f"{name}_" in fitted},
    )
    if isinstance(model, GaussianProcessRegressor) and hasattr(model, "likelihood_"):
        one = _observed(one, model)
    return Outcome(one, model, aside, failed, interrupted)


def _observed(one: Tried, model: GaussianProcessRegressor) -> Tried:
    """Return a line of the table with what was found of a likelihood, and how well left-out observations are predicted."""
    y, found = model.kept_data()[1], model.left_out_predictive()
    density = float(found.log_density(y[:, None]).mean())
    low, high = found.quantiles([0.025, 0.975])[:, 0].T
    scores = LeftOutScores(
        float(np.sqrt(np.mean((y - found.mean[:, 0]) ** 2))), density, float(np.mean((low <= y) & (y <= high)))
    )
    return replace(one, log_density=density, left_out=scores, others={"density": density} | numbers_of(model.likelihood_))


def strengths_of(estimator: BaseEstimator) -> tuple[str, ...]:
    """Return the parameters in which the scale of the kernel is redundant; the usual names for an estimator that tells none."""
    names: tuple[str, ...] = getattr(estimator, "strengths", STRENGTHS)
    return names


def _outliers_of(model: BaseEstimator) -> tuple[int, ...]:
    """Return the rows that a model took for outliers, numbered as they were given: a process learns from copies once."""
    found = np.asarray(getattr(model, "outliers_", ()), dtype=np.intp)
    rows = getattr(getattr(model, "selection_", None), "rows", None)
    is_process = isinstance(model, GaussianProcessRegressor)
    return tuple((found if rows is None or not is_process else rows[found]).tolist())


def _kernels_of(model: BaseEstimator) -> list[Kernel]:
    """Return the kernels of a model, of which a classifier may have one for each class."""
    return list(getattr(model.kernel_, "kernels", [model.kernel_]))

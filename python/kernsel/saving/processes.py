"""Saving and loading of Gaussian process regression."""

from __future__ import annotations

from math import comb

import numpy as np

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._base.memory import require_memory_of_points
from kernsel._data.together import numbered
from kernsel._data.trend import Trend
from kernsel._solve.functional_posterior import FunctionalPosterior
from kernsel._solve.posterior import Posterior
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.process_state import ProcessState
from kernsel.estimators.two_processes import StackedTrend, TwoProcesses, stacked
from kernsel.saving.approximate import is_by_landmarks, read_approximate, write_approximate
from kernsel.saving.drawn import read_sampled, write_sampled
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.functionals import read_functionals, write_functionals
from kernsel.saving.observed import read_observations, write_observed
from kernsel.saving.selections import read_selection, write_selection

__all__ = ["read_process", "write_process"]


def write_process(model: GaussianProcessRegressor, to: Writing) -> None:
    """Write data, kernel and noise, from which the factorization is computed again when the model is loaded."""
    state = model.state()
    posterior = state.posterior
    of_functionals = posterior if isinstance(posterior, FunctionalPosterior) else None
    kernel = posterior.kernel if of_functionals is None else of_functionals.kernel_of_points
    to.kernel("kernel", kernel)
    if state.kernel != kernel:  # after log_marginal_likelihood(..., clone_kernel=False)
        to.kernel("changed_kernel", state.kernel)
    two = isinstance(state.observed, TwoProcesses)
    # Mixtures, and processes that know slopes or averages, are none of the models that C++ has.
    to.predictor(None if state.sampled is not None or two or of_functionals is not None else kernel)
    to.value("trend", _trend_of_points(posterior))
    if of_functionals is not None:
        write_functionals(of_functionals, to.part("functionals"))
    for name, values in (
        ("points", posterior.X),
        ("targets", posterior.y),
        ("diagonal", posterior.noise),
        ("trend_coefficients", posterior.beta),
        ("offset", state.offset),
        ("factor", state.factor),
        ("scale", model.scale_),
        ("noise", state.noise),
        ("alpha", state.alpha),
    ):
        to.array(name, np.asarray(values, dtype=np.float64))
    if posterior.exact:
        to.array("coefficients", np.asarray(posterior.weights, dtype=np.float64))
    else:
        write_approximate(posterior, to)
    to.array("outliers", state.outliers)
    to.json |= {"jitter": float(state.jitter), "one_output": bool(state.one_output), "restricted": bool(state.restricted)}
    if two:
        to.json["two_processes"] = True
    if state.groups is not None:
        to.array("groups", state.groups.astype(np.float64))
    to.values(model, "criterion_value_", "n_evaluations_")
    if state.sampled is not None:
        write_sampled(state.sampled, to.part("sampled"))
    if state.observed is not None:
        write_observed(state.observed, to.part("observed"))
    write_selection(state.selection, to.part("selection"))


def read_process(model: GaussianProcessRegressor, given: Fields) -> None:
    """Read data, kernel and noise, and condition the process on them."""
    kernel = given.kernel("kernel")
    changed = given.kernel("changed_kernel") if given.has("changed_kernel") else kernel
    trend = given.value("trend")
    if trend not in (None, "constant", "linear", "quadratic"):
        raise ValueError(f'trend: expected "constant", "linear", "quadratic" or null, got {trend!r:.60}')
    two = given.has("two_processes") and given.flag("two_processes")
    of_functionals, d = given.has("functionals"), int(model.n_features_in_)
    X = _points_of_two(given, d) if two else given.array("points", None, 2 * d + 1 if of_functionals else d)
    n = len(X)
    functions = {None: 0, "constant": 1, "linear": d + 1, "quadratic": comb(d + 2, 2)}[trend] + two
    if n < max(functions, 1) and (n or not is_by_landmarks(given)):
        raise ValueError(f"points: expected {max(functions, 1)} at least for this trend, got {n}")
    y = given.array("targets", n, None)
    outputs = y.shape[1]
    one_output = given.flag("one_output")
    if outputs == 0 or (one_output and outputs > 1):
        raise ValueError(f"targets: expected {'one column' if one_output else 'columns'}, got {outputs}")
    given.array("scale", outputs)  # checked only, as are the coefficients, which programs that do not factorize use
    beta = given.array("trend_coefficients", functions, outputs)
    approximated = given.has("approximation")
    if not approximated:
        given.array("coefficients", n, outputs)
    # Of functionals, those of the values: one for each, or nan if there are none.
    noise = _variances(given, "noise", None, finite=False) if of_functionals else _variances(given, "noise", n)
    alpha = _variances(given, "alpha", None if of_functionals else n)
    outliers = given.rows("outliers", n)
    jitter, restricted = given.number("jitter", 0.0), given.flag("restricted")
    offset = given.array("offset", outputs)
    factor = given.array("factor", outputs, least=np.finfo(np.float64).tiny)
    value = given.number("criterion_value_", finite=False)
    given.whole("n_evaluations_")  # checked only; the attribute is set from the selection
    selection = read_selection(given.part("selection"))
    diagonal = given.array("diagonal", n, least=0.0)
    observations = None
    if two or given.has("observed"):
        observations = read_observations(given.part("observed"), n // 2 if two else n, outputs, two=two)
    if approximated:
        posterior = read_approximate(given, kernel, X, y, diagonal, trend, beta)
    else:
        require_memory_of_points(n)
        if of_functionals:
            posterior = read_functionals(given.part("functionals"), kernel, X, y, diagonal, trend)
            for name, each in (("noise", noise), ("alpha", alpha)):
                if each.ndim and len(each) != posterior.n_values:
                    raise ValueError(
                        f"{name}: expected one number, or one for each of {posterior.n_values} values, got {len(each)}"
                    )
        else:
            posterior = Posterior(kernel, X, y, diagonal, StackedTrend(trend) if two else trend)
    model.restore(
        ProcessState(
            posterior=posterior,
            kernel=changed,
            selection=selection,
            criterion_value=value,
            noise=noise if noise.ndim else float(noise),
            alpha=alpha,
            jitter=jitter,
            outliers=outliers,
            offset=offset,
            factor=factor,
            one_output=one_output,
            restricted=restricted,
            groups=_groups(given, n) if given.has("groups") else None,
            sampled=read_sampled(given.part("sampled"), X, trend) if given.has("sampled") else None,
            observed=None if observations is None else observations.of(posterior),
        )
    )


def _points_of_two(given: Fields, d: int) -> Matrix:
    """Return the points of two processes, see `stacked`."""
    X = given.array("points", None, d + 2)
    if not np.array_equal(X, stacked(X[: len(X) // 2, :d])):
        raise ValueError("points: expected those of two processes, the same for both")
    return X


def _trend_of_points(posterior: Posterior) -> Trend:
    """Return the trend of the function, also where the rows of the posterior are more than its points."""
    if isinstance(posterior, FunctionalPosterior):
        return posterior.trend_of_points
    return posterior.trend.trend if isinstance(posterior.trend, StackedTrend) else posterior.trend


def _groups(given: Fields, n: int) -> Indices:
    """Return the groups that are left out together."""
    labels = given.array("groups", n)
    numbers, count = numbered(labels)
    if count < 2:
        raise ValueError(f"groups: expected two at least, got {count}")
    return numbers


def _variances(given: Fields, name: str, n: int | None, *, finite: bool = True) -> Vector:
    """Return one number, or one for each of n points; if n is None, of any number."""
    whole = given.container.tensors.get(f"{given.prefix}{name}", ("", (n,), 0))[1] == ()
    return given.array(name, *(() if whole else (n,)), least=0.0, finite=finite)

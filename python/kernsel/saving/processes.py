"""Gaussian process regression as arrays and fields."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from kernsel._solve.posterior import Posterior, require_memory
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.selections import read_selection, write_selection

__all__ = ["read_process", "write_process"]


def write_process(model: GaussianProcessRegressor, to: Writing) -> None:
    """Write data, kernel and noise; the factorization is computed again from these."""
    posterior = model.posterior_
    to.kernel("kernel", posterior.kernel)
    if model.kernel_ != posterior.kernel:  # after log_marginal_likelihood(..., clone_kernel=False)
        to.kernel("changed_kernel", model.kernel_)
    to.predictor(posterior.kernel)
    to.value("trend", posterior.trend)
    for name, values in (
        ("points", posterior.X),
        ("targets", posterior.y),
        ("diagonal", posterior.noise),
        ("coefficients", posterior.weights),
        ("trend_coefficients", posterior.beta),
        ("offset", model._y_train_mean),
        ("factor", model._y_train_std),
        ("scale", model.scale_),
        ("noise", model.noise_),
        ("alpha", model._alpha_known),
    ):
        to.array(name, np.asarray(values, dtype=np.float64))
    to.json |= {"jitter": float(model.jitter_), "one_output": bool(model._flat), "restricted": bool(model._restricted)}
    to.values(model, "criterion_value_", "n_evaluations_")
    write_selection(model.selection_, to.part("selection"))


def read_process(model: GaussianProcessRegressor, given: Fields) -> None:
    """Condition the process again on what was written."""
    model.kernel_ = kernel = given.kernel("kernel")
    if given.has("changed_kernel"):
        model.kernel_ = given.kernel("changed_kernel")
    trend = given.value("trend")
    if trend not in (None, "constant", "linear", "quadratic"):
        raise ValueError(f'trend: expected "constant", "linear", "quadratic" or null, got {trend!r:.60}')
    X = given.array("points", None, model.n_features_in_)
    n, d = X.shape
    functions = {None: 0, "constant": 1, "linear": d + 1, "quadratic": comb(d + 2, 2)}[trend]
    if n < max(functions, 1):
        raise ValueError(f"points: expected {max(functions, 1)} at least for this trend, got {n}")
    y = given.array("targets", n, None)
    outputs = y.shape[1]
    model._flat = given.flag("one_output")
    if outputs == 0 or (model._flat and outputs > 1):
        raise ValueError(f"targets: expected {'one column' if model._flat else 'columns'}, got {outputs}")
    for name, shape in (("coefficients", (n, outputs)), ("trend_coefficients", (functions, outputs)), ("scale", (outputs,))):
        given.array(name, *shape)  # for readers that do not factorize
    model.noise_ = _variances(given, "noise", n, as_number=True)
    model._alpha_known = _variances(given, "alpha", n)
    model.jitter_ = given.number("jitter", 0.0)
    model._restricted = given.flag("restricted")
    model._y_train_mean = given.array("offset", outputs)
    model._y_train_std = given.array("factor", outputs, least=np.finfo(np.float64).tiny)
    model.criterion_value_ = given.number("criterion_value_", finite=False)
    model.n_evaluations_ = given.whole("n_evaluations_")
    model.selection_ = read_selection(given.part("selection"))
    model._criterion()
    require_memory(n)
    model.posterior_ = Posterior(kernel, X, y, given.array("diagonal", n, least=0.0), trend)
    model._set_fitted()


def _variances(given: Fields, name: str, n: int, *, as_number: bool = False) -> Any:
    """Return one number, or one for each point."""
    whole = given.container.tensors.get(f"{given.prefix}{name}", ("", (n,), 0))[1] == ()
    values = given.array(name, least=0.0) if whole else given.array(name, n, least=0.0)
    return float(values) if whole and as_number else values

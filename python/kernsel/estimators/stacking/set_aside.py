"""Fitted Gaussian processes without their factorizations, which take n^2 numbers each, until it is known which are needed."""

from __future__ import annotations

import copy
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from kernsel._base.annotations import Indices, Vector
from kernsel._solve.posterior import Posterior
from kernsel.criteria import Evidence, Likelihood
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.process_state import ProcessState

__all__ = ["SetAside"]


@dataclass(frozen=True)
class SetAside:
    """A fitted process without its factorization.

    Attributes
    ----------
    log_density : ndarray of shape (n,)
        The log density of each training point in the prediction from all others, summed over outputs.
    log_likelihood : float
        The value of the process's criterion if that is a likelihood, otherwise the sum of `log_density`. A likelihood that was
        maximized is less half the logarithm of n for each hyperparameter of the kernel (Schwarz's approximation of the
        evidence).
    measure : {"evidence", "reml", "lml", "log_density"}
        What kind of likelihood that is. Only those of one kind can be compared.
    """

    log_density: Vector
    log_likelihood: float
    measure: str
    _process: GaussianProcessRegressor
    _state: dict[str, Any]  # the fields of ProcessState without the posterior
    _kind: type[Posterior]
    _posterior: dict[str, Any]  # the arguments of the posterior, which is of that kind

    @classmethod
    def of(cls, process: GaussianProcessRegressor) -> Self:
        """Return a fitted process without its factorization. The process itself is not changed."""
        state = process.state()
        if len(process.X_train_) < 2:
            raise ValueError("X: expected at least two points, one of which can be left out, got n_samples = 1")
        log_density = process.left_out_predictive().log_density(process.kept_data()[1].reshape(len(process.X_train_), -1))
        if not np.isfinite(log_density).all():
            raise ValueError(f"kernel: {process.kernel_} gives points that are left out no finite log density")
        light = copy.copy(process)
        del light.posterior_
        rest = {entry.name: getattr(state, entry.name) for entry in fields(ProcessState) if entry.name != "posterior"}
        light.__dict__.pop("_observed", None)  # it has the posterior, too
        if state.observed is not None:
            rest["observed"] = state.observed.without_posterior()
        likely = _log_likelihood(process, state, log_density)
        return cls(log_density, *likely, light, rest, type(state.posterior), state.posterior.arguments())

    @property
    def rows(self) -> Indices | None:
        """The rows that were learnt from, if others are copies of them."""
        rows: Indices | None = self._state["selection"].rows
        return rows

    def taken_up(self) -> GaussianProcessRegressor:
        """Return the process, factorized again in n^3 / 3 operations."""
        process = copy.copy(self._process)
        posterior, state = self._kind(**self._posterior), dict(self._state)
        if state["observed"] is not None:
            state["observed"] = state["observed"](posterior)
        process.restore(ProcessState(posterior=posterior, **state))
        return process


def _log_likelihood(process: GaussianProcessRegressor, state: ProcessState, log_density: Vector) -> tuple[float, str]:
    """Return the log likelihood of a process, and what kind of likelihood it is."""
    criterion = state.selection.criterion
    exact = not state.selection.approximation  # approximate likelihoods of different kernels have different neighbours
    if not (exact and isinstance(criterion, Likelihood) and np.isfinite(state.criterion_value or np.nan)):
        return float(log_density.sum()), "log_density"
    value = float(state.criterion_value or 0.0)
    if isinstance(criterion, Evidence):
        return value, "evidence"
    if process.optimizer is not None:
        value -= 0.5 * state.kernel.n_dims * float(np.log(len(process.X_train_)))
    return value, "reml" if state.restricted else "lml"

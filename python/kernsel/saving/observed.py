"""Saving and loading of observations that have a likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsel._solve.posterior import Posterior
from kernsel.estimators.observed_process import ObservedProcess
from kernsel.estimators.two_processes import TwoProcesses
from kernsel.likelihoods import Likelihood
from kernsel.likelihoods.observations import Observations
from kernsel.saving.fields import Fields, Writing

__all__ = ["ObservationsRead", "read_observations", "write_observed"]


def write_observed(observed: ObservedProcess, to: Writing) -> None:
    """Write observations and their likelihood; the posterior of the latent functions is that of the process."""
    observations = observed.observations
    to.value("likelihood", observations.likelihood)
    if isinstance(observed, TwoProcesses):
        to.values(observed, "offset", "unit")
    else:
        to.json["core_likelihood"] = _core_form(observations.likelihood)
    to.values(observations, "inference")
    to.values(observed, "value", "noise_of_function")
    to.array("y", observations.y)
    if observations.sizes is not None:
        to.array("sizes", observations.sizes)


@dataclass(frozen=True)
class ObservationsRead:
    """What :func:`write_observed` has written."""

    observations: Observations
    value: float
    noise_of_function: float
    scale: tuple[float, float] | None  # of two processes: their offset and unit

    def of(self, posterior: Posterior) -> ObservedProcess:
        """Return the observed process with the posterior of its latent functions."""
        if self.scale is None:
            return ObservedProcess(self.observations, posterior, self.value, self.noise_of_function)
        offset, unit = self.scale
        return TwoProcesses(self.observations, posterior, self.value, self.noise_of_function, offset=offset, unit=unit)


def read_observations(given: Fields, n: int, outputs: int, *, two: bool) -> ObservationsRead:
    """Read observations of `n` points, and check that their likelihood may have them, and is of two processes or of one."""
    given.json.pop("core_likelihood", None)  # only for programs in C++
    with given:
        if outputs != 1:
            raise ValueError(f"{given.prefix}likelihood: expected a process of one target, got {outputs}")
        likelihood = given.likelihood("likelihood")
        if likelihood.is_of_two != two:
            raise ValueError(
                f"{given.prefix}likelihood: expected one of {'two processes' if two else 'one process'}, got {likelihood}"
            )
        y = given.array("y", n)
        sizes = given.array("sizes", n) if given.has("sizes") else None
        if sizes is not None:
            likelihood.check_sizes(sizes)
        likelihood.check(y, sizes)
        observations = Observations(likelihood, y, sizes, given.text("inference", ("auto", "laplace", "ep")))
        value, noise = given.number("value", finite=False), given.number("noise_of_function", 0.0)
        scale = (given.number("offset"), given.number("unit", np.finfo(np.float64).tiny)) if two else None
        return ObservationsRead(observations, value, noise, scale)


def _core_form(likelihood: Likelihood) -> list[object]:
    """Return the name of a likelihood in C++ and its arguments, see ``likelihoods::named`` of ``kernsel/likelihood.hpp``."""
    core = likelihood.core()
    return [core.name, *(number if np.isfinite(number) else None for number in core.arguments)]

"""The search for the hyperparameters of a latent process and the parameters of the likelihood of its observations."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kernsel._base.annotations import Indices, Vector
from kernsel._base.blas import with_one_blas_thread
from kernsel._data.trend import Trend, trend_matrix
from kernsel._search.choice import finished, generator_of
from kernsel._search.core_search import MANY, SUBSET, Budget, core_search
from kernsel._search.layout import Layout, has_values
from kernsel._search.own_optimizer import Optimizer, own_optimizer
from kernsel._search.selection import Selection
from kernsel.approximations import Approximation
from kernsel.criteria import Criterion
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data
from kernsel.likelihoods import Likelihood
from kernsel.likelihoods.observations import Observations

__all__ = ["choose_with_likelihood"]


@with_one_blas_thread
def choose_with_likelihood(
    criterion: Criterion,
    kernel: Kernel,
    X: Vector,
    observations: Observations,
    *,
    noise: float = 0.0,
    finds_amplitude: bool = False,
    jitter: float | None = None,
    trend: Trend = None,
    groups: Indices | None = None,
    names: Sequence[str] | None = None,
    optimizer: str | Optimizer = "auto",
    n_restarts: int = 0,
    random_state: int | np.random.RandomState | None = None,
    budget: Budget | None = None,
    approximation: Approximation | None = None,
    subset: Callable[[int], Indices] | None = None,
    same_for_any_points: bool = True,
) -> tuple[Selection, Likelihood]:
    """Find hyperparameters, and those parameters of the likelihood that are to be found, for which a criterion is best.

    The arguments are those of :func:`kernsel._search.choose`; the noise is one of the latent function. If there are many
    points, the search begins with those that `subset` returns for a number of them, in order, or by default with random ones.

    Returns
    -------
    selection : Selection
    likelihood : Likelihood
        With the parameters that were found.
    """
    began = time.perf_counter()
    H = trend_matrix(trend, X)
    data = Data(X, observations.rough, None, names, anchors=[])
    layout = Layout(kernel.resolve(data).on_points(X)[0])
    parameters = observations.likelihood.parameters(observations.y, observations.sizes)
    search = core_search(
        criterion,
        layout,
        data,
        observations.y,
        np.arange(len(X)),
        H,
        known=np.array([noise]) if noise else np.zeros(0),
        finds_noise=False,
        jitter=jitter,
        budget=budget or Budget(),
        options={
            "finds_amplitude": finds_amplitude,
            "restarts": n_restarts,
            "newton": optimizer != "l-bfgs-b",
            "subset": [] if subset is None or len(X) <= MANY else subset(SUBSET).tolist(),
            "profile": False,
            "same_for_any_points": same_for_any_points and criterion.same_for_any_points and groups is None,
            "has_values": has_values(kernel),
            "seed": None if random_state is None else int(generator_of(random_state).integers(2**63)),
            "approximation": None if approximation is None else approximation.core(),
            "observed": observations.core(),
            "parameters": [(p.value, p.lower, p.upper, not p.fixed) for p in parameters],
        },
        groups=groups,
    )
    found = own_optimizer(optimizer, search, n_restarts) if callable(optimizer) else search.run()
    free = [p.name for p in parameters if not p.fixed]
    selection = finished(found, layout, criterion, False, began, approximation is not None, free)
    likelihood = observations.likelihood.with_values(found["likelihood"].tolist())
    return replace(selection, likelihood=likelihood), likelihood

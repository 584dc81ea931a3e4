"""The search object of the C++ core: a criterion as a function of unknown numbers, with bounds and starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernsel import _core
from kernsel._base.annotations import Indices, Vector
from kernsel._search.layout import Layout
from kernsel.criteria import Criterion, Evidence
from kernsel.criteria.base import Given
from kernsel.kernels.automatic import Data

__all__ = ["MANY", "SUBSET", "Budget", "core_search"]

MANY, SUBSET = 600, 400  # with more than MANY points, a search begins on SUBSET of them


@dataclass(frozen=True)
class Budget:
    """The largest number of evaluations and seconds of a search, and a function that is told of its progress.

    The function is called with the number of evaluations, the number of points and the best value so far; the search ends if
    it returns False.
    """

    evaluations: int = 1000
    seconds: float = np.inf
    progress: Callable[[int, int, float], bool] | None = None


def core_search(
    criterion: Criterion,
    layout: Layout,
    data: Data,
    y: Vector,
    used: NDArray[np.intp],
    H: Vector,
    *,
    known: Vector,
    finds_noise: bool,
    jitter: float | None,
    budget: Budget,
    options: dict[str, object],
    groups: Indices | None = None,
) -> _core.Search:
    """Return the search object of the C++ core: the criterion as a function of the unknowns, with bounds and starts.

    Parameters
    ----------
    criterion : Criterion
    layout : Layout
        The layout of a kernel without "auto" parameters.
    data : Data
        The points and weights, and the statistics from which starts of hyperparameters are derived.
    y : ndarray of shape (n,) or (n, m)
    used : ndarray of int
        The points of positive weight.
    H : ndarray of shape (n, q)
        The functions of the trend.
    known : ndarray of shape (0,), (1,) or (n,)
        The known noise variances.
    finds_noise : bool
    jitter : float or None
    budget : Budget
    options : dict
        The options of the search that differ from their defaults.
    groups : ndarray of int of shape (n,), optional
        The groups that are left out together.

    Returns
    -------
    search : Search of the core
    """
    X, weights = data.X, data.weights
    observed = "observed" in options
    scale_free = None if observed else criterion.without_scale()

    def of(which: Criterion) -> Callable[[NDArray[np.intp]], _core.Criterion]:
        if observed:
            return lambda rows: which.of_observations(Given(X, y, used[rows], groups), has_trend=H.shape[1] > 0)
        return lambda rows: which.core(Given(X, y, used[rows], groups))

    usual = {
        "evaluations": budget.evaluations,
        "seconds": budget.seconds,
        "progress": budget.progress,
        "many_points": MANY,
        "subset_points": SUBSET,
        "subset": [],
        "finds_amplitude": False,
        "restarts": 0,
        "newton": True,
        "profile": True,
        "same_for_any_points": criterion.same_for_any_points,
        "has_values": True,
        "seed": None,
        "spreads": [],
        "approximation": None,
        "search_points": len(used),
        "expects_all": isinstance(criterion, Evidence),
        "excepted": layout.with_prior().tolist(),
        "observed": None,
        "parameters": [],
    }
    how = usual | options
    return _core.Search(
        layout.kernel.build(),
        X[used],
        y[used],
        H[used],
        [] if weights is None else weights[used].tolist(),
        {
            "amplitude": how["finds_amplitude"],
            "unknown": finds_noise,
            "known": (known if len(known) < 2 else known[used]).tolist(),
            "jitter": jitter or 0.0,
            "automatic_jitter": jitter is None,
        },
        of(criterion),
        None if scale_free is None else of(scale_free),
        bool(how["same_for_any_points"]),
        {
            "place": layout.core_places(),
            "theta": layout.theta.tolist(),
            "lower": layout.bounds[:, 0].tolist(),
            "upper": layout.bounds[:, 1].tolist(),
            "anchors": layout.anchors(data.anchors or []),
            "amplitudes": layout.amplitudes() or [],
            "has_values": how["has_values"],
            "variance": data.variance,
        },
        layout.maker(),
        _prior(criterion, layout),
        how,
    )


def _prior(criterion: Criterion, layout: Layout) -> Callable[[list[float]], tuple[float, list[float]]] | None:
    """Return the log density of the priors, if the criterion includes them: the evidence integrates over logarithms."""
    if not (layout.has_priors and criterion.adds_prior):
        return None
    return layout.log_prior_of_logarithms if isinstance(criterion, Evidence) else layout.log_prior

"""Which kernels are about as good as the best one, and which of these is the simplest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kernsel.criteria import Criterion
from kernsel.estimators.stacking.set_aside import SetAside

if TYPE_CHECKING:
    from kernsel.study.select import Tried

__all__ = ["marked", "simplest_of_the_best"]

_NATS = 1.0  # log likelihoods, or log evidences, that differ by less do not decide
_SHARE = 0.01  # errors that differ by less, relative to the best, do not decide


def marked(tried: Sequence[Tried], criterion: Criterion) -> list[Tried]:
    """Return sorted results with those marked that are about as good as the first, by the value of the criterion."""
    if not tried or tried[0].kernel_ is None:
        return list(tried)
    best = tried[0].value
    allowed = _NATS if criterion.larger_is_better else _SHARE * abs(best)
    return [replace(one, as_good=one.kernel_ is not None and abs(one.value - best) <= allowed) for one in tried]


def simplest_of_the_best(tried: Sequence[Tried], fitted: Sequence[SetAside | None]) -> list[Tried]:
    """Return results in the order of the densities of points that are left out, with the simplest of the best first.

    About as good as the best are those whose mean log density is less by no more than one standard error of the mean of the
    differences, which is that of a sum of independent differences. The first is the one of these with the fewest
    hyperparameters; they are marked.

    Parameters
    ----------
    tried : sequence of Tried
    fitted : sequence of SetAside or None
        The fitted process of each; None for a kernel that could not be fitted.
    """
    densities = [None if one is None else one.log_density for one in fitted]
    means = np.array([-np.inf if density is None else density.mean() for density in densities])
    if not np.isfinite(means).any():
        return list(tried)
    order = np.argsort(-means, kind="stable")
    best = densities[int(order[0])]
    assert best is not None
    results = []
    for k in order:
        density = densities[int(k)]
        close = False
        if density is not None:
            less = best - density
            close = bool(less.mean() <= less.std() / np.sqrt(len(less)))
        log_density = float(means[k]) if density is not None else np.nan
        results.append(replace(tried[int(k)], as_good=close, log_density=log_density))
    first = min((one for one in results if one.as_good), key=lambda one: (one.parameters, -one.log_density))
    return [first, *(one for one in results if one is not first)]

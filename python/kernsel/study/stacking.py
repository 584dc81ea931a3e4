"""The mixture of the kernels that a selection has tried, with weights by likelihoods and by points that are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.stacking.regressor import StackedRegressor
from kernsel.estimators.stacking.set_aside import SetAside

if TYPE_CHECKING:
    from kernsel.study.select import Tried

__all__ = ["combined", "in_short"]


def combined(
    tried: Sequence[Tried], fitted: Sequence[SetAside | None], estimator: GaussianProcessRegressor
) -> tuple[list[Tried], StackedRegressor]:
    """Return what was tried with the weight of each kernel, and the mixture of those that have any.

    Parameters
    ----------
    tried : sequence of Tried
    fitted : sequence of SetAside or None
        The fitted process of each; None for a kernel that could not be fitted.
    estimator : GaussianProcessRegressor
        The process that was fitted with each kernel.
    """
    places = [k for k, one in enumerate(fitted) if one is not None]
    model = StackedRegressor([clone(estimator).set_params(kernel=tried[k].kernel) for k in places])
    model.combine([one for one in fitted if one is not None])
    weights = np.zeros(len(tried))
    weights[np.array(places)[model.kept_]] = model.weights_
    return [
        one if aside is None else replace(one, weight=float(weight), log_density=float(aside.log_density.mean()))
        for one, aside, weight in zip(tried, fitted, weights, strict=True)
    ], model


def in_short(model: StackedRegressor, tried: Sequence[Tried]) -> str:
    """Return a line on how well points that are left out are predicted, by the mixture and by the best kernel alone."""
    count = len(model.weights_)
    return (
        f"stacked: {count} kernel{'s' * (count != 1)}, mean log density of points left out "
        f"{model.loo_log_density_.mean():.5g}; of the best alone {np.nanmax([one.log_density for one in tried]):.5g}"
    )

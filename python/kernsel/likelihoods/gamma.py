"""Positive numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kernsel import _core
from kernsel.likelihoods.built_in import BuiltIn
from kernsel.likelihoods.parameter import Bounds, Number

__all__ = ["Gamma"]


@dataclass(frozen=True, repr=False)
class Gamma(BuiltIn):
    """Positive numbers of mean exp(f) and variance exp(2 f) / k: amounts, durations, costs.

    k is the shape times the weight of an observation, which is the number of those whose mean it is. With g = y exp(-f),

        log p = k log k - log Gamma(k) + k (log g - g) - log y

    Parameters
    ----------
    shape : float or "auto"
        1 is the exponential distribution; the standard deviation divided by the mean is 1 / sqrt(shape).
    shape_bounds : pair of floats, "auto" or "fixed"

    Examples
    --------
    >>> from kernsel.likelihoods import Gamma
    >>> Gamma(shape=4.0).quantiles([0.05, 0.5, 0.95], f=0.0).round(3)
    array([0.342, 0.918, 1.938])
    """

    shape: Number = "auto"
    shape_bounds: Bounds = "auto"
    standard: ClassVar[dict[str, float]] = {"shape": 2.0}
    size_name: ClassVar[str | None] = "weight"

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.gamma(*numbers)

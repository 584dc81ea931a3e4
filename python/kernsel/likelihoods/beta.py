"""Numbers between 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kernsel import _core
from kernsel.likelihoods.built_in import BuiltIn
from kernsel.likelihoods.parameter import Bounds, Number

__all__ = ["Beta"]


@dataclass(frozen=True, repr=False)
class Beta(BuiltIn):
    """Numbers between 0 and 1, shares and rates, of mean q = 1 / (1 + exp(-f)) and variance q (1 - q) / (1 + concentration).

    y has the distribution Beta(a, b), a = c q, b = c (1 - q), c the concentration. log p is not concave in f, and Laplace's
    approximation takes the expected information.

    Parameters
    ----------
    concentration : float or "auto"
        Below 2 y is mostly near 0 or 1.
    concentration_bounds : pair of floats, "auto" or "fixed"

    Examples
    --------
    >>> from kernsel.likelihoods import Beta
    >>> Beta(concentration=10.0).quantiles([0.05, 0.95], f=0.0).round(3)
    array([0.251, 0.749])
    """

    concentration: Number = "auto"
    concentration_bounds: Bounds = "auto"
    standard: ClassVar[dict[str, float]] = {"concentration": 10.0}

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.beta(*numbers)

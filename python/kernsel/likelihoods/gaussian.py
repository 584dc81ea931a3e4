"""Normal errors, also of observations that are known only to be beyond a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernsel import _core
from kernsel.likelihoods.built_in import BuiltIn
from kernsel.likelihoods.parameter import Bounds, Number

__all__ = ["CensoredGaussian", "Gaussian"]


@dataclass(frozen=True, repr=False)
class Gaussian(BuiltIn):
    """Normal errors: y = f + e, e of mean 0 and variance `noise`.

    Parameters
    ----------
    noise : float or "auto"
        The variance.
    noise_bounds : pair of floats, "auto" or "fixed"

    Examples
    --------
    >>> from kernsel.likelihoods import Gaussian
    >>> Gaussian(noise=4.0).predict_quantiles(0.975, mean=[1.0], variance=[5.0]).round(3)
    array([6.88])
    """

    noise: Number = "auto"
    noise_bounds: Bounds = "auto"
    standard: ClassVar[dict[str, float]] = {"noise": 1.0}

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.gaussian(*numbers)


@dataclass(frozen=True, repr=False)
class CensoredGaussian(BuiltIn):
    """Normal errors where y is cut off at limits: an observation at a limit would be there or beyond.

    With r = (y - f) / s, s^2 the noise, log p is that of :class:`Gaussian` between the limits, log Phi(r) at the lower one and
    log Phi(-r) at the upper one, Phi being the normal distribution function. Predictions are those of y, cut off as well.

    Parameters
    ----------
    lower, upper : float
        The limits, one of which may be infinite.
    noise : float or "auto"
        The variance of the errors.
    noise_bounds : pair of floats, "auto" or "fixed"

    Examples
    --------
    A device that shows at most 10:

    >>> from kernsel.likelihoods import CensoredGaussian
    >>> CensoredGaussian(upper=10.0, noise=1.0).log_density([9.0, 10.0], [10.0, 10.0]).round(3)
    array([-1.419, -0.693])
    """

    lower: float = -np.inf
    upper: float = np.inf
    noise: Number = "auto"
    noise_bounds: Bounds = "auto"
    standard: ClassVar[dict[str, float]] = {"noise": 1.0}

    def __post_init__(self) -> None:
        if not self.lower < self.upper:
            raise ValueError(f"lower, upper: expected a lower limit below the upper one, got {self.lower!r} and {self.upper!r}")
        super().__post_init__()

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.censored_gaussian(numbers[0], float(self.lower), float(self.upper))

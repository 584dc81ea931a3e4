"""Counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kernsel import _core
from kernsel.likelihoods.built_in import BuiltIn
from kernsel.likelihoods.parameter import Bounds, Number

__all__ = ["NegativeBinomial", "Poisson"]


@dataclass(frozen=True, repr=False)
class Poisson(BuiltIn):
    """Counts whose mean and variance are e exp(f), e the exposure: how long or how much was counted.

        log p = y log(e exp f) - e exp f - log y!

    Examples
    --------
    >>> from kernsel.likelihoods import Poisson
    >>> mean, variance = Poisson().predict(mean=[1.0], variance=[0.25], size=[2.0])
    >>> mean.round(2), variance.round(2)
    (array([6.16]), array([16.94]))
    """

    size_name: ClassVar[str | None] = "exposure"

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.poisson(*numbers)


@dataclass(frozen=True, repr=False)
class NegativeBinomial(BuiltIn):
    """Counts that vary more than those of :class:`Poisson`: mean mu = e exp(f), variance mu + mu^2 / shape.

    With r the shape and q = mu / (r + mu),

        log p = log Gamma(y + r) - log Gamma(r) - log y! + r log(1 - q) + y log q,

    which is concave in f.

    Parameters
    ----------
    shape : float or "auto"
        The larger, the nearer to Poisson's counts.
    shape_bounds : pair of floats, "auto" or "fixed"

    Examples
    --------
    >>> from kernsel.likelihoods import NegativeBinomial
    >>> NegativeBinomial(shape=2.0).conditional([0.0, 2.0])[1].round(2)
    array([ 1.5 , 34.69])
    """

    shape: Number = "auto"
    shape_bounds: Bounds = "auto"
    standard: ClassVar[dict[str, float]] = {"shape": 2.0}
    size_name: ClassVar[str | None] = "exposure"

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.negative_binomial(*numbers)

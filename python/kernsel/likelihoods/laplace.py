"""The median, and any other quantile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kernsel import _core
from kernsel.likelihoods.built_in import BuiltIn
from kernsel.likelihoods.parameter import Bounds, Number

__all__ = ["AsymmetricLaplace", "Laplace"]


@dataclass(frozen=True, repr=False)
class Laplace(BuiltIn):
    """Errors of Laplace's distribution: f is the median of y.

        p = exp(-|y - f| / scale) / (2 scale)

    and y has besides a normal error of a fifth of the scale, which rounds the kink where y = f. log p is concave, but as its
    curvature is nearly all near the kink, Laplace's approximation takes the expected one, about 1 / scale^2.

    Parameters
    ----------
    scale : float or "auto"
    scale_bounds : pair of floats, "auto" or "fixed"

    Examples
    --------
    >>> from kernsel.likelihoods import Laplace
    >>> Laplace(scale=1.0).derivatives(y=[-0.1, 5.0, 50.0], f=0.0)[0].round(3)
    array([-0.353,  1.   ,  1.   ])
    """

    scale: Number = "auto"
    scale_bounds: Bounds = "auto"
    standard: ClassVar[dict[str, float]] = {"scale": 1.0}
    usual_inference: ClassVar[str] = "ep"

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.laplace(*numbers)


@dataclass(frozen=True, repr=False)
class AsymmetricLaplace(BuiltIn):
    """Quantile regression: f is the `quantile` of y.

    With q the quantile and r = y - f,

        p = q (1 - q) / scale exp(-max(q r, (q - 1) r) / scale),

    with the kink rounded as in :class:`Laplace`, by which the probability of y < f changes by less than 0.001. The
    distribution is a device for f: predictions of y are only as good as it fits.

    Parameters
    ----------
    quantile : float
        Between 0 and 1.
    scale : float or "auto"
    scale_bounds : pair of floats, "auto" or "fixed"

    Examples
    --------
    >>> from kernsel.likelihoods import AsymmetricLaplace
    >>> AsymmetricLaplace(quantile=0.9, scale=1.0).probability([0.0], f=0.0).round(2)
    array([0.9])
    """

    quantile: float = 0.5
    scale: Number = "auto"
    scale_bounds: Bounds = "auto"
    standard: ClassVar[dict[str, float]] = {"scale": 1.0}
    usual_inference: ClassVar[str] = "ep"

    def __post_init__(self) -> None:
        if not 0.001 <= self.quantile <= 0.999:
            raise ValueError(f"quantile: expected a number from 0.001 to 0.999, got {self.quantile!r}")
        super().__post_init__()

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.asymmetric_laplace(numbers[0], float(self.quantile))

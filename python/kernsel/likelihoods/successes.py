"""Successes and failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from kernsel import _core
from kernsel.likelihoods.built_in import BuiltIn

__all__ = ["Bernoulli", "Binomial"]


@dataclass(frozen=True, repr=False)
class Bernoulli(BuiltIn):
    """y is 1 with probability q(f) and otherwise 0.

    Parameters
    ----------
    link : {"logit", "probit"}
        q = 1 / (1 + exp(-f)), or Phi(f), the normal distribution function, whose moments are closed.

    Examples
    --------
    >>> from kernsel.likelihoods import Bernoulli
    >>> Bernoulli("probit").predict(mean=[1.0], variance=[3.0])[0].round(4)
    array([0.6915])
    """

    link: Literal["logit", "probit"] = "logit"

    def __post_init__(self) -> None:
        if self.link not in ("logit", "probit"):
            raise ValueError(f'link: expected "logit" or "probit", got {self.link!r}')

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.bernoulli_logit(*numbers) if self.link == "logit" else _core.bernoulli_probit(*numbers)


@dataclass(frozen=True, repr=False)
class Binomial(BuiltIn):
    """The number y of successes in a number of trials, each with probability q = 1 / (1 + exp(-f)).

        log p = log (n over y) + y log q + (n - y) log(1 - q),    n the trials, 1 unless they are given

    Examples
    --------
    >>> from kernsel.likelihoods import Binomial
    >>> Binomial().conditional([0.0], size=[10])
    (array([5.]), array([2.5]))
    """

    size_name: ClassVar[str | None] = "trials"

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.binomial(*numbers)

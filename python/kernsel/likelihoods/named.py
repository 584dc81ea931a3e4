"""Likelihoods by name."""

from __future__ import annotations

from kernsel.likelihoods.base import Likelihood
from kernsel.likelihoods.beta import Beta
from kernsel.likelihoods.counts import NegativeBinomial, Poisson
from kernsel.likelihoods.gamma import Gamma
from kernsel.likelihoods.gaussian import Gaussian
from kernsel.likelihoods.laplace import Laplace
from kernsel.likelihoods.student_t import StudentT
from kernsel.likelihoods.successes import Bernoulli, Binomial

__all__ = ["NAMED", "likelihood_of", "name_of"]

# Those that need no arguments.
NAMED: dict[str, type[Likelihood]] = {
    "gaussian": Gaussian,
    "student_t": StudentT,
    "laplace": Laplace,
    "poisson": Poisson,
    "negative_binomial": NegativeBinomial,
    "bernoulli": Bernoulli,
    "binomial": Binomial,
    "gamma": Gamma,
    "beta": Beta,
}


def likelihood_of(given: object) -> Likelihood:
    """Return a likelihood, or the one of a name."""
    if isinstance(given, Likelihood):
        return given
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]()
    if isinstance(given, type) and issubclass(given, Likelihood):
        raise TypeError(f"likelihood: expected an object, such as kernsel.likelihoods.{given.__name__}(), got the class")
    raise ValueError(f"likelihood: expected one of {', '.join(NAMED)}, an object of kernsel.likelihoods or None, got {given!r}")


def name_of(likelihood: Likelihood) -> str:
    """Return the name of a likelihood, or of its class if it has none."""
    for name, kind in NAMED.items():
        if type(likelihood) is kind:
            return name
    return type(likelihood).__name__

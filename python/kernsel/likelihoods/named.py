"""Likelihoods by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kernsel.likelihoods.base import Likelihood
from kernsel.likelihoods.beta import Beta
from kernsel.likelihoods.counts import NegativeBinomial, Poisson
from kernsel.likelihoods.gamma import Gamma
from kernsel.likelihoods.gaussian import Gaussian
from kernsel.likelihoods.laplace import Laplace
from kernsel.likelihoods.student_t import StudentT
from kernsel.likelihoods.successes import Bernoulli, Binomial
from kernsel.likelihoods.warped import BoxCox, LogitNormal, LogNormal, NormalScores, YeoJohnson

__all__ = ["NAMED", "WARPED", "likelihood_of", "likelihoods_among", "name_of", "require_likelihood"]

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
    "log_normal": LogNormal,
    "logit_normal": LogitNormal,
    "box_cox": BoxCox,
    "yeo_johnson": YeoJohnson,
    "normal_scores": NormalScores,
}

_NEAR_ONE = 0.5  # smaller shares have hardly another logit than logarithm
WARPED = "warped"  # stands for normal noise and for all transforms that the observations may have


def likelihood_of(given: object) -> Likelihood:
    """Return a likelihood, or the one of a name."""
    if isinstance(given, Likelihood):
        return given
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]()
    if isinstance(given, type) and issubclass(given, Likelihood):
        raise TypeError(f"likelihood: expected an object, such as kernsel.likelihoods.{given.__name__}(), got the class")
    raise ValueError(
        f'likelihood: expected one of {", ".join(NAMED)}, "{WARPED}", an object of kernsel.likelihoods, a list of these, or '
        f"None, got {given!r}"
    )


def likelihoods_among(given: object, y: ArrayLike) -> list[Likelihood]:
    """Return the likelihoods among which the data choose; mostly one.

    "warped" is normal noise, and the transforms with a parameter that are for all observations: the power of Yeo and Johnson,
    for positive ones that of Box and Cox, and the logit for those between 0 and 1 of which some are above 1/2.
    """
    if isinstance(given, str) and given == WARPED:
        found: list[Likelihood] = [Gaussian(), YeoJohnson()]
        values = np.asarray(y)
        positive = values.dtype.kind in "fiu" and bool((values > 0).all())
        if positive:
            found.append(BoxCox())
        if positive and bool((values < 1).all()) and bool((values > _NEAR_ONE).any()):
            found.append(LogitNormal())
        return found
    require_likelihood(given)
    return [likelihood_of(one) for one in given] if isinstance(given, list | tuple) else [likelihood_of(given)]


def require_likelihood(given: object) -> None:
    """Raise unless `given` is a likelihood, a name, "warped", or a list of likelihoods and names, each of one process."""
    if isinstance(given, str) and given == WARPED:
        return
    if not isinstance(given, list | tuple):
        likelihood_of(given)
        return
    if not given:
        raise ValueError(f"likelihood: expected one at least to choose from, got {given!r}")
    for one in map(likelihood_of, given):
        if one.is_of_two:
            raise ValueError(f"likelihood: {one!r} is of two processes; fit it by itself, not in a list to choose from")


def name_of(likelihood: Likelihood) -> str:
    """Return the name of a likelihood, or of its class if it has none."""
    for name, kind in NAMED.items():
        if type(likelihood) is kind:
            return name
    return type(likelihood).__name__

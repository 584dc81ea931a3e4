"""Likelihoods in words."""

from __future__ import annotations

from kernsel.likelihoods.base import Likelihood
from kernsel.likelihoods.beta import Beta
from kernsel.likelihoods.counts import NegativeBinomial, Poisson
from kernsel.likelihoods.gamma import Gamma
from kernsel.likelihoods.gaussian import CensoredGaussian, Gaussian
from kernsel.likelihoods.heteroscedastic import HeteroscedasticGaussian
from kernsel.likelihoods.laplace import AsymmetricLaplace, Laplace
from kernsel.likelihoods.ordinal import Ordinal
from kernsel.likelihoods.student_t import StudentT
from kernsel.likelihoods.successes import Bernoulli, Binomial
from kernsel.likelihoods.warped import BoxCox, LogitNormal, LogNormal, NormalScores, Warped, YeoJohnson

__all__ = ["in_words", "numbers_of"]

_WORDS: dict[type[Likelihood], str] = {
    Gaussian: "normal errors of variance {noise:.3g}",
    CensoredGaussian: "normal errors of variance {noise:.3g}, cut off outside of {limits}",
    HeteroscedasticGaussian: "normal errors whose log variance is another process",
    StudentT: "errors of Student's t distribution, of scale {scale:.3g} with {df:.3g} degrees of freedom",
    Laplace: "errors of Laplace's distribution around the median, of scale {scale:.3g}",
    AsymmetricLaplace: "the {percent:g} % quantile, with errors of scale {scale:.3g}",
    Poisson: "Poisson counts of mean exp(f)",
    NegativeBinomial: "negative binomial counts of mean m = exp(f) and variance m + m^2 / {shape:.3g}",
    Bernoulli: "1 with a probability that is the {link} of f, and otherwise 0",
    Binomial: "successes in trials, each with the probability 1 / (1 + exp(-f))",
    Gamma: "gamma distributed around exp(f), with a standard deviation of {spread:.3g} of the mean",
    Beta: "beta distributed around 1 / (1 + exp(-f)), of concentration {concentration:.3g}",
    LogNormal: "logarithms with normal errors, times {unit:.3g} of variance {noise:.3g}: {percent:.3g} % of y",
    LogitNormal: "logits between {limits} with normal errors, times {unit:.3g} of variance {noise:.3g}",
    BoxCox: "the power {power:.3g} of Box and Cox (0: the logarithm) with normal errors, in the unit {unit:.3g} of variance "
    "{noise:.3g}",
    YeoJohnson: "the power {power:.3g} of Yeo and Johnson with normal errors, in the unit {unit:.3g} of variance {noise:.3g}",
    NormalScores: "normal scores with normal errors of variance {noise:.3g}",
    Ordinal: "classes in an order, divided by the thresholds {thresholds}",
}


def numbers_of(likelihood: Likelihood) -> dict[str, float]:
    """Return the parameters of a likelihood by name, as numbers."""
    return {parameter.name: parameter.number for parameter in likelihood.parameters()}


def in_words(likelihood: Likelihood) -> str:
    """Return what observations are, given the latent function f.

    Examples
    --------
    >>> from kernsel.likelihoods import StudentT
    >>> from kernsel.likelihoods.words import in_words
    >>> in_words(StudentT(scale=0.5, df=3.0))
    "errors of Student's t distribution, of scale 0.5 with 3 degrees of freedom"
    """
    words = _WORDS.get(type(likelihood))
    if words is None:
        return f"observations of {likelihood!r:.100}"
    numbers: dict[str, object] = dict(numbers_of(likelihood))
    if isinstance(likelihood, Warped):
        noise, unit = float(numbers_of(likelihood)["noise"]), getattr(likelihood, "unit", 1.0)
        numbers["unit"] = unit = 1.0 if unit == "auto" else unit
        numbers["percent"] = 100 * noise**0.5 / unit
    if isinstance(likelihood, (CensoredGaussian, LogitNormal)):
        numbers["limits"] = f"{likelihood.lower:g} to {likelihood.upper:g}"
    if isinstance(likelihood, AsymmetricLaplace):
        numbers["percent"] = 100 * likelihood.quantile
    if isinstance(likelihood, Bernoulli):
        numbers["link"] = "logistic function" if likelihood.link == "logit" else "normal distribution function"
    if isinstance(likelihood, Gamma):
        numbers["spread"] = float(numbers_of(likelihood)["shape"]) ** -0.5
    if isinstance(likelihood, Ordinal):
        given = likelihood.thresholds
        numbers["thresholds"] = given if isinstance(given, str) else ", ".join(f"{number:.3g}" for number in given)
    return words.format(**numbers)

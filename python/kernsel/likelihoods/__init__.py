"""Likelihoods: the density of an observation y given the value f of the latent function at its point.

For real numbers :class:`Gaussian`, :class:`StudentT` (with outliers), :class:`Laplace` (the median),
:class:`AsymmetricLaplace` (any quantile), :class:`CensoredGaussian` and :class:`HeteroscedasticGaussian` (noise that is a
function of the points); for positive numbers :class:`Gamma`; between 0 and 1
:class:`Beta`; for numbers that are normal after a transform :class:`LogNormal`, :class:`LogitNormal`, :class:`BoxCox`,
:class:`YeoJohnson` and :class:`NormalScores`; for counts :class:`Poisson` and :class:`NegativeBinomial`; for classes and
successes :class:`Bernoulli`, :class:`Binomial` and :class:`Ordinal`. One's own is a subclass of :class:`Likelihood`, which
:func:`kernsel.testing.check_likelihood` checks.

All have the same methods: the log density and its derivatives, moments over a normal f, means, variances, probabilities,
quantiles and draws of y given f, and of new observations where f is known to be normal.
"""

from kernsel.likelihoods.base import Likelihood
from kernsel.likelihoods.beta import Beta
from kernsel.likelihoods.counts import NegativeBinomial, Poisson
from kernsel.likelihoods.gamma import Gamma
from kernsel.likelihoods.gaussian import CensoredGaussian, Gaussian
from kernsel.likelihoods.heteroscedastic import HeteroscedasticGaussian
from kernsel.likelihoods.laplace import AsymmetricLaplace, Laplace
from kernsel.likelihoods.ordinal import Ordinal
from kernsel.likelihoods.parameter import LikelihoodParameter
from kernsel.likelihoods.student_t import StudentT
from kernsel.likelihoods.successes import Bernoulli, Binomial
from kernsel.likelihoods.warped import BoxCox, LogitNormal, LogNormal, NormalScores, YeoJohnson

__all__ = [
    "AsymmetricLaplace",
    "Bernoulli",
    "Beta",
    "Binomial",
    "BoxCox",
    "CensoredGaussian",
    "Gamma",
    "Gaussian",
    "HeteroscedasticGaussian",
    "Laplace",
    "Likelihood",
    "LikelihoodParameter",
    "LogNormal",
    "LogitNormal",
    "NegativeBinomial",
    "NormalScores",
    "Ordinal",
    "Poisson",
    "StudentT",
    "YeoJohnson",
]

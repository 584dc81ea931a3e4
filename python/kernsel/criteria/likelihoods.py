"""Likelihoods of a Gaussian process, and the likelihood times priors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from kernsel import _core
from kernsel.criteria.base import Criterion, Given, Slopes
from kernsel.kernels import Kernel

__all__ = ["Evidence", "Likelihood", "MaximumAPosteriori"]


@dataclass(frozen=True)
class Likelihood(Criterion):
    """The log likelihood of a Gaussian process, -1/2 y'c - 1/2 log det K~ - n/2 log 2 pi, summed over outputs.

    The gradient is tr(W dK~) with W = (c c' - K~^-1) / 2, in n^3 operations. It is the most precise criterion if the kernel is
    right; if the kernel is wrong, the model tends to underestimate its uncertainty.

    Parameters
    ----------
    restricted : bool
        Whether to take the likelihood of the n - q contrasts of y that do not depend on the trend:
        -1/2 y'c - 1/2 log det K~ - 1/2 log det H'K~^-1 H + 1/2 log det H'H - (n-q)/2 log 2 pi, which does not depend on the
        basis of the trend. It is better for estimating the noise if there is a trend, whose coefficients the unrestricted
        likelihood treats as known.
    scale : {"known", "shared", "each"}
        "shared" multiplies kernel and noise by the best common factor, y'c / n (y'c / (n - q) if restricted), so that only
        their ratio matters. "each" does so for each output. Both are meaningless if the variance of the noise is known.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.5])
    >>> ev = ks.evaluate(ks.criteria.Likelihood(scale="shared"), RBF(1.0), X, y, noise=0.1)
    >>> round(ev.value, 4), round(ev.scale, 4)
    (-2.8149, 0.4531)
    """

    restricted: bool = False
    scale: Literal["known", "shared", "each"] = "known"
    larger_is_better: ClassVar[bool] = True

    def core(self, given: Given) -> _core.Criterion:
        """Return the criterion as an object of the C++ core."""
        del given
        if self.scale not in ("known", "shared", "each"):
            raise ValueError(f'scale: expected "known", "shared" or "each", got {self.scale!r}')
        return _core.likelihood(bool(self.restricted), self.scale)

    def of_observations(self, given: Given, *, has_trend: bool) -> _core.Criterion:
        """Return the approximate marginal likelihood, in which the coefficients of a trend have a flat prior."""
        if self.integrates or self.scale != "known":
            return super().of_observations(given, has_trend=has_trend)
        return _core.likelihood(has_trend, "known")

    def without_scale(self) -> Criterion | None:
        """Return the likelihood for the best common factor of kernel and noise."""
        return replace(self, scale="shared") if self.scale == "known" else self


@dataclass(frozen=True)
class MaximumAPosteriori(Likelihood):
    """The likelihood times the priors of the kernel's hyperparameters: its maximum is the maximum a posteriori ("map").

    The priors are densities of the hyperparameters themselves, not of their logarithms, see :mod:`kernsel.kernels.priors`. With
    few points the result varies less than that of the likelihood; it depends on the parametrization, like any maximum of a
    density.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF, Parameter
    >>> from kernsel.kernels.priors import LogNormal
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.5])
    >>> k = RBF(Parameter(1.0, prior=LogNormal(0.0, 1.0)))
    >>> lml, best = (ks.evaluate(name, k, X, y, noise=0.1).value for name in ("lml", "map"))
    >>> round(best - lml, 4)
    -0.9189
    """

    adds_prior: ClassVar[bool] = True

    def with_prior(self, kernel: Kernel, value: float, gradient: Slopes) -> tuple[float, Slopes]:
        """Add the log densities of the priors."""
        prior, slopes = kernel.log_prior()
        return value + prior, None if gradient is None else gradient + slopes


@dataclass(frozen=True)
class Evidence(Likelihood):
    """The logarithm of the probability of the data given the kernel, its hyperparameters integrated out ("evidence").

    A search finds the maximum of f = restricted likelihood + log density of what is expected of the p logarithms of the
    hyperparameters (and of the noise), and approximates the integral of exp(f) by that of a normal density (Laplace)::

        f + p/2 log 2 pi - 1/2 log det H,    H the negative second derivatives of f at the maximum

    Of several maxima the one is taken that promises the largest integral: a narrow one may be higher. A kernel with more
    hyperparameters has a larger maximum, but it is as much better only if the data need it: kernels are compared by the
    evidence. Little is expected of the logarithms, in the units of the data: that length scales are within a factor of exp(1.5)
    of the standard deviations of the columns times the square root of their number, and alike (see `shrinkage` of
    :class:`kernsel.GaussianProcessRegressor`); variances of the function within one of exp(2) of the variance of y; and the
    noise, a Cauchy variable so that it may be far smaller, around a tenth of it. A hyperparameter with a prior has that
    instead. It belongs to a search by kernsel's own optimizers: :func:`kernsel.evaluate`, ``optimizer=None`` and functions as
    optimizers raise ValueError.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.linspace(0, 6, 40).reshape(-1, 1)
    >>> y = X[:, 0] + 0.1 * np.random.default_rng(0).standard_normal(40)
    >>> straight, wavy = (ks.GaussianProcessRegressor(k, noise="auto", trend="constant", criterion="evidence").fit(X, y)
    ...                   for k in ("Linear", "Linear * RBF"))
    >>> bool(straight.criterion_value_ > wavy.criterion_value_)
    True
    """

    restricted: bool = True
    adds_prior: ClassVar[bool] = True
    integrates: ClassVar[bool] = True

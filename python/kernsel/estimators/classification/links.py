"""Likelihoods of a label given a latent value, of the margin s = y f, y = -1 or 1: the logistic one, probit, and any other.

Another likelihood is a subclass of :class:`Link` with two methods. ``GaussianProcessClassifier(link=...)`` takes an object of
it; or its name, by which models are written to files, once the class is in `LINKS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

from kernsel._base.annotations import Vector
from kernsel.estimators.classification.quadrature import moments_by_quadrature

__all__ = ["LINKS", "Derivatives", "Link", "Logistic", "Moments", "Probit", "link_named"]

_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
_BELOW_HALF = np.nextafter(0.5, 0.0)
_BLOCK = 4096  # the number of points whose quadrature nodes are in memory at the same time


@dataclass(frozen=True)
class Derivatives:
    """The log density of margins, and its first three derivatives with respect to the margins."""

    value: Vector
    first: Vector
    second: Vector
    third: Vector


@dataclass(frozen=True)
class Moments:
    """The logarithm of Z = E p(s) over a normal margin s, and its first two derivatives with respect to the mean of s.

    The derivative of Z with respect to the variance is half of its second derivative with respect to the mean. For log Z this
    is (second + first^2) / 2.
    """

    log_mean: Vector
    first: Vector
    second: Vector

    @property
    def in_variance(self) -> Vector:
        """The derivative of log Z with respect to the variance of the margin."""
        return np.asarray(0.5 * (self.second + self.first**2))


class Link(ABC):
    """A likelihood p(s) of the margin, increasing, log-concave, with p(s) + p(-s) = 1."""

    name: str

    @abstractmethod
    def log_density(self, s: Vector) -> Vector:
        """Return log p(s), elementwise."""

    @abstractmethod
    def derivatives(self, s: Vector) -> Derivatives:
        """Return log p(s) and its first three derivatives, elementwise."""

    def moments(self, mean: Vector, variance: Vector) -> Moments:
        """Return log E p(s) for normal s of these means and variances, with its first two derivatives in the mean.

        By quadrature; a subclass that knows a faster way has its own.

        Parameters
        ----------
        mean, variance : ndarray of shape (n,)

        Returns
        -------
        moments : Moments
        """

        def logarithm(s: Vector) -> tuple[Vector, Vector, Vector]:
            found = self.derivatives(s)
            return found.value, found.first, found.second

        return Moments(*moments_by_quadrature(logarithm, mean, variance))

    def probability(self, mean: Vector, variance: Vector) -> Vector:
        """Return E p(s), shape (n,): the probability of the label 1 for a latent value of this mean and variance.

        The result is at least 1/2 if and only if the mean is not negative, also after rounding.
        """
        mean = np.asarray(mean, dtype=np.float64)
        smaller = np.exp(self.moments(-np.abs(mean), variance).log_mean)
        return np.where(mean >= 0, 1 - np.minimum(smaller, 0.5), np.minimum(smaller, _BELOW_HALF))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Logistic(Link):
    """p(s) = 1 / (1 + exp(-s)).

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.estimators.classification.links import Logistic
    >>> Logistic().derivatives(np.array([0.0])).first
    array([0.5])
    >>> Logistic().probability(np.array([1.0]), np.array([4.0])).round(6)
    array([0.647726])
    """

    name = "logistic"

    def log_density(self, s: Vector) -> Vector:
        """Return -log(1 + exp(-s)), elementwise."""
        return np.asarray(-np.logaddexp(0.0, -s))

    def derivatives(self, s: Vector) -> Derivatives:
        """Return log p(s) and its first three derivatives, elementwise."""
        other = special.expit(-s)
        curvature = special.expit(s) * other
        return Derivatives(self.log_density(s), other, -curvature, curvature * np.tanh(0.5 * s))

    def moments(self, mean: Vector, variance: Vector) -> Moments:
        """Return log E p(s) for normal s of these means and variances, with its first two derivatives in the mean.

        Integrals use 32 Gauss-Hermite nodes if the variance is at most 1. Otherwise they use 220 Gauss-Legendre nodes for
        |s| < 38, and closed forms beyond, where p is exp(s) or 1 up to rounding. The relative error is below 1e-11 for any mean
        and variance.
        """
        mean, variance = np.broadcast_arrays(np.asarray(mean, dtype=np.float64), np.asarray(variance, dtype=np.float64))
        results = np.empty((3, *mean.shape))
        narrow = variance <= _NARROW
        for chosen, rule in ((narrow, _by_hermite), (~narrow, _by_legendre)):
            places = np.flatnonzero(chosen)
            for begin in range(0, len(places), _BLOCK):
                at = places[begin : begin + _BLOCK]
                results[:, at] = rule(mean[at], variance[at])
        return Moments(*results)


_NARROW = 1.0
_REACH = 38.0


@cache
def _hermite() -> tuple[Vector, Vector]:
    """Return nodes of a standard normal variable, and the logarithms of their weights."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(32)
    return np.asarray(nodes), np.asarray(np.log(weights) - _LOG_SQRT_2PI)


@cache
def _legendre() -> tuple[Vector, Vector, Vector]:
    """Return nodes between -38 and 38, the logarithms of weight times p, and 1, p, q = 1 - p, p^2, q^2 and p q there."""
    nodes, weights = np.polynomial.legendre.leggauss(220)
    nodes = _REACH * nodes
    p, q = special.expit(nodes), special.expit(-nodes)
    logs = np.log(_REACH * weights) - np.logaddexp(0.0, -nodes) - _LOG_SQRT_2PI
    return nodes, logs, np.column_stack([np.ones_like(p), p, q, p**2, q**2, p * q])


def _by_hermite(mean: Vector, variance: Vector) -> tuple[Vector, Vector, Vector]:
    """Return log Z, its first and its second derivative, for Z = E p, by Gauss-Hermite quadrature.

    With averages under the density proportional to p times the normal one, and q = 1 - p, they are E q and Var q - E p q.
    """
    nodes, log_weights = _hermite()
    s = mean[:, None] + np.sqrt(variance)[:, None] * nodes
    log_terms = log_weights - np.logaddexp(0.0, -s)
    largest = log_terms.max(axis=1)
    terms = np.exp(log_terms - largest[:, None])
    total = terms.sum(axis=1)
    terms /= total[:, None]
    q = special.expit(-s)
    first = np.einsum("ij,ij->i", terms, q)
    second = np.einsum("ij,ij->i", terms, (q - first[:, None]) ** 2) - np.einsum("ij,ij->i", terms, q * special.expit(s))
    return largest + np.log(total), first, second


def _by_legendre(mean: Vector, variance: Vector) -> tuple[Vector, Vector, Vector]:
    """Return the same as `_by_hermite`, by Gauss-Legendre quadrature for |s| < 38 and closed forms on either side."""
    nodes, logs, powers = _legendre()
    deviation = np.sqrt(variance)
    terms = nodes - mean[:, None]
    terms *= (np.sqrt(0.5) / deviation)[:, None]
    np.square(terms, out=terms)
    np.subtract(logs, terms, out=terms)
    terms -= np.log(deviation)[:, None]

    def tail(side: float, times: float) -> Vector:
        """Return the log of the integral of exp(times s) times the normal density over side s > 38, where side = -1 or 1."""
        z = (_REACH - side * (mean + times * variance)) / deviation
        inside = times * (mean + 0.5 * times * variance) + special.log_ndtr(np.maximum(-z, 0.0))
        half = 0.5 * special.erfcx(np.maximum(z, 0.0) / np.sqrt(2))  # exp(z^2 / 2) Phi(-z)
        outside = side * times * _REACH - 0.5 * ((_REACH - side * mean) / deviation) ** 2 + np.log(half)
        return np.asarray(np.where(z > 0, outside, inside))

    left, right = tail(-1.0, 1.0), tail(1.0, 0.0)
    of_p = np.exp(np.minimum(tail(-1.0, 2.0) - left, 0.0))  # the mean of p on the left, of q on the right
    of_q = np.exp(np.minimum(tail(1.0, -1.0) - right, 0.0))
    largest = np.maximum(terms.max(axis=1), np.maximum(left, right))
    terms -= largest[:, None]
    sums = np.exp(terms, out=terms) @ powers
    for log_mass, p, q in ((left, of_p, 1 - of_p), (right, 1 - of_q, of_q)):
        mass = np.exp(log_mass - largest)
        sums += mass[:, None] * np.column_stack([np.ones_like(p), p, q, p**2, q**2, np.minimum(p, q)])
    total = sums[:, 0]
    p, q, pp, qq, pq = (sums[:, 1:] / total[:, None]).T
    spread = np.where(p < q, pp - p**2, qq - q**2)  # the variance, from the smaller of p and q to avoid cancellation
    return largest + np.log(total), q, spread - pq


class Probit(Link):
    """p(s) = Phi(s), the standard normal distribution function.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.estimators.classification.links import Probit
    >>> Probit().probability(np.array([1.0]), np.array([3.0])).round(6)  # Phi(1 / 2)
    array([0.691462])
    """

    name = "probit"

    def log_density(self, s: Vector) -> Vector:
        """Return log Phi(s), elementwise."""
        return np.asarray(special.log_ndtr(s))

    def derivatives(self, s: Vector) -> Derivatives:
        """Return log p(s) and its first three derivatives, elementwise."""
        s = np.asarray(s, dtype=np.float64)
        return Derivatives(self.log_density(s), *_ratio_and_slopes(s))

    def moments(self, mean: Vector, variance: Vector) -> Moments:
        """Return log E p(s) for normal s of these means and variances, with its first two derivatives in the mean.

        In closed form: E p(s) = Phi(mean / (1 + variance)^(1/2)).
        """
        width = np.sqrt(1 + np.asarray(variance, dtype=np.float64))
        s = np.asarray(mean / width)
        first, second, _ = _ratio_and_slopes(s)
        return Moments(self.log_density(s), first / width, second / width**2)


# The coefficients of u^-1, u^-3, ... in the asymptotic series phi(u) / Phi(-u) = u + 1 / u - 2 / u^3 + 10 / u^5 - ...
_ASYMPTOTIC = np.array([1.0, -2.0, 10.0, -74.0, 706.0, -8162.0, 110410.0, -1708394.0, 29752066.0, -576037442.0])
_FAR = -16.0


def _ratio_and_slopes(s: Vector) -> tuple[Vector, Vector, Vector]:
    """Return r = phi(s) / Phi(s) and its first two derivatives; by an asymptotic series for s < -16, to avoid cancellation."""
    near = np.maximum(s, _FAR)
    with np.errstate(under="ignore"):
        # phi / Phi by the scaled function erfcx for s < 0, where both underflow, and directly otherwise.
        left = np.sqrt(2 / np.pi) / special.erfcx(-np.minimum(near, 0.0) / np.sqrt(2))
        right = np.exp(-0.5 * np.maximum(near, 0.0) ** 2 - _LOG_SQRT_2PI) / special.ndtr(np.maximum(near, 0.0))
        ratio = np.where(near < 0, left, right)
        sum_ = near + ratio
        first = -ratio * sum_
        second = ratio * (sum_ * (near + 2 * ratio) - 1)
    far = s < _FAR
    if far.any():
        u = -s[far]
        inverse = 1 / u
        powers = inverse[:, None] ** np.arange(1, 2 * len(_ASYMPTOTIC), 2)
        k = np.arange(1, 2 * len(_ASYMPTOTIC), 2)
        ratio[far] = u + powers @ _ASYMPTOTIC
        first[far] = -1 + inverse * (powers @ (_ASYMPTOTIC * k))
        second[far] = inverse**2 * (powers @ (_ASYMPTOTIC * k * (k + 1)))
    return ratio, first, second


LINKS: dict[str, type[Link]] = {link.name: link for link in (Logistic, Probit)}


def link_named(name: str | Link) -> Link:
    """Return a link by its name.

    Parameters
    ----------
    name : str or Link
        One of `LINKS`.

    Returns
    -------
    link : Link
    """
    if isinstance(name, Link):
        return name
    if isinstance(name, str) and name in LINKS:
        return LINKS[name]()
    names = ", ".join(f'"{known}"' for known in LINKS)
    raise ValueError(f"link: expected {names} or a Link, got {name!r}")

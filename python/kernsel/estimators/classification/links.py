"""Links: likelihoods of a label given a latent value, of the margin s = y f, y = -1 or 1.

Two are likelihoods of the core, :class:`kernsel.likelihoods.Bernoulli`. Another one is a subclass of :class:`Link` with two
methods. ``GaussianProcessClassifier(link=...)`` takes an object of it; or its name, by which models are written to files, once
the class is in `LINKS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from kernsel._base.annotations import Vector
from kernsel.likelihoods import Bernoulli, Likelihood

__all__ = ["LINKS", "Derivatives", "Labels", "Link", "Logistic", "Probit", "link_named"]

_BELOW_HALF = np.nextafter(0.5, 0.0)


@dataclass(frozen=True)
class Derivatives:
    """The log density of margins, and its first three derivatives with respect to the margins."""

    value: Vector
    first: Vector
    second: Vector
    third: Vector


class Link(ABC):
    """A likelihood p(s) of the margin, increasing, log-concave, with p(s) + p(-s) = 1."""

    name: str

    @abstractmethod
    def log_density(self, s: Vector) -> Vector:
        """Return log p(s), elementwise."""

    @abstractmethod
    def derivatives(self, s: Vector) -> Derivatives:
        """Return log p(s) and its first three derivatives, elementwise."""

    def likelihood(self) -> Likelihood:
        """Return the likelihood of labels, 0 or 1, given a latent value."""
        return Labels(self)

    def probability(self, mean: Vector, variance: Vector) -> Vector:
        """Return E p(s), shape (n,): the probability of the label 1 for a latent value of this mean and variance.

        The result is at least 1/2 if and only if the mean is not negative, also after rounding.
        """
        mean = np.asarray(mean, dtype=np.float64)
        smaller = np.exp(self.likelihood().moments(1.0, -np.abs(mean), variance)[0])
        return np.where(mean >= 0, 1 - np.minimum(smaller, 0.5), np.minimum(smaller, _BELOW_HALF))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


@dataclass(frozen=True)
class Labels(Likelihood):
    """Labels, 0 or 1, with the probability p(f) of 1 that a link has.

    Examples
    --------
    >>> from kernsel.estimators.classification.links import Labels, Logistic
    >>> Labels(Logistic()).predict(mean=[1.0], variance=[4.0])[0].round(6)
    array([0.647726])
    """

    link: Link
    log_concave = True
    outcomes = (0.0, 1.0, True)

    def check(self, y: Any, size: Any = None) -> None:  # noqa: ARG002
        """Raise a ValueError unless all labels are 0 or 1."""
        if not np.isin(y, (0.0, 1.0)).all():
            raise ValueError("y: expected 0 or 1")

    def rough(self, y: Any, size: Any = None) -> Vector:  # noqa: ARG002
        """Return 1 or -1."""
        return 2.0 * np.asarray(y, dtype=np.float64) - 1.0

    def log_density(self, y: Any, f: Any, size: Any = None) -> Vector:
        """Return log p(y | f) for each label."""
        return np.asarray(self.link.log_density(self.rough(y, size) * f))

    def derivatives(self, y: Any, f: Any, size: Any = None) -> tuple[Vector, Vector, Vector]:
        """Return the first three derivatives of log p(y | f) in f."""
        sign = self.rough(y, size)
        found = self.link.derivatives(sign * f)
        return sign * found.first, np.asarray(found.second), sign * found.third

    def conditional(self, f: Any, size: Any = None) -> tuple[Vector, Vector]:  # noqa: ARG002
        """Return p(f) and p(f) p(-f), the mean and the variance of a label."""
        f = np.asarray(f, dtype=np.float64)
        one, zero = (np.exp(self.link.log_density(s)) for s in (f, -f))
        return one, one * zero

    def probability(self, y: Any, f: Any, size: Any = None) -> Vector:  # noqa: ARG002
        """Return the probability of values up to y given f."""
        below = np.exp(self.link.log_density(-np.asarray(f, dtype=np.float64)))
        return np.where(np.less(y, 0.0), 0.0, np.where(np.less(y, 1.0), below, 1.0))


class _OfTheCore(Link):
    """A link whose likelihood the core has."""

    def derivatives(self, s: Vector) -> Derivatives:
        """Return log p(s) and its first three derivatives, elementwise."""
        return Derivatives(self.log_density(s), *self.likelihood().derivatives(1.0, s))


class Logistic(_OfTheCore):
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

    def likelihood(self) -> Likelihood:
        """Return the likelihood of labels, 0 or 1, given a latent value."""
        return Bernoulli("logit")


class Probit(_OfTheCore):
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

    def likelihood(self) -> Likelihood:
        """Return the likelihood of labels, 0 or 1, given a latent value."""
        return Bernoulli("probit")


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

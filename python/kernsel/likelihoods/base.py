"""The base class of likelihoods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Matrix, Seed, Vector
from kernsel.likelihoods.given import Given
from kernsel.likelihoods.parameter import LikelihoodParameter

__all__ = ["Likelihood"]


class Likelihood(ABC):
    """The density p(y | f) of an observation given the value of the latent function at its point.

    A subclass writes :meth:`log_density`, :meth:`derivatives`, :meth:`conditional` and :meth:`probability` for arrays of one
    length, and where log p is not concave in f :meth:`information`. Moments, predictions, quantiles and draws follow by
    quadrature and search. :func:`kernsel.testing.check_likelihood` compares all of them with each other.

    Attributes
    ----------
    log_concave : bool
        Whether log p is a concave function of f, whatever y is.
    outcomes : tuple of (lower, upper, discrete)
        Between which numbers y is, and whether it is a whole number.
    usual_inference : {"laplace", "ep"}
        The inference that ``inference="auto"`` stands for: expectation propagation where the curvature at the mode says little.
    size_name : str or None
        What a second number of each observation is called, if there is one: exposure, trials, weight.

    Examples
    --------
    Waiting times with the mean exp(f):

    >>> import numpy as np
    >>> from kernsel.likelihoods import Likelihood
    >>> from kernsel.testing import check_likelihood
    >>> class Exponential(Likelihood):
    ...     log_concave = True
    ...     outcomes = (0.0, np.inf, False)
    ...
    ...     def check(self, y, size=None):
    ...         if not (y > 0).all():
    ...             raise ValueError("y: expected positive numbers")
    ...
    ...     def rough(self, y, size=None):
    ...         return np.log(y)
    ...
    ...     def log_density(self, y, f, size=None):
    ...         return -f - y * np.exp(-f)
    ...
    ...     def derivatives(self, y, f, size=None):
    ...         ratio = y * np.exp(-f)
    ...         return ratio - 1, -ratio, ratio
    ...
    ...     def conditional(self, f, size=None):
    ...         return np.exp(f), np.exp(2 * f)
    ...
    ...     def probability(self, y, f, size=None):
    ...         return -np.expm1(-np.maximum(y, 0) * np.exp(-f))
    >>> check_likelihood(Exponential(), y=[0.2, 1.0, 5.0], f=[0.0, -0.5, 1.0])
    >>> Exponential().predict_quantiles(0.5, mean=[0.0], variance=[0.0]).round(6)
    array([0.693147])
    """

    log_concave: bool = False
    outcomes: tuple[float, float, bool] = (-np.inf, np.inf, False)
    size_name: ClassVar[str | None] = None
    usual_inference: ClassVar[str] = "laplace"
    is_of_two: ClassVar[bool] = False  # whether there are two latent functions

    @abstractmethod
    def log_density(self, y: Any, f: Any, size: Any = None) -> Vector:
        """Return log p(y | f) for each observation."""

    @abstractmethod
    def derivatives(self, y: Any, f: Any, size: Any = None) -> tuple[Vector, Vector, Vector]:
        """Return the first three derivatives of log p(y | f) in f."""

    @abstractmethod
    def conditional(self, f: Any, size: Any = None) -> tuple[Vector, Vector]:
        """Return the mean and the variance of y given f."""

    @abstractmethod
    def probability(self, y: Any, f: Any, size: Any = None) -> Vector:
        """Return the probability of values up to y given f."""

    def information(self, f: Any, size: Any = None) -> tuple[Vector, Vector]:
        """Return the expectation of minus the second derivative over y given f, and its derivative in f.

        It stands for the curvature in Laplace's approximation, for likelihoods that are not log-concave.
        """
        raise NotImplementedError(f"{type(self).__name__}.information is needed, since log_concave is False")

    def parameter_derivatives(self, y: Any, f: Any, p: int, size: Any = None) -> tuple[Vector, Vector, Vector]:
        """Return the derivatives of log p, its first derivative and the precision in parameter `p`.

        The precision is minus the second derivative of log p, or if this is not concave the information.
        """
        raise NotImplementedError(f"{type(self).__name__}.parameter_derivatives is needed for its parameters")

    def check(self, y: Any, size: Any = None) -> None:  # noqa: ARG002
        """Raise a ValueError for observations that cannot be."""
        y = np.asarray(y, dtype=np.float64)
        if not np.isfinite(y).all():
            row = int(np.argmin(np.isfinite(y)))
            raise ValueError(f"y: expected finite numbers, got {y[row]} in row {row}")

    def check_sizes(self, size: Any) -> None:  # noqa: B027
        """Raise a ValueError for sizes that cannot be."""

    def rough(self, y: Any, size: Any = None) -> Vector:  # noqa: ARG002
        """Return values of f from which a search for the mode may begin: a transform of y."""
        return np.asarray(y, dtype=np.float64)

    def parameters(
        self,
        y: ArrayLike | None = None,  # noqa: ARG002
        size: ArrayLike | None = None,  # noqa: ARG002
    ) -> list[LikelihoodParameter]:
        """Return the parameters; with observations, as a search for them may begin."""
        return []

    def with_values(self, values: Sequence[float]) -> Self:  # noqa: ARG002
        """Return the same likelihood with other values of its parameters, logarithms where these are searched for."""
        return self

    def with_units_of(self, y: ArrayLike) -> Self:  # noqa: ARG002
        """Return the likelihood with what it takes from the observations that a model is fitted to and then keeps: units."""
        return self

    def core(self) -> _core.Likelihood:
        """Return the likelihood as the core has it."""
        return _core.likelihood_given(Given(self))

    def moments(
        self, y: ArrayLike, mean: ArrayLike, variance: ArrayLike, size: ArrayLike | None = None
    ) -> tuple[Vector, Vector, Vector]:
        """Return log E p(y | f) over f ~ N(mean, variance), and its first two derivatives in the mean.

        Errors are below 1e-9 where p is smooth, whatever the mean and the variance.
        """
        rows = Together(y, mean, variance, size)
        moments = self.core().moments(*rows[:4])
        return tuple(moments[:, k].reshape(rows.shape) for k in range(3))  # type: ignore[return-value]

    def quantiles(self, p: ArrayLike, f: ArrayLike, size: ArrayLike | None = None) -> Vector:
        """Return the least value up to which the probability given f is at least p."""
        rows = Together(probabilities(p), f, None, size)
        return self.core().quantile(rows[0], rows[1], rows[3]).reshape(rows.shape)

    def draw(self, f: ArrayLike, size: ArrayLike | None = None, random_state: Seed = None) -> Vector:
        """Return a random observation for each f."""
        from sklearn.utils import check_random_state

        rows = Together(f, None, None, size)
        uniform = check_random_state(random_state).uniform(size=rows.shape)
        return self.quantiles(np.maximum(uniform, np.finfo(np.float64).tiny), f, size)

    def predict(self, mean: ArrayLike, variance: ArrayLike, size: ArrayLike | None = None) -> tuple[Vector, Vector]:
        """Return mean and variance of new observations for f ~ N(mean, variance); they may be infinite."""
        rows = Together(mean, variance, None, size)
        predicted, spread = self.core().predict(rows[0], rows[1], rows[3])
        return predicted.reshape(rows.shape), spread.reshape(rows.shape)

    def predict_probability(self, y: ArrayLike, mean: ArrayLike, variance: ArrayLike, size: ArrayLike | None = None) -> Vector:
        """Return the probability of new observations up to y for f ~ N(mean, variance)."""
        rows = Together(y, mean, variance, size)
        return self.core().predict_probability(*rows[:4]).reshape(rows.shape)

    def predict_quantiles(self, p: ArrayLike, mean: ArrayLike, variance: ArrayLike, size: ArrayLike | None = None) -> Vector:
        """Return the least value up to which a new observation is with probability p, for f ~ N(mean, variance)."""
        rows = Together(probabilities(p), mean, variance, size)
        return self.core().predict_quantile(*rows[:4]).reshape(rows.shape)

    def __repr__(self) -> str:
        if not is_dataclass(self):
            return super().__repr__()
        told = [field for field in fields(self) if getattr(self, field.name) != field.default]
        return f"{type(self).__name__}({', '.join(f'{field.name}={getattr(self, field.name)!r}' for field in told)})"


class Together(list[Any]):
    """Three arrays and sizes as vectors of one length, and the shape that they have by NumPy's rules; None stays None."""

    shape: tuple[int, ...]

    def __init__(self, a: ArrayLike, b: ArrayLike | None, c: ArrayLike | None, size: ArrayLike | None) -> None:
        given = [None if x is None else np.asarray(x, dtype=np.float64) for x in (a, b, c, size)]
        self.shape = np.broadcast_shapes(*(x.shape for x in given if x is not None))
        super().__init__(None if x is None else np.ravel(np.broadcast_to(x, self.shape)) for x in given)


def probabilities(p: ArrayLike) -> Matrix:
    """Return probabilities as an array; raise unless they are between 0 and 1."""
    array = np.asarray(p, dtype=np.float64)
    if not ((array > 0) & (array < 1)).all():
        raise ValueError(f"p: expected probabilities between 0 and 1, got {p!r}")
    return array

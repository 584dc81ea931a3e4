"""Likelihoods that the core has: their numbers, and their methods by arrays of any shapes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Vector
from kernsel.likelihoods.base import Likelihood, Together
from kernsel.likelihoods.parameter import LikelihoodParameter, check_bounds, check_number

__all__ = ["BuiltIn"]


class BuiltIn(Likelihood):
    """The base class of likelihoods of the core, which are frozen data classes.

    A parameter is an argument with a number, from which a search for it begins, or "auto"; and an argument `<name>_bounds`
    with a lower and an upper bound, "auto" or "fixed". What is "auto" has a constant start and bounds, or if the parameter has
    units is read off the observations.
    """

    standard: ClassVar[dict[str, float]] = {}  # the parameters, with their values where these are "auto"

    def __post_init__(self) -> None:
        for name in self.standard:
            check_number(name, getattr(self, name))
            check_bounds(f"{name}_bounds", getattr(self, f"{name}_bounds"))

    @abstractmethod
    def core_with(self, *numbers: float) -> _core.Likelihood:
        """Return the core's likelihood with these parameters."""

    def core(self) -> _core.Likelihood:
        """Return the likelihood as the core has it; what is "auto" has a standard value."""
        given = (getattr(self, name) for name in self.standard)
        numbers = (
            standard if value == "auto" else value for value, standard in zip(given, self.standard.values(), strict=True)
        )
        return self.core_with(*map(float, numbers))

    @property
    def log_concave(self) -> bool:  # type: ignore[override]
        """Whether log p is concave in f, and its second derivative serves as curvature in Laplace's approximation."""
        return self.core().log_concave

    @property
    def outcomes(self) -> tuple[float, float, bool]:  # type: ignore[override]
        """Between which numbers y is, and whether it is a whole number."""
        return self.core().outcomes()

    def parameters(self, y: ArrayLike | None = None, size: ArrayLike | None = None) -> list[LikelihoodParameter]:
        """Return the parameters; with observations, as a search for them may begin."""
        core = self.core()
        found = core.parameters if y is None else core.start(*Together(y, None, None, size)[::3])
        return [self._as_told(*parameter) for parameter in found]

    def _as_told(self, name: str, value: float, lower: float, upper: float, log: bool) -> LikelihoodParameter:
        number, bounds = getattr(self, name), getattr(self, f"{name}_bounds")
        if number != "auto":
            value = float(np.log(number))
        if not isinstance(bounds, str):
            lower, upper = (float(np.log(bound)) for bound in bounds)
            value = min(max(value, lower), upper) if number == "auto" else value
        fixed = isinstance(bounds, str) and bounds == "fixed"
        return LikelihoodParameter(name, value, min(lower, value), max(upper, value), log, fixed)

    def with_values(self, values: Sequence[float]) -> Self:
        """Return the same likelihood with other values of its parameters, which are logarithms."""
        numbers = {name: float(np.exp(value)) for name, value in zip(self.standard, values, strict=True)}
        return replace(self, **numbers)  # type: ignore[type-var]

    def check(self, y: Any, size: Any = None) -> None:
        """Raise a ValueError for observations that cannot be."""
        if size is not None and self.size_name is None:
            self.check_sizes(size)
        self.core().check(*Together(y, None, None, size)[::3])

    def check_sizes(self, size: Any) -> None:
        """Raise a ValueError for sizes that cannot be."""
        if self.size_name is None:
            raise ValueError(f"size: expected None, since observations of {type(self).__name__} have none, got {size!r:.60}")
        self.core().check_sizes(np.ravel(np.asarray(size, dtype=np.float64)))

    def rough(self, y: Any, size: Any = None) -> Vector:
        """Return values of f from which a search for the mode may begin: a transform of y."""
        rows = Together(y, None, None, size)
        return self.core().rough(*rows[::3]).reshape(rows.shape)

    def log_density(self, y: Any, f: Any, size: Any = None) -> Vector:
        """Return log p(y | f) for each observation."""
        rows = Together(y, f, None, size)
        return self.core().density(rows[0], rows[1], rows[3])[:, 0].reshape(rows.shape)

    def derivatives(self, y: Any, f: Any, size: Any = None) -> tuple[Vector, Vector, Vector]:
        """Return the first three derivatives of log p(y | f) in f."""
        rows = Together(y, f, None, size)
        found = self.core().density(rows[0], rows[1], rows[3])
        return found[:, 1].reshape(rows.shape), found[:, 2].reshape(rows.shape), found[:, 3].reshape(rows.shape)

    def parameter_derivatives(self, y: Any, f: Any, p: int, size: Any = None) -> tuple[Vector, Vector, Vector]:
        """Return the derivatives of log p, its first derivative and the precision in parameter `p`."""
        rows = Together(y, f, None, size)
        found = self.core().density_slope(rows[0], rows[1], p, rows[3])
        return found[:, 0].reshape(rows.shape), found[:, 1].reshape(rows.shape), found[:, 2].reshape(rows.shape)

    def conditional(self, f: Any, size: Any = None) -> tuple[Vector, Vector]:
        """Return the mean and the variance of y given f."""
        rows = Together(f, None, None, size)
        mean, variance = self.core().conditional(*rows[::3])
        return mean.reshape(rows.shape), variance.reshape(rows.shape)

    def probability(self, y: Any, f: Any, size: Any = None) -> Vector:
        """Return the probability of values up to y given f."""
        rows = Together(y, f, None, size)
        return self.core().probability(rows[0], rows[1], rows[3]).reshape(rows.shape)

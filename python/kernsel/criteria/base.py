"""The base class of criteria."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernsel import _core
from kernsel._data.together import first_of_equal, numbered
from kernsel._data.trend import require_groups_can_be_left_out, require_leverage_below_one
from kernsel.kernels import Kernel

__all__ = ["Criterion", "Given", "Loss", "Slopes"]

Loss = Callable[[NDArray[np.float64], NDArray[np.float64]], tuple[Any, Any, Any]]
Slopes = NDArray[np.float64] | None


@dataclass(frozen=True)
class Given:
    """The data for which a criterion is evaluated.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or (n, m)
    used : ndarray of int
        The indices of the points that are used.
    groups : ndarray of int of shape (n,) or None
        The groups of all points, if a user has told them.
    """

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    used: NDArray[np.intp]
    groups: NDArray[np.intp] | None = None

    @property
    def groups_used(self) -> NDArray[np.intp] | None:
        """The groups of the points that are used, if a user has told groups."""
        return None if self.groups is None else self.groups[self.used]

    def left_out_together(self) -> tuple[NDArray[np.intp], int] | None:
        """Return for each point that is used the number of the group with which it is left out, and the number of groups.

        Equal rows are left out together, or the groups if a user has told them. None if each point is left out alone.
        """
        together = self.groups_used if self.groups is not None else first_of_equal(self.X[self.used])
        if together is None:
            return None
        numbers, count = numbered(together)
        if count < 2 <= len(numbers):
            what = "all rows are equal" if self.groups is None else "there is one group only"
            raise ValueError(f"X: {what}, and without it nothing is left to learn from")
        return None if count == len(numbers) else (numbers, count)


class Criterion(ABC):
    """Base class of the criteria that :func:`kernsel.evaluate` and estimators accept."""

    larger_is_better: ClassVar[bool] = False
    divides: ClassVar[bool] = False  # whether it divides by the diagonal of P, which then must not be zero
    adds_prior: ClassVar[bool] = False  # whether it includes the priors of the hyperparameters
    leaves_points_out: ClassVar[bool] = False  # whether it is an error or a density of points that are left out
    counts_copies_once: ClassVar[bool] = False  # whether searches give it one row in place of copies
    takes_groups: ClassVar[bool] = True  # whether it has a meaning if groups are told
    same_for_any_points: ClassVar[bool] = True  # whether it has the same meaning on a subset of the points
    integrates: ClassVar[bool] = False  # whether it is an integral over hyperparameters, so that only a search has its value

    @property
    def sees_scale(self) -> bool:
        """Whether the value changes if kernel and noise are multiplied by a common factor."""
        return self.without_scale() is not self

    def without_scale(self) -> Criterion | None:
        """Return this criterion for the best common factor of kernel and noise, or None if that has no closed form."""
        return None

    def require_trend(self, H: NDArray[np.float64], given: Given) -> None:
        """Raise if the trend cannot be estimated without the points that the criterion leaves out."""
        together = given.left_out_together() if self.divides and H.shape[1] else None
        if together is not None:
            require_groups_can_be_left_out(H, *together)
        elif self.divides:
            require_leverage_below_one(H)

    @abstractmethod
    def core(self, given: Given) -> _core.Criterion:
        """Return the criterion as an object of the C++ core."""

    def of_observations(self, given: Given, *, has_trend: bool) -> _core.Criterion:
        """Return what the criterion is for observations of a likelihood, where there is such a thing."""
        del given, has_trend
        raise ValueError(
            'criterion: with a likelihood, expected "lml", the approximate marginal likelihood, or "loo_log_density", the log '
            f"density of observations that are left out, got {self}"
        )

    def with_prior(self, kernel: Kernel, value: float, gradient: Slopes) -> tuple[float, Slopes]:
        """Add the terms that depend on the hyperparameters alone to the value and the gradient."""
        del kernel
        return value, gradient

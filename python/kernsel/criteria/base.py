"""The base class of criteria."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernsel import _core
from kernsel._data.trend import require_leverage_below_one
from kernsel.kernels import Kernel

__all__ = ["Criterion", "Given", "Loss", "Slopes"]

Loss = Callable[[NDArray[np.float64], NDArray[np.float64]], tuple[Any, Any, Any]]
Slopes = NDArray[np.float64] | None


@dataclass(frozen=True)
class Given:
    """The data for which a criterion is evaluated: all points and targets, and the indices of the points that are used."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    used: NDArray[np.intp]


class Criterion(ABC):
    """Base class of the criteria that :func:`kernsel.evaluate` and estimators accept."""

    larger_is_better: ClassVar[bool] = False
    divides: ClassVar[bool] = False  # whether it divides by the diagonal of P, which then must not be zero
    adds_prior: ClassVar[bool] = False  # whether it includes the priors of the hyperparameters
    leaves_points_out: ClassVar[bool] = False  # whether it is an error or a density of points that are left out
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
        del given
        if self.divides:
            require_leverage_below_one(H)

    @abstractmethod
    def core(self, given: Given) -> _core.Criterion:
        """Return the criterion as an object of the C++ core."""

    def with_prior(self, kernel: Kernel, value: float, gradient: Slopes) -> tuple[float, Slopes]:
        """Add the terms that depend on the hyperparameters alone to the value and the gradient."""
        del kernel
        return value, gradient

"""What a criterion is: a value that a fit has, with what it asks of the data."""

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
    """What a criterion may ask of the data: all points, and which of them count."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    used: NDArray[np.intp]


class Criterion(ABC):
    """A criterion, for :func:`kernsel.evaluate`."""

    larger_is_better: ClassVar[bool] = False
    divides: ClassVar[bool] = False  # by the diagonal of P, which must not be zero
    adds_prior: ClassVar[bool] = False  # of the hyperparameters
    leaves_points_out: ClassVar[bool] = False  # is it an error of points that are left out?
    same_for_any_points: ClassVar[bool] = True  # is it defined for a subset of the points, too?

    @property
    def sees_scale(self) -> bool:
        """Tell whether it changes if kernel and noise are multiplied by a number."""
        return self.without_scale() is not self

    def without_scale(self) -> Criterion | None:
        """Return the criterion that does not change if kernel and noise are multiplied by a number, this one at its best.

        None if there is no such criterion.
        """
        return None

    def require_trend(self, H: NDArray[np.float64], given: Given) -> None:
        """Raise if the trend cannot be estimated without what is left out."""
        del given
        if self.divides:
            require_leverage_below_one(H)

    @abstractmethod
    def core(self, given: Given) -> _core.Criterion:
        """Return the same for the C++ core."""

    def with_prior(self, kernel: Kernel, value: float, gradient: Slopes) -> tuple[float, Slopes]:
        """Add what depends on the hyperparameters alone."""
        del kernel
        return value, gradient

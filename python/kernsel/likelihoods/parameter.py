"""The parameters of a likelihood, and checks of what stands for them in a constructor."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Literal, TypeAlias

import numpy as np

__all__ = ["Bounds", "LikelihoodParameter", "Number", "check_bounds", "check_number"]

Number: TypeAlias = float | Literal["auto"]
Bounds: TypeAlias = tuple[float, float] | Literal["auto", "fixed"]


@dataclass(frozen=True)
class LikelihoodParameter:
    """A parameter of a likelihood, as a search for it sees it.

    Attributes
    ----------
    name : str
    value, lower, upper : float
        Where a search begins, and its bounds: logarithms, if `log`.
    log : bool
        Whether it is searched for by its logarithm.
    fixed : bool
        Whether it stays as it is.
    """

    name: str
    value: float
    lower: float
    upper: float
    log: bool = True
    fixed: bool = False

    @property
    def number(self) -> float:
        """The value itself."""
        return float(np.exp(self.value)) if self.log else self.value


def check_number(name: str, value: object, *, least: float = 0.0, may_be_auto: bool = True) -> None:
    """Raise unless `value` is a finite number above `least`, or "auto"."""
    if isinstance(value, str) and value == "auto" and may_be_auto:
        return
    if not isinstance(value, Real) or isinstance(value, bool) or not least < float(value) < np.inf:
        alternative = ' or "auto"' if may_be_auto else ""
        raise ValueError(f"{name}: expected a finite number above {least:g}{alternative}, got {value!r}")


def check_bounds(name: str, bounds: object) -> None:
    """Raise unless `bounds` are two positive numbers, "auto" or "fixed"."""
    if isinstance(bounds, str) and bounds in ("auto", "fixed"):
        return
    try:
        limits = np.asarray(bounds, dtype=np.float64)
        right = limits.shape == (2,) and bool(0 < limits[0] <= limits[1] < np.inf)
    except (TypeError, ValueError):
        right = False
    if not right:
        raise ValueError(f'{name}: expected a lower and an upper bound, "auto" or "fixed", got {bounds!r}')

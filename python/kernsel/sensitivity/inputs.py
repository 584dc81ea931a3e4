"""The distributions of the inputs of a function: uniform and normal columns, independent or joined by a normal copula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.allowed import is_number

__all__ = ["GaussianCopula", "Input", "Inputs", "Normal", "Uniform", "checked_inputs", "quantiles"]

_TAIL = 9.0  # standard deviations beyond which a normal input has a probability of 2e-19


@dataclass(frozen=True)
class Uniform:
    """An input of which all values between two bounds are equally probable.

    Parameters
    ----------
    lower, upper : float
        If both are equal, the input is held at this value.

    Examples
    --------
    >>> from kernsel.sensitivity import Uniform
    >>> float(Uniform(2.0, 4.0).quantile(0.25))
    2.5
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not (_finite(self.lower) and _finite(self.upper) and self.lower <= self.upper):
            raise ValueError(
                f"Uniform: expected two finite numbers, the lower first, got lower={self.lower!r}, upper={self.upper!r}"
            )

    def quantile(self, p: ArrayLike) -> Vector:
        """Return the values below which the input is with probabilities p."""
        share = np.asarray(p, dtype=np.float64)
        return np.asarray((1 - share) * self.lower + share * self.upper)

    def span(self) -> tuple[float, float, float]:
        """Return the bounds of the values that are integrated over, and the length in which the density changes."""
        return self.lower, self.upper, np.inf

    def density(self, x: Vector) -> Vector:
        """Return the probability density, up to a factor."""
        return np.ones(len(x))


@dataclass(frozen=True)
class Normal:
    """An input with a normal distribution.

    Parameters
    ----------
    mean : float
    std : float
        Its standard deviation; if it is zero, the input is held at the mean.

    Examples
    --------
    >>> from kernsel.sensitivity import Normal
    >>> float(Normal(3.0, 2.0).quantile(0.5))
    3.0
    """

    mean: float
    std: float

    def __post_init__(self) -> None:
        if not (_finite(self.mean) and _finite(self.std) and self.std >= 0):
            raise ValueError(
                f"Normal: expected a finite mean and a standard deviation from 0 on, got mean={self.mean!r}, std={self.std!r}"
            )

    def quantile(self, p: ArrayLike) -> Vector:
        """Return the values below which the input is with probabilities p."""
        score = np.clip(special.ndtri(np.asarray(p, dtype=np.float64)), -_TAIL, _TAIL)
        return np.asarray(self.mean + self.std * score)

    def span(self) -> tuple[float, float, float]:
        """Return the bounds of the values that are integrated over, and the length in which the density changes."""
        return self.mean - _TAIL * self.std, self.mean + _TAIL * self.std, self.std

    def density(self, x: Vector) -> Vector:
        """Return the probability density, up to a factor."""
        return np.exp(-0.5 * ((x - self.mean) / self.std) ** 2)


Input: TypeAlias = Uniform | Normal
# One distribution or pair of bounds for each column, or for each name of a column.
Inputs: TypeAlias = Sequence[Input | Sequence[float]] | Mapping[str, Input | Sequence[float]] | ArrayLike


class GaussianCopula:
    """Inputs that depend on each other: their normal scores have a joint normal distribution.

    Parameters
    ----------
    inputs : sequence of Uniform, Normal or pairs of bounds
        The distribution of each column.
    correlation : array-like of shape (d, d)
        Of the normal scores: of the inputs themselves where these are normal. Positive definite.

    Examples
    --------
    >>> from kernsel.sensitivity import GaussianCopula, Normal, Uniform
    >>> GaussianCopula([Normal(0.0, 1.0), Uniform(0.0, 2.0)], [[1.0, 0.5], [0.5, 1.0]]).inputs
    [Normal(mean=0.0, std=1.0), Uniform(lower=0.0, upper=2.0)]
    """

    def __init__(self, inputs: Inputs, correlation: ArrayLike) -> None:
        self.inputs = checked_inputs(inputs, None)
        self.correlation = np.asarray(correlation, dtype=np.float64)
        d = len(self.inputs)
        R = self.correlation
        if R.shape != (d, d) or not np.isfinite(R).all():
            raise ValueError(f"correlation: expected finite numbers of shape ({d}, {d}), got shape {R.shape}")
        if np.abs(R - R.T).max() > 1e-12 or np.abs(np.diag(R) - 1).max() > 1e-12:
            raise ValueError("correlation: expected a symmetric matrix with ones on its diagonal")
        least = float(np.linalg.eigvalsh(R)[0])
        if least <= 1e-12 * d:
            raise ValueError(
                f"correlation: expected a positive definite matrix, its least eigenvalue is {least:.3g}; "
                "leave out a column that the others determine"
            )


def checked_inputs(inputs: object, names: Sequence[str] | None) -> list[Input]:
    """Return the distribution of each column; raise unless there is one for each of `names`, if these are given."""
    if isinstance(inputs, Mapping):
        if names is None or set(inputs) != set(names):
            raise ValueError(f"inputs: expected one for each of the columns {names}, got those of {sorted(map(str, inputs))}")
        inputs = [inputs[name] for name in names]
    if isinstance(inputs, str) or not isinstance(inputs, Sequence | np.ndarray) or not len(inputs):
        raise TypeError(
            f"inputs: expected a Uniform, a Normal or a pair of bounds for each column, got {type(inputs).__name__}"
        )
    found = [_input(k, one) for k, one in enumerate(inputs)]
    if names is not None and len(found) != len(names):
        raise ValueError(f"inputs: expected one for each of {len(names)} columns, got {len(found)}")
    return found


def quantiles(inputs: Sequence[Input], shares: Matrix) -> Matrix:
    """Return points, shape (m, d), from probabilities of the same shape."""
    return np.column_stack([one.quantile(shares[:, k]) for k, one in enumerate(inputs)])


def _input(k: int, one: object) -> Input:
    if isinstance(one, Uniform | Normal):
        return one
    if isinstance(one, list | tuple | np.ndarray) and len(one) == 2 and all(map(is_number, one)):
        return Uniform(float(one[0]), float(one[1]))
    raise TypeError(f"inputs: expected a Uniform, a Normal or a pair of bounds for column {k}, got {one!r}")


def _finite(value: object) -> bool:
    return is_number(value) and bool(np.isfinite(value))

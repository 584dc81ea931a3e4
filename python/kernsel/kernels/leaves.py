"""Kernels that are not made of other kernels."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel import _core
from kernsel.kernels.base import Kernel

__all__ = ["RBF", "ConstantKernel", "WhiteKernel"]


def _positive(value: Any, name: str) -> NDArray[np.float64]:
    """Return `value` as numbers, all positive and finite."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected positive numbers, got {value!r}") from None
    if not (np.isfinite(numbers).all() and (numbers > 0).all()):
        raise ValueError(f"{name}: expected positive, finite numbers, got {value!r}")
    return numbers


def _positive_number(value: Any, name: str) -> float:
    number = _positive(value, name)
    if number.ndim != 0:
        raise ValueError(f"{name}: expected one number, got {value!r}")
    return float(number)


class RBF(Kernel):
    r"""The squared exponential kernel, k(x, z) = exp(-1/2 sum_k (x_k - z_k)^2 / l_k^2).

    Functions of this kernel are infinitely smooth. Distances are direct differences: never negative, exactly zero
    between equal points, correct for data far from the origin and in any unit.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,), or "auto"
        One length scale, or one for each column. "auto" takes, when an estimator is fitted, the standard deviation of
        each column times the square root of the number of columns.

    Examples
    --------
    >>> from kernsel.kernels import RBF
    >>> RBF(2.0)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    def __init__(self, length_scale: float | ArrayLike | Literal["auto"] = 1.0) -> None:
        self.length_scale = length_scale
        self._check()

    def _check(self) -> None:
        if isinstance(self.length_scale, str):
            if self.length_scale != "auto":
                raise ValueError(f'length_scale: expected numbers or "auto", got {self.length_scale!r}')
            return
        if _positive(self.length_scale, "length_scale").ndim > 1 or np.size(self.length_scale) == 0:
            raise ValueError(f"length_scale: expected one number or one for each column, got {self.length_scale!r}")

    def _resolve(self, X: NDArray[Any], weights: NDArray[Any] | None = None) -> RBF:
        if not isinstance(self.length_scale, str):
            return self
        X = np.asarray(X, dtype=np.float64)
        spread = np.sqrt(np.average((X - np.average(X, axis=0, weights=weights)) ** 2, axis=0, weights=weights))
        spread[~(spread > 0)] = 1.0  # a constant column has no differences, so that any scale does
        return RBF(spread * np.sqrt(X.shape[1]))

    def _build(self) -> _core.Kernel:
        if isinstance(self.length_scale, str):
            raise ValueError('length_scale: "auto" is set when an estimator is fitted; give a number to evaluate the kernel')
        return _core.rbf(np.atleast_1d(_positive(self.length_scale, "length_scale")).tolist())


class ConstantKernel(Kernel):
    """The constant kernel, k(x, z) = constant_value; as a factor, the variance of what it multiplies.

    Parameters
    ----------
    constant_value : float
        Positive.
    """

    def __init__(self, constant_value: float = 1.0) -> None:
        self.constant_value = constant_value
        self._check()

    def _check(self) -> None:
        _positive_number(self.constant_value, "constant_value")

    def _build(self) -> _core.Kernel:
        return _core.constant(_positive_number(self.constant_value, "constant_value"))


class WhiteKernel(Kernel):
    """White noise: k(x, x) = noise_level for a point against itself, zero otherwise.

    k(X) has `noise_level` on its diagonal; k(X, Z) is zero, whatever X and Z are.

    Parameters
    ----------
    noise_level : float
        Positive: a variance.
    """

    def __init__(self, noise_level: float = 1.0) -> None:
        self.noise_level = noise_level
        self._check()

    def _check(self) -> None:
        _positive_number(self.noise_level, "noise_level")

    def _build(self) -> _core.Kernel:
        return _core.white(_positive_number(self.noise_level, "noise_level"))

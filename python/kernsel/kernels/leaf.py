"""What all kernels have in common that are not made of other kernels."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.gaussian_process.kernels import Hyperparameter

from kernsel.kernels.base import Data, Kernel, numbers

__all__ = ["Bounds", "Leaf", "ScaledLeaf"]

# Limits for a hyperparameter, "fixed", or "auto": scikit-learn's until the data are known.
Bounds = tuple[float, float] | ArrayLike | str
AUTO_BOUNDS = (1e-5, 1e5)


class Leaf(Kernel):
    """A kernel with hyperparameters of its own: positive numbers, each with bounds in the argument ``<name>_bounds``."""

    # Names, in the order of the core and of theta; those that may be one number for each column; those that may be zero.
    _hyper: ClassVar[tuple[str, ...]]
    _by_column: ClassVar[tuple[str, ...]] = ()
    _may_be_zero: ClassVar[tuple[str, ...]] = ()

    def _check(self) -> None:
        for name in self._hyper:
            self._check_value(name, getattr(self, name))
            self._check_bounds(name, getattr(self, f"{name}_bounds"))

    def _check_value(self, name: str, value: Any) -> None:
        if isinstance(value, str):
            if value != "auto" or name not in self._by_column:
                choice = ' or "auto"' if name in self._by_column else ""
                raise ValueError(f"{name}: expected positive numbers{choice}, got {value!r}")
            return
        if name in self._may_be_zero and np.ndim(value) == 0 and isinstance(value, int | float) and value == 0:
            return
        shape = numbers(value, name).shape
        if len(shape) > 1 or shape == (0,) or (shape and name not in self._by_column):
            many = " or one for each column" if name in self._by_column else ""
            raise ValueError(f"{name}: expected one number{many}, got {value!r}")

    def _check_bounds(self, name: str, bounds: Any) -> None:
        name = f"{name}_bounds"
        if isinstance(bounds, str):
            if bounds not in ("fixed", "auto"):
                raise ValueError(f'{name}: expected two numbers, "fixed" or "auto", got {bounds!r}')
            return
        limits = np.atleast_2d(numbers(bounds, name))
        if limits.ndim != 2 or limits.shape[1] != 2:
            raise ValueError(f"{name}: expected a lower and an upper bound, got {bounds!r}")
        if not (limits[:, 0] <= limits[:, 1]).all():
            raise ValueError(f"{name}: the lower bound is above the upper one in {bounds!r}")

    def _own(self) -> Iterator[tuple[Hyperparameter, Any]]:
        for name in self._hyper:
            value, bounds = getattr(self, name), getattr(self, f"{name}_bounds")
            if name in self._may_be_zero and np.ndim(value) == 0 and value == 0:
                continue  # has no logarithm: a constant of the kernel, no hyperparameter
            count = 1 if isinstance(value, str) else np.size(value)
            limits = AUTO_BOUNDS if isinstance(bounds, str) and bounds == "auto" else bounds
            yield Hyperparameter(name, "numeric", limits, count), value

    def _with_values(self, values: Iterator[Any]) -> Self:
        changed = dict(zip((hyperparameter.name for hyperparameter, _ in self._own()), values, strict=False))
        return type(self)(**{**{name: getattr(self, name) for name in signature(type(self)).parameters}, **changed})

    def _resolve(self, data: Data) -> Kernel:
        automatic = {name: spread(data) for name in self._by_column if isinstance(getattr(self, name), str)}
        if not automatic:
            return self
        return type(self)(**{**{name: getattr(self, name) for name in signature(type(self)).parameters}, **automatic})

    def _number(self, name: str) -> float:
        value = getattr(self, name)
        return 0.0 if name in self._may_be_zero and value == 0 else float(numbers(value, name))

    def _numbers(self, name: str) -> list[float]:
        return np.atleast_1d(numbers(getattr(self, name), name)).tolist()  # type: ignore[no-any-return]


class ScaledLeaf(Leaf):
    """A kernel whose only hyperparameters are its length scales."""

    _hyper = ("length_scale",)
    _by_column = ("length_scale",)

    def __init__(self, length_scale: float | ArrayLike = 1.0, length_scale_bounds: Bounds = "auto") -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self._check()


def spread(data: Data) -> NDArray[np.float64]:
    """Return the standard deviation of each column times the square root of their number: distances are then about 1."""
    X = np.asarray(data.X, dtype=np.float64)
    deviations = (X - np.average(X, axis=0, weights=data.weights)) ** 2
    scale = np.sqrt(np.average(deviations, axis=0, weights=data.weights) * X.shape[1])
    scale[~(scale > 0)] = 1.0  # a constant column has no differences, so that any scale does
    return np.asarray(scale, dtype=np.float64)

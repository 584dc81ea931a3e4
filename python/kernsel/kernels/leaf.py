"""The base classes of kernels that have hyperparameters of their own and combine no other kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from kernsel.kernels.automatic import Data
from kernsel.kernels.base import Kernel
from kernsel.kernels.hyperparameter import Bounds, Hyperparameter, Parameter, numbers

__all__ = ["Leaf", "ScaledLeaf", "value_of"]


def value_of(value: Any) -> Any:
    """Return the value of a :class:`Parameter`, and anything else as it is."""
    return value.value if isinstance(value, Parameter) else value


def check_bounds(name: str, bounds: object, *, positive: bool) -> None:
    """Raise unless `bounds` are bounds of a hyperparameter."""
    if isinstance(bounds, str):
        if bounds not in ("fixed", "auto"):
            raise ValueError(f'{name}: expected two numbers, "fixed" or "auto", got {bounds!r}')
        return
    limits = np.atleast_2d(numbers(bounds, name, positive=positive))
    if limits.ndim != 2 or limits.shape[1] != 2:
        raise ValueError(f"{name}: expected a lower and an upper bound, got {bounds!r}")
    if not (limits[:, 0] <= limits[:, 1]).all():
        raise ValueError(f"{name}: the lower bound is above the upper one in {bounds!r}")


class Leaf(Kernel):
    """A kernel with hyperparameters of its own, each with bounds in the argument ``<name>_bounds``."""

    # The names of the hyperparameters, in the order of the core and of theta, each with the rule of automatic.py for "auto".
    _hyper: ClassVar[dict[str, str]]
    _by_column: ClassVar[tuple[str, ...]] = ()  # names of those that may have one number for each column
    _may_be_zero: ClassVar[tuple[str, ...]] = ()  # that may be 0, which is a constant: it has no logarithm
    _may_be_none: ClassVar[tuple[str, ...]] = ()  # that may be None
    _signed: ClassVar[tuple[str, ...]] = ()  # that may be negative

    def _check(self) -> None:
        for name in self._hyper:
            self._check_value(name, value_of(getattr(self, name)))
            check_bounds(f"{name}_bounds", self.bounds_of(name), positive=name not in self._signed)
            self._check_prior(name)

    def bounds_of(self, name: str) -> Bounds:
        """Return the bounds of a hyperparameter: those of a :class:`Parameter` come before the argument ``<name>_bounds``."""
        value = getattr(self, name)
        bounds: Bounds | None = value.bounds if isinstance(value, Parameter) else None
        return getattr(self, f"{name}_bounds") if bounds is None else bounds

    def _check_value(self, name: str, value: object) -> None:
        if value is None and name in self._may_be_none:
            return
        if isinstance(value, str):
            if value != "auto":
                raise ValueError(f'{name}: expected a number or "auto", got {value!r}')
            return
        if self._absent(name, value):
            return
        shape = numbers(value, name, positive=name not in self._signed).shape
        if len(shape) > 1 or shape == (0,) or (shape and name not in self._by_column):
            alternative = " or one for each column" if name in self._by_column else ""
            raise ValueError(f"{name}: expected one number{alternative}, got {value!r}")

    def _check_prior(self, name: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, Parameter):
            return
        if value.prior is not None and name in self._signed:
            raise ValueError(f"{name}: a prior is a density of a positive number, and this one may be negative")
        if value.log is not None and value.log != (name not in self._signed):
            raise ValueError(f"{name}: log={value.log!r} is for parameters of a FunctionKernel")

    def _absent(self, name: str, value: Any) -> bool:
        """Tell whether an argument is no hyperparameter, because its value is None or a constant 0."""
        if value is None:
            return name in self._may_be_none
        return name in self._may_be_zero and np.ndim(value) == 0 and not isinstance(value, str) and value == 0

    def own(self) -> Iterator[tuple[Hyperparameter, ArrayLike]]:
        for name in self._hyper:
            argument = getattr(self, name)
            value = value_of(argument)
            if self._absent(name, value):
                continue
            count = 1 if isinstance(value, str) else np.size(value)
            prior, tie = (argument.prior, argument.name) if isinstance(argument, Parameter) else (None, None)
            yield Hyperparameter(name, self.bounds_of(name), count, name not in self._signed, prior, tie), value

    def core_order(self) -> list[int]:
        values = ((name, value_of(getattr(self, name))) for name in self._hyper)
        present = [value for name, value in values if not self._absent(name, value)]
        return list(range(sum(1 if isinstance(value, str) else np.size(value) for value in present)))

    def is_automatic(self) -> bool:
        return any(isinstance(value_of(getattr(self, name)), str) for name in self._hyper)

    def with_values(self, values: Iterator[ArrayLike]) -> Self:
        changed = {}
        for (h, _), value in zip(self.own(), values, strict=False):
            argument = getattr(self, h.name)
            changed[h.name] = argument.replaced(value) if isinstance(argument, Parameter) else value
        return self.replaced(**changed)

    def _rule(self, name: str) -> str:
        """Return the name of the rule of automatic.py for a hyperparameter."""
        return self._hyper[name]

    def resolve(self, data: Data) -> Kernel:
        changed: dict[str, object] = {}
        for name in self._hyper:
            argument = getattr(self, name)
            value, bounds = value_of(argument), self.bounds_of(name)
            if self._absent(name, value):
                continue
            auto = isinstance(value, str)
            if data.anchors is not None:
                by_column = auto and name in self._by_column
                data.note(self._rule(name), data.X.shape[1] if by_column else 1 if auto else np.size(value))
            if not auto and not isinstance(bounds, str):
                continue
            if isinstance(argument, Parameter) and argument.name in data.ties:
                changed[name] = data.ties[argument.name]
                continue
            proposal = data.proposal(self._rule(name))
            if auto:
                value = proposal.value(name in self._by_column and data.by_column)
            if isinstance(bounds, str) and bounds == "auto":
                bounds = proposal.bounds(np.size(value), name in self._by_column)
            if isinstance(argument, Parameter):
                changed[name] = resolved = argument.replaced(value, bounds)
                if argument.name is not None:
                    data.ties[argument.name] = resolved
            else:
                changed |= {name: value, f"{name}_bounds": bounds}
        return self.replaced(**changed)

    def _has_one_scale(self) -> bool:
        """Tell whether all columns have the same length scale."""
        return np.size(value_of(getattr(self, "length_scale", None))) == 1

    def number(self, name: str) -> float:
        """Return the value of a hyperparameter that is one number."""
        value = value_of(getattr(self, name))
        return 0.0 if self._absent(name, value) else float(numbers(value, name, positive=name not in self._signed))

    def numbers(self, name: str) -> list[float]:
        """Return the numbers of a hyperparameter, of which there may be one for each column; none if its value is None."""
        value = value_of(getattr(self, name))
        return [] if value is None else np.ravel(numbers(value, name, positive=name not in self._signed)).tolist()


class ScaledLeaf(Leaf):
    """A kernel whose only hyperparameters are its length scales."""

    _hyper: ClassVar = {"length_scale": "length"}
    _by_column = ("length_scale",)

    def __init__(self, length_scale: float | ArrayLike | Parameter = 1.0, length_scale_bounds: Bounds = "auto") -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self._check()

"""Kernels made of kernels."""

from __future__ import annotations

from numbers import Real
from typing import Any

from numpy.typing import NDArray

from kernsel import _core
from kernsel.kernels.base import Kernel
from kernsel.kernels.leaves import ConstantKernel

__all__ = ["Product", "Sum", "as_kernel"]


def as_kernel(value: object) -> Kernel | None:
    """Return a kernel for a kernel or a number, None for anything else."""
    if isinstance(value, Kernel):
        return value
    return ConstantKernel(float(value)) if isinstance(value, Real) and not isinstance(value, bool) else None


class _Pair(Kernel):
    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2
        self._check()

    def _check(self) -> None:
        for name, part in (("k1", self.k1), ("k2", self.k2)):
            if not isinstance(part, Kernel):
                raise TypeError(f"{name}: expected a kernel, got {part!r}")

    def _resolve(self, X: NDArray[Any], weights: NDArray[Any] | None = None) -> Kernel:
        return type(self)(self.k1._resolve(X, weights), self.k2._resolve(X, weights))


class Sum(_Pair):
    """The sum of two kernels, k1(x, z) + k2(x, z); written ``k1 + k2``.

    Parameters
    ----------
    k1, k2 : Kernel
    """

    def _build(self) -> _core.Kernel:
        return self.k1._build() + self.k2._build()

    def __repr__(self) -> str:
        return f"{self.k1!r} + {self.k2!r}"


class Product(_Pair):
    """The product of two kernels, k1(x, z) k2(x, z); written ``k1 * k2``, or ``2.0 * k``.

    Parameters
    ----------
    k1, k2 : Kernel
    """

    def _build(self) -> _core.Kernel:
        if isinstance(self.k1, ConstantKernel):
            return float(self.k1.constant_value) * self.k2._build()
        return self.k1._build() * self.k2._build()

    def __repr__(self) -> str:
        return " * ".join(f"({part!r})" if isinstance(part, Sum) else repr(part) for part in (self.k1, self.k2))

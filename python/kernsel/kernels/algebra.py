"""Kernels made of kernels: all that keep a kernel positive semidefinite, closed and exact under differentiation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import signature
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.gaussian_process import kernels as sk
from sklearn.gaussian_process.kernels import Hyperparameter

from kernsel import _core
from kernsel.kernels.base import Data, Kernel, plain
from kernsel.kernels.convert import from_sklearn
from kernsel.kernels.simple import ConstantKernel

__all__ = ["Columns", "Exp", "PolynomialOf", "Power", "Product", "Sum", "as_kernel"]


def as_kernel(value: object) -> Kernel | None:
    """Return a kernel for a kernel, ours or scikit-learn's, or a number; None for anything else."""
    if isinstance(value, Kernel):
        return value
    if isinstance(value, sk.Kernel):
        return from_sklearn(value)
    return ConstantKernel(float(value)) if isinstance(value, Real) and not isinstance(value, bool) else None


class _Operation(Kernel):
    """A kernel whose hyperparameters are those of its parts."""

    _parts: ClassVar[tuple[str, ...]]

    def _check(self) -> None:
        for name in self._parts:
            if not isinstance(getattr(self, name), Kernel):
                raise TypeError(f"{name}: expected a kernel, got {getattr(self, name)!r}")

    def _own(self) -> Iterator[tuple[Hyperparameter, Any]]:
        for name in self._parts:
            for h, value in getattr(self, name)._own():
                yield Hyperparameter(f"{name}__{h.name}", h.value_type, h.bounds, h.n_elements, h.fixed), value

    def _with_parts(self, **parts: Kernel) -> Self:
        return type(self)(**{**{name: getattr(self, name) for name in signature(type(self)).parameters}, **parts})

    def _with_values(self, values: Iterator[Any]) -> Self:
        parts = {}
        for name in self._parts:
            part: Kernel = getattr(self, name)
            parts[name] = part._with_values(iter([next(values) for _ in part._own()]))
        return self._with_parts(**parts)

    def _resolve(self, data: Data) -> Kernel:
        return self._with_parts(**{name: getattr(self, name)._resolve(data) for name in self._parts})

    def _resolve_names(self, names: Sequence[str]) -> Kernel:
        return self._with_parts(**{name: getattr(self, name)._resolve_names(names) for name in self._parts})


class _Pair(_Operation):
    _parts = ("k1", "k2")

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2
        self._check()


class Sum(_Pair):
    """The sum of two kernels, k1(x, z) + k2(x, z); written ``k1 + k2``.

    Parameters
    ----------
    k1, k2 : Kernel
    """

    def _build(self) -> _core.Kernel:
        return self.k1._build() + self.k2._build()

    def __repr__(self) -> str:
        return f"{self.k1!r} + ({self.k2!r})" if isinstance(self.k2, Sum) else f"{self.k1!r} + {self.k2!r}"


class Product(_Pair):
    """The product of two kernels, k1(x, z) k2(x, z); written ``k1 * k2``, or ``2.0 * k``.

    Parameters
    ----------
    k1, k2 : Kernel
    """

    def _build(self) -> _core.Kernel:
        if isinstance(self.k1, ConstantKernel):
            return self.k1._number("constant_value") * self.k2._build()
        return self.k1._build() * self.k2._build()

    def __repr__(self) -> str:
        left = f"({self.k1!r})" if isinstance(self.k1, Sum) else repr(self.k1)
        return f"{left} * ({self.k2!r})" if isinstance(self.k2, _Pair) else f"{left} * {self.k2!r}"


class Power(_Operation):
    """A whole power of a kernel, k(x, z)^exponent; written ``k ** 2``.

    Parameters
    ----------
    kernel : Kernel
    exponent : int
        At least 1: other powers of a positive semidefinite kernel need not be positive semidefinite.
    """

    _parts = ("kernel",)

    def __init__(self, kernel: Kernel, exponent: int) -> None:
        self.kernel = kernel
        self.exponent = exponent
        self._check()

    def _check(self) -> None:
        super()._check()
        whole = isinstance(self.exponent, Real) and not isinstance(self.exponent, bool) and float(self.exponent).is_integer()
        if not whole or not 1 <= self.exponent <= 100:
            raise ValueError(
                f"exponent: expected a whole number from 1 to 100, got {self.exponent!r}: "
                "other powers of a kernel need not be positive semidefinite"
            )

    def _build(self) -> _core.Kernel:
        return _core.pow(self.kernel._build(), int(self.exponent))

    def __repr__(self) -> str:
        return f"{_atom(self.kernel)} ** {int(self.exponent)}"


class Exp(_Operation):
    """The exponential of a kernel, exp(k(x, z)): the sum of all its powers, k^i / i!.

    Parameters
    ----------
    kernel : Kernel

    Examples
    --------
    >>> from kernsel.kernels import Exp, Linear
    >>> Exp(Linear())([[0.0], [1.0]]).round(4)
    array([[1.    , 1.    ],
           [1.    , 2.7183]])
    """

    _parts = ("kernel",)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._check()

    def _build(self) -> _core.Kernel:
        return _core.exp(self.kernel._build())

    def __repr__(self) -> str:
        return f"Exp({self.kernel!r})"


class PolynomialOf(_Operation):
    """A polynomial of a kernel, c_0 + c_1 k(x, z) + c_2 k(x, z)^2 + ...

    Parameters
    ----------
    kernel : Kernel
    coefficients : array-like of shape (m,)
        Not negative: otherwise it need not be a kernel.

    Examples
    --------
    >>> from kernsel.kernels import Linear, PolynomialOf
    >>> PolynomialOf(Linear(), [1.0, 0.0, 2.0])([[1.0], [3.0]])
    array([[  3.,  19.],
           [ 19., 163.]])
    """

    _parts = ("kernel",)

    def __init__(self, kernel: Kernel, coefficients: ArrayLike) -> None:
        self.kernel = kernel
        self.coefficients = coefficients
        self._check()

    def _check(self) -> None:
        super()._check()
        try:
            values = np.asarray(self.coefficients, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"coefficients: expected numbers, got {self.coefficients!r}") from None
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (values < 0).any() or not values.any():
            raise ValueError(
                f"coefficients: expected finite numbers that are not negative, and not all zero, got {self.coefficients!r}: "
                "a polynomial with a negative coefficient need not be positive semidefinite"
            )

    def _build(self) -> _core.Kernel:
        return _core.series(np.asarray(self.coefficients, dtype=np.float64).tolist(), self.kernel._build())

    def __repr__(self) -> str:
        return f"PolynomialOf({self.kernel!r}, {list(plain(self.coefficients))!r})"


class Columns(_Operation):
    """A kernel of some columns of its points only; written ``k.on([0, 2])``.

    Parameters
    ----------
    kernel : Kernel
    columns : sequence of int or str
        Indices, or names where the points are a table.
    """

    _parts = ("kernel",)

    def __init__(self, kernel: Kernel, columns: Sequence[int] | Sequence[str]) -> None:
        self.kernel = kernel
        self.columns = columns
        self._check()

    def _check(self) -> None:
        super()._check()
        columns = plain(self.columns)
        named = isinstance(columns, list | tuple) and all(isinstance(c, str) for c in columns)
        indexed = isinstance(columns, list | tuple) and all(isinstance(c, int) and not isinstance(c, bool) for c in columns)
        if not columns or not (named or indexed):
            raise TypeError(f"columns: expected a list of indices or of names, got {self.columns!r}")
        if indexed and min(columns) < 0:
            raise ValueError(f"columns: expected indices from 0 on, got {self.columns!r}")
        if len(set(columns)) < len(columns):
            raise ValueError(f"columns: a column is named twice in {self.columns!r}")

    def _indices(self) -> list[int]:
        columns = list(plain(self.columns))
        if isinstance(columns[0], str):
            raise ValueError(f"columns: {self.columns!r} are names, and the points have none; give a table, or indices")
        return columns

    def _build(self) -> _core.Kernel:
        return _core.on(self.kernel._build(), self._indices())

    def _resolve_names(self, names: Sequence[str]) -> Kernel:
        columns = list(plain(self.columns))
        if isinstance(columns[0], str):
            missing = [column for column in columns if column not in names]
            if missing:
                raise ValueError(f"columns: {', '.join(missing)} not among the columns {', '.join(names)}")
            columns = [list(names).index(column) for column in columns]
        if max(columns) >= len(names):
            raise ValueError(f"columns: there is no column {max(columns)}, the points have {len(names)}")
        return Columns(self.kernel._resolve_names([names[i] for i in columns]), columns)

    def _resolve(self, data: Data) -> Kernel:
        named = self._resolve_names(data.names) if data.names is not None else self
        assert isinstance(named, Columns)
        columns = named._indices()
        if max(columns) >= data.X.shape[1]:
            raise ValueError(f"columns: there is no column {max(columns)}, the points have {data.X.shape[1]}")
        return Columns(named.kernel._resolve(data.restricted(columns)), columns)

    def __repr__(self) -> str:
        return f"{_atom(self.kernel)}.on({list(plain(self.columns))!r})"


def _atom(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, Sum | Product | Power) else repr(kernel)

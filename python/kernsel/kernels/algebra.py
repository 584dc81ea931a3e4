"""Kernels made of kernels: all that keep a kernel positive semidefinite, closed and exact under differentiation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.gaussian_process import kernels as sk

from kernsel import _core
from kernsel.kernels.automatic import Data
from kernsel.kernels.base import Kernel, short
from kernsel.kernels.convert import from_sklearn
from kernsel.kernels.hyperparameter import Hyperparameter, plain
from kernsel.kernels.simple import ConstantKernel

__all__ = ["Columns", "Exp", "Operation", "PolynomialOf", "Power", "Product", "Sum", "as_kernel"]


def as_kernel(value: object) -> Kernel | None:
    """Return a kernel for a kernel, ours or scikit-learn's, or a number; None for anything else."""
    if isinstance(value, Kernel):
        return value
    if isinstance(value, sk.Kernel):
        return from_sklearn(value)
    return ConstantKernel(float(value)) if isinstance(value, Real) and not isinstance(value, bool) else None


class Operation(Kernel):
    """A kernel whose hyperparameters are those of its parts."""

    _parts: ClassVar[tuple[str, ...]]

    def _check(self) -> None:
        for name in self._parts:
            if not isinstance(getattr(self, name), Kernel):
                raise TypeError(f"{name}: expected a kernel, got {getattr(self, name)!r}")

    def _own(self) -> Iterator[tuple[Hyperparameter, Any]]:
        for name in self._parts:
            for h, value in getattr(self, name)._own():
                yield h.renamed(f"{name}__{h.name}"), value

    def _core_order(self) -> list[int]:
        order = list(range(self._count_of_itself()))
        for name in self._parts:
            begun = len(order)
            order += [begun + place for place in getattr(self, name)._core_order()]
        return order

    def _count_of_itself(self) -> int:
        """Return how many numbers are hyperparameters of the operation itself; they come first."""
        return 0

    def _with_values(self, values: Iterator[Any]) -> Self:
        return self._replaced(**{name: getattr(self, name)._with_values(values) for name in self._parts})

    def _resolve(self, data: Data) -> Kernel:
        return self._replaced(**{name: getattr(self, name)._resolve(data) for name in self._parts})

    def _curious(self) -> bool:
        return any(getattr(self, name)._curious() for name in self._parts)

    def _seeing(self, X: Any, names: Sequence[str] | None) -> Kernel:
        return self._seeing_inside(X, names)

    def _seeing_inside(self, X: Any, names: Sequence[str] | None) -> Self:
        seen = {name: getattr(self, name)._seeing(X, names) for name in self._parts}
        changed = any(seen[name] is not getattr(self, name) for name in self._parts)
        return self._replaced(**seen) if changed else self


class Pair(Operation):
    _parts = ("k1", "k2")

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2
        self._check()


class Sum(Pair):
    """The sum of two kernels, k1(x, z) + k2(x, z); written ``k1 + k2``.

    Parameters
    ----------
    k1, k2 : Kernel
    """

    def _build(self) -> _core.Kernel:
        return self.k1._build() + self.k2._build()

    def _short(self) -> str:
        return f"{self.k1._short()} + {self.k2._short()}"

    def __repr__(self) -> str:
        return f"{self.k1!r} + ({self.k2!r})" if isinstance(self.k2, Sum) else f"{self.k1!r} + {self.k2!r}"


class Product(Pair):
    """The product of two kernels, k1(x, z) k2(x, z); written ``k1 * k2``, or ``2.0 * k``.

    Parameters
    ----------
    k1, k2 : Kernel
    """

    def _build(self) -> _core.Kernel:
        if isinstance(self.k1, ConstantKernel):
            return self.k1._number("constant_value") * self.k2._build()
        return self.k1._build() * self.k2._build()

    def _divisible(self) -> bool:
        return self.k1._divisible() and self.k2._divisible()

    def _short(self) -> str:
        left = short(self.k1.constant_value) if isinstance(self.k1, ConstantKernel) else self.k1._short()
        return f"{_enclosed(self.k1, left, Sum)} * {_enclosed(self.k2, self.k2._short(), Sum)}"

    def __repr__(self) -> str:
        left = f"({self.k1!r})" if isinstance(self.k1, Sum) else repr(self.k1)
        return f"{left} * ({self.k2!r})" if isinstance(self.k2, Pair) else f"{left} * {self.k2!r}"


class Power(Operation):
    """A power of a kernel, k(x, z)^exponent; written ``k ** 2``.

    Parameters
    ----------
    kernel : Kernel
    exponent : float
        A whole number, at least 1. Other positive ones are for kernels all of whose powers are kernels: constants, RBF,
        Exponential, Matern, RationalQuadratic, ExpSineSquared, their products and powers.

    Examples
    --------
    >>> from kernsel.kernels import RBF
    >>> (RBF(1.0) ** 0.25)([[0.0]], [[2.0]]) == RBF(2.0)([[0.0]], [[2.0]])
    array([[ True]])
    """

    _parts = ("kernel",)

    def __init__(self, kernel: Kernel, exponent: float) -> None:
        self.kernel = kernel
        self.exponent = exponent
        self._check()

    def _check(self) -> None:
        super()._check()
        number = isinstance(self.exponent, Real) and not isinstance(self.exponent, bool) and 0 < self.exponent <= 100
        if not number or not (float(self.exponent).is_integer() or self.kernel._divisible()):
            raise ValueError(
                f"exponent: expected a whole number from 1 to 100, got {self.exponent!r}: "
                "other powers of this kernel need not be positive semidefinite"
            )

    def _build(self) -> _core.Kernel:
        self._check()  # parts may have been changed
        return _core.pow(self.kernel._build(), float(self.exponent))

    def _divisible(self) -> bool:
        return self.kernel._divisible()

    def _exponent(self) -> int | float:
        return int(self.exponent) if float(self.exponent).is_integer() else float(self.exponent)

    def __repr__(self) -> str:
        return f"{_atom(self.kernel)} ** {self._exponent()!r}"

    def _short(self) -> str:
        return f"{_enclosed(self.kernel, self.kernel._short(), Sum, Product, Power)} ** {self._exponent()!r}"


class Exp(Operation):
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


class PolynomialOf(Operation):
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


class Columns(Operation):
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

    def _seeing(self, X: Any, names: Sequence[str] | None) -> Kernel:
        columns = list(plain(self.columns))
        if isinstance(columns[0], str) and names is not None:
            missing = [column for column in columns if column not in names]
            if missing:
                raise ValueError(f"columns: {', '.join(missing)} not among the columns {', '.join(names)}")
            for column in columns:
                if list(names).count(column) > 1:
                    raise ValueError(f"columns: the points have more than one column {column}; name it by its index")
            columns = [list(names).index(column) for column in columns]
            return Columns(self.kernel, columns)._seeing(X, names)
        if X is None or isinstance(columns[0], str):
            return self
        count = np.shape(X)[1] if np.ndim(X) == 2 else max(columns) + 1
        if max(columns) >= count:
            raise ValueError(f"columns: there is no column {max(columns)}, the points have {count}")
        inside = np.asarray(X)[:1, columns] if np.ndim(X) == 2 else X
        return self._seeing_inside(inside, None if names is None else [names[i] for i in columns])

    def _resolve(self, data: Data) -> Kernel:
        seen = self._seeing(data.X, data.names)
        assert isinstance(seen, Columns)
        return seen._replaced(kernel=seen.kernel._resolve(data.restricted(seen._indices())))

    def __repr__(self) -> str:
        return f"{_atom(self.kernel)}.on({list(plain(self.columns))!r})"

    def _short(self) -> str:
        return f"{_enclosed(self.kernel, self.kernel._short(), Sum, Product, Power)}.on({list(plain(self.columns))!r})"


def _atom(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, Sum | Product | Power) else repr(kernel)


def _enclosed(kernel: Kernel, written: str, *types: type[Kernel]) -> str:
    return f"({written})" if isinstance(kernel, types) else written

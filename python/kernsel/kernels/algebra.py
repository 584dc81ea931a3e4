"""Kernels made of kernels: all that keep a kernel positive semidefinite, closed and exact under differentiation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel.kernels.automatic import Data
from kernsel.kernels.base import Kernel, short
from kernsel.kernels.convert import from_sklearn, is_of_sklearn
from kernsel.kernels.hyperparameter import Hyperparameter, plain
from kernsel.kernels.objects import Reading
from kernsel.kernels.simple import ConstantKernel

__all__ = ["Columns", "Exp", "Operation", "PolynomialOf", "Power", "Product", "Sum", "as_kernel", "enclosed"]

_MOST_NAMED = 500  # operands of a sum or product that `get_params` lists


def as_kernel(value: object) -> Kernel | None:
    """Return a kernel for a kernel, ours or scikit-learn's, or a number; None for anything else."""
    if isinstance(value, Kernel):
        return value
    if isinstance(value, type) and issubclass(value, Kernel):
        raise TypeError(f"kernel: expected a kernel, got the class {value.__name__}; write {value.__name__}(...)")
    if is_of_sklearn(value):
        return from_sklearn(value)
    if not isinstance(value, Real) or isinstance(value, bool):
        return None
    try:
        return ConstantKernel(float(value))
    except OverflowError:
        raise ValueError("constant_value: expected positive, finite numbers, got a whole number beyond 1.8e308") from None


class Operation(Kernel):
    """A kernel that combines others, its parts, whose hyperparameters it has."""

    _parts: ClassVar[tuple[str, ...]]  # the names of the arguments that are kernels
    _of_numbers: ClassVar[bool] = False  # does the operation itself compute with the points, which then have to be vectors?

    def _check(self) -> None:
        for name in self._parts:
            if not isinstance(getattr(self, name), Kernel):
                raise TypeError(f"{name}: expected a kernel, got {getattr(self, name)!r}")
        self.check_depth()

    def _measured(self) -> int:
        parts: list[Kernel] = [getattr(self, name) for name in self._parts]
        return 1 + max(part.nesting for part in parts)

    def own(self) -> Iterator[tuple[Hyperparameter, ArrayLike]]:
        for name in self._parts:
            for h, value in getattr(self, name).own():
                yield h.prefixed("", 0, f"{name}__"), value

    def core_order(self) -> list[int]:
        order = list(range(self._count_of_itself()))
        for name in self._parts:
            offset = len(order)
            order += [offset + place for place in getattr(self, name).core_order()]
        return order

    def _count_of_itself(self) -> int:
        """Return the number of hyperparameters of the operation itself; they come before those of its parts."""
        return 0

    def subkernels(self) -> list[Kernel]:
        return [getattr(self, name) for name in self._parts]

    def map_parts(self, f: Callable[[Kernel], Kernel]) -> Self:
        """Return the same operation on f(part) for each part, from left to right."""
        changed = {name: f(getattr(self, name)) for name in self._parts}
        return self.replaced(**changed) if any(changed[name] is not getattr(self, name) for name in self._parts) else self

    def with_values(self, values: Iterator[ArrayLike]) -> Self:
        return self.map_parts(lambda part: part.with_values(values))

    def resolve(self, data: Data) -> Kernel:
        return self.map_parts(lambda part: part.resolve(data))

    def _with_points(self, X: ArrayLike | None, names: Sequence[str] | None) -> Kernel:
        return self._with_points_of_parts(X, names)

    def _with_points_of_parts(self, X: ArrayLike | None, names: Sequence[str] | None) -> Self:
        """Return the operation with what follows from the points of its parts set in these."""
        return self.map_parts(lambda part: part._with_points(X, names))

    def bound_to(self, reading: Reading) -> Kernel:
        if self._of_numbers:
            super().bound_to(reading)  # raises if the points are objects
        return self.map_parts(lambda part: part.bound_to(reading))

    def alternatives(self) -> list[Kernel]:
        choices = [part.alternatives() for part in self.subkernels()]
        if all(len(choice) == 1 for choice in choices):
            return [self]
        result: list[Kernel] = []
        for combination in product(*choices):
            parts = iter(combination)
            result.append(self.map_parts(lambda _: next(parts)))  # noqa: B023
        return result


class Pair(Operation):
    """A sum or a product of two kernels.

    Sums and products of many kernels nest on the left, ((a + b) + c) + d. They are walked by loops, because thousands of
    operands would exhaust the stack.
    """

    _parts = ("k1", "k2")
    _infix = True

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2
        self._check()

    @staticmethod
    @abstractmethod
    def _combine(left: _core.Kernel, right: _core.Kernel) -> _core.Kernel:
        """Return the sum or the product of kernels of the C++ core."""

    def chain(self) -> tuple[Kernel, list[Pair]]:
        """Return the leftmost operand, and the sums and products that nest on the left, from the innermost to this one."""
        pairs: list[Pair] = []
        at: Kernel = self
        while isinstance(at, Pair):
            pairs.append(at)
            at = at.k1
        return at, pairs[::-1]

    def _measured(self) -> int:
        left = self.k1.nesting + (not isinstance(self.k1, Pair))  # a loop walks the operations that nest on the left
        return max(left, self.k2.nesting + 1)

    def subkernels(self) -> list[Kernel]:
        first, pairs = self.chain()
        return [first, *(pair.k2 for pair in pairs)]

    def operands(self) -> list[Kernel]:
        """Return the terms of a sum, or the factors of a product, with those that nest on the left."""
        operands: list[Kernel] = []
        at: Kernel = self
        while isinstance(at, Pair) and type(at) is type(self):
            operands.append(at.k2)
            at = at.k1
        return [at, *operands[::-1]]

    def map_parts(self, f: Callable[[Kernel], Kernel]) -> Self:
        """Return the same sums and products of f(operand) for each operand, from left to right."""
        first, pairs = self.chain()
        result = f(first)
        for pair in pairs:
            right = f(pair.k2)
            result = pair if result is pair.k1 and right is pair.k2 else pair.replaced(k1=result, k2=right)
        return result  # type: ignore[return-value]

    def own(self) -> Iterator[tuple[Hyperparameter, ArrayLike]]:
        operands = self.subkernels()
        for i, operand in enumerate(operands):
            for h, value in operand.own():
                yield h.prefixed("k1__", len(operands) - 1 - i, "k2__" if i else ""), value

    def is_automatic(self) -> bool:
        return any(operand.is_automatic() for operand in self.subkernels())

    def core_order(self) -> list[int]:
        order: list[int] = []
        for operand in self.subkernels():
            offset = len(order)
            order += [offset + place for place in operand.core_order()]
        return order

    def build(self) -> _core.Kernel:
        first, pairs = self.chain()
        core = None
        for pair in pairs:
            right = pair.k2.build()
            if core is None and isinstance(first, ConstantKernel) and isinstance(pair, Product):
                core = first.number("constant_value") * right
            else:
                core = pair._combine(first.build() if core is None else core, right)
        assert core is not None
        return core

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name, those of parts as ``part__name``.

        Of sums and products of more than 500 operands only the last 500 are listed: the names of n operands have n^2 characters
        in all. `set_params` takes the names of any operand.
        """
        if not deep:
            return {"k1": self.k1, "k2": self.k2}
        params: dict[str, object] = {}
        at: Kernel = self
        prefix = ""
        while isinstance(at, Pair):
            if len(prefix) == 4 * _MOST_NAMED:
                return params
            params |= {f"{prefix}k1": at.k1, f"{prefix}k2": at.k2}
            params |= {f"{prefix}k2__{key}": item for key, item in at.k2.get_params().items()}
            at, prefix = at.k1, f"{prefix}k1__"
        return params | {f"{prefix}{key}": item for key, item in at.get_params().items()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pair):
            return False
        (first, pairs), (other_first, other_pairs) = self.chain(), other.chain()
        if [type(pair) for pair in pairs] != [type(pair) for pair in other_pairs] or first != other_first:
            return False
        return all(pair.k2 == other_pair.k2 for pair, other_pair in zip(pairs, other_pairs, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        first, pairs = self.chain()
        return _combined, (first, [type(pair) for pair in pairs], [pair.k2 for pair in pairs])

    def __repr__(self) -> str:
        return self._written(repr, repr)

    def _short(self) -> str:
        in_product = isinstance(self.chain()[1][0], Product)
        return self._written(_short_factor if in_product else _short_operand, _short_operand)

    def _written(self, text_of_first: Callable[[Kernel], str], text_of_others: Callable[[Kernel], str]) -> str:
        """Return the expression, given how to write the leftmost operand and the others."""
        first, pairs = self.chain()
        brackets, pieces = 0, [text_of_first(first)]
        left = first
        for pair in pairs:
            right = text_of_others(pair.k2)
            if isinstance(pair, Sum):
                pieces.append(f" + ({right})" if isinstance(pair.k2, Sum) else f" + {right}")
            else:
                if isinstance(left, Sum):
                    brackets += 1
                    pieces.append(")")
                pieces.append(f" * ({right})" if pair.k2._infix and not isinstance(pair.k2, Power) else f" * {right}")
            left = pair
        return "(" * brackets + "".join(pieces)


def _short_operand(kernel: Kernel) -> str:
    return kernel._short()


def _short_factor(kernel: Kernel) -> str:
    """Return the expression of the first factor of a product, a constant kernel being written as a number."""
    return short(kernel.constant_value) if isinstance(kernel, ConstantKernel) else kernel._short()


def _combined(first: Kernel, types: list[type[Pair]], others: list[Kernel]) -> Kernel:
    """Return the kernel that `Pair.chain` takes apart."""
    for operation, other in zip(types, others, strict=True):
        first = operation(first, other)
    return first


class Sum(Pair):
    """The sum of two kernels, k1(x, z) + k2(x, z); written ``k1 + k2``.

    Parameters
    ----------
    k1, k2 : Kernel
    """

    @staticmethod
    def _combine(left: _core.Kernel, right: _core.Kernel) -> _core.Kernel:
        return left + right


class Product(Pair):
    """The product of two kernels, k1(x, z) k2(x, z); written ``k1 * k2``, or ``2.0 * k``.

    Parameters
    ----------
    k1, k2 : Kernel
    """

    @staticmethod
    def _combine(left: _core.Kernel, right: _core.Kernel) -> _core.Kernel:
        return left * right

    def _divisible(self) -> bool:
        _, pairs = self.chain()
        return all(isinstance(pair, Product) for pair in pairs) and all(operand._divisible() for operand in self.subkernels())


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
    _infix = True

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

    def build(self) -> _core.Kernel:
        self._check()  # the base may have been replaced by one whose powers are no kernels
        return _core.pow(self.kernel.build(), float(self.exponent))

    def _divisible(self) -> bool:
        return self.kernel._divisible()

    def _exponent(self) -> int | float:
        return int(self.exponent) if float(self.exponent).is_integer() else float(self.exponent)

    def __repr__(self) -> str:
        return f"{enclosed(self.kernel, repr(self.kernel))} ** {self._exponent()!r}"

    def _short(self) -> str:
        return f"{enclosed(self.kernel, self.kernel._short())} ** {self._exponent()!r}"


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

    def build(self) -> _core.Kernel:
        return _core.exp(self.kernel.build())

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
        except OverflowError:
            raise ValueError(f"coefficients: expected finite numbers, got {self.coefficients!r}") from None
        except (TypeError, ValueError):
            raise TypeError(f"coefficients: expected numbers, got {self.coefficients!r}") from None
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (values < 0).any() or not values.any():
            raise ValueError(
                f"coefficients: expected finite numbers that are not negative, and not all zero, got {self.coefficients!r}: "
                "a polynomial with a negative coefficient need not be positive semidefinite"
            )

    def build(self) -> _core.Kernel:
        return _core.series(np.asarray(self.coefficients, dtype=np.float64).tolist(), self.kernel.build())

    def __repr__(self) -> str:
        return f"PolynomialOf({self.kernel!r}, {list(plain(self.coefficients))!r})"


class Columns(Operation):
    """A kernel of some columns of its points only; written ``k.on([0, 2])``.

    Parameters
    ----------
    kernel : Kernel
    columns : sequence of int or str
        Indices, or names where the points are a table. Names stay: the kernel of a fitted model shows them, and finds them in
        any other table. For points without names, they stand for the columns of the last table, such as that of the fit.
    """

    _parts = ("kernel",)

    _source: Reading | None = None  # of the points with several parts that the kernel is bound to
    _found: tuple[list[str], list[int]] | None = None  # names of columns, and their indices in the table that had them last

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

    def indices(self) -> list[int]:
        """Return the columns as indices; raise if they are names that no table has resolved."""
        columns = self.places()
        if isinstance(columns[0], str):
            raise ValueError(f"columns: {self.columns!r} are names, and the points have none; give a table, or indices")
        return [int(column) for column in columns]

    def places(self) -> list[int] | list[str]:
        """Return the columns as indices, or as names if no table has said yet which indices these have."""
        columns: list[int] | list[str] = list(plain(self.columns))
        return self._found[1] if self._found is not None and self._found[0] == columns else columns

    def moved_to(self, kernel: Kernel) -> Columns:
        """Return another kernel on the same columns."""
        moved = Columns(kernel, self.columns)
        moved._found, moved._source = self._found, self._source
        return moved

    def build(self) -> _core.Kernel:
        return _core.on(self.kernel.build(), self.indices())

    def _with_points(self, X: ArrayLike | None, names: Sequence[str] | None) -> Kernel:
        columns = list(plain(self.columns))
        named = self if names is None or isinstance(columns[0], int) else self._found_among(names)
        if isinstance(named.places()[0], str):
            return named
        indices = named.indices()
        count = len(names) if names is not None else np.shape(X)[1] if X is not None and np.ndim(X) == 2 else max(indices) + 1
        if max(indices) >= count:
            raise ValueError(f"columns: there is no column {max(indices)}, the points have {count}")
        inside = np.asarray(X)[:1, indices] if X is not None and np.ndim(X) == 2 else X
        return named._with_points_of_parts(inside, None if names is None else [names[i] for i in indices])

    def _found_among(self, names: Sequence[str]) -> Self:
        """Return the same kernel, which keeps the names of its columns, with their indices in a table."""
        columns = list(plain(self.columns))
        missing = [column for column in columns if column not in names]
        if missing:
            raise ValueError(f"columns: {', '.join(missing)} not among the columns {', '.join(names)}")
        for column in columns:
            if list(names).count(column) > 1:
                raise ValueError(f"columns: the points have more than one column {column}; name it by its index")
        return self.replaced(_found=(columns, [list(names).index(column) for column in columns]))

    def resolve(self, data: Data) -> Kernel:
        indexed = self._with_points(data.X, data.names)
        assert isinstance(indexed, Columns)
        return indexed.replaced(kernel=indexed.kernel.resolve(data.restricted(indexed.indices())))

    def bound_to(self, reading: Reading) -> Kernel:
        columns = list(plain(self.columns))
        if isinstance(columns[0], str):
            columns = reading.columns_of(columns)
        elif max(columns) >= len(reading.names):
            raise ValueError(f"columns: there is no column {max(columns)}, the points have {len(reading.names)}")
        names = list(plain(self.columns))
        stay = isinstance(names[0], str) and len(names) == len(columns)  # each part is one column, as in a data frame
        bound = Columns(self.kernel.bound_to(reading.only(columns)), names if stay else columns)
        bound._found = (names, columns) if stay else None
        bound._source = reading.whole
        return bound

    def reading(self) -> Reading | None:
        return self._source

    def levels_of(self, names: Sequence[str | None]) -> dict[str | None, list[Any] | None]:
        columns = list(plain(self.columns))
        return self.kernel.levels_of(
            [names[c] if isinstance(c, int) else c for c in columns if not isinstance(c, int) or c < len(names)]
        )

    def __repr__(self) -> str:
        return f"{enclosed(self.kernel, repr(self.kernel))}.on({list(plain(self.columns))!r})"

    def _short(self) -> str:
        return f"{enclosed(self.kernel, self.kernel._short())}.on({list(plain(self.columns))!r})"


def enclosed(kernel: Kernel, written: str) -> str:
    """Return a kernel's expression, in parentheses if it has an operator between kernels."""
    return f"({written})" if kernel._infix else written

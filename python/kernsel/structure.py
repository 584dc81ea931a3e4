"""Kernels as structures: what they say in words, and how they grow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel.kernels import (
    RBF,
    Columns,
    Composition,
    ConstantKernel,
    ExpSineSquared,
    HeteroscedasticNoise,
    Kernel,
    Linear,
    Polynomial,
    Product,
    RationalQuadratic,
    Sum,
    WhiteKernel,
)
from kernsel.kernels.automatic import Data
from kernsel.kernels.hyperparameter import numbers
from kernsel.kernels.object_kernel import ObjectKernel

__all__ = ["describe", "hidden_period", "larger_structures", "numbers_found", "simplest_structures", "terms_of"]

_MOST_COLUMNS = 8  # beyond which parts of single columns are too many to try
_LARGEST = 5  # kernels in a structure
_OF_PATTERNS = (0.05, 2.0)  # the length scales of periodic kernels
_FAR = 10.0  # times the range of a column: a length scale that says "hardly"
_NEGLIGIBLE = 1e-3  # of the largest part or the noise

Term = list[Kernel]  # a product, without its amplitude


def _parts(columns: int, period: float | None) -> list[Kernel]:
    """Return the single kernels that structures are made of: smooth, periodic, a trend, of many scales."""
    whole: list[Kernel] = [RBF("auto"), Linear("auto"), RationalQuadratic("auto")]
    if columns == 1:
        # A longer length scale is one of a pattern and, mostly, of a constant: the product with another kernel is then that.
        whole.append(ExpSineSquared("auto", "auto", _OF_PATTERNS))
        if period is not None:
            whole.append(ExpSineSquared("auto", period, _OF_PATTERNS, (period / 3, 3 * period)))
        return whole
    if columns > _MOST_COLUMNS:
        return whole
    single = [[RBF("auto").on([k]), Linear("auto").on([k])] for k in range(columns)]
    return whole + [kernel for pair in single for kernel in pair]


def hidden_period(X: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Return the period that shows once a curve is taken out of y, if it is not the one that shows anyway; of one column."""
    n = len(X)
    if X.shape[1] != 1 or n < 20 or not np.ptp(X):
        return None
    targets = y.reshape(n, -1)[:, 0]
    x = 2 * (X[:, 0] - X[:, 0].min()) / np.ptp(X) - 1
    basis = np.polynomial.legendre.legvander(x, 5)
    rest = targets - basis @ np.linalg.lstsq(basis, targets, rcond=None)[0]
    plain, hidden = (float(np.ravel(Data(X, values).proposal("period").start)[0]) for values in (targets, rest))
    return None if abs(np.log(hidden / plain)) < 0.1 else hidden


def simplest_structures(columns: int, period: float | None = None) -> list[Kernel]:
    """Return where a search begins: with nothing but noise, and with single kernels."""
    return [_total([]), *(_total([[part]]) for part in _parts(columns, period))]


def larger_structures(kernel: Kernel, columns: int, period: float | None = None) -> list[Kernel]:
    """Return what a structure may become: with a term less, one part exchanged, a term more, or a factor more."""
    terms = _terms(kernel)
    parts = _parts(columns, period)
    grown: list[list[Term]] = []
    if len(terms) > 1:
        grown += [[*terms[:i], *terms[i + 1 :]] for i in range(len(terms))]
    for i, term in enumerate(terms):
        for j, part in product(range(len(term)), parts):
            grown.append([*terms[:i], [*term[:j], part, *term[j + 1 :]], *terms[i + 1 :]])
    if sum(len(term) for term in terms) < _LARGEST:
        grown += [[*terms, [part]] for part in parts]
        # A pattern that changes is seldom a step away by way of a pattern that does not.
        grown += [[*terms, [part, RBF("auto")]] for part in parts if isinstance(part, ExpSineSquared)]
        for i, part in product(range(len(terms)), parts):
            grown.append([*terms[:i], [*terms[i], part], *terms[i + 1 :]])
    return [_total(structure) for structure in grown if _is_sensible(structure)]


def _is_sensible(terms: list[Term]) -> bool:
    """Tell whether no kernel of a structure is made superfluous by another: RBF * RBF is RBF, Linear + Linear is Linear."""
    for term in terms:
        for kind in (RBF, ExpSineSquared):
            alike = [factor for factor in term if isinstance(_inside(factor), kind)]
            if any(_covers(a, b) for i, a in enumerate(alike) for j, b in enumerate(alike) if i != j):
                return False
    lines = [term[0] for term in terms if len(term) == 1 and isinstance(_inside(term[0]), Linear)]
    return not any(_covers(a, b) for i, a in enumerate(lines) for j, b in enumerate(lines) if i != j)


def _covers(a: Kernel, b: Kernel) -> bool:
    """Tell whether the first sees all columns that the second sees."""
    if not isinstance(a, Columns):
        return True
    return isinstance(b, Columns) and set(b.columns) <= set(a.columns)


def _total(terms: list[Term]) -> Kernel:
    """Return the sum of products, each with an amplitude; equal ones are written alike."""
    written = sorted((sorted(term, key=repr) for term in terms), key=repr)
    total: Kernel | None = None
    for term in written:
        whole: Kernel = ConstantKernel("auto")
        for factor in term:
            whole = whole * factor
        total = whole if total is None else total + whole
    return ConstantKernel("auto") if total is None else total


def _terms(kernel: Kernel) -> list[Term]:
    """Return the products that a structure is the sum of, without their amplitudes."""
    terms = [[factor for factor in _factors(term) if not isinstance(factor, ConstantKernel)] for term in terms_of(kernel)]
    return [term for term in terms if term]


def _factors(term: Kernel) -> list[Kernel]:
    """Return the kernels that a product is made of, in whatever brackets."""
    if isinstance(term, Product):
        return [factor for part in term.operands() for factor in _factors(part)]
    if isinstance(term, Columns) and isinstance(term.kernel, Product):
        inside = _factors(term.kernel)
        return [factor if isinstance(factor, ConstantKernel) else factor.on(term.columns) for factor in inside]
    return [term]


def terms_of(kernel: Kernel) -> list[Kernel]:
    """Return the terms of a sum, products of sums multiplied out; of any other kernel, itself."""
    if isinstance(kernel, Sum):
        return [term for part in kernel.operands() for term in terms_of(part)]
    if isinstance(kernel, Columns):
        return [term.on(kernel.columns) for term in terms_of(kernel.kernel)] if isinstance(kernel.kernel, Sum) else [kernel]
    if not isinstance(kernel, Product):
        return [kernel]
    multiplied: list[Kernel] = []
    for factors in product(*(terms_of(factor) for factor in kernel.operands())):
        term = factors[0]
        for factor in factors[1:]:
            term = term * factor
        multiplied.append(term)
    return multiplied


def numbers_found(kernel: Kernel, trend: bool) -> int:
    """Return how many numbers of a kernel the data decide.

    Parameters
    ----------
    kernel : Kernel
    trend : bool
        Is there a trend, which takes a constant in the kernel up?

    Examples
    --------
    >>> from kernsel.kernels import RBF, ConstantKernel, Linear
    >>> numbers_found(ConstantKernel() * RBF(1.0), True), numbers_found(ConstantKernel() * Linear(1.0), True)
    (2, 1)
    """
    count = kernel.n_dims
    for term in terms_of(kernel):
        factors = _factors(term)
        amplitudes = [factor for factor in factors if isinstance(factor, ConstantKernel) and factor.n_dims]
        if trend and amplitudes and len(amplitudes) == len(factors):
            count -= len(amplitudes)
        elif amplitudes:  # which does what the length scale of an inner product does
            count -= sum(isinstance(_inside(factor), Linear) and factor.n_dims > 0 for factor in factors)
    return max(count, 0)


def describe(
    kernel: Kernel,
    noise: Any = None,
    sizes: Sequence[float] | None = None,
    *,
    ranges: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
) -> str:
    """Return in words what a kernel is made of: a line for each term, the largest first.

    Parameters
    ----------
    kernel : Kernel
        With its hyperparameters.
    noise : float or array-like, optional
        The variance of the noise beside it.
    sizes : sequence of float, optional
        How much each term of :func:`terms_of` moves the data, as standard deviations; those that hardly do are left out. By
        default the square root of its factor, which says how much it could.
    ranges : sequence of float, optional
        Of the columns of the data: length scales far beyond are not worth a number.
    names : sequence of str, optional
        Of the columns.

    Examples
    --------
    >>> from kernsel.kernels import RBF, ExpSineSquared, Linear
    >>> from kernsel.structure import describe
    >>> print(describe(4.0 * Linear(1.0) + 1.0 * ExpSineSquared(1.0, 0.5) * RBF(10.0), noise=0.01))
    a linear trend, of amplitude 2
    a pattern of period 0.5 that changes smoothly over 10, of amplitude 1
    noise of standard deviation 0.1
    """
    words = _Words(ranges, names)
    terms: list[tuple[float, str]] = []
    white = noise if noise is not None and np.ndim(noise) == 0 else 0.0
    uneven = np.ndim(noise) > 0
    for number, term in enumerate(terms_of(kernel)):
        factors = _factors(term)
        amplitude = float(np.prod([_number(f.constant_value) for f in factors if isinstance(f, ConstantKernel)]))
        rest = [factor for factor in factors if not isinstance(factor, ConstantKernel)]
        if len(rest) == 1 and isinstance(rest[0], WhiteKernel):
            white += amplitude * _number(rest[0].noise_level)
            continue
        if len(rest) == 1 and isinstance(rest[0], HeteroscedasticNoise):
            uneven = True
            continue
        size = sqrt(amplitude) if sizes is None else sizes[number]
        said = words.product(rest) if rest else "a constant"
        terms.append((size, f"{said}, {'of amplitude' if sizes is None else 'of size'} {_short(size)}"))
    least = _NEGLIGIBLE * max([sqrt(white), *(size for size, _ in terms)]) if sizes is not None else -1.0
    lines = [line for size, line in sorted(terms, key=lambda pair: -pair[0]) if size > least]
    if uneven:
        lines.append("noise that differs from point to point")
    if white:
        alone = "" if lines else "nothing but "
        lines.append(f"{alone}noise of standard deviation {_short(sqrt(white))}")
    return "\n".join(lines)


class _Words:
    """Puts kernels into words, for columns of some range and name."""

    def __init__(self, ranges: Sequence[float] | None, names: Sequence[str] | None) -> None:
        self.ranges = ranges
        self.names = names

    def product(self, factors: list[Kernel]) -> str:
        """Return a product of kernels in words: one is what it is, the others say how it changes."""
        rank = {ExpSineSquared: 0, Linear: 2}
        ordered = sorted(factors, key=lambda factor: (rank.get(type(_inside(factor)), 1), self.is_far(factor)))
        first, others = ordered[0], [factor for factor in ordered[1:] if not self.is_far(factor)]
        linear = [factor for factor in others if isinstance(_inside(factor), Linear)]
        if isinstance(_inside(first), Linear) and linear:
            text, linear = f"a polynomial of degree {1 + len(linear)}{self.where(first)}", []
        elif self.is_far(first) and linear:
            text, linear = self.product(linear), []
        else:
            text = self.noun(first)
        changes = [factor for factor in others if not isinstance(_inside(factor), Linear)]
        if changes:
            text += " that " + " and ".join(self.verb(factor) for factor in changes)
        if linear:
            power = "linearly" if len(linear) == 1 else f"like a polynomial of degree {len(linear)}"
            text += f", growing {power}" + self.where(linear[0])
        return text

    def noun(self, factor: Kernel) -> str:
        """Return what a function of this kernel is."""
        kernel, where = _inside(factor), self.where(factor)
        if isinstance(kernel, ExpSineSquared):
            return f"a pattern of period {self.over(factor, kernel.periodicity)}"
        if isinstance(kernel, Linear):
            return f"a linear trend{where}"
        if isinstance(kernel, Polynomial):
            return f"a polynomial of degree {kernel.degree}{where}"
        if self.is_far(factor):
            return f"a nearly straight line{where}"
        if isinstance(kernel, RBF):
            return f"a smooth function that changes over {self.over(factor, kernel.length_scale)}"
        if isinstance(kernel, RationalQuadratic):
            return f"a function of many scales around {self.over(factor, kernel.length_scale)}"
        if isinstance(kernel, Composition):
            return f"a function of the features of {kernel.inner}{where}"
        if isinstance(kernel, ObjectKernel):
            return f"a linear function of the features of {kernel}{where}"
        if hasattr(kernel, "length_scale"):
            return f"a function that changes over {self.over(factor, kernel.length_scale)} ({type(kernel).__name__})"
        return f"a function of the kernel {type(kernel).__name__}{where}"

    def verb(self, factor: Kernel) -> str:
        """Return what this kernel does to a function that it is multiplied with."""
        kernel = _inside(factor)
        if isinstance(kernel, ExpSineSquared):
            return f"repeats every {self.over(factor, kernel.periodicity)}"
        if isinstance(kernel, RationalQuadratic):
            return f"changes on many scales around {self.over(factor, kernel.length_scale)}"
        if hasattr(kernel, "length_scale"):
            return f"changes smoothly over {self.over(factor, kernel.length_scale)}"
        return f"changes as {type(kernel).__name__} has it{self.where(factor)}"

    def is_far(self, factor: Kernel) -> bool:
        """Tell whether all length scales are far beyond the data."""
        kernel = _inside(factor)
        if isinstance(kernel, ExpSineSquared | Linear | Polynomial) or not hasattr(kernel, "length_scale"):
            return False
        lengths = np.ravel(numbers(kernel.length_scale, "value"))
        widths = self.widths(factor, len(lengths))
        return widths is not None and bool((lengths > _FAR * widths).all())

    def columns(self, factor: Kernel) -> list[Any]:
        """Return the columns that a kernel sees, as far as is known."""
        if isinstance(factor, Columns):
            return list(factor.columns)
        return list(range(len(self.ranges))) if self.ranges is not None else []

    def widths(self, factor: Kernel, count: int) -> NDArray[np.float64] | None:
        """Return the ranges of the columns that a kernel sees; the largest, if it has one length scale for all."""
        columns = self.columns(factor)
        if self.ranges is None or not columns or any(isinstance(column, str) for column in columns):
            return None
        widths = np.array([self.ranges[column] for column in columns])
        return widths if len(widths) == count else np.array([widths.max()])

    def named(self, column: Any) -> str:
        """Return the name of a column."""
        if isinstance(column, str):
            return column
        return f"column {column}" if self.names is None else str(self.names[column])

    def where(self, factor: Kernel) -> str:
        """Return in which columns, if not in all."""
        return " in " + _listed([self.named(c) for c in factor.columns]) if isinstance(factor, Columns) else ""

    def over(self, factor: Kernel, value: Any) -> str:
        """Return lengths or periods, with their columns if there are several; those far beyond the data in a word."""
        lengths = np.ravel(numbers(value, "value"))
        columns = self.columns(factor)
        if len(lengths) == 1:
            return _short(lengths[0]) + self.where(factor)
        if len(columns) != len(lengths):
            columns = list(range(len(lengths)))
        widths = self.widths(factor, len(lengths))
        near = np.ones(len(lengths), dtype=bool) if widths is None or len(widths) == 1 else lengths <= _FAR * widths
        said = [f"{_short(length)} in {self.named(c)}" for length, c, here in zip(lengths, columns, near, strict=True) if here]
        return ", ".join(said) + (" (hardly in the others)" if said and not near.all() else "")


def _inside(factor: Kernel) -> Kernel:
    return factor.kernel if isinstance(factor, Columns) else factor


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _number(value: Any) -> float:
    return float(numbers(value, "value"))


def _short(value: float) -> str:
    return f"{value:.3g}"

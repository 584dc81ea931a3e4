"""The structure search: sums of products of kernels, the steps from one structure to larger ones, and their descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Matrix, Vector
from kernsel.kernels import (
    RBF,
    Columns,
    Composition,
    ConstantKernel,
    Exchangeable,
    ExpSineSquared,
    HeteroscedasticNoise,
    Kernel,
    Linear,
    Polynomial,
    Product,
    RationalQuadratic,
    Sum,
    WarpedInputs,
    WhiteKernel,
)
from kernsel.kernels.automatic import Data
from kernsel.kernels.categories import LevelKernel
from kernsel.kernels.hyperparameter import numbers
from kernsel.kernels.object_kernel import ObjectKernel

__all__ = ["describe", "hidden_period", "larger_structures", "numbers_found", "simplest_structures", "terms_of"]

_MOST_COLUMNS = 8  # with more, kernels of single columns are not tried, because there are too many
_LARGEST = 5  # the largest number of kernels in a structure
_OF_PATTERNS = (0.05, 2.0)  # bounds of the length scales of periodic kernels
_FAR = 10.0  # a function hardly depends on a column if its length scale exceeds this multiple of the column's range
_NEGLIGIBLE = 1e-3  # the size of a term that is not described, relative to the largest term or the noise

Term = list[Kernel]  # a product, without its amplitude


def _parts(columns: int, period: float | None) -> list[Kernel]:
    """Return the kernels that structures combine: smooth, linear, of many scales, and periodic for one column."""
    kernels: list[Kernel] = [RBF("auto"), Linear("auto"), RationalQuadratic("auto")]
    if columns == 1:
        # A periodic kernel with a longer length scale is mostly a constant, and so its product with another is mostly the
        # other.
        kernels.append(ExpSineSquared("auto", "auto", _OF_PATTERNS))
        if period is not None:
            kernels.append(ExpSineSquared("auto", period, _OF_PATTERNS, (period / 3, 3 * period)))
        return kernels
    if columns > _MOST_COLUMNS:
        return kernels
    for k in range(columns):
        kernels += [RBF("auto").on([k]), Linear("auto").on([k])]
    return kernels


def hidden_period(X: Matrix, y: Matrix) -> float | None:
    """Return the period of the residuals of a polynomial of degree 5 in one column; None if y itself has the same period."""
    n = len(X)
    if X.shape[1] != 1 or n < 20 or not np.ptp(X):
        return None
    targets = y.reshape(n, -1)[:, 0]
    x = 2 * (X[:, 0] - X[:, 0].min()) / np.ptp(X) - 1
    basis = np.polynomial.legendre.legvander(x, 5)
    residuals = targets - basis @ np.linalg.lstsq(basis, targets, rcond=None)[0]
    visible, hidden = (float(np.ravel(Data(X, values).proposal("period").start)[0]) for values in (targets, residuals))
    return None if abs(np.log(hidden / visible)) < 0.1 else hidden


def simplest_structures(columns: int, period: float | None = None) -> list[Kernel]:
    """Return the structures with which a search starts: noise alone, and single kernels."""
    return [_total([]), *(_total([[part]]) for part in _parts(columns, period))]


def larger_structures(kernel: Kernel, columns: int, period: float | None = None) -> list[Kernel]:
    """Return the neighbours of a structure: with a term removed, a kernel exchanged, a term added, or a factor added."""
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
        # A changing periodic pattern is added in one step, because a strictly periodic one is often no improvement.
        grown += [[*terms, [part, RBF("auto")]] for part in parts if isinstance(part, ExpSineSquared)]
        for i, part in product(range(len(terms)), parts):
            grown.append([*terms[:i], [*terms[i], part], *terms[i + 1 :]])
    return [_total(structure) for structure in grown if _is_sensible(structure)]


def _is_sensible(terms: list[Term]) -> bool:
    """Tell whether no kernel of a structure is redundant, as in RBF * RBF, which is an RBF, or Linear + Linear."""
    for term in terms:
        for kind in (RBF, ExpSineSquared):
            factors = [factor for factor in term if isinstance(_inside(factor), kind)]
            if any(_covers(a, b) for i, a in enumerate(factors) for j, b in enumerate(factors) if i != j):
                return False
    lines = [term[0] for term in terms if len(term) == 1 and isinstance(_inside(term[0]), Linear)]
    return not any(_covers(a, b) for i, a in enumerate(lines) for j, b in enumerate(lines) if i != j)


def _covers(a: Kernel, b: Kernel) -> bool:
    """Tell whether the first kernel is a function of all columns that the second is a function of."""
    if not isinstance(a, Columns):
        return True
    return isinstance(b, Columns) and set(b.columns) <= set(a.columns)


def _total(terms: list[Term]) -> Kernel:
    """Return the sum of products, each with an amplitude, in a canonical order."""
    ordered = sorted((sorted(term, key=repr) for term in terms), key=repr)
    total: Kernel | None = None
    for term in ordered:
        summand: Kernel = ConstantKernel("auto")
        for factor in term:
            summand = summand * factor
        total = summand if total is None else total + summand
    return ConstantKernel("auto") if total is None else total


def _terms(kernel: Kernel) -> list[Term]:
    """Return the terms of a structure as lists of factors, without their amplitudes."""
    terms = [[factor for factor in _factors(term) if not isinstance(factor, ConstantKernel)] for term in terms_of(kernel)]
    return [term for term in terms if term]


def _factors(term: Kernel) -> list[Kernel]:
    """Return the factors of a product, nested products included."""
    if isinstance(term, Product):
        return [factor for part in term.operands() for factor in _factors(part)]
    if isinstance(term, Columns) and isinstance(term.kernel, Product):
        factors = _factors(term.kernel)
        return [factor if isinstance(factor, ConstantKernel) else term.moved_to(factor) for factor in factors]
    return [term]


def terms_of(kernel: Kernel) -> list[Kernel]:
    """Return the terms of a sum, with products of sums expanded; for any other kernel, itself."""
    if isinstance(kernel, Sum):
        return [term for part in kernel.operands() for term in terms_of(part)]
    if isinstance(kernel, Columns):
        return [kernel.moved_to(term) for term in terms_of(kernel.kernel)] if isinstance(kernel.kernel, Sum) else [kernel]
    if not isinstance(kernel, Product):
        return [kernel]
    expanded: list[Kernel] = []
    for factors in product(*(terms_of(factor) for factor in kernel.operands())):
        term = factors[0]
        for factor in factors[1:]:
            term = term * factor
        expanded.append(term)
    return expanded


def numbers_found(kernel: Kernel, trend: bool) -> int:
    """Return the number of hyperparameters of a kernel that data can determine.

    Parameters
    ----------
    kernel : Kernel
    trend : bool
        Whether there is a trend, which makes a constant in the kernel redundant.

    Returns
    -------
    count : int

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
        elif amplitudes:  # an amplitude and the length scale of an inner product are one parameter
            count -= sum(isinstance(_inside(factor), Linear) and factor.n_dims > 0 for factor in factors)
    return max(count, 0)


def describe(
    kernel: Kernel,
    noise: ArrayLike | None = None,
    sizes: Sequence[float] | None = None,
    *,
    ranges: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
) -> str:
    """Return a description of a kernel in words, with a line for each term, the largest first.

    Parameters
    ----------
    kernel : Kernel
        A kernel whose hyperparameters are numbers.
    noise : float or array-like, optional
        The variance of the noise.
    sizes : sequence of float, optional
        The standard deviation over the data of the part of the fitted function that is due to each term of :func:`terms_of`;
        negligible terms are left out. By default, the square root of the term's factor is described.
    ranges : sequence of float, optional
        The ranges of the columns of the data; length scales far beyond these are described without a number.
    names : sequence of str, optional
        The names of the columns.

    Returns
    -------
    description : str

    Examples
    --------
    >>> from kernsel.kernels import RBF, ExpSineSquared, Linear
    >>> from kernsel.study.structure import describe
    >>> print(describe(4.0 * Linear(1.0) + 1.0 * ExpSineSquared(1.0, 0.5) * RBF(10.0), noise=0.01))
    a linear trend, of amplitude 2
    a pattern of period 0.5 that changes smoothly over 10, of amplitude 1
    noise of standard deviation 0.1
    """
    words = _Words(ranges, names)
    terms: list[tuple[float, str]] = []
    white = float(np.asarray(noise)) if noise is not None and np.ndim(noise) == 0 else 0.0
    heteroscedastic = noise is not None and np.ndim(noise) > 0
    for number, term in enumerate(terms_of(kernel)):
        factors = _factors(term)
        amplitude = float(np.prod([_number(f.constant_value) for f in factors if isinstance(f, ConstantKernel)]))
        rest = [factor for factor in factors if not isinstance(factor, ConstantKernel)]
        if len(rest) == 1 and isinstance(rest[0], WhiteKernel):
            white += amplitude * _number(rest[0].noise_level)
            continue
        if len(rest) == 1 and isinstance(rest[0], HeteroscedasticNoise):
            heteroscedastic = True
            continue
        size = sqrt(amplitude) if sizes is None else sizes[number]
        description = words.product(rest) if rest else "a constant"
        terms.append((size, f"{description}, {'of amplitude' if sizes is None else 'of size'} {_short(size)}"))
    least = _NEGLIGIBLE * max([sqrt(white), *(size for size, _ in terms)]) if sizes is not None else -1.0
    lines = [line for size, line in sorted(terms, key=lambda pair: -pair[0]) if size > least]
    if heteroscedastic:
        lines.append("noise that differs from point to point")
    if white:
        prefix = "" if lines else "nothing but "
        lines.append(f"{prefix}noise of standard deviation {_short(sqrt(white))}")
    return "\n".join(lines)


class _Words:
    """Descriptions of kernels in words, given the ranges and the names of the columns."""

    def __init__(self, ranges: Sequence[float] | None, names: Sequence[str] | None) -> None:
        self.ranges = ranges
        self.names = names

    def product(self, factors: list[Kernel]) -> str:
        """Return a noun phrase for one factor of a product, with relative clauses for the others."""
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
        """Return a noun phrase for the functions of a kernel."""
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
        if isinstance(kernel, WarpedInputs):
            of_columns = kernel.kernel if factor is kernel else factor.replaced(kernel=kernel.kernel)
            return f"{self.noun(of_columns)}, of warped columns"
        if isinstance(kernel, Composition):
            return f"a function of the features of {kernel.inner}{where}"
        if isinstance(kernel, LevelKernel):
            return f"a constant for each level{self.of_levels(factor)}"
        if isinstance(kernel, ObjectKernel):
            return f"a linear function of the features of {kernel}{where}"
        if hasattr(kernel, "length_scale"):
            return f"a function that changes over {self.over(factor, kernel.length_scale)} ({type(kernel).__name__})"
        return f"a function of the kernel {type(kernel).__name__}{where}"

    def verb(self, factor: Kernel) -> str:
        """Return a verb phrase for how a factor changes the functions of the other factors."""
        kernel = _inside(factor)
        if isinstance(kernel, ExpSineSquared):
            return f"repeats every {self.over(factor, kernel.periodicity)}"
        if isinstance(kernel, RationalQuadratic):
            return f"changes on many scales around {self.over(factor, kernel.length_scale)}"
        if hasattr(kernel, "length_scale"):
            return f"changes smoothly over {self.over(factor, kernel.length_scale)}"
        if isinstance(kernel, Exchangeable):
            return f"differs between levels{self.of_levels(factor)}, by a correlation of {_short(_number(kernel.correlation))}"
        if isinstance(kernel, LevelKernel):
            return f"differs between levels{self.of_levels(factor)}"
        return f"changes as {type(kernel).__name__} has it{self.where(factor)}"

    def is_far(self, factor: Kernel) -> bool:
        """Tell whether all length scales are far beyond the ranges of the columns."""
        kernel = _inside(factor)
        if isinstance(kernel, ExpSineSquared | Linear | Polynomial) or not hasattr(kernel, "length_scale"):
            return False
        lengths = np.ravel(numbers(kernel.length_scale, "value"))
        widths = self.widths(factor, len(lengths))
        return widths is not None and bool((lengths > _FAR * widths).all())

    def columns(self, factor: Kernel) -> list[int | str]:
        """Return the columns that a kernel is a function of; none if their number is unknown."""
        if isinstance(factor, Columns):
            return list(factor.columns)
        return list(range(len(self.ranges))) if self.ranges is not None else []

    def widths(self, factor: Kernel, count: int) -> Vector | None:
        """Return the ranges of the columns of a kernel, or their maximum if it has one length scale for all columns."""
        columns = factor.places() if isinstance(factor, Columns) else self.columns(factor)
        indices = [column for column in columns if not isinstance(column, str)]
        if self.ranges is None or not indices or len(indices) < len(columns):
            return None
        widths = np.array([self.ranges[column] for column in indices])
        return widths if len(widths) == count else np.array([widths.max()])

    def named(self, column: int | str) -> str:
        """Return the name of a column."""
        if isinstance(column, str):
            return column
        return f"column {column}" if self.names is None else str(self.names[column])

    def where(self, factor: Kernel) -> str:
        """Return " in ..." with the columns of a kernel; empty if it is a function of all."""
        return " in " + _listed([self.named(c) for c in factor.columns]) if isinstance(factor, Columns) else ""

    def of_levels(self, factor: Kernel) -> str:
        """Return " of ..." with the categories that a kernel of levels is a function of, for which 0/1 columns may stand."""
        if not isinstance(factor, Columns):
            return ""
        return " of " + _listed(list(dict.fromkeys(self.named(c).partition("=")[0] for c in factor.columns)))

    def over(self, factor: Kernel, value: object) -> str:
        """Return length scales or periods, with their columns if there are several, and without those far beyond the data."""
        lengths = np.ravel(numbers(value, "value"))
        columns = self.columns(factor)
        if len(lengths) == 1:
            return _short(lengths[0]) + self.where(factor)
        if len(columns) != len(lengths):
            columns = list(range(len(lengths)))
        widths = self.widths(factor, len(lengths))
        relevant = np.ones(len(lengths), dtype=bool) if widths is None or len(widths) == 1 else lengths <= _FAR * widths
        phrases = [
            f"{_short(length)} in {self.named(column)}"
            for length, column, is_relevant in zip(lengths, columns, relevant, strict=True)
            if is_relevant
        ]
        return ", ".join(phrases) + (" (hardly in the others)" if phrases and not relevant.all() else "")


def _inside(factor: Kernel) -> Kernel:
    """Return the kernel of all columns that a kernel of some columns restricts."""
    return factor.kernel if isinstance(factor, Columns) else factor


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _number(value: object) -> float:
    return float(numbers(value, "value"))


def _short(value: float) -> str:
    return f"{value:.3g}"

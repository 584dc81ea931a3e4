"""Kernels as structures: what they say in words, and how they grow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import sqrt
from typing import Any

import numpy as np

from kernsel.kernels import (
    RBF,
    Columns,
    ConstantKernel,
    ExpSineSquared,
    Kernel,
    Linear,
    Product,
    RationalQuadratic,
    Sum,
    WhiteKernel,
)
from kernsel.kernels.hyperparameter import numbers

__all__ = ["describe", "larger_structures", "simplest_structures", "terms_of"]

_MOST_COLUMNS = 8  # beyond which parts of single columns are too many to try
_LARGEST = 5  # kernels in a structure


def _parts(columns: int) -> list[Kernel]:
    """Return the single kernels that structures are made of: smooth, periodic, a trend, of many scales."""
    whole: list[Kernel] = [RBF("auto"), Linear("auto"), RationalQuadratic("auto")]
    if columns == 1:
        return [*whole, ExpSineSquared("auto", periodicity="auto")]
    if columns > _MOST_COLUMNS:
        return whole
    single = [[RBF("auto").on([k]), Linear("auto").on([k])] for k in range(columns)]
    return whole + [kernel for pair in single for kernel in pair]


def simplest_structures(columns: int) -> list[Kernel]:
    """Return where a search begins."""
    return [_total([[part]]) for part in _parts(columns)]


def larger_structures(kernel: Kernel, columns: int) -> list[Kernel]:
    """Return what a structure may become: with a term more, a factor more, or one part exchanged."""
    terms = _terms(kernel)
    parts = _parts(columns)
    grown: list[list[list[Kernel]]] = []
    if sum(len(term) for term in terms) < _LARGEST:
        grown += [[*terms, [part]] for part in parts]
        for i, part in product(range(len(terms)), parts):
            grown.append([*terms[:i], [*terms[i], part], *terms[i + 1 :]])
    for i, term in enumerate(terms):
        for j, part in product(range(len(term)), parts):
            if type(part) is not type(term[j]):
                grown.append([*terms[:i], [*term[:j], part, *term[j + 1 :]], *terms[i + 1 :]])
        if len(terms) > 1:
            grown.append([*terms[:i], *terms[i + 1 :]])
    return [_total(structure) for structure in grown]


def _total(terms: list[list[Kernel]]) -> Kernel:
    """Return the sum of products, each with an amplitude; equal ones are written alike."""
    written = sorted((sorted(term, key=repr) for term in terms), key=repr)
    total: Kernel | None = None
    for term in written:
        whole: Kernel = ConstantKernel("auto")
        for factor in term:
            whole = whole * factor
        total = whole if total is None else total + whole
    assert total is not None
    return total


def _terms(kernel: Kernel) -> list[list[Kernel]]:
    """Return the products that a structure is the sum of, without their amplitudes."""
    products = [term._alike() if isinstance(term, Product) else [term] for term in terms_of(kernel)]
    return [[factor for factor in factors if not isinstance(factor, ConstantKernel)] for factors in products]


def terms_of(kernel: Kernel) -> list[Kernel]:
    """Return the terms of a sum; of any other kernel, itself."""
    return kernel._alike() if isinstance(kernel, Sum) else [kernel]


def describe(kernel: Kernel, noise: float | None = None, sizes: Sequence[float] | None = None) -> str:
    """Return in words what a kernel is made of: a line for each term, the largest first.

    Parameters
    ----------
    kernel : Kernel
        With its hyperparameters.
    noise : float, optional
        The variance of the noise beside it.
    sizes : sequence of float, optional
        How much each term moves the data, as standard deviations; by default the square root of its factor, which says how
        much it could.

    Examples
    --------
    >>> from kernsel.kernels import RBF, ExpSineSquared, Linear
    >>> from kernsel.structure import describe
    >>> print(describe(4.0 * Linear(1.0) + 1.0 * ExpSineSquared(1.0, 0.5) * RBF(10.0), noise=0.01))
    a linear trend, of amplitude 2
    a pattern of period 0.5 that changes smoothly over 10, of amplitude 1
    noise of standard deviation 0.1
    """
    terms = []
    for number, term in enumerate(terms_of(kernel)):
        factors = term._alike() if isinstance(term, Product) else [term]
        amplitude = float(np.prod([_number(f.constant_value) for f in factors if isinstance(f, ConstantKernel)]))
        rest = [factor for factor in factors if not isinstance(factor, ConstantKernel)]
        if len(rest) == 1 and isinstance(rest[0], WhiteKernel):
            terms.append((-1.0, f"noise of standard deviation {_short(sqrt(amplitude * _number(rest[0].noise_level)))}"))
            continue
        words = _words(rest) if rest else "a constant"
        size = sqrt(amplitude) if sizes is None else sizes[number]
        terms.append((size, f"{words}, {'of amplitude' if sizes is None else 'of size'} {_short(size)}"))
    lines = [line for _, line in sorted(terms, key=lambda pair: -pair[0])]
    if noise:
        lines.append(f"noise of standard deviation {_short(sqrt(noise))}")
    return "\n".join(lines)


def _words(factors: list[Kernel]) -> str:
    """Return a product of kernels in words: one is what it is, the others say how it changes."""
    rank = {ExpSineSquared: 0, Linear: 2}
    ordered = sorted(factors, key=lambda factor: rank.get(type(_inside(factor)), 1))
    first, others = ordered[0], ordered[1:]
    text = _noun(first)
    linear = [factor for factor in others if isinstance(_inside(factor), Linear)]
    changes = [factor for factor in others if factor not in linear]
    if changes:
        text += " that " + " and ".join(_verb(factor) for factor in changes)
    if linear:
        power = "linearly" if len(linear) == 1 else f"like a polynomial of degree {len(linear)}"
        text += f", growing {power}" + _where(linear[0])
    return text


def _noun(factor: Kernel) -> str:
    kernel = _inside(factor)
    if isinstance(kernel, ExpSineSquared):
        return f"a pattern of period {_lengths(kernel.periodicity)}" + _where(factor)
    if isinstance(kernel, Linear):
        return "a linear trend" + _where(factor)
    if isinstance(kernel, RBF):
        return f"a smooth function that changes over {_lengths(kernel.length_scale)}" + _where(factor)
    if isinstance(kernel, RationalQuadratic):
        return f"a function of many scales around {_lengths(kernel.length_scale)}" + _where(factor)
    if hasattr(kernel, "length_scale"):
        return f"a function that changes over {_lengths(kernel.length_scale)} ({type(kernel).__name__})" + _where(factor)
    return type(kernel).__name__ + _where(factor)


def _verb(factor: Kernel) -> str:
    kernel = _inside(factor)
    if isinstance(kernel, ExpSineSquared):
        return f"repeats every {_lengths(kernel.periodicity)}" + _where(factor)
    if hasattr(kernel, "length_scale"):
        return f"changes smoothly over {_lengths(kernel.length_scale)}" + _where(factor)
    return f"changes as {type(kernel).__name__} has it" + _where(factor)


def _inside(factor: Kernel) -> Kernel:
    return factor.kernel if isinstance(factor, Columns) else factor


def _where(factor: Kernel) -> str:
    if not isinstance(factor, Columns):
        return ""
    columns = list(factor.columns)
    return f" in column{'s' if len(columns) > 1 else ''} {', '.join(str(column) for column in columns)}"


def _number(value: Any) -> float:
    return float(numbers(value, "value"))


def _lengths(value: Any) -> str:
    return " x ".join(_short(x) for x in np.ravel(numbers(value, "value")))


def _short(value: float) -> str:
    return f"{value:.3g}"

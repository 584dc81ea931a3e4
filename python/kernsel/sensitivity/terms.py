"""A kernel as a sum of products of kernels of one column each, if it is one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kernsel.kernels import RBF, Columns, ConstantKernel, Exponential, HeteroscedasticNoise, Kernel, Matern, WhiteKernel
from kernsel.kernels.algebra import Pair, Power, Sum

__all__ = ["Leaf", "NoProductError", "Term", "terms_of"]

_MOST_TERMS = 30


class NoProductError(ValueError):
    """A function is no sum of products of functions of one column each, or is too large a one."""


@dataclass(frozen=True)
class Leaf:
    """A stationary kernel of one column.

    Attributes
    ----------
    kernel : Kernel
        Of one column.
    scale : float
        The length in which it changes: polynomials approximate it well on intervals of this length.
    smooth : bool
        Whether it is smooth where both points are equal.
    """

    kernel: Kernel
    scale: float
    smooth: bool


@dataclass(frozen=True)
class Term:
    """A product, amplitude times the kernels of each column; columns without kernels do not matter to it."""

    amplitude: float
    leaves: dict[int, tuple[Leaf, ...]] = field(default_factory=dict)

    def __mul__(self, other: Term) -> Term:
        joined = {k: self.leaves.get(k, ()) + other.leaves.get(k, ()) for k in self.leaves | other.leaves}
        return Term(self.amplitude * other.amplitude, joined)


def terms_of(kernel: Kernel, columns: list[int]) -> list[Term]:
    """Return the products whose sum is a kernel at two different points, which lie in these columns of all points.

    Noise has no products, since it is zero there. RBF, Matern of nu 1/2, 3/2, ... by products (``product=True``) or of one
    column, constants, sums, products and whole powers of these are understood.

    Raises
    ------
    NoProductError
        If it is another kernel.

    Examples
    --------
    >>> from kernsel.kernels import RBF, WhiteKernel
    >>> [one.amplitude for one in terms_of(2.0 * RBF(1.0) + RBF([1.0, 2.0]) + WhiteKernel(0.1), [0, 1])]
    [2.0, 1.0]
    """
    if isinstance(kernel, Pair):
        first, pairs = kernel.chain()
        found = terms_of(first, columns)
        for pair in pairs:
            right = terms_of(pair.k2, columns)
            found = _few(found + right if isinstance(pair, Sum) else [a * b for a in found for b in right])
        return found
    if isinstance(kernel, Power) and float(kernel.exponent).is_integer():
        base = found = terms_of(kernel.kernel, columns)
        for _ in range(int(kernel.exponent) - 1):
            found = _few([a * b for a in found for b in base])
        return found
    if isinstance(kernel, Columns):
        return terms_of(kernel.kernel, [columns[k] for k in kernel.indices()])
    if isinstance(kernel, ConstantKernel):
        return [Term(kernel.number("constant_value"))]
    if isinstance(kernel, WhiteKernel | HeteroscedasticNoise):
        return []
    return [Term(1.0, _by_column(kernel, columns))]


def _few(terms: list[Term]) -> list[Term]:
    if len(terms) > _MOST_TERMS:
        raise NoProductError(f"the kernel is a sum of more than {_MOST_TERMS} products")
    return terms


def _by_column(kernel: Kernel, columns: list[int]) -> dict[int, tuple[Leaf, ...]]:
    if isinstance(kernel, RBF) or (isinstance(kernel, Matern) and kernel.nu == np.inf):
        scales = np.broadcast_to(kernel.numbers("length_scale"), (len(columns),))
        return {k: (Leaf(RBF(float(s)), float(s), True),) for k, s in zip(columns, scales, strict=True)}
    nu = 0.5 if isinstance(kernel, Exponential) else kernel.nu if isinstance(kernel, Matern) else 0.0
    by_product = len(columns) == 1 or (isinstance(kernel, Matern) and kernel.product)
    if not by_product or not (nu + 0.5).is_integer() or nu < 0.5:
        raise NoProductError(f"{kernel} is no product of RBF or Matern kernels of one column each with nu = 1/2, 3/2, ...")
    assert isinstance(kernel, Exponential | Matern)
    scales = np.broadcast_to(kernel.numbers("length_scale"), (len(columns),))
    rate = max(1.0, (2 * nu) ** 0.5)
    return {k: (Leaf(Matern(float(s), nu=nu), float(s) / rate, False),) for k, s in zip(columns, scales, strict=True)}

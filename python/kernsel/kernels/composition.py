"""Kernels of another kernel's features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Matrix
from kernsel.kernels.algebra import Operation, Pair, Power, enclosed
from kernsel.kernels.automatic import Data
from kernsel.kernels.base import Kernel
from kernsel.kernels.object_kernel import ObjectEmbedding
from kernsel.kernels.objects import Reading
from kernsel.kernels.simple import ConstantKernel, WhiteKernel

__all__ = ["Composition", "composed"]

_SAMPLE = 300  # the number of points that distances between features are estimated from


class Composition(Operation):
    """A kernel of another kernel's features, k_outer(phi(x), phi(z)) with phi(x)'phi(z) = k_inner(x, z); ``outer @ inner``.

    With k = k_inner, a kernel of the distance is evaluated at the distance of the features, whose square is
    k(x, x) + k(z, z) - 2 k(x, z), and a kernel of the inner product at k(x, z). So a kernel on strings, on sets or on
    distributions becomes one that can approximate any function of them. An "auto" length scale follows the distances of the
    features.

    Parameters
    ----------
    outer : Kernel
        RBF, Exponential, Matern (of nu 1/2, 3/2, 5/2 or infinity, no product), RationalQuadratic, DotProduct, Linear or
        Polynomial with one length scale at most; any kernel of vectors if the features of `inner` are vectors, as those of
        :class:`kernsel.structured.LinearizedTransport` are.
    inner : Kernel

    Examples
    --------
    >>> from kernsel.kernels import RBF, Linear
    >>> (RBF(2.0) @ Linear())([[0.0, 1.0]], [[3.0, 1.0]]) == RBF(2.0)([[0.0, 1.0]], [[3.0, 1.0]])
    array([[ True]])
    """

    _parts = ("outer", "inner")
    _infix = True

    def __init__(self, outer: Kernel, inner: Kernel) -> None:
        self.outer = outer
        self.inner = inner
        self._check()

    def _check(self) -> None:
        super()._check()
        if self.outer.for_objects():
            raise ValueError(f"outer: expected a kernel of vectors, got {self.outer!r}")
        if not isinstance(self.inner, ObjectEmbedding) and not self.outer._of_features():
            raise ValueError(
                f"outer: expected a kernel of a distance or an inner product, with one length scale, got {self.outer!r}"
            )

    def build(self) -> _core.Kernel:
        outer = self.outer.build()
        if isinstance(self.inner, ObjectEmbedding):
            return self.inner.kernel_of_rows(outer)
        return _core.compose(outer, self.inner.build())

    def _divisible(self) -> bool:
        return self.outer._divisible()

    def bound_to(self, reading: Reading) -> Kernel:
        return self.replaced(inner=self.inner.bound_to(reading))

    def _with_points(self, X: ArrayLike | None, names: Sequence[str] | None) -> Kernel:
        inner = self.inner._with_points(X, names)
        return self if inner is self.inner else self.replaced(inner=inner)

    def resolve(self, data: Data) -> Kernel:
        inner = self.inner.resolve(data)
        features = _one_column(inner, data, distances=not self.outer._of_inner_product())
        return self.replaced(inner=inner, outer=self.outer.resolve(data.moved(features, by_column=False)))

    def __repr__(self) -> str:
        return f"{enclosed(self.outer, repr(self.outer))} @ {enclosed(self.inner, repr(self.inner))}"

    def _short(self) -> str:
        return f"{enclosed(self.outer, self.outer._short())} @ {enclosed(self.inner, self.inner._short())}"


def composed(outer: Kernel, inner: Kernel) -> Kernel:
    """Return outer @ inner: sums and products are composed operand by operand, constants and noise stay as they are."""
    if isinstance(outer, Pair):
        parts = [part for part in outer.subkernels() if not isinstance(part, ConstantKernel | WhiteKernel)]
        if len(parts) > 1 and inner.n_dims:
            raise ValueError(
                f"outer: {outer} would have the hyperparameters of {inner} once for each part; compose the parts, or fix them"
            )
        operands = (
            part if isinstance(part, ConstantKernel | WhiteKernel) else composed(part, inner) for part in outer.subkernels()
        )
        result = next(operands)
        for pair, operand in zip(outer.chain()[1], operands, strict=True):
            result = type(pair)(result, operand)
        return result
    if isinstance(outer, Power):
        return Power(composed(outer.kernel, inner), outer.exponent)
    return Composition(outer, inner)


def _one_column(kernel: Kernel, data: Data, *, distances: bool) -> Matrix:
    """Return one column from which starts and bounds of the outer kernel are read.

    Its variance is that of the kernel's features if `distances`; otherwise its entries are the norms of the features.
    """
    n = len(data.X)
    rows = np.arange(n) if n <= _SAMPLE else np.linspace(0, n - 1, _SAMPLE).astype(int)
    X = data.X[rows]
    K = np.asarray(kernel(X))
    column = np.sqrt(np.maximum(np.diag(K), 0.0))
    if distances:
        centred = K - K.mean(axis=0)
        centred -= centred.mean(axis=1, keepdims=True)
        total = float(np.trace(centred)) / len(K)  # the variance of the features
        component = np.linalg.eigh((centred + centred.T) / 2)[1][:, -1]  # the first principal component of the features
        spread = float(component.std())
        column = (component - component.mean()) * (total**0.5 / spread if spread > 0 and total > 0 else 0.0)
    return np.interp(np.arange(n), rows, column)[:, None]

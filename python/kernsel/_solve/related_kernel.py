"""The covariance of related outputs, as a kernel of points whose last column is the number of the output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.kernels import Columns, ConstantKernel, Coregion, Kernel, Product, Sum, WhiteKernel
from kernsel.kernels.hyperparameter import Parameter, numbers

__all__ = ["RelatedKernel", "covariance_of", "stacked_points", "stacked_trend", "terms_of", "without_amplitude"]


@dataclass(frozen=True)
class RelatedKernel:
    """The linear model of coregionalization with a noise variance for each output.

    k((x, i), (z, j)) = sum_q B_q[i, j] k_q(x, z), with noise of variance d_i.

    Attributes
    ----------
    terms : tuple of Kernel
        The kernels k_q of points of d columns.
    coregions : tuple of Coregion
        The covariances B_q of m outputs.
    noise : Coregion
        Of rank 0: its numbers `kappa` are the noise variances.
    columns : int
        The number d.
    """

    terms: tuple[Kernel, ...]
    coregions: tuple[Coregion, ...]
    noise: Coregion
    columns: int

    def signal(self) -> Kernel:
        """Return the kernel of points (x, i), without noise."""
        x, i = list(range(self.columns)), [self.columns]
        pairs = zip(self.terms, self.coregions, strict=True)
        products: list[Kernel] = [Columns(term, x) * Columns(coregion, i) for term, coregion in pairs]
        total = products[0]
        for product in products[1:]:
            total = Sum(total, product)
        return total

    def whole(self) -> Kernel:
        """Return the kernel of points (x, i), with noise."""
        return self.signal() + WhiteKernel(1.0, "fixed") * Columns(self.noise, [self.columns])

    def at(self, theta: Vector) -> Self:
        """Return the same with other hyperparameters: those of `whole`."""
        return self.of(self.whole().clone_with_theta(theta))

    def of(self, whole: Kernel) -> Self:
        """Return the parts of a kernel that has the form of `whole`, with other hyperparameters."""
        assert isinstance(whole, Sum)
        *products, noise = whole.operands()
        pairs = [(_inside(product, 0), _inside(product, 1)) for product in products]
        coregions = tuple(coregion for _, coregion in pairs if isinstance(coregion, Coregion))
        of_noise = _inside(noise, 1)
        assert isinstance(of_noise, Coregion)
        return type(self)(tuple(term for term, _ in pairs), coregions, of_noise, self.columns)

    @property
    def variances(self) -> Vector:
        """The noise variance of each output, shape (m,)."""
        return np.asarray(self.noise.numbers("kappa"))

    def covariances(self) -> list[Matrix]:
        """Return the matrices B_q, shape (m, m)."""
        return [covariance_of(coregion) for coregion in self.coregions]

    def multiplied(self, factor: Vector) -> Self:
        """Return the covariance of outputs that are each multiplied by a factor, bounds included."""
        scaled = [_multiplied(coregion, factor) for coregion in self.coregions]
        return type(self)(self.terms, tuple(scaled), _multiplied(self.noise, factor), self.columns)


def covariance_of(coregion: Coregion) -> Matrix:
    """Return B = W W' + diag(kappa)."""
    W = numbers(coregion.W, "W", positive=False)
    return W @ W.T + np.diag(coregion.numbers("kappa"))


def stacked_points(X: Matrix, observed: Matrix) -> tuple[Matrix, Indices, Indices]:
    """Return the points (x, i) of what is observed, one row after the other, with the numbers of their rows and outputs."""
    rows, outputs = np.nonzero(observed)
    return np.column_stack([X[rows], outputs.astype(np.float64)]), rows, outputs


def stacked_trend(H: Matrix, rows: Indices, outputs: Indices, m: int) -> Matrix:
    """Return a trend with coefficients for each output, at points (x, i)."""
    q = H.shape[1]
    stacked = np.zeros((len(rows), q * m))
    for k in range(q):
        stacked[np.arange(len(rows)), outputs * q + k] = H[rows, k]
    return stacked


def without_amplitude(kernel: Kernel) -> Kernel:
    """Return a term without its factors that are to be found: the covariance of the outputs has them."""
    if not isinstance(kernel, Product):
        return kernel
    factors = kernel.operands()
    kept = [f for f in factors if not isinstance(f, ConstantKernel) or any(h.fixed for h in f.hyperparameters)]
    if not kept or len(kept) == len(factors):
        return kernel
    result = kept[0]
    for factor in kept[1:]:
        result = result * factor
    return result


def terms_of(kernel: Kernel) -> Sequence[Kernel]:
    """Return the terms of a sum, each without an amplitude that is to be found."""
    return [without_amplitude(term) for term in (kernel.operands() if isinstance(kernel, Sum) else [kernel])]


def _inside(product: Kernel, place: int) -> Kernel:
    """Return the kernel that a factor of a product restricts to some columns."""
    assert isinstance(product, Product)
    factor = (product.k1, product.k2)[place]
    assert isinstance(factor, Columns)
    return factor.kernel


def _multiplied(coregion: Coregion, factor: Vector) -> Coregion:
    """Return the covariance of outputs times factors: W_i f_i and kappa_i f_i^2."""
    W = numbers(coregion.W, "W", positive=False) * factor[:, None]
    kappa = np.asarray(coregion.numbers("kappa")) * factor**2
    of_W, of_kappa = coregion.bounds_of("W"), coregion.bounds_of("kappa")
    if not isinstance(of_W, str):
        of_W = np.broadcast_to(np.asarray(of_W, dtype=np.float64), (W.size, 2)) * np.repeat(factor, W.shape[1])[:, None]
    if not isinstance(of_kappa, str):
        of_kappa = np.broadcast_to(np.asarray(of_kappa, dtype=np.float64), (kappa.size, 2)) * factor[:, None] ** 2
    assert not isinstance(coregion.W, Parameter)
    return Coregion(coregion.rank, W, kappa, of_W, of_kappa)

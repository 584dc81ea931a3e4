"""Kernels of sets of points and of distributions, derived from a kernel of points."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Matrix, Vector
from kernsel.kernels.automatic import Data
from kernsel.kernels.base import Kernel
from kernsel.kernels.hyperparameter import Hyperparameter
from kernsel.kernels.object_kernel import ObjectKernel, Table
from kernsel.kernels.simple import HeteroscedasticNoise, WhiteKernel
from kernsel.structured.clouds import Cloud, as_clouds
from kernsel.structured.pair_sums import WeightedPoints, pair_sums, pair_sums_pullback, self_sums
from kernsel.structured.sets import PointSet, as_sets

__all__ = ["MeanEmbedding", "SetKernel"]

PointsOf = TypeVar("PointsOf", PointSet, Cloud)


class KernelOfPairs(ObjectKernel[PointsOf]):
    """A weighted sum of a kernel of points over all pairs of points; its hyperparameters are those of that kernel."""

    _has_slopes: ClassVar[bool] = False
    kernel: Kernel

    @abstractmethod
    def _points(self, X: Sequence[PointsOf]) -> WeightedPoints:
        """Return the points of objects with their weights."""

    def _check(self) -> None:
        if not isinstance(self.kernel, Kernel) or self.kernel.for_objects():
            raise TypeError(f"kernel: expected a kernel of vectors, got {self.kernel!r}")
        if _has_noise(self.kernel):
            raise ValueError(f"kernel: expected a kernel without noise, got {self.kernel!r}; noise is of the sets")
        self.check_depth()

    def _measured(self) -> int:
        return 1 + self.kernel.nesting

    def subkernels(self) -> list[Kernel]:
        return []  # the kernel of points is a function of other points than this one

    def own(self) -> Iterator[tuple[Hyperparameter, ArrayLike]]:
        for h, value in self.kernel.own():
            yield h.prefixed("", 0, "kernel__"), value

    def with_values(self, values: Iterator[ArrayLike]) -> Self:
        return self.replaced(kernel=self.kernel.with_values(values))

    def resolve(self, data: Data) -> Kernel:
        """Set "auto" hyperparameters from the points of all objects."""
        encoded = self.encoded_points(data.X)
        points = self._points(encoded).points
        return self.replaced(kernel=self.kernel.resolve(Data(points, None, None, None, data.ties, data.anchors)))

    def _table(self, X: Sequence[PointsOf], Z: Sequence[PointsOf] | None, derivative: bool) -> Table:
        del derivative
        A, B = self._points(X), None if Z is None else self._points(Z)
        if B is not None and len(A.points) and len(B.points) and A.points.shape[1] != B.points.shape[1]:
            raise ValueError(
                f"X: expected points of {B.points.shape[1]} columns, as those to learn from, got {A.points.shape[1]}"
            )
        return pair_sums(self._ready_kernel(X), A, B), []

    def _diagonal_of(self, X: Sequence[PointsOf]) -> Vector:
        return self_sums(self._ready_kernel(X), self._points(X))

    def _pull_objects(self, X: Sequence[PointsOf], Z: Sequence[PointsOf], W: Matrix) -> Vector:
        return pair_sums_pullback(self._ready_kernel(X), self._points(X), self._points(Z), W)

    def _ready_kernel(self, X: Sequence[PointsOf]) -> Kernel:
        """Return the kernel of points such that `build` can be called."""
        return self.kernel.on_points(self._points(X[:1]).points)[0] if self.kernel.depends_on_points() else self.kernel


def _has_noise(kernel: Kernel) -> bool:
    """Tell whether a sum or a product has a term or a factor that is noise."""
    return isinstance(kernel, WhiteKernel | HeteroscedasticNoise) or any(_has_noise(part) for part in kernel.subkernels())


class SetKernel(KernelOfPairs[PointSet]):
    """Sets of points compared by the sum, or the mean, of a kernel over all pairs: k(A, B) = sum_{x in A} sum_{z in B} k(x, z).

    The inner product of sum_{x in A} k(x, .) and sum_{z in B} k(z, .).

    Parameters
    ----------
    kernel : Kernel
        A kernel of points. Its hyperparameters are those of the set kernel; "auto" ones are set from the points of all sets.
    mean : bool
        Whether to take the mean, which does not grow with the number of points, in place of the sum.

    Notes
    -----
    Points are arrays of shape (m, d), of any m. One evaluation of `kernel` for each pair of points.

    Examples
    --------
    >>> from kernsel.kernels import RBF
    >>> from kernsel.structured import SetKernel
    >>> SetKernel(RBF(1.0), mean=True)([[[0.0], [1.0]], [[5.0]]]).round(3)
    array([[0.803, 0.   ],
           [0.   , 1.   ]])
    """

    def __init__(self, kernel: Kernel, mean: bool = False) -> None:
        self.kernel = kernel
        self.mean = mean
        self._check()

    def _check(self) -> None:
        super()._check()
        if not isinstance(self.mean, bool | np.bool_):
            raise TypeError(f"mean: expected True or False, got {self.mean!r}")

    def _encode(self, objects: Sequence[object]) -> list[PointSet]:
        sets = as_sets(objects)
        for i, one in enumerate(sets):
            if self.mean and not len(one):
                raise ValueError(f"X[{i}]: expected one point at least, got an empty set, which has no mean")
        return sets

    def _read_with(self) -> tuple[object, ...]:
        return (self.mean,)

    def _points(self, X: Sequence[PointSet]) -> WeightedPoints:
        weights = [1.0 / len(one) if self.mean else 1.0 for one in X]
        return WeightedPoints.joined(
            [one.points for one in X], [np.full(len(one), w) for one, w in zip(X, weights, strict=True)]
        )


class MeanEmbedding(KernelOfPairs[Cloud]):
    """Probability distributions compared by the mean of a kernel: k(mu, nu) = E k(x, z), x drawn from mu and z from nu.

    The inner product of the mean embeddings E k(x, .), exact for clouds of points. ``RBF("auto") @ MeanEmbedding(k)`` is the
    squared exponential of their distance, the maximum mean discrepancy.

    Parameters
    ----------
    kernel : Kernel
        A kernel of points. Its hyperparameters are those of the embedding; "auto" ones are set from the points of all clouds.

    Notes
    -----
    Points are :class:`Cloud`, arrays of shape (n, d), or tuples (points, weights). One evaluation of `kernel` for each pair of
    points.

    Examples
    --------
    >>> from kernsel.kernels import RBF
    >>> from kernsel.structured import MeanEmbedding
    >>> MeanEmbedding(RBF(1.0))([[[0.0]], ([[0.0], [1.0]], [0.75, 0.25])]).round(3)
    array([[1.   , 0.902],
           [0.902, 0.852]])
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._check()

    def _encode(self, objects: Sequence[object]) -> list[Cloud]:
        return as_clouds(objects, kind=Cloud)

    def _points(self, X: Sequence[Cloud]) -> WeightedPoints:
        return WeightedPoints.joined([cloud.points for cloud in X], [cloud.weights for cloud in X])

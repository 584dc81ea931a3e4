"""Sums of a kernel over all pairs of points, one from each of two sets."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.kernels import Kernel

__all__ = ["WeightedPoints", "pair_sums", "pair_sums_pullback", "self_sums"]

_BLOCK = 1024  # points on either side of a block of a kernel matrix
_SMALL_SETS = 192  # the most points of several sets whose kernel matrix is evaluated in one call


class WeightedPoints(NamedTuple):
    """The points of some sets, one set after the other, with the index of the set and the weight of each point."""

    points: Matrix
    owners: Indices  # for each point, the index of its set
    weights: Vector
    n_sets: int  # with sets that have no points

    @classmethod
    def joined(cls, sets: Sequence[Matrix], weights: Sequence[Vector]) -> WeightedPoints:
        """Return the points of all sets, with their weights."""
        owners = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
        points = np.concatenate([one for one in sets if len(one)]) if len(owners) else np.zeros((0, 0))
        return cls(points, owners, np.concatenate([np.zeros(0), *weights]), len(sets))

    def _cut(self, ends: Iterable[int]) -> list[WeightedPoints]:
        spans = [slice(begin, end) for begin, end in pairwise([0, *ends])]
        return [WeightedPoints(self.points[s], self.owners[s], self.weights[s], self.n_sets) for s in spans]

    def parts(self) -> list[WeightedPoints]:
        """Return blocks of consecutive points, with no regard to where sets end."""
        return self._cut(min(at, len(self.points)) for at in range(_BLOCK, len(self.points) + _BLOCK, _BLOCK))

    def whole_sets(self) -> list[WeightedPoints]:
        """Return blocks of whole sets, several small ones in a block, because a call of a kernel has an overhead."""
        last = (np.flatnonzero(np.diff(self.owners, append=-1)) + 1).tolist()  # the ends of the sets
        ends: list[int] = []
        begin = 0
        for end, following in pairwise([*last, sys.maxsize]):
            if following - begin > _SMALL_SETS:
                ends.append(end)
                begin = end
        return self._cut(ends)

    @property
    def sets(self) -> slice:
        """Return the range from the first to the last set that has points here."""
        return slice(int(self.owners[0]), int(self.owners[-1]) + 1)

    @property
    def sums(self) -> sparse.csr_array:
        """Return the matrix that maps a value for each point to the weighted sum over each of `sets`."""
        at = (self.owners - self.owners[0], np.arange(len(self.owners)))
        return sparse.csr_array((self.weights, at), shape=(self.sets.stop - self.sets.start, len(self.owners)))


def pair_sums(kernel: Kernel, A: WeightedPoints, B: WeightedPoints | None) -> Matrix:
    """Return the matrix of sum_pq a_p b_q k(x_p, z_q) for a set of A and a set of B, or of A if B is None.

    The kernel is evaluated once for each pair of points, in blocks of 1024^2 numbers. Without B, it is evaluated for half of
    the pairs, and the matrix is symmetric to the last bit.
    """
    S = np.zeros((A.n_sets, A.n_sets if B is None else B.n_sets))
    rows = A.parts()
    columns = rows if B is None else B.parts()
    for i, left in enumerate(rows):
        for right in columns[: i + 1] if B is None else columns:
            K = kernel(left.points) if left is right else kernel(left.points, right.points)
            total = (right.sums @ (left.sums @ K).T).T
            S[left.sets, right.sets] += total
            if B is None and left is not right:
                S[right.sets, left.sets] += total.T
    return S if B is not None else np.tril(S) + np.tril(S, -1).T


def pair_sums_pullback(kernel: Kernel, A: WeightedPoints, B: WeightedPoints, W: Matrix) -> Vector:
    """Return the gradient of sum_ij W_ij S_ij, S = pair_sums(kernel, A, B), in all hyperparameters, fixed ones included."""
    gradient = np.zeros(sum(h.n_elements for h, _ in kernel.own()))
    core, order = kernel.build(), kernel.core_order()
    for left in A.parts():
        for right in B.parts():
            spread = W.take(right.owners, axis=1).take(left.owners, axis=0) * np.outer(left.weights, right.weights)
            gradient[order] += core.pullback(left.points, spread, right.points)
    return gradient


def self_sums(kernel: Kernel, A: WeightedPoints) -> Vector:
    """Return the diagonal of pair_sums(kernel, A, None)."""
    diagonal = np.zeros(A.n_sets)
    for part in A.whole_sets():
        # Weighted sums of each row of K over the columns of its own set.
        K = kernel(part.points) * (part.owners[:, None] == part.owners) * part.weights
        diagonal += np.bincount(part.owners, weights=K.sum(axis=1) * part.weights, minlength=A.n_sets)
    return diagonal

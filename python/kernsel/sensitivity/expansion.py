"""A function that is a sum of products of functions of one column each, and its integrals over columns.

f(x) = offset + sum_r w_r prod_j phi_rj(x_j): the mean of a process with a product kernel, whose phi_rj are kernels of column j
at the training point of r, or powers of the column for a trend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernsel._base.annotations import Matrix, Vector
from kernsel.sensitivity.inputs import Input
from kernsel.sensitivity.quadrature import nodes_and_weights, nodes_of_distance
from kernsel.sensitivity.terms import Term

__all__ = ["Column", "Expansion"]


@dataclass(frozen=True)
class Column:
    """The functions of one column at quadrature nodes.

    Attributes
    ----------
    nodes, weights : ndarray of shape (q,)
    functions : ndarray of shape (q, N)
    means : ndarray of shape (N,)
        Their expectations g_r.
    """

    nodes: Vector
    weights: Vector
    functions: Matrix
    means: Vector

    def covariance(self) -> Matrix:
        """Return the covariances of the functions, shape (N, N)."""
        centred = (self.functions - self.means) * np.sqrt(self.weights)[:, None]
        return np.asarray(centred.T @ centred)


@dataclass(frozen=True)
class Expansion:
    """A sum of products of functions of one column each.

    Attributes
    ----------
    terms : list of Term
        Of the kernel.
    points : ndarray of shape (n, d)
        Its centres.
    powers : ndarray of int of shape (q, d)
        Of the columns in the functions of the trend.
    weights : ndarray of shape (N,), N = len(terms) n + q
        Of the products: of each term at each point, and of the trend.
    offset : float
    """

    terms: Sequence[Term]
    points: Matrix
    powers: NDArray[np.intp]
    weights: Vector
    offset: float

    @classmethod
    def of_mean(
        cls, terms: Sequence[Term], points: Matrix, powers: NDArray[np.intp], c: Vector, beta: Vector, offset: float
    ) -> Expansion:
        """Return the function k(x, points) c + h(x) beta + offset."""
        weights = np.concatenate([*(term.amplitude * c for term in terms), beta])
        return cls(terms, points, powers, weights, offset)

    def column(self, k: int, one: Input, at: Vector | None = None) -> Column:
        """Return the functions of column k at the nodes of a rule, or at given nodes, whose weights are then zero."""
        nodes, weights = (at, np.zeros(len(at))) if at is not None else self._rule(k, one)
        parts = []
        for term in self.terms:
            values = np.ones((len(nodes), len(self.points)))
            for leaf in term.leaves.get(k, ()):
                values *= leaf.kernel(nodes[:, None], self.points[:, [k]])
            parts.append(values)
        functions = np.hstack([*parts, nodes[:, None] ** self.powers[:, k]])
        return Column(nodes, weights, functions, weights @ functions)

    def _rule(self, k: int, one: Input) -> tuple[Vector, Vector]:
        leaves = [leaf for term in self.terms for leaf in term.leaves.get(k, ())]
        kinks = np.zeros(0) if all(leaf.smooth for leaf in leaves) else np.asarray(self.points[:, k])
        return nodes_and_weights(one, self._scale(k), kinks)

    def _scale(self, k: int) -> float:
        """Return the length in which the fastest product of kernels of column k changes."""
        rates = [sum(1.0 / leaf.scale for leaf in term.leaves.get(k, ())) for term in self.terms]
        fastest = max(rates, default=0.0)
        return 1.0 / fastest if fastest > 0 else np.inf

    def mean_of_kernel(self, t: int, k: int, one: Input) -> float:
        """Return the expectation of the kernel of column k in term t between two independent values of the input."""
        nodes, weights = nodes_of_distance(one, self._scale(k))
        values = np.ones(len(nodes))
        for leaf in self.terms[t].leaves.get(k, ()):
            values *= np.ravel(leaf.kernel(nodes[:, None], np.zeros((1, 1))))
        return float(weights @ values)

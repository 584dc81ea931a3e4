"""Sobol' indices by quasi-random sums: of any function, and of draws of a process.

Two matrices of points A and B come from one scrambled Sobol' sequence in 2d columns; A_j is A with column j of B, B_j is B with
column j of A. With f minus its mean ::

    Var E[f | x_j]       ~ mean f(B) (f(A_j) - f(A))        Saltelli et al., 2010
    E Var(f | x_{not j}) ~ mean (f(A) - f(A_j))^2 / 2       Jansen, 1999
    Var E[f | x_i, x_j]  ~ mean f(B_i) f(A_j) - f(A) f(B)   Saltelli, 2002
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from kernsel._base.annotations import Matrix, Vector
from kernsel.sensitivity.exact import Variances
from kernsel.sensitivity.inputs import Input, quantiles

__all__ = ["Design", "bootstrap", "design_from", "design_of", "sobol_points"]


def sobol_points(count: int, columns: int, rng: np.random.Generator) -> Matrix:
    """Return points of a scrambled Sobol' sequence, at least `count` of them: the next power of two."""
    return np.asarray(qmc.Sobol(columns, seed=rng).random_base2(int(np.ceil(np.log2(count)))))


@dataclass(frozen=True)
class Design:
    """The points at which a function is evaluated, and how its values are read.

    Attributes
    ----------
    points : ndarray of shape (m, d)
        A, B, each A_j and, for interactions, each B_j, one below the other.
    n : int
        Rows of A.
    d : int
        Inputs.
    second : bool
    """

    points: Matrix
    n: int
    d: int
    second: bool

    def variances(self, values: Vector, rows: NDArray[np.intp] | None = None) -> Variances:
        """Return the variance of the function and its parts from its values at the points, by some rows of A or by all."""
        blocks = values.reshape(-1, self.n)
        blocks = blocks if rows is None else blocks[:, rows]
        mean = float(blocks[:2].mean())
        a, b, *others = blocks - mean
        of_a, of_b = np.array(others[: self.d]), np.array(others[self.d :])
        variance = float(np.mean(np.concatenate([a, b]) ** 2))
        first = np.mean(b * (of_a - a), axis=1)
        total = np.mean((a - of_a) ** 2, axis=1) / 2
        parts = None
        if self.second:
            parts = of_b @ of_a.T / len(a) - np.mean(a * b) - first[:, None] - first
            parts = (parts + parts.T) / 2
            np.fill_diagonal(parts, 0.0)
        return Variances(mean, variance, first, total, parts, 0.0)


def design_of(inputs: Sequence[Input], n: int, second: bool, rng: np.random.Generator) -> Design:
    """Return a design whose A has n rows or more, (d + 2) n points, or (2d + 2) n for interactions."""
    d = len(inputs)
    shares = sobol_points(n, 2 * d, rng)
    A, B = quantiles(inputs, shares[:, :d]), quantiles(inputs, shares[:, d:])
    return design_from(A, B, [[j] for j in range(d)], second)


def design_from(A: Matrix, B: Matrix, places: Sequence[Sequence[int]], second: bool) -> Design:
    """Return the design of two independent samples of points, from the columns of each input."""
    blocks = [A, B]
    for base, other in [(A, B), (B, A)] if second else [(A, B)]:
        for columns in places:
            changed = base.copy()
            changed[:, columns] = other[:, columns]
            blocks.append(changed)
    return Design(np.vstack(blocks), len(A), len(places), second)


def bootstrap(design: Design, values: Vector, count: int, rng: np.random.Generator) -> list[Variances]:
    """Return the variances from rows of A that are drawn with replacement, `count` times."""
    return [design.variances(values, rng.integers(0, design.n, design.n)) for _ in range(count)]

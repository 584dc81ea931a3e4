"""Sobol' indices by integrals over one column within quasi-random sums over the others.

Where large coefficients cancel in f(x) = sum_r w_r prod_j phi_rj(x_j), as without noise, the quadratic forms of the module
`exact` lose all digits: their errors grow with the square of the coefficients, those of values of f only with the coefficients.
So curves are computed first, and their variances after ::

    E Var(f | x_{not j})   = mean over points z of Var_x f(x, z)
    Var f                  = that, and the mean of (E_x f(x, z) - E f)^2
    interaction of i and j = mean over z_j of Var_x (E[f | x_i = x, x_j = z_j] - E[f | x_i = x])

where Var_x and E_x are integrals over the column, without any error of sampling.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.blas import with_one_blas_thread
from kernsel.sensitivity.exact import Variances, variance_of_curves
from kernsel.sensitivity.expansion import Column, Expansion
from kernsel.sensitivity.inputs import Input, quantiles
from kernsel.sensitivity.sampled import sobol_points

__all__ = ["nested_variances"]

_REPLICATES = 8  # sequences scrambled independently, from whose differences the error is estimated


@with_one_blas_thread
def nested_variances(f: Expansion, inputs: Sequence[Input], second: bool, n: int, rng: np.random.Generator) -> Variances:
    """Return the variance of a function and its parts, in O(n N q d) for n points, N products and q quadrature nodes.

    `error` is the standard error of total and variance, by independent scramblings of the sequence.
    """
    d = len(inputs)
    columns = [f.column(k, one) for k, one in enumerate(inputs)]
    means = np.array([column.means for column in columns])
    others = np.array([np.prod(np.delete(means, j, axis=0), axis=0) for j in range(d)])
    of_mean = float(f.weights @ np.prod(means, axis=0))
    first = np.array([variance_of_curves(c, f.weights * g)[0] for c, g in zip(columns, others, strict=True)])
    found = [
        _of_points(f, inputs, columns, means, of_mean, quantiles(inputs, sobol_points(-(-n // _REPLICATES), d, rng)), second)
        for _ in range(_REPLICATES)
    ]
    variances, totals, parts = (np.array([one[k] for one in found]) for k in range(3))
    error = max(float(values.std(axis=0, ddof=1).max()) for values in (variances, totals)) / _REPLICATES**0.5
    interactions = parts.mean(axis=0) if second else None
    return Variances(f.offset + of_mean, float(variances.mean()), first, totals.mean(axis=0), interactions, error)


def _of_points(
    f: Expansion,
    inputs: Sequence[Input],
    columns: Sequence[Column],
    means: Matrix,
    of_mean: float,
    points: Matrix,
    second: bool,
) -> tuple[float, Vector, Matrix]:
    """Return variance, totals and interactions by the points of one sequence."""
    d = len(inputs)
    at = [f.column(k, one, points[:, k]).functions for k, one in enumerate(inputs)]
    right: list[Matrix | float] = [1.0]  # products of the functions of the columns after each one
    for values in at[:0:-1]:
        right.append(right[-1] * values)
    right = right[::-1]
    left: Matrix | float = 1.0
    totals, variances = np.zeros(d), np.zeros(d)
    for j, column in enumerate(columns):
        products = np.broadcast_to(f.weights * left * right[j], (len(points), len(f.weights)))
        spread, mean = variance_of_curves(column, products.T)
        totals[j] = spread.mean()
        variances[j] = totals[j] + np.mean((mean - of_mean) ** 2)
        left = left * at[j]
    parts = np.zeros((d, d))
    for i in range(d) if second else ():
        for j in range(i):
            products = f.weights * np.prod(np.delete(means, [i, j], axis=0), axis=0) * (at[j] - means[j])
            parts[i, j] = parts[j, i] = variance_of_curves(columns[i], products.T)[0].mean()
    return float(variances.mean()), totals, parts

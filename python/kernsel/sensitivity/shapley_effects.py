"""Shapley effects: the variance of a function shared out among inputs that may depend on each other.

With c(u) = E Var(f | all inputs but u), the effect of an input is the mean of c(u + j) - c(u) over all orders in which the
inputs may be put, u being those before j.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, special
from scipy.spatial import cKDTree

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.allowed import require, whole
from kernsel.sensitivity.indices import checked_level
from kernsel.sensitivity.inputs import GaussianCopula, Inputs, quantiles
from kernsel.sensitivity.sampled import sobol_points
from kernsel.sensitivity.studied import studied

__all__ = ["ShapleyEffects", "shapley"]

_ALL_ORDERS = 10  # inputs, up to which all 2^d subsets are taken
_NEAREST = 3  # draws that stand for some of equal values in other inputs, one being the draw itself
_TIES = 1e-6  # deviations of a column, by which draws of equal values are told apart
_RESAMPLES = 100
_ALLOWED = {"n_samples": whole(16), "n_orders": whole(1), "output": whole(0)}
Subset = frozenset[int]


@dataclass(frozen=True)
class ShapleyEffects:
    """The shares of inputs in the variance of a function.

    Attributes
    ----------
    names : list of str
    effects : ndarray of shape (d,)
        Not negative but for errors of sampling; they sum to one.
    intervals : ndarray of shape (d, 2)
        Where they are with probability `level`, given the points at which f was evaluated, by the bootstrap.
    variance : float
        Of the function.
    level : float
    """

    names: list[str]
    effects: Vector
    intervals: Matrix
    variance: float
    level: float

    def __str__(self) -> str:
        width = max(5, *map(len, self.names))
        lines = [f"{'input':<{width}}  effect"]
        for j in np.argsort(-self.effects, kind="stable"):
            low, high = self.intervals[j]
            lines.append(f"{self.names[j]:<{width}}  {self.effects[j]:.3f} ({low:.3f}, {high:.3f})")
        return "\n".join(lines)


def shapley(
    f: object,
    inputs: GaussianCopula | Inputs | None = None,
    *,
    draws: ArrayLike | None = None,
    n_samples: int = 2048,
    n_orders: int = 100,
    level: float = 0.95,
    random_state: int = 0,
    output: int = 0,
) -> ShapleyEffects:
    """Return the Shapley effects of inputs that may depend on each other (Song, Nelson and Staum, 2016).

    They are not negative, sum to one, and share out what inputs explain together, and what they have in common. For
    independent inputs they lie between first and total Sobol' indices.

    For inputs by distributions, E Var(f | all but u) is a mean of (f(x) - f(x'))^2 / 2 over quasi-random pairs of points that
    agree in all inputs but u and are drawn independently there, given the others. For `draws`, three that are
    nearest in all inputs but u stand for some that agree there (Broto, Bachoc and Depecker, 2020); this needs no distribution,
    and errs on the side of too much for inputs of which few neighbours are near. Up to ten inputs all 2^d subsets are taken,
    2^d `n_samples` evaluations; of more, those of `n_orders` random orders, d `n_orders` times as many at most.

    Parameters
    ----------
    f : fitted regressor, or callable
        As in :func:`sobol`.
    inputs : GaussianCopula, or as in :func:`sobol`, optional
        By default uniform on the ranges of the training points, and independent.
    draws : array-like of shape (m, d), optional
        Draws of the inputs, in the place of `inputs`, such as the rows of a table.
    n_samples : int
        The least number of pairs for each subset; the next power of two is taken.
    n_orders : int
        Random orders of more than ten inputs.
    level : float
        Of the intervals.
    random_state : int
    output : int

    Returns
    -------
    effects : ShapleyEffects

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.sensitivity import GaussianCopula, Normal, shapley
    >>> inputs = GaussianCopula([Normal(0, 1), Normal(0, 1)], [[1.0, 0.8], [0.8, 1.0]])
    >>> shapley(lambda X: X[:, 0], inputs).effects.round(2)  # x1 tells much of x0; f has only x0
    array([0.68, 0.32])
    """
    require(SimpleNamespace(n_samples=n_samples, n_orders=n_orders, output=output), _ALLOWED)
    checked_level(level)
    rng = np.random.default_rng(random_state)
    if draws is not None:
        if inputs is not None:
            raise ValueError("draws: expected None where inputs are given; draws of the inputs take their place")
        points = _checked_draws(draws)
        ranges = np.column_stack([points.min(axis=0), points.max(axis=0)])
        of = studied(f, ranges, output)
        order = _TIES * rng.standard_normal(points.shape)
        squares: Callable[[Subset], Vector] = partial(_of_neighbours, points, order, of.values(points))
    else:
        copula = inputs if isinstance(inputs, GaussianCopula) else None
        of = studied(f, inputs if copula is None else copula.inputs, output)
        if copula is None:
            copula = GaussianCopula(of.inputs, np.eye(len(of.inputs)))
        shares = sobol_points(n_samples, 2 * len(of.inputs), rng)
        squares = _Pairs(of.values, copula, shares)
    d = len(of.names)
    orders = _orders(d, n_orders, rng)
    subsets = {frozenset(order[:k]) for order in orders for k in range(1, d + 1)} if orders else _subsets(d)
    spread = {u: squares(u) for u in subsets}
    count = len(spread[frozenset(range(d))])

    def effects(rows: Indices | slice) -> tuple[Vector, float]:
        costs = {u: float(values[rows].mean()) for u, values in spread.items()} | {frozenset(): 0.0}
        total = costs[frozenset(range(d))]
        found = _of_orders(costs, orders, d) if orders else _of_subsets(costs, d)
        return found / total if total > 0 else np.zeros(d), total

    found, variance = effects(slice(None))
    resampled = np.array([effects(rng.integers(0, count, count))[0] for _ in range(_RESAMPLES)])
    tail = (1 - level) / 2
    ends = found + np.quantile(resampled - found, [tail, 1 - tail], axis=0)
    return ShapleyEffects(of.names, found, ends.T, variance, level)


class _Pairs:
    """Halves of squared differences of a function between points that agree in all inputs but some."""

    def __init__(self, f: Callable[[Matrix], Vector], copula: GaussianCopula, shares: Matrix) -> None:
        d = len(copula.inputs)
        self.f, self.copula = f, copula
        normal = special.ndtri(np.clip(shares, 1e-16, 1 - 1e-16))
        self.scores = normal[:, :d] @ np.linalg.cholesky(copula.correlation).T
        self.own = normal[:, d:]
        self.values = f(self.points(self.scores))

    def points(self, scores: Matrix) -> Matrix:
        """Return the inputs that have some normal scores."""
        return quantiles(self.copula.inputs, special.ndtr(scores))

    def __call__(self, u: Subset) -> Vector:
        moved = sorted(u)
        kept = [k for k in range(len(self.copula.inputs)) if k not in u]
        R = self.copula.correlation
        scores = self.scores.copy()
        slopes = linalg.solve(R[np.ix_(kept, kept)], R[np.ix_(kept, moved)], assume_a="pos") if kept else np.zeros((0, len(u)))
        rest = R[np.ix_(moved, moved)] - R[np.ix_(moved, kept)] @ slopes
        scores[:, moved] = self.scores[:, kept] @ slopes + self.own[:, moved] @ np.linalg.cholesky(rest).T
        return np.asarray((self.values - self.f(self.points(scores))) ** 2 / 2)


def _of_neighbours(points: Matrix, order: Matrix, values: Vector, u: Subset) -> Vector:
    """Return for each draw the variance of the function over those that are nearest in all inputs but u.

    Of draws that are equally near, as in columns of few values, others are taken for each one, by small random numbers `order`.
    """
    kept = [k for k in range(points.shape[1]) if k not in u]
    if not kept:
        return np.asarray((values - values.mean()) ** 2 * len(values) / (len(values) - 1))
    spread = points[:, kept].std(axis=0)
    scaled = points[:, kept] / np.where(spread > 0, spread, 1.0) + order[:, kept]
    near = cKDTree(scaled).query(scaled, _NEAREST)[1]
    return np.asarray(values[near].var(axis=1, ddof=1))


def _checked_draws(draws: ArrayLike) -> Matrix:
    points = np.asarray(draws, dtype=np.float64)
    if points.ndim != 2 or len(points) < 2 * _NEAREST or not np.isfinite(points).all():
        raise ValueError(
            f"draws: expected finite numbers of shape (m, d) with {2 * _NEAREST} rows at least, got shape {points.shape}"
        )
    return points


def _orders(d: int, count: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return random orders of many inputs, each with its reverse; none for few, of which all orders are taken."""
    if d <= _ALL_ORDERS:
        return []
    half = [tuple(int(k) for k in rng.permutation(d)) for _ in range(-(-count // 2))]
    return half + [order[::-1] for order in half]


def _subsets(d: int) -> Iterable[Subset]:
    return (frozenset(k for k in range(d) if bits >> k & 1) for bits in range(1, 2**d))


def _of_subsets(costs: dict[Subset, float], d: int) -> Vector:
    """Return the effects by weights of subsets: |u|! (d - 1 - |u|)! / d! of all orders have exactly u before j."""
    found = np.zeros(d)
    for u, cost in costs.items():
        for j in range(d):
            if j not in u:
                found[j] += (costs[u | {j}] - cost) / (d * special.comb(d - 1, len(u)))
    return found


def _of_orders(costs: dict[Subset, float], orders: Sequence[tuple[int, ...]], d: int) -> Vector:
    found = np.zeros(d)
    for order in orders:
        for k, j in enumerate(order):
            found[j] += (costs[frozenset(order[: k + 1])] - costs[frozenset(order[:k])]) / len(orders)
    return found

"""The maximum of an acquisition function over a space: many points at once, ascent from the best, neighbours at the end."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, minimize

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.design.acquisition import Acquisition
from kernsel.design.feasibility import Feasibility
from kernsel.design.first_points import sobol
from kernsel.design.space import Space

__all__ = ["Objective", "ascended", "at_best_neighbour", "best_point"]

_POINTS = 512  # where an ascent may begin
_STARTS = 8
_AROUND = 64  # further points around the best data
_MOST_ITERATIONS = 60
_ROUGH, _FINE = 1e-3, 1e-7  # relative changes that end the ascent from all starts, and that from the best of its ends
_ROUNDS = 50  # steps to a neighbour
_TINY = np.finfo(float).tiny


class Objective:
    """An acquisition as a function that can be climbed from anywhere: the logarithm of positive ones, and of feasibility."""

    def __init__(self, acquisition: Acquisition | None, feasibility: Feasibility | None) -> None:
        self._acquisition, self._feasibility = acquisition, feasibility

    def unit(self, values: Vector) -> float:
        """Return the unit of differences that matter, given values at many points: one for logarithms, or their spread."""
        acquisition = self._acquisition
        if acquisition is None or acquisition.is_logarithm or acquisition.is_positive:
            return 1.0
        return float(np.std(values)) or 1.0

    def evaluate(self, Z: Matrix, gradient: bool) -> tuple[Vector, Matrix | None]:
        """Return the values at points, shape (m,), and, if `gradient`, their derivatives in the points, (m, d)."""
        total = np.zeros(len(Z))
        slopes = np.zeros_like(Z) if gradient else None
        for part in (self._acquisition, self._feasibility):
            if part is None:
                continue
            value, of_part = part.evaluate(Z, gradient)
            if isinstance(part, Acquisition) and part.is_positive and not part.is_logarithm:
                value = np.maximum(value, _TINY)
                of_part = None if of_part is None else of_part / value[:, None]
                value = np.log(value)
            total = total + value
            if slopes is not None and of_part is not None:
                slopes = slopes + of_part
        return total, slopes


def best_point(objective: Objective, space: Space, good: Matrix, rng: np.random.RandomState) -> Vector:
    """Return the point of the space where the objective is largest, shape (d,).

    Parameters
    ----------
    objective : Objective
    space : Space
    good : ndarray of shape (m, d)
        Points where the function is known to be good, around which is looked more closely.
    rng : RandomState
    """
    points = space.from_unit(sobol(space.d, _POINTS, rng))
    if len(good):
        steps = rng.standard_normal((_AROUND, space.d)) * space.spread * 10.0 ** rng.uniform(-3, -1, (_AROUND, 1))
        points = np.vstack([points, space.rounded(np.resize(good, (_AROUND, space.d)) + steps)])
    values = objective.evaluate(points, False)[0]
    starts = _starts(points, values, space)
    unit = objective.unit(values)
    ends = ascended(objective, space, starts, unit, _ROUGH, free=space.integers)
    ends = np.vstack([space.rounded(ends), starts])
    x: Vector = ends[np.argmax(objective.evaluate(ends, False)[0])]
    x = ascended(objective, space, x[None], unit, _FINE)[0]
    return at_best_neighbour(objective, space, x, unit) if len(space.discrete) else x


def _starts(points: Matrix, values: Vector, space: Space) -> Matrix:
    """Return the best point of each of some parts of the points, and that of each combination of categories."""
    parts = [np.arange(k, len(points), _STARTS) for k in range(_STARTS)]
    chosen = [int(part[np.argmax(values[part])]) for part in parts]
    if space.values:
        for columns, one in space.combinations():
            of_one = np.flatnonzero((points[:, columns] == one).all(axis=1))
            if len(of_one):
                chosen.append(int(of_one[np.argmax(values[of_one])]))
    different = np.unique(chosen)
    finite = np.isfinite(values[different])  # a probability may be zero
    return points[different[finite]] if finite.any() else points[different[:1]]


def ascended(
    objective: Objective, space: Space, starts: Matrix, unit: float, tolerance: float, free: Indices | None = None
) -> Matrix:
    """Return where ascents from some points end, shape (m, d): one search of all together, each call of which sees all.

    Discrete columns stay, but for those that are `free`. The objective is divided by `unit`.
    """
    columns = space.continuous if free is None else np.union1d(space.continuous, free).astype(np.intp)
    if not len(columns):
        return starts
    low, spread = space.lower[columns], space.spread[columns]
    shape = len(starts), len(columns)

    def placed(t: Vector) -> Matrix:
        Z = starts.copy()
        Z[:, columns] = np.clip(low + t.reshape(shape) * spread, low, space.upper[columns])
        return Z

    def descend(t: Vector) -> tuple[float, Vector]:
        value, slopes = objective.evaluate(placed(t), True)
        assert slopes is not None
        return -float(value.sum()) / unit, -np.ravel(slopes[:, columns] * spread) / unit

    ends = (space.upper[columns] - low) / spread
    found = minimize(
        descend,
        np.ravel((starts[:, columns] - low) / spread),
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(np.zeros(len(starts) * len(columns)), np.tile(ends, len(starts))),
        options={"maxiter": _MOST_ITERATIONS, "maxfun": 2 * _MOST_ITERATIONS, "ftol": tolerance},
    )
    return placed(found.x)


def at_best_neighbour(objective: Objective, space: Space, x: Vector, unit: float) -> Vector:
    """Return the end of steps to the best neighbour in the discrete columns, with an ascent in the others after each."""
    value = objective.evaluate(x[None], False)[0][0]
    for _ in range(_ROUNDS):
        near = space.neighbours(x)
        if not len(near):
            break
        near = ascended(objective, space, near, unit, _ROUGH)
        values = objective.evaluate(near, False)[0]
        best = int(np.argmax(values))
        if not values[best] > value:
            break
        x, value = near[best], values[best]
    end: Vector = ascended(objective, space, x[None], unit, _FINE)[0]
    return end

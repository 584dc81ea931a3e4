"""Searches by an optimizer that the caller gives, in scikit-learn's calling convention."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Vector

__all__ = ["Optimizer", "minimize_by", "own_optimizer"]

Optimizer = Callable[..., tuple[ArrayLike, float]]  # f(objective, x, bounds=bounds) -> x, value


def minimize_by(
    optimizer: Optimizer, evaluate: Callable[[Vector, bool], tuple[float, Vector]], starts: list[Vector], bounds: Vector
) -> tuple[Vector, int, Vector]:
    """Minimize from each start; return the best x, the number of evaluations, and the value reached from each start."""
    count = 0

    def objective(x: Vector, eval_gradient: bool = True) -> float | tuple[float, Vector]:
        nonlocal count
        count += 1
        x = np.asarray(x, dtype=np.float64)
        try:
            value, gradient = evaluate(x, eval_gradient)
        except (np.linalg.LinAlgError, ValueError):
            value, gradient = np.inf, np.zeros(len(x))
        return (value, gradient) if eval_gradient else value

    found = []
    for start in starts:
        x, value = optimizer(objective, start, bounds=bounds)
        found.append((float(value), np.asarray(x, dtype=np.float64)))
    best = min(found, key=lambda pair: pair[0])[1]
    return np.clip(best, bounds[:, 0], bounds[:, 1]), count, np.array([value for value, _ in found])


def own_optimizer(optimizer: Optimizer, search: _core.Search, n_restarts: int) -> _core.Found:
    """Run a search by the caller's optimizer, from the first of its starts and from the `n_restarts` random ones."""
    lower, upper = search.bounds
    starts = search.starts
    random = starts[len(starts) - n_restarts :]

    criterion_of: dict[float, float] = {}  # the criterion for each value of the objective that is minimized

    def evaluate(x: Vector, gradient: bool) -> tuple[float, Vector]:
        trial = search.evaluate(x.tolist(), int(gradient))
        criterion_of[trial["value"]] = trial["criterion"]
        return trial["value"], trial["gradient"]

    if not len(lower):
        return {**search.run(), "interrupt": None}
    best, count, values = minimize_by(optimizer, evaluate, [starts[0], *random], np.column_stack([lower, upper]))
    of_starts = np.array([criterion_of.get(value, np.nan) for value in values])
    found = search.finish(best.tolist())
    return found | {"evaluations": count + found["evaluations"], "of_starts": of_starts, "interrupt": None}

"""Searches for criteria without a curvature of their own: L-BFGS-B, or an optimizer of the caller's."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from kernsel import _core

__all__ = ["LBFGSB", "own_optimizer"]

Vector = NDArray[np.float64]


class _StoppedError(Exception):
    """Ends a search from within."""


class LBFGSB:
    """SciPy's L-BFGS-B from several starts, the best one to the end; on some of the points first, if `some` is given.

    Criteria that are positive are minimized by their logarithm, which has no unit. Others that have the unit of y, or of its
    square (`has_unit`), are divided by what they are where a descent begins, since tolerances are for numbers near one. Where a
    criterion cannot be evaluated, the objective is far above all that was seen: the line search then takes a shorter step.

    Descents end where steps gain less than a share of the value, `coarse` or for the last one `fine`. That begins at the best,
    on all points, of so many `contenders`: where the two best descents on some of them ended, and the first start.
    """

    def __init__(
        self,
        every: _core.Search,
        some: _core.Search | None,
        bounds: Vector,
        positive: bool,
        budget: Any,
        workspace: _core.Workspace,
        *,
        coarse: float = 1e-5,
        fine: float = 1e-10,
        contenders: int = 3,
        has_unit: bool = False,
    ) -> None:
        self.every = every
        self.some = some
        self.bounds = bounds
        self.positive = positive
        self.budget = budget
        self.workspace = workspace
        self.coarse = coarse
        self.fine = fine
        self.contenders = contenders
        self.has_unit = has_unit
        self.unit = 1.0  # of the descent that is under way
        self.counts = {True: 0, False: 0}  # of all points, of some
        self.best: dict[str, Any] = {"value": np.inf}
        self.best_of_some: dict[str, Any] = {"value": np.inf}
        self.failure: Exception | None = None
        self.ended = "converged"
        self.interrupt: BaseException | None = None
        self.until = time.perf_counter() + budget.seconds
        # As the best descent has seen it that was long enough to.
        self.inverse_curvature: Vector | None = None
        self.curvature_of = np.inf

    def run(self, starts: list[Vector], coordinates: Vector | None = None) -> dict[str, Any]:
        """Return the best place, as the core's own search does.

        With `coordinates`, a square matrix T, there is one descent on all points, in u with x = start + T u: for T T' close to
        the inverse of the curvature, the first step is that of Newton's method.
        """
        reached: list[tuple[float, Vector]] = []
        self._run(starts, reached, coordinates)
        best = self.best
        if not np.isfinite(best["value"]) and np.isfinite(self.best_of_some["value"]) and self.ended != "converged":
            best = {"x": self.best_of_some["x"], "value": np.inf}  # it ended before it came to all points
        elif not np.isfinite(best["value"]):
            if self.interrupt is not None:
                raise self.interrupt
            raise self.failure or ValueError("criterion: it cannot be evaluated at any start")
        return best | {
            "evaluations": self.counts[True],
            "evaluations_of_some": self.counts[False],
            "of_starts": np.array([value for value, _ in reached]),
            "ended": self.ended,
            "interrupt": self.interrupt,
        }

    def _run(self, starts: list[Vector], reached: list[tuple[float, Vector]], coordinates: Vector | None) -> None:
        first = self.every if self.some is None else self.some
        try:
            if coordinates is not None:
                reached.append(self._descend(self.every, starts[0], self.fine, 200, coordinates))
                place = reached[0][1]
                if np.abs(place[:, None] - self.bounds).min() < 1e-2:  # of steps along them that search knew nothing
                    self._descend(self.every, place, self.fine, 200)
                return
            for start in starts:
                reached.append(self._descend(first, start, self.coarse, 60))
            reached.sort(key=lambda pair: pair[0])
            if np.isfinite(reached[0][0]):
                candidates = [reached[0][1]]
                if self.some is not None and self.contenders > 1:
                    tried = [reached[0][1], reached[min(1, len(reached) - 1)][1], starts[0]][: self.contenders]
                    values = [self._evaluate(self.every, x)["value"] for x in tried]
                    candidates = [tried[int(np.argmin(values))]]
                self._descend(self.every, candidates[0], self.fine, 200)
        except _StoppedError:
            pass
        except KeyboardInterrupt as interrupt:
            self.ended, self.interrupt = "interrupted", interrupt

    def _descend(
        self, search: _core.Search, start: Vector, tolerance: float, most: int, coordinates: Vector | None = None
    ) -> tuple[float, Vector]:
        lowest, place = np.inf, start
        self.unit = 1.0
        T = np.eye(len(start)) if coordinates is None else coordinates

        def objective(u: Vector) -> tuple[float, Vector]:
            nonlocal lowest, place
            x = u if coordinates is None else start + T @ u
            outside = coordinates is not None and bool(np.any((x < self.bounds[:, 0]) | (x > self.bounds[:, 1])))
            trial: dict[str, Any] = {"value": np.inf} if outside else self._evaluate(search, x)
            value = trial["value"]
            if value < lowest:
                lowest, place = value, x.copy()
            if not np.isfinite(value):
                seen = self._measure(lowest) if np.isfinite(lowest) else 0.0
                return seen + 10 * (abs(seen) + 1), np.zeros(len(x))
            slope: Vector = trial["gradient"] / (value if self.positive and value > 0 else self.unit)
            return self._measure(value), slope if coordinates is None else T.T @ slope

        # Far bounds in every coordinate make the first step as long as the curvature says.
        origin, bounds = (start, self.bounds) if coordinates is None else (0 * start, np.tile([-8.0, 8.0], (len(start), 1)))
        objective(origin)
        if self.has_unit and np.isfinite(lowest) and lowest:
            self.unit = abs(lowest)
        if np.isfinite(lowest):
            found = minimize(
                objective,
                origin,
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options={"maxiter": most, "ftol": tolerance, "gtol": 1e-8},
            )
            if found.nit >= len(start) and lowest < self.curvature_of:
                self.inverse_curvature = T @ found.hess_inv.todense() @ T.T
                self.curvature_of = lowest
        return lowest, place

    def _measure(self, value: float) -> float:
        return float(np.log(value)) if self.positive and value > 0 else value / self.unit

    def _evaluate(self, search: _core.Search, x: Vector) -> dict[str, Any]:
        of_all = search is self.every
        try:
            trial = search.evaluate(x.tolist(), 1, self.workspace)
        except (np.linalg.LinAlgError, ValueError) as error:  # not positive definite here, or overflowing
            self.failure = self.failure or error
            trial = {"x": x, "value": np.inf, "gradient": np.zeros(len(x))}
        self.counts[of_all] += 1
        if of_all and trial["value"] < self.best["value"]:
            self.best = trial
        elif not of_all and trial["value"] < self.best_of_some["value"]:
            self.best_of_some = trial
        evaluations = self.counts[True] + self.counts[False]
        best = self.best["value"] if of_all else self.best_of_some["value"]
        if self.budget.progress is not None and not self.budget.progress(evaluations, 0, best):
            self.ended = "stopped"
        elif evaluations >= self.budget.evaluations:
            self.ended = "evaluations"
        elif time.perf_counter() > self.until:
            self.ended = "seconds"
        if self.ended != "converged":
            raise _StoppedError
        return trial


def own_optimizer(
    optimizer: Callable[..., Any], search: _core.Search, starts: list[Vector], bounds: Vector, workspace: _core.Workspace
) -> dict[str, Any]:
    """Return the best of what an optimizer of the caller's finds from each start."""
    count = 0
    lowest: dict[str, Any] = {"value": np.inf}  # of those with a gradient

    def objective(x: Any, eval_gradient: bool = True) -> Any:
        nonlocal count, lowest
        count += 1
        x = np.asarray(x, dtype=np.float64)
        try:
            trial = search.evaluate(x.tolist(), 1 if eval_gradient else 0, workspace)
        except (np.linalg.LinAlgError, ValueError):
            trial = {"value": np.inf, "gradient": np.zeros(len(x))}
        if eval_gradient and trial["value"] < lowest["value"]:
            lowest = trial
        return (trial["value"], trial["gradient"]) if eval_gradient else trial["value"]

    found = []
    for start in starts:
        x, value = optimizer(objective, start, bounds=bounds)
        found.append((float(value), np.asarray(x, dtype=np.float64)))
    best = min(found, key=lambda pair: pair[0])[1]
    best = np.clip(best, bounds[:, 0], bounds[:, 1])
    if not np.array_equal(best, lowest.get("x", ())):  # which most optimizers return
        lowest = search.evaluate(best.tolist(), 1, workspace)
        count += 1
    return lowest | {"evaluations": count, "of_starts": np.array([value for value, _ in found])}

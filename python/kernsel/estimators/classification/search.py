"""The search for the hyperparameters of a classifier's kernel, by the evidence or by leave-one-out probabilities."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernsel import _core
from kernsel._base.annotations import Indices, Seed, Vector
from kernsel._data.together import repeats_in
from kernsel._search import Budget, generator_of
from kernsel._search.layout import Layout, has_values
from kernsel._search.own_optimizer import Optimizer, minimize_by
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data

__all__ = [
    "Choice",
    "Model",
    "Objective",
    "Outcome",
    "choose_kernel",
    "remarks_on",
    "require_bounds_for",
    "some_of_each",
]

_FEW, _SOME = 200, 400  # sizes of the subsets on which a search begins; each is used if there are over 1.5 times as many points
_RARE = 40  # the least number of points of a class in a subset, if the class has as many
_KEPT = 300  # with more points, an interrupted search returns no result, since the fit would take seconds
_RANDOM_STARTS = 1
_COARSE, _FINE = 0.02, 1e-9  # tolerances of the criterion (in nats) for descents from all starts, and for the best one


@dataclass(frozen=True)
class Outcome:
    """The value of a criterion for one kernel matrix.

    Attributes
    ----------
    value : float
        The criterion; larger is better.
    adjoint : ndarray of shape (n, n) or None
        The derivative of the criterion with respect to the kernel matrix, if it was asked for.
    mode : ndarray
        The latent values, from which iterations for a similar matrix start.
    """

    value: float
    adjoint: Vector | None
    mode: Vector


class Model(Protocol):
    """Labels, their likelihood, and a criterion by which a kernel is chosen."""

    def evaluate(self, K: Vector, mode: Vector | None, gradient: bool) -> Outcome:
        """Return the criterion for a kernel matrix, its adjoint if asked for, and the mode."""

    def some(self, rows: NDArray[np.intp]) -> Model:
        """Return the model of the points with these indices."""


class Objective:
    """Minus the criterion as a function of theta, which the core's optimizer minimizes."""

    def __init__(self, layout: Layout, X: Vector, model: Model) -> None:
        self.layout = layout
        self.X = X
        self.model = model
        self.mode: Vector | None = None
        self.count = 0  # the number of evaluations
        self.theta: Vector | None = None  # the argument of the last evaluation
        self.value, self.gradient = np.nan, np.zeros(0)  # its results; the gradient is empty if it was not asked for
        self.K: Vector = np.empty((len(X), len(X)))

    def evaluate(self, theta: Vector, gradient: bool) -> tuple[float, Vector]:
        """Return minus the criterion at theta, and its gradient if asked for."""
        if self.theta is not None and np.array_equal(self.theta, theta) and (len(self.gradient) or not gradient):
            return self.value, self.gradient
        self.count += 1
        kernel = self.layout.kernel_at(theta)
        outcome = self.model.evaluate(kernel(self.X, out=self.K), self.mode, gradient)
        if not np.isfinite(outcome.value):
            raise ValueError(f"criterion: {outcome.value} at {kernel}")
        self.mode, self.theta, self.value = outcome.mode, theta.copy(), -outcome.value
        self.gradient = np.zeros(0) if outcome.adjoint is None else -kernel.pullback(self.X, outcome.adjoint)
        return self.value, self.gradient

    def __call__(self, theta: Vector, gradient: bool) -> tuple[float, Vector] | None:
        """Return the result of `evaluate`, or None if the criterion cannot be evaluated at theta."""
        try:
            return self.evaluate(theta, gradient)
        except (np.linalg.LinAlgError, ValueError):  # the kernel matrix is not positive definite, or the criterion overflows
            return None


@dataclass(frozen=True)
class Choice:
    """The result and the report of a search.

    Attributes
    ----------
    kernel : Kernel
        The kernel with the hyperparameters for which the criterion is best.
    n_evaluations, n_evaluations_subset : int
        The number of evaluations of the criterion on all points, and on the subsets on which the search began.
    of_starts : ndarray
        The value that the search reached from each start; on the subset, if there was one.
    at_bounds : list of str
        The hyperparameters that ended at one of their bounds.
    ended : {"converged", "evaluations", "seconds", "stopped", "interrupted"}
        Why the search ended.
    seconds : float
        The duration of the search.
    interrupt : BaseException or None
        The exception that interrupted the search.
    mode : ndarray or None
        The latent values of the last evaluation on all points.
    remarks : list of str
        Sentences that a user should read, such as how many rows are repeated.
    """

    kernel: Kernel
    n_evaluations: int = 0
    n_evaluations_subset: int = 0
    of_starts: Vector = field(default_factory=lambda: np.zeros(0))
    at_bounds: list[str] = field(default_factory=list)
    ended: str = "converged"
    seconds: float = 0.0
    interrupt: BaseException | None = None
    mode: Vector | None = field(default=None, repr=False)
    remarks: list[str] = field(default_factory=list)


def choose_kernel(
    kernel: Kernel,
    X: Vector,
    targets: Vector,
    model: Model,
    *,
    names: list[str] | None = None,
    optimizer: str | Optimizer | None = "auto",
    n_restarts: int = 0,
    random_state: Seed = None,
    budget: Budget | None = None,
) -> Choice:
    """Find the hyperparameters for which the model's criterion is largest, by a quasi-Newton method from a few starts.

    Parameters
    ----------
    kernel : Kernel
        Its "auto" parameters are set from the data; its numbers are the first start.
    X : ndarray of shape (n, d)
    targets : ndarray of shape (n,) or (n, classes)
        The targets from which, with the points, "auto" hyperparameters are set.
    model : Model
    names : list of str, optional
        The names of the columns.
    optimizer : {"auto", "l-bfgs-b", "fmin_l_bfgs_b"}, callable or None
        None leaves the kernel as it is. A function is called as by scikit-learn.
    n_restarts : int
        The number of random starts, besides the starts that are derived from the data.
    random_state : int, RandomState or None
    budget : Budget, optional

    Returns
    -------
    choice : Choice
    """
    began = time.perf_counter()
    budget = budget or Budget()
    data = Data(X, targets, None, names, anchors=[])
    layout = Layout(kernel.resolve(data).on_points(X)[0])
    if optimizer is None or not len(layout.theta):
        return Choice(layout.kernel, remarks=remarks_on(X, targets))
    bounds = layout.bounds
    require_bounds_for(n_restarts, bounds)
    rng = None if random_state is None else generator_of(random_state)
    starts = _starts(layout, data, has_values(kernel), rng)
    if callable(optimizer):
        starts = starts[:1]
    if n_restarts:
        starts += list((rng or np.random.default_rng(0)).uniform(bounds[:, 0], bounds[:, 1], (n_restarts, len(bounds))))
    starts = [np.clip(start, bounds[:, 0], bounds[:, 1]) for start in starts]

    every = Objective(layout, X, model)
    if callable(optimizer):
        best, _, of_starts = minimize_by(optimizer, every.evaluate, starts, bounds)
        every.evaluate(best, True)
        ended, interrupt, counts = "converged", None, (every.count, 0)
    else:
        result, counts = _descended(every, starts, targets, rng or np.random.default_rng(0), budget)
        best, of_starts, ended, interrupt = result["x"], result["of_starts"], result["ended"], result["interrupt"]
    theta = np.clip(best, bounds[:, 0], bounds[:, 1])
    near = np.abs(theta[:, None] - bounds).min(axis=1) <= 1e-6 * np.maximum(1.0, np.abs(theta))
    return Choice(
        kernel=layout.kernel_at(theta),
        n_evaluations=counts[0],
        n_evaluations_subset=counts[1],
        of_starts=-of_starts,
        at_bounds=[name for name, here in zip(layout.names(), near, strict=True) if here],
        ended=ended,
        seconds=time.perf_counter() - began,
        interrupt=interrupt,
        mode=every.mode,
        remarks=remarks_on(X, targets),
    )


def require_bounds_for(n_restarts: int, bounds: Vector) -> None:
    """Raise if random starts are asked for and there are hyperparameters without bounds."""
    if n_restarts and not np.isfinite(bounds).all():
        raise ValueError("Multiple optimizer restarts (n_restarts_optimizer>0) requires that all bounds are finite.")


def remarks_on(X: Vector, targets: Vector, groups: Indices | None = None) -> list[str]:
    """Return sentences on the rows that are repeated."""
    repeats = repeats_in(X, targets)
    effect = "each row counts as an independent label"
    if groups is None:
        effect += ", and is predicted from equal rows, too, when it is left out"
    return [f"{repeats}: {effect}."] if repeats.points else []


def _starts(layout: Layout, data: Data, own: bool, rng: np.random.Generator | None) -> list[Vector]:
    """Return the starts: the kernel's own values, if it has any, and points that are derived from the data."""
    shift = 0.0 if rng is None else float(rng.random())
    random = 0 if own else _RANDOM_STARTS
    anchors = layout.anchors(data.anchors or [])
    found = _core.starting_points(anchors, layout.theta.tolist(), data.variance, True, random, shift)
    return [layout.theta, *found] if own else found


def _descended(
    every: Objective, starts: list[Vector], targets: Vector, rng: np.random.Generator, budget: Budget
) -> tuple[_core.Optimum, tuple[int, int]]:
    """Minimize from all starts on a small subset, then from the best point on a larger one, and then on all points.

    Each stage starts with the curvature that the previous one has found, multiplied by the ratio of the numbers of points.
    Return the optimum, and the numbers of evaluations on all points and on subsets.
    """
    n, bounds = len(every.X), every.layout.bounds
    began = time.perf_counter()
    tell = budget.progress
    signed = None if tell is None else lambda evaluations, points, best: tell(evaluations, points, -best)

    def part(size: int) -> Objective | None:
        if n <= 1.5 * size:
            return None
        rows = some_of_each(targets, size, rng)
        return Objective(every.layout, every.X[rows], every.model.some(rows))

    def search(first: Objective, some: Objective | None, places: list[Vector], **how: object) -> _core.Optimum:
        evaluated = sum(objective.count for objective in parts)
        options = {
            "evaluations": max(budget.evaluations - evaluated, 1),
            "seconds": max(budget.seconds - (time.perf_counter() - began), 0.0),
            "coarse": _COARSE,
            "fine": _FINE,
            "contenders": 3,
            "curvature": [],
            "points": len(first.X),
            "progress": signed,
        }
        lower, upper = bounds.T.tolist()
        result = _core.minimize(first, some, lower, upper, [place.tolist() for place in places], options | how)
        if result["interrupt"] is not None and n > _KEPT:
            raise result["interrupt"]
        return result

    parts = [objective for objective in (part(_FEW), part(_SOME)) if objective is not None]
    if len(parts) < 2:
        result = search(every, parts[0] if parts else None, starts)
        return result, (every.count, sum(objective.count for objective in parts))
    result = found = search(parts[0], None, starts, fine=1e-3)
    for smaller, larger in ((parts[0], parts[1]), (parts[1], every)):
        if result["ended"] != "converged" and larger is not every:
            continue
        growth = len(larger.X) / len(smaller.X)
        curvature = [] if result["curvature"] is None else (growth * result["curvature"]).ravel().tolist()
        stopped = result
        more = {"evaluations": 1} if result["ended"] != "converged" else {}
        fine = _FINE if larger is every else 1e-3
        result = search(larger, None, [np.asarray(result["x"])], curvature=curvature, coarse=fine, fine=fine, **more)
        if stopped["ended"] != "converged":
            result["ended"], result["interrupt"] = stopped["ended"], stopped["interrupt"]
    result["of_starts"] = found["of_starts"]
    return result, (every.count, parts[0].count + parts[1].count)


def some_of_each(targets: Vector, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the rows of a stratified random sample of the points, with at least 40 points of each class that has as many."""
    classes = targets.argmax(axis=1) if targets.ndim == 2 else (targets > 0).astype(np.intp)
    rows = []
    for label in np.unique(classes):
        members = np.flatnonzero(classes == label)
        share = max(round(size * len(members) / len(targets)), min(_RARE, len(members)))
        rows.append(rng.permutation(members)[:share])
    return np.sort(np.concatenate(rows))

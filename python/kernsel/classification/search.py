"""The hyperparameters of a classifier's kernel, by the approximate evidence or by leave-one-out probabilities."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernsel import _core
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data
from kernsel.selection.quasi_newton import LBFGSB, own_optimizer
from kernsel.selection.starts import landscape, starting_points
from kernsel.selection.task import Budget, generator_of
from kernsel.selection.unknowns import Layout, has_values

__all__ = ["Choice", "Model", "Objective", "Outcome", "choose_kernel", "resolved"]

Vector = NDArray[np.float64]

_MANY = 600  # points, above which a search begins on some of them
_SOME = 400
_RARE = 40
_RANDOM_STARTS = 1
_STEP = 1e-4  # in theta, of differences where there is no derivative


@dataclass(frozen=True)
class Outcome:
    """A criterion for one kernel matrix.

    Attributes
    ----------
    value : float
        Larger is better.
    adjoint : ndarray of shape (n, n) or None
        Its derivative in the kernel matrix; None if that is not known, or was not asked for.
    state : object
        From which the model finds its way to the solution for a similar matrix.
    """

    value: float
    adjoint: Vector | None
    state: Any


class Model(Protocol):
    """What a kernel is chosen for: labels, their likelihood, and a criterion."""

    def evaluate(self, K: Vector, state: Any, gradient: bool) -> Outcome:
        """Return the criterion for a kernel matrix, its adjoint if it has one, and the state."""

    def some(self, rows: NDArray[np.intp]) -> Model:
        """Return the same for some of the points."""


class Objective:
    """Minus the criterion as a function of theta, in the form that searches of :mod:`kernsel.selection` take."""

    def __init__(self, layout: Layout, X: Vector, model: Model) -> None:
        self.layout = layout
        self.X = X
        self.model = model
        self.state: Any = None

    def evaluate(self, x: list[float], order: int, workspace: Any = None) -> dict[str, Any]:
        """Return minus the criterion at theta, and for order 1 its gradient."""
        del workspace  # for searches of the core
        theta = np.asarray(x, dtype=np.float64)
        kernel = self.layout.kernel_at(theta)
        outcome = self.model.evaluate(np.asarray(kernel(self.X)), self.state, order > 0)
        if not np.isfinite(outcome.value):
            raise ValueError(f"criterion: {outcome.value} at {kernel}")
        self.state = outcome.state
        result: dict[str, Any] = {"x": theta.copy(), "value": -outcome.value}
        if order > 0 and outcome.adjoint is not None:
            result["gradient"] = -kernel.pullback(self.X, outcome.adjoint)
        elif order > 0:
            result["gradient"] = self._differences(theta)
        return result

    def _differences(self, theta: Vector) -> Vector:
        """Return the gradient by central differences, one-sided at a bound."""
        state, bounds = self.state, self.layout.bounds
        gradient = np.empty(len(theta))
        for i in range(len(theta)):
            ends = theta[i] + np.array([-_STEP, _STEP])
            ends = np.clip(ends, *bounds[i]) if bounds[i, 0] <= theta[i] <= bounds[i, 1] else ends
            values = []
            for end in ends:
                moved = theta.copy()
                moved[i] = end
                K = np.asarray(self.layout.kernel_at(moved)(self.X))
                values.append(self.model.evaluate(K, state, False).value)
            gradient[i] = -(values[1] - values[0]) / (ends[1] - ends[0]) if ends[1] > ends[0] else 0.0
        return gradient


@dataclass(frozen=True)
class Choice:
    """What a search has found.

    Attributes
    ----------
    kernel : Kernel
        With its hyperparameters where the criterion is best.
    n_evaluations, n_evaluations_subset : int
        Of the criterion on all points, and on the subset that the search began with.
    of_starts : ndarray
        The criterion that each start led to, on the subset if there was one.
    at_bounds : list of str
        The hyperparameters that ended at one of their bounds.
    ended : {"converged", "evaluations", "seconds", "stopped", "interrupted"}
        Why the search ended.
    seconds : float
    interrupt : BaseException or None
        What interrupted it.
    state : object
        Of the model, at the last evaluation on all points.
    """

    kernel: Kernel
    n_evaluations: int = 0
    n_evaluations_subset: int = 0
    of_starts: Vector = field(default_factory=lambda: np.zeros(0))
    at_bounds: list[str] = field(default_factory=list)
    ended: str = "converged"
    seconds: float = 0.0
    interrupt: BaseException | None = None
    state: Any = field(default=None, repr=False)


def resolved(kernel: Kernel, X: Vector, targets: Vector, names: Any) -> Kernel:
    """Return the kernel with all that is "auto" set from the data."""
    return kernel._resolve(Data(X, targets, None, names))._on_points(X)[0]


def choose_kernel(
    kernel: Kernel,
    X: Vector,
    targets: Vector,
    model: Model,
    *,
    names: Any = None,
    optimizer: Any = "auto",
    n_restarts: int = 0,
    random_state: Any = None,
    budget: Budget | None = None,
) -> Choice:
    """Find the hyperparameters for which the model's criterion is largest, by L-BFGS-B from a few starts.

    Parameters
    ----------
    kernel : Kernel
        What is "auto" in it is set from the data; numbers that it has are the first start.
    X : ndarray of shape (n, d)
    targets : ndarray of shape (n,) or (n, classes)
        What "auto" hyperparameters are set by, besides the points.
    model : Model
    names : list of str, optional
        Of the columns.
    optimizer : {"auto", "l-bfgs-b", "fmin_l_bfgs_b"}, callable or None
        None leaves the kernel as it is. A function is called as scikit-learn calls it.
    n_restarts : int
        Random starts beyond those that are made from the data.
    random_state : int, RandomState or None
    budget : Budget, optional

    Returns
    -------
    choice : Choice
    """
    began = time.perf_counter()
    budget = budget or Budget()
    data = Data(X, targets, None, names, anchors=[])
    layout = Layout(kernel._resolve(data)._on_points(X)[0])
    if optimizer is None or not len(layout.theta):
        return Choice(layout.kernel)
    bounds = layout.bounds
    if n_restarts and not np.isfinite(bounds).all():
        raise ValueError("Multiple optimizer restarts (n_restarts_optimizer>0) requires that all bounds are finite.")
    rng = None if random_state is None else generator_of(random_state)
    starts = _starts(layout, data, has_values(kernel), rng)
    if callable(optimizer):
        starts = starts[:1]
    if n_restarts:
        starts += list((rng or np.random.default_rng(0)).uniform(bounds[:, 0], bounds[:, 1], (n_restarts, len(bounds))))
    starts = [np.clip(start, bounds[:, 0], bounds[:, 1]) for start in starts]

    every: Any = Objective(layout, X, model)
    workspace = _core.Workspace()
    if callable(optimizer):
        result = own_optimizer(optimizer, every, starts, bounds, workspace)
    else:
        some: Any = None
        if len(X) > _MANY:
            rows = _some_of_each(targets, rng or np.random.default_rng(0))
            some = Objective(layout, X[rows], model.some(rows))
        fine, contenders = (1e-10, 3) if len(X) <= _MANY else (1e-8, 1)
        signed = Budget(budget.evaluations, budget.seconds, _signed(budget))
        search = LBFGSB(every, some, bounds, False, signed, workspace, fine=fine, contenders=contenders)
        result = search.run(starts)
    theta = np.clip(result["x"], bounds[:, 0], bounds[:, 1])
    near = np.abs(theta[:, None] - bounds).min(axis=1) <= 1e-6 * np.maximum(1.0, np.abs(theta))
    return Choice(
        kernel=layout.kernel_at(theta),
        n_evaluations=int(result["evaluations"]),
        n_evaluations_subset=int(result.get("evaluations_of_some", 0)),
        of_starts=-np.asarray(result["of_starts"]),
        at_bounds=[name for name, here in zip(layout.names(), near, strict=True) if here],
        ended=result.get("ended", "converged"),
        seconds=time.perf_counter() - began,
        interrupt=result.get("interrupt"),
        state=every.state,
    )


def _starts(layout: Layout, data: Data, own: bool, rng: np.random.Generator | None) -> list[Vector]:
    """Return the kernel's own values, if it has any, and places that the data suggest."""
    shift = 0.0 if rng is None else float(rng.random())
    made = starting_points(landscape(layout, data.anchors or [], True), data.variance, True, _RANDOM_STARTS, shift)
    found = [theta for theta, _ in made]
    return [layout.theta, *found] if own else found


def _some_of_each(targets: Vector, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return rows of some of the points, of each class in proportion, but of rare ones enough to tell them apart."""
    classes = targets.argmax(axis=1) if targets.ndim == 2 else (targets > 0).astype(np.intp)
    rows = []
    for label in np.unique(classes):
        members = np.flatnonzero(classes == label)
        share = max(round(_SOME * len(members) / len(targets)), min(_RARE, len(members)))
        rows.append(rng.permutation(members)[:share])
    return np.sort(np.concatenate(rows))


def _signed(budget: Budget) -> Any:
    tell = budget.progress
    return None if tell is None else lambda evaluations, points, best: tell(evaluations, points, -best)

"""The loop: from data, a kernel and a criterion to the hyperparameters that are best by it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel.blas import with_one_blas_thread
from kernsel.criteria import Criterion, LeaveOneOut, Likelihood
from kernsel.kernels import Kernel
from kernsel.selection.task import Budget, Found, Task, blind
from kernsel.selection.unknowns import Unknowns
from kernsel.trend import Trend

__all__ = ["Selection", "choose", "explained"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Selection:
    """What a search has found.

    Attributes
    ----------
    kernel : Kernel
        With its hyperparameters where the criterion is best.
    noise : float
        The variance of the noise, if it was unknown; otherwise nan.
    jitter : float
        What was added to the diagonal of the kernel matrix throughout, so that it can be factorized.
    criterion : Criterion
        As it was evaluated: with the scale profiled out where that makes the search shorter.
    value : float
        Of that criterion, at the end.
    scale : float
        Of kernel and noise that is not in the kernel, since it has no amplitude to take it up, or one whose bounds do not let
        it; otherwise 1.
    n_evaluations, n_evaluations_subset : int
        Of the criterion on all points, and on the subset that the search began with.
    of_starts : ndarray
        The value that each start led to, on the subset if there was one.
    at_bounds, flat : list of str
        The hyperparameters that ended at one of their bounds, and those that the criterion hardly depends on.
    ended : {"converged", "evaluations", "seconds", "stopped", "interrupted", "undecided"}
        Why the search ended. "undecided": the trend alone explains y, and there was nothing to search.
    seconds : float
    interrupt : BaseException or None
        What interrupted it.
    """

    kernel: Kernel
    noise: float
    jitter: float
    criterion: Criterion
    value: float
    scale: float = 1.0
    n_evaluations: int = 0
    n_evaluations_subset: int = 0
    of_starts: Vector = field(default_factory=lambda: np.zeros(0))
    at_bounds: list[str] = field(default_factory=list)
    flat: list[str] = field(default_factory=list)
    ended: str = "converged"
    seconds: float = 0.0
    interrupt: BaseException | None = None

    def __str__(self) -> str:
        noise = "" if np.isnan(self.noise) else f", noise {self.noise:.4g}"
        counts = f"{self.n_evaluations} evaluations"
        if self.n_evaluations_subset:
            counts += f", {self.n_evaluations_subset} before on a subset"
        starts = ", ".join(f"{value:.6g}" for value in self.of_starts)
        lines = [
            f"{self.kernel}{noise}",
            f"value {self.value:.6g} after {counts}, {self.seconds:.2f} s; ended: {self.ended}",
            f"of the starts: {starts}" if starts else "",
            f"at a bound: {', '.join(self.at_bounds)}" if self.at_bounds else "",
            f"the criterion hardly depends on: {', '.join(self.flat)}" if self.flat else "",
        ]
        return "\n".join(filter(None, lines))


@with_one_blas_thread
def choose(
    criterion: Criterion,
    kernel: Kernel,
    X: Vector,
    y: Vector,
    *,
    noise: Any = 0.0,
    jitter: float | str = "auto",
    trend: Trend = None,
    sample_weight: Vector | None = None,
    names: Any = None,
    optimizer: Any = "auto",
    n_restarts: int = 0,
    random_state: Any = None,
    budget: Budget | None = None,
    profile: bool = True,
) -> Selection:
    """Find the hyperparameters of a kernel, and the noise, for which a criterion is best.

    Parameters
    ----------
    criterion : Criterion
    kernel : Kernel
        What is "auto" in it is set from the data; what is fixed stays.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or (n, m)
    noise : float, ndarray of shape (n,), or "auto"
        Variances, or one to be found for all points.
    jitter : float or "auto"
        Added to the diagonal, besides. "auto" is 4 n^(1/2) times the rounding error of the kernel's own diagonal if there is no
        noise of a known size; ten times as much if nowhere the kernel matrix can be factorized with it.
    trend : None, str, array-like or callable
    sample_weight : ndarray of shape (n,), optional
    names : list of str, optional
        Of the columns.
    optimizer : {"auto", "newton", "l-bfgs-b"} or callable
        "auto": a trust-region Newton method for likelihoods, L-BFGS-B for other criteria. A function is called as
        scikit-learn calls it: f(objective, x, bounds=bounds), with objective(x, eval_gradient=True).
    n_restarts : int
        Starts beyond those that are made from the data.
    random_state : int, RandomState or None
        Moves the quasi-random starts, and picks the points of the subset.
    budget : Budget, optional
    profile : bool
        Take the best factor of kernel and noise together at each place, where there is one, instead of searching for it.

    Returns
    -------
    selection : Selection
    """
    began = time.perf_counter()
    budget = _signed(budget or Budget(), criterion)
    task = Task(criterion, kernel, X, y, noise, jitter, trend, sample_weight, names, optimizer, random_state, profile)
    if explained(y[task.used], task.problem.H[task.used]).all():
        return _undecided(task, began)
    found = task.find(task.working, task.unknowns, task.starts(n_restarts), task.problem, budget, task.subset())
    if task.factors is None or task.too_many(found.values.get("interrupt")):
        return _finish(found, task.unknowns, task.factors, task.working, began)
    if not isinstance(task.working, Likelihood | LeaveOneOut):
        found.values["scale"] = task.scale_of_residuals(found)
    within = _within(found.values, task.unknowns, task.factors)
    if within == np.log(found.values["scale"]) or blind(criterion):
        return _finish(found, task.unknowns, task.factors, task.working, began)
    # The best amplitude is out of its bounds: on from there with one that stays within.
    unknowns, on = task.search_on(found, within, _left(budget, found, began))
    return _finish(on, unknowns, None, criterion, began)


def _left(budget: Budget, found: Found, began: float) -> Budget:
    """Return what a search has left of a budget: one evaluation, if it was stopped."""
    spent = found.values["evaluations"] + found.values.get("evaluations_of_some", 0)
    converged = found.values.get("ended", "converged") == "converged"
    seconds = max(budget.seconds - (time.perf_counter() - began), 0.0)
    return replace(budget, evaluations=max(budget.evaluations - spent, 1) if converged else 1, seconds=seconds)


def _signed(budget: Budget, criterion: Criterion) -> Budget:
    """Return a budget that is told of the criterion, where a search tells of what it minimizes."""
    tell = budget.progress
    if tell is None or not criterion.larger_is_better:
        return budget
    return replace(budget, progress=lambda evaluations, points, best: tell(evaluations, points, -best))


def _within(result: dict[str, Any], unknowns: Unknowns, factors: list[int]) -> float:
    """Return the logarithm of the factor that was profiled out, or of what the bounds of the amplitudes leave of it."""
    theta = unknowns.theta_of(np.asarray(result["x"]))[factors]
    limits = unknowns.layout.bounds[factors]
    lowest, highest = np.max(limits[:, 0] - theta), np.min(limits[:, 1] - theta)
    return float(np.clip(np.log(result["scale"]), lowest, highest)) if lowest <= highest else 0.0


def explained(y: Vector, H: Vector) -> NDArray[np.bool_]:
    """Tell for each output whether the trend alone gives it, to rounding, so that there is nothing to choose a kernel by."""
    y = y.reshape(len(y), -1)
    q = H.shape[1]
    rest = y - (H @ ((H.T @ y) / np.sum(H**2)) if q == 1 else H @ np.linalg.lstsq(H, y, rcond=None)[0]) if q else y
    largest = np.abs(y).max(axis=0, initial=0.0)
    return np.asarray(np.abs(rest).max(axis=0, initial=0.0) <= 16 * np.finfo(float).eps * largest)


def _undecided(task: Task, began: float) -> Selection:
    """Return the kernel as the data's scale has it: no criterion can tell more."""
    return Selection(
        kernel=task.layout.kernel,
        noise=1e4 * task.least if task.unknown_noise else np.nan,
        jitter=task.problem.jitter,
        criterion=task.criterion,
        value=np.nan,
        flat=Unknowns(task.layout, task.unknown_noise, (1.0, 1.0), ()).names(),
        ended="undecided",
        seconds=time.perf_counter() - began,
    )


def _finish(found: Found, unknowns: Unknowns, factors: list[int] | None, criterion: Criterion, began: float) -> Selection:
    result, jitter = found.values, found.jitter
    x = np.asarray(result["x"])
    bounds = unknowns.bounds
    theta = unknowns.theta_of(x)
    noise = float(np.exp(x[-1])) if unknowns.noise else np.nan
    scale = float(result["scale"])
    if factors is not None:
        within = _within(result, unknowns, factors)
        inside = float(np.exp(within))
        theta[factors] += within
        noise *= inside
        jitter *= inside
        scale = 1.0 if within == np.log(scale) else scale / inside
    names = unknowns.names()
    information = result.get("information")
    slopes = np.abs(np.asarray(result.get("gradient", np.zeros(len(x)))))
    flat = (
        []
        if information is None
        else [
            name
            for name, curve, slope in zip(names, np.diag(information), slopes, strict=True)
            if curve < 0.02 and slope < 0.02
        ]
    )
    sign = -1.0 if criterion.larger_is_better else 1.0
    limits = unknowns.layout.bounds
    theta = np.clip(theta, limits[:, 0], limits[:, 1])
    near = np.abs(theta[:, None] - limits).min(axis=1, initial=np.inf) <= 1e-6 * np.maximum(1.0, np.abs(theta))
    at_bounds = [name for name, here in zip(unknowns.layout.names(), near, strict=True) if here]
    if unknowns.noise and np.abs(x[-1] - bounds[-1]).min() <= 1e-6 * max(1.0, abs(x[-1])):
        at_bounds.append("noise")
    return Selection(
        kernel=unknowns.layout.kernel_at(theta),
        noise=noise,
        jitter=jitter,
        criterion=criterion,
        value=sign * float(result["value"]),
        scale=scale,
        n_evaluations=int(result.get("evaluations", 0)),
        n_evaluations_subset=int(result.get("evaluations_of_some", 0)),
        of_starts=sign * np.asarray(result.get("of_starts", np.zeros(0))),
        at_bounds=at_bounds,
        flat=flat,
        ended=result.get("ended", "converged"),
        seconds=time.perf_counter() - began,
        interrupt=result.get("interrupt"),
    )

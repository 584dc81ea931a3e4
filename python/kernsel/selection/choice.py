"""The loop: from data, a kernel and a criterion to the hyperparameters that are best by it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel import _core
from kernsel.criteria import Criterion, Given, LeaveOneOut, Likelihood
from kernsel.kernels import ConstantKernel, Kernel
from kernsel.kernels.automatic import Data
from kernsel.selection.quasi_newton import LBFGSB, own_optimizer
from kernsel.selection.starts import landscape, starting_points
from kernsel.selection.unknowns import Layout, Unknowns, has_values
from kernsel.trend import Trend, trend_matrix

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
        Added to the diagonal, besides. "auto" is n times the rounding error of the kernel's own diagonal if there is no
        noise of a known size; ten times as much if nowhere the kernel matrix can be factorized with it.
    trend : None, str, array-like or callable
    sample_weight : ndarray of shape (n,), optional
    names : list of str, optional
        Of the columns.
    optimizer : {"auto", "newton", "l-bfgs-b"} or callable
        "auto": a trust-region Newton method for likelihoods, L-BFGS-B for other criteria and for kernels made of functions of
        the user's, whose curvature is not known. A function is called as
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
    budget = budget or Budget()
    anchors: list[Any] = []
    resolved = kernel._resolve(Data(X, y, sample_weight, names, anchors=anchors))
    resolved = resolved._on_points(X)[0]
    used = np.arange(len(y)) if sample_weight is None else np.flatnonzero(sample_weight)
    H = np.zeros((len(y), 0)) if trend is None else _spread(trend_matrix(trend, X, used), used, len(y))
    criterion.require_trend(H[used], Given(X, y, used, False))
    layout = Layout(resolved)
    layout.has_values = has_values(kernel)
    land = landscape(layout, anchors, isinstance(noise, str))
    unknown_noise = isinstance(noise, str)
    fixed = np.zeros(0) if unknown_noise else np.atleast_1d(np.asarray(noise, dtype=np.float64))
    quiet = not fixed.any()

    if _explained(y[used], H[used]):
        return _undecided(criterion, resolved, X[used], unknown_noise, began)

    # One amplitude stays as it is, if the best factor of kernel and noise together is known at each place.
    factors = layout.amplitudes() if quiet and not callable(optimizer) else None
    profiled = None if factors is None else criterion.without_scale()
    held = (factors[0],) if factors is not None and profiled is not None else ()
    working = criterion if profiled is None or not held else profiled

    size = float(np.mean(resolved.diag(X[used[:1000]]))) - float(np.exp(layout.theta[land.rule == "noise"]).sum())
    size = max(size, np.finfo(float).tiny)
    variance = float(np.exp(layout.theta[held[0]])) if held else Data(X, y, sample_weight).variance
    least = max(len(used) * np.finfo(float).eps, 1e-14)
    added = (least * size if quiet else 0.0) if isinstance(jitter, str) else float(jitter)
    unknowns = Unknowns(layout, unknown_noise, (max(least * size, 1e-14 * variance), 1e2 * max(variance, size)), held)
    base = np.ones(len(y)) if unknown_noise else np.broadcast_to(fixed, (len(y),)).astype(np.float64)
    if sample_weight is not None:
        base = np.divide(base, sample_weight, where=sample_weight > 0, out=np.zeros(len(y)))
    uneven = sample_weight is not None or len(fixed) > 1
    problem = _Problem(X, y, base, sample_weight, H, uneven, added)

    noisy = land.rule == "noise"
    reach = unknowns.reach(noisy)
    generator = None if random_state is None else _generator(random_state)
    starts = _starts(unknowns, land, variance, n_restarts, generator, plain=callable(optimizer))
    subset = None
    if len(used) > _MANY and criterion.of_any_points and not callable(optimizer):
        picked = (generator or np.random.default_rng(0)).permutation(len(used))[:_SOME]
        subset = used[np.sort(picked)]
        if H.shape[1] and np.linalg.matrix_rank(H[subset]) < H.shape[1]:
            subset = None
    newton = isinstance(working, Likelihood) and optimizer in ("auto", "newton")
    newton = newton and (_has_tangents(resolved, X[used[:2]]) or _has_tangents(resolved, X[used]))

    result: dict[str, Any] = {}
    for attempt in range(6):
        every = problem.search(working, unknowns, reach, used)
        some = None if subset is None else problem.search(working, unknowns, reach, subset)
        workspace = _core.Workspace()
        try:
            if not len(reach):
                result = every.evaluate([], 0, workspace) | {"evaluations": 1}
            elif callable(optimizer):
                result = own_optimizer(optimizer, every, starts, unknowns.bounds, workspace)
            elif newton:
                result = every.run(
                    some,
                    [start.tolist() for start in starts],
                    budget.evaluations,
                    budget.seconds,
                    0.1,
                    _fine(len(used)),
                    budget.progress,
                    workspace,
                )
            else:
                result = LBFGSB(every, some, unknowns.bounds, working.positive, budget, workspace).run(starts)
            break
        except np.linalg.LinAlgError:
            if attempt == 5 or not isinstance(jitter, str) or not (quiet or unknown_noise):
                raise
            problem = replace(problem, jitter=10 * max(problem.jitter, least * size))
    if held and not isinstance(working, Likelihood | LeaveOneOut):
        calibration = problem.search(LeaveOneOut(profiled=True), unknowns, reach, used)
        result["scale"] = calibration.evaluate(list(result["x"]), 0, _core.Workspace())["scale"]
    return _finish(result, unknowns, factors if held else None, working, problem.jitter, began)


def _has_tangents(kernel: Kernel, X: Vector) -> bool:
    """Tell whether the curvature of a likelihood can be computed: not for kernels that are functions of the user's."""
    try:
        _core.tangents((kernel + ConstantKernel(1.0))._build(), X, np.ones(len(X)))
    except ValueError:
        return False
    return True


def _explained(y: Vector, H: Vector) -> bool:
    """Tell whether the trend alone gives y, to rounding, so that there is nothing to choose a kernel by."""
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

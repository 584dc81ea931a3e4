"""The loop: from data, a kernel and a criterion to the hyperparameters that are best by it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel import _core
from kernsel.criteria import Criterion, Given, LeaveOneOut, Likelihood
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data
from kernsel.selection.quasi_newton import LBFGSB, own_optimizer
from kernsel.selection.starts import landscape, starting_points
from kernsel.selection.unknowns import Layout, Unknowns, has_values
from kernsel.trend import Trend, trend_matrix

__all__ = ["Budget", "Selection", "choose", "explained"]

Vector = NDArray[np.float64]

_MANY = 600  # points, above which a search begins on some of them
_SOME = 400
_RANDOM_STARTS = 2


@dataclass(frozen=True)
class Budget:
    """How long a search may take, and who watches it: a function of evaluations, points and best value so far."""

    evaluations: int = 1000
    seconds: float = np.inf
    progress: Callable[[int, int, float], bool] | None = None


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


@dataclass(frozen=True)
class _Problem:
    """All that a criterion is evaluated with, of all points."""

    X: Vector
    y: Vector
    noise: Vector  # of each point; times the unknown factor
    weights: Vector | None
    H: Vector
    uneven: bool
    jitter: float

    def search(self, criterion: Criterion, unknowns: Unknowns, reach: list[float], rows: NDArray[np.intp]) -> _core.Search:
        """Return the criterion of some of the points as a function of the unknowns."""
        given = Given(self.X, self.y, rows, self.uneven)
        has_prior = unknowns.layout.has_priors and criterion.adds_prior
        return _core.Search(
            criterion.core(given),
            criterion.larger_is_better,
            unknowns.kernel._build(),
            self.X[rows],
            self.y[rows],
            self.noise[rows].tolist(),
            self.jitter,
            self.H[rows],
            [] if self.weights is None else self.weights[rows].tolist(),
            unknowns.bounds.tolist(),
            unknowns.places(),
            len(unknowns.free) if unknowns.noise else -1,
            reach,
            unknowns.maker(),
            unknowns.prior() if has_prior else None,
        )


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
    unknown_noise = isinstance(noise, str)
    fixed = np.zeros(0) if unknown_noise else np.atleast_1d(np.asarray(noise, dtype=np.float64))
    quiet = not fixed.any()
    data = Data(X, y, sample_weight, names, anchors=[])
    resolved = kernel._resolve(data)._on_points(X)[0]
    if _blind(criterion) and quiet and Layout(resolved).amplitudes() is None:
        # Kernel and noise are in a unit of their own, which y has no part in.
        data = Data(X, _without_unit(y), sample_weight, names, anchors=[])
        resolved = kernel._resolve(data)._on_points(X)[0]
    used = np.arange(len(y)) if sample_weight is None else np.flatnonzero(sample_weight)
    H = np.zeros((len(y), 0)) if trend is None else _spread(trend_matrix(trend, X, used), used, len(y))
    criterion.require_trend(H[used], Given(X, y, used, False))
    layout = Layout(resolved)
    layout.has_values = has_values(kernel)
    land = landscape(layout, data.anchors or [], unknown_noise)

    if explained(y[used], H[used]).all():
        return _undecided(criterion, resolved, X[used], unknown_noise, began)

    # One amplitude stays as it is, if the best factor of kernel and noise together is known at each place.
    factors = layout.amplitudes() if profile and quiet and not callable(optimizer) else None
    profiled = None if factors is None else criterion.without_scale()
    held = (factors[0],) if factors is not None and profiled is not None else ()
    working = criterion if profiled is None or not held else profiled

    size = float(np.mean(resolved.diag(X[used[:1000]]))) - float(np.exp(layout.theta[land.rule == "noise"]).sum())
    size = max(size, np.finfo(float).tiny)
    variance = float(np.exp(layout.theta[held[0]])) if held else data.variance
    least = max(len(used) * np.finfo(float).eps, 1e-14)
    added = (least * size if quiet else 0.0) if isinstance(jitter, str) else float(jitter)
    noise_bounds = (max(least * size, 1e-14 * variance), 1e2 * max(variance, size))
    unknowns = Unknowns(layout, unknown_noise, noise_bounds, held)
    base = np.ones(len(y)) if unknown_noise else np.broadcast_to(fixed, (len(y),)).astype(np.float64)
    if sample_weight is not None:
        base = np.divide(base, sample_weight, where=sample_weight > 0, out=np.zeros(len(y)))
    uneven = sample_weight is not None or len(fixed) > 1
    problem = _Problem(X, y, base, sample_weight, H, uneven, added)

    noisy = land.rule == "noise"
    generator = None if random_state is None else _generator(random_state)
    starts = _starts(unknowns, land, variance, n_restarts, generator, plain=callable(optimizer))
    subset = None
    if len(used) > _MANY and criterion.of_any_points and not callable(optimizer):
        picked = (generator or np.random.default_rng(0)).permutation(len(used))[:_SOME]
        subset = used[np.sort(picked)]
        if H.shape[1] and np.linalg.matrix_rank(H[subset]) < H.shape[1]:
            subset = None

    def find(
        working: Criterion,
        unknowns: Unknowns,
        starts: list[Vector],
        some: NDArray[np.intp] | None,
        problem: _Problem,
        budget: Budget,
    ) -> tuple[dict[str, Any], float]:
        """Return what a search finds, and the jitter that it took."""
        reach = unknowns.reach(noisy)
        newton = isinstance(working, Likelihood) and optimizer in ("auto", "newton") and resolved._build().adjustable
        for attempt in range(6):
            every = problem.search(working, unknowns, reach, used)
            part = None if some is None else problem.search(working, unknowns, reach, some)
            workspace = _core.Workspace()
            try:
                if not len(reach):
                    result = every.evaluate([], 0, workspace) | {"evaluations": 1}
                elif callable(optimizer):
                    result = own_optimizer(optimizer, every, starts, unknowns.bounds, workspace)
                elif newton:
                    points = [start.tolist() for start in starts]
                    fine = _fine(len(used))
                    limits = (budget.evaluations, budget.seconds, 0.1, fine, budget.progress)
                    result = every.run(part, points, *limits, workspace)
                else:
                    result = LBFGSB(every, part, unknowns.bounds, working.positive, budget, workspace).run(starts)
                if not np.isfinite(result["value"]):  # the search ended before it came to all points
                    count = result["evaluations"] + 1
                    result = result | every.evaluate(list(result["x"]), 1, workspace) | {"evaluations": count}
                break
            except np.linalg.LinAlgError:
                if attempt == 5 or not isinstance(jitter, str) or not (quiet or unknown_noise):
                    raise
                problem = replace(problem, jitter=10 * max(problem.jitter, least * size))
        return result, problem.jitter

    result, added = find(working, unknowns, starts, subset, problem, budget)
    if held and not isinstance(working, Likelihood | LeaveOneOut):
        calibration = replace(problem, jitter=added).search(LeaveOneOut(profiled=True), unknowns, unknowns.reach(noisy), used)
        result["scale"] = calibration.evaluate(list(result["x"]), 0, _core.Workspace())["scale"]
    factors = factors if held else None
    within = _within(result, unknowns, factors) if factors is not None else 0.0
    if factors is not None and within != np.log(result["scale"]) and not _blind(criterion):
        # The best amplitude is out of its bounds: on from there with one that stays within.
        theta = unknowns.theta_of(np.asarray(result["x"]))
        theta[factors] += within
        inside = float(np.exp(within))
        free = Unknowns(layout, unknown_noise, (inside * noise_bounds[0], inside * noise_bounds[1]), ())
        start = free.x_of(theta, float(result["x"][-1]) + within if unknown_noise else 0.0)
        spent = result["evaluations"] + result.get("evaluations_of_some", 0)
        left = replace(
            budget,
            evaluations=max(budget.evaluations - spent, 1) if result.get("ended", "converged") == "converged" else 1,
            seconds=max(budget.seconds - (time.perf_counter() - began), 0.0),
        )
        start = np.clip(start, free.bounds[:, 0], free.bounds[:, 1])
        on, added = find(criterion, free, [start], None, replace(problem, jitter=inside * added), left)
        on["evaluations"] += result["evaluations"]
        kept = {"evaluations_of_some": result.get("evaluations_of_some", 0), "of_starts": result.get("of_starts", np.zeros(0))}
        if result.get("ended", "converged") != "converged":
            kept |= {"ended": result["ended"], "interrupt": result.get("interrupt")}
        result, unknowns, factors, working = on | kept, free, None, criterion
    return _finish(result, unknowns, factors, working, added, began)


def _signed(budget: Budget, criterion: Criterion) -> Budget:
    """Return a budget that is told of the criterion, where a search tells of what it minimizes."""
    tell = budget.progress
    if tell is None or not criterion.larger_is_better:
        return budget
    return replace(budget, progress=lambda evaluations, points, best: tell(evaluations, points, -best))


def _without_unit(y: Vector) -> Vector:
    spread = np.std(y, axis=0)
    return np.asarray((y - np.mean(y, axis=0)) / np.where(spread > 0, spread, 1.0))


def _blind(criterion: Criterion) -> bool:
    """Tell whether a criterion does not see a common factor of kernel and noise."""
    if isinstance(criterion, LeaveOneOut):
        return criterion.profiled or criterion.loss in ("squared", "absolute")
    return criterion.without_scale() is criterion


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


def _undecided(criterion: Criterion, kernel: Kernel, X: Vector, unknown_noise: bool, began: float) -> Selection:
    """Return the kernel as the data's scale has it: no criterion can tell more."""
    size = float(np.mean(kernel.diag(X[:1000])))
    return Selection(
        kernel=kernel,
        noise=1e-10 * size if unknown_noise else np.nan,
        jitter=max(len(X) * np.finfo(float).eps, 1e-14) * size,
        criterion=criterion,
        value=np.nan,
        flat=Unknowns(Layout(kernel), unknown_noise, (1.0, 1.0), ()).names(),
        ended="undecided",
        seconds=time.perf_counter() - began,
    )


def _fine(n: int) -> float:
    """Return how much of a criterion may be missing at the end: a few more evaluations are cheap where there are few points."""
    return 1e-10 if n <= 300 else 1e-5


def _finish(
    result: dict[str, Any],
    unknowns: Unknowns,
    factors: list[int] | None,
    criterion: Criterion,
    jitter: float,
    began: float,
) -> Selection:
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


def _starts(unknowns: Unknowns, land: Any, variance: float, restarts: int, generator: Any, *, plain: bool) -> list[Vector]:
    """Return starts within the bounds: those of the data, and before them the kernel's own values if it has any."""
    bounds = unknowns.bounds
    shift = 0.0 if generator is None else float(generator.random())
    noisy = unknowns.noise or bool((land.rule == "noise").any())
    made = starting_points(land, variance, noisy, _RANDOM_STARTS, shift)
    points = [unknowns.x_of(theta, log_noise) for theta, log_noise in made]
    if unknowns.layout.has_values:
        points.insert(0, unknowns.x_of(unknowns.layout.theta, points[0][-1] if unknowns.noise else 0.0))
    if plain:
        points = points[:1]
    if restarts:
        rng = generator or np.random.default_rng(0)
        points += list(rng.uniform(bounds[:, 0], bounds[:, 1], (restarts, len(bounds))))
    return [np.clip(point, bounds[:, 0], bounds[:, 1]) for point in points]


def _spread(H: Vector, used: NDArray[np.intp], n: int) -> Vector:
    """Return a trend of some points as one of all, zero elsewhere."""
    everywhere = np.zeros((n, H.shape[1]))
    everywhere[used] = H
    return everywhere


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state: expected a whole number that is not negative, a RandomState or None, got {random_state!r}"
        ) from None

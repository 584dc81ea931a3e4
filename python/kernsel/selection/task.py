"""What there is to search: a criterion, a kernel and data, with all that a search needs to know of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel import _core
from kernsel.criteria import Criterion, Given, LeaveOneOut, Likelihood
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data
from kernsel.selection.quasi_newton import LBFGSB, own_optimizer
from kernsel.selection.starts import Landscape, landscape, sparse_points, starting_points, turned_points
from kernsel.selection.unknowns import Layout, Unknowns, has_values
from kernsel.trend import Trend, trend_matrix

__all__ = ["Budget", "Found", "Problem", "Task", "blind", "generator_of", "least_jitter", "require_few_if_interrupted"]

Vector = NDArray[np.float64]

_MANY = 600  # points, above which a search begins on some of them
_SOME = 400
_KEPT = 2000  # points, beyond which nothing is computed of all of them once a search was interrupted: it would take seconds
_FEW = 100  # points: with noise these have more basins, and evaluations cost little
_RANDOM_STARTS = {True: 5, False: 2}
_SPARSE_STARTS, _TURNS, _POLISHED = 24, 2, 6  # the first for 50 points, fewer for more
_BETTER = 1e-3  # nats: by which turns must be better than what they are turns of


@dataclass(frozen=True)
class Budget:
    """How long a search may take, and who watches it: a function of evaluations, points and best value so far."""

    evaluations: int = 1000
    seconds: float = np.inf
    progress: Callable[[int, int, float], bool] | None = None


@dataclass(frozen=True)
class Problem:
    """All that a criterion is evaluated with, of all points."""

    X: Vector
    y: Vector
    noise: Vector  # of each point; times the unknown factor
    weights: Vector | None
    H: Vector
    jitter: float

    def search(self, criterion: Criterion, unknowns: Unknowns, reach: list[float], rows: NDArray[np.intp]) -> _core.Search:
        """Return the criterion of some of the points as a function of the unknowns."""
        given = Given(self.X, self.y, rows)
        has_prior = unknowns.layout.has_priors and criterion.adds_prior
        return _core.Search(
            criterion.core(given),
            criterion.larger_is_better,
            unknowns.kernel.build(),
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


@dataclass
class Found:
    """What a search has found, as the core tells it, and the jitter that it took."""

    values: dict[str, Any]
    jitter: float


class Task:
    """A criterion, a kernel and data, with all that a search needs to know of them."""

    def __init__(
        self,
        criterion: Criterion,
        kernel: Kernel,
        X: Vector,
        y: Vector,
        noise: Any,
        jitter: float | str,
        trend: Trend,
        sample_weight: Vector | None,
        names: Any,
        optimizer: Any,
        random_state: Any,
        profile: bool,
    ) -> None:
        self.criterion = criterion
        self.optimizer = optimizer
        self.generator = None if random_state is None else generator_of(random_state)
        self.unknown_noise = isinstance(noise, str)
        fixed = np.zeros(0) if self.unknown_noise else np.atleast_1d(np.asarray(noise, dtype=np.float64))
        quiet = not fixed.any()
        self.more_jitter = isinstance(jitter, str) and quiet  # may it be raised where no matrix can be factorized?
        self.layout, self.land, self.variance = _seen(criterion, kernel, X, y, sample_weight, names, quiet)
        n = len(y)
        self.used = np.arange(n) if sample_weight is None else np.flatnonzero(sample_weight)
        self.noisy = self.unknown_noise or bool((self.land.rule == "noise").any())
        self.few = self.noisy and len(self.used) <= _FEW
        H = np.zeros((n, 0)) if trend is None else _spread(trend_matrix(trend, X, self.used), self.used, n)
        criterion.require_trend(H[self.used], Given(X, y, self.used))

        # One amplitude stays as it is, if the best factor of kernel and noise together is known at each place.
        factors = self.layout.amplitudes() if profile and quiet and not callable(optimizer) else None
        profiled = None if factors is None else criterion.without_scale()
        self.factors = None if profiled is None else factors
        self.working = criterion if profiled is None else profiled
        held = () if self.factors is None else (self.factors[0],)
        if held:
            self.variance = float(np.exp(self.layout.theta[held[0]]))

        noise_of_kernel = float(np.exp(self.layout.theta[self.land.rule == "noise"]).sum())
        size = float(np.mean(self.layout.kernel.diag(X[self.used[:1000]]))) - noise_of_kernel
        size = max(size, np.finfo(float).tiny)
        self.least = least_jitter(len(self.used)) * size
        # Cross-validation drifts to matrices that are all but singular, where it sees rounding for skill.
        floor = self.least if isinstance(criterion, Likelihood) else max(self.least, 1e-10 * size)
        self.noise_bounds = (max(floor, 1e-14 * self.variance), 1e2 * max(self.variance, size))
        self.unknowns = Unknowns(self.layout, self.unknown_noise, self.noise_bounds, held)
        base = np.ones(n) if self.unknown_noise else np.broadcast_to(fixed, (n,)).astype(np.float64)
        if sample_weight is not None:
            base = np.divide(base, sample_weight, where=sample_weight > 0, out=np.zeros(n))
        added = (self.least if quiet else 0.0) if isinstance(jitter, str) else float(jitter)
        self.problem = Problem(X, y, base, sample_weight, H, added)

    def starts(self, restarts: int) -> list[Vector]:
        """Return starts within the bounds: those of the data, and before them the kernel's own values if it has any."""
        bounds = self.unknowns.bounds
        shift = 0.0 if self.generator is None else float(self.generator.random())
        made = starting_points(self.land, self.variance, self.noisy, _RANDOM_STARTS[self.few], shift)
        if self.few and self.land.of_column.any() and isinstance(self.working, Likelihood):
            count = min(_SPARSE_STARTS, 50 * _SPARSE_STARTS // len(self.used))
            made += sparse_points(self.land, self.variance, count, shift)
        points = [self.unknowns.x_of(theta, log_noise) for theta, log_noise in made]
        if self.layout.has_values:
            points.insert(0, self.unknowns.x_of(self.layout.theta, points[0][-1] if self.unknown_noise else 0.0))
        if callable(self.optimizer):
            points = points[:1]
        if restarts:
            rng = self.generator or np.random.default_rng(0)
            points += list(rng.uniform(bounds[:, 0], bounds[:, 1], (restarts, len(bounds))))
        return [np.clip(point, bounds[:, 0], bounds[:, 1]) for point in points]

    def subset(self) -> NDArray[np.intp] | None:
        """Return some of the points to begin with, if there are many."""
        if len(self.used) <= _MANY or not self.criterion.of_any_points or callable(self.optimizer):
            return None
        picked = (self.generator or np.random.default_rng(0)).permutation(len(self.used))[:_SOME]
        subset = self.used[np.sort(picked)]
        H = self.problem.H
        return None if H.shape[1] and np.linalg.matrix_rank(H[subset]) < H.shape[1] else subset

    def find(
        self,
        working: Criterion,
        unknowns: Unknowns,
        starts: list[Vector],
        problem: Problem,
        budget: Budget,
        subset: NDArray[np.intp] | None = None,
    ) -> Found:
        """Search; where nowhere the kernel matrix can be factorized, with more jitter."""
        for attempt in range(6):
            try:
                return Found(self._search(working, unknowns, starts, problem, budget, subset), problem.jitter)
            except np.linalg.LinAlgError:
                if attempt == 5 or not self.more_jitter:
                    raise
                problem = replace(problem, jitter=10 * max(problem.jitter, self.least))
        raise AssertionError("the last attempt has raised")

    def _search(
        self,
        working: Criterion,
        unknowns: Unknowns,
        starts: list[Vector],
        problem: Problem,
        budget: Budget,
        subset: NDArray[np.intp] | None,
    ) -> dict[str, Any]:
        reach = unknowns.reach(self.land.rule == "noise")
        every = problem.search(working, unknowns, reach, self.used)
        some = None if subset is None else problem.search(working, unknowns, reach, subset)
        workspace = _core.Workspace()
        newton = (
            isinstance(working, Likelihood) and self.optimizer in ("auto", "newton") and self.layout.kernel.build().adjustable
        )
        if not len(reach):
            result = every.evaluate([], 0, workspace) | {"evaluations": 1}
        elif callable(self.optimizer):
            result = own_optimizer(self.optimizer, every, starts, unknowns.bounds, workspace)
        elif newton:
            result = self._newton(every, some, unknowns, starts, budget, workspace)
        else:
            has_unit = not (working.positive or working.larger_is_better)
            search = LBFGSB(every, some, unknowns.bounds, working.positive, budget, workspace, has_unit=has_unit)
            result = search.run(starts)
        if not np.isfinite(result["value"]) and self.too_many(result.get("interrupt")):
            assert some is not None
            return result | some.evaluate(list(result["x"]), 0, workspace) | {"value": np.nan}
        if not np.isfinite(result["value"]):  # the search ended before it came to all points
            count = result["evaluations"] + 1
            result = result | every.evaluate(list(result["x"]), 0, workspace) | {"evaluations": count}
        return result

    def _newton(
        self,
        every: _core.Search,
        some: _core.Search | None,
        unknowns: Unknowns,
        starts: list[Vector],
        budget: Budget,
        workspace: _core.Workspace,
    ) -> dict[str, Any]:
        """Search from the starts, and then from turns of the best that was found, as long as these are better."""
        began = time.perf_counter()

        def run(points: list[Vector], among: _core.Search | None, done: int) -> dict[str, Any]:
            def tell(count: int, n: int, best: float) -> bool:
                return budget.progress is None or budget.progress(done + count, n, best)

            left = budget.evaluations - done, max(budget.seconds - (time.perf_counter() - began), 0.0)
            watched = None if budget.progress is None else tell
            places = [point.tolist() for point in points]
            return every.run(among, places, *left, 0.1, _fine(len(self.used)), watched, workspace, polished)

        polished = _POLISHED if self.few else 1
        result = run(starts, some, 0)
        for _ in range(_TURNS if self.few and self.land.of_column.any() else 0):
            if result["ended"] != "converged":
                break
            x = np.asarray(result["x"])
            turned = [unknowns.x_of(theta, x[-1]) for theta in turned_points(self.land, unknowns.theta_of(x))]
            points = [x, *(np.clip(point, unknowns.bounds[:, 0], unknowns.bounds[:, 1]) for point in turned)]
            more = run(points, None, result["evaluations"])
            better = more["value"] < result["value"] - _BETTER
            counts = {
                "evaluations": result["evaluations"] + more["evaluations"],
                "of_starts": np.append(result["of_starts"], more["of_starts"][1:]),
            }
            result = (more if better else result | {"ended": more["ended"], "interrupt": more["interrupt"]}) | counts
            if not better:
                break
        return result

    def too_many(self, interrupt: BaseException | None) -> bool:
        """Tell whether a search was interrupted, and the points are too many to compute anything of all of them after that."""
        return interrupt is not None and len(self.used) > _KEPT

    def scale_of_residuals(self, found: Found) -> float:
        """Return the factor of kernel and noise with which leave-one-out residuals have the variance that they should."""
        scale = float(found.values["residual_scale"])
        if not 0 < scale < np.inf:
            raise ValueError(f"criterion: no scale of the kernel explains residuals that are {scale} of their variance")
        return scale

    def search_on(self, found: Found, within: float, budget: Budget) -> tuple[Unknowns, Found]:
        """Search on from what was found, multiplied by exp(within), with nothing held and nothing profiled."""
        assert self.factors is not None
        before = found.values
        theta = self.unknowns.theta_of(np.asarray(before["x"]))
        theta[self.factors] += within
        inside = float(np.exp(within))
        unknowns = Unknowns(self.layout, self.unknown_noise, (inside * self.noise_bounds[0], inside * self.noise_bounds[1]), ())
        start = unknowns.x_of(theta, float(before["x"][-1]) + within if self.unknown_noise else 0.0)
        start = np.clip(start, unknowns.bounds[:, 0], unknowns.bounds[:, 1])
        problem = replace(self.problem, jitter=inside * found.jitter)
        on = self.find(self.criterion, unknowns, [start], problem, budget)
        on.values["evaluations"] += before["evaluations"]
        for name in ("evaluations_of_some", "of_starts"):
            if name in before:
                on.values[name] = before[name]
        if before.get("ended", "converged") != "converged":
            on.values |= {"ended": before["ended"], "interrupt": before.get("interrupt")}
        return unknowns, on


def require_few_if_interrupted(interrupt: BaseException | None, n: int) -> None:
    """Raise what has interrupted a search, if a fit of what it has found to n points would take seconds."""
    if interrupt is not None and n > _KEPT:
        raise interrupt


def least_jitter(n: int) -> float:
    """Return what must be added to the diagonal of n points, relative to it, for a Cholesky factor to exist: 4 n^(1/2) eps.

    Rounding errors of n x n entries add up to a matrix of norm n^(1/2) eps or so, not to the n eps of the worst case. Smooth
    functions without noise are predicted better with less: by up to a fifth, for 1000 points.
    """
    return float(4.0 * np.sqrt(n) * np.finfo(float).eps)


def blind(criterion: Criterion) -> bool:
    """Tell whether a criterion does not see a common factor of kernel and noise."""
    if isinstance(criterion, LeaveOneOut):
        return criterion.profiled or criterion.loss in ("squared", "absolute")
    return criterion.without_scale() is criterion


def _seen(
    criterion: Criterion,
    kernel: Kernel,
    X: Vector,
    y: Vector,
    sample_weight: Vector | None,
    names: Any,
    quiet: bool,
) -> tuple[Layout, Landscape, float]:
    """Return the kernel with all set that is "auto", what the data say of its hyperparameters, and the variance of y."""
    data = Data(X, y, sample_weight, names, anchors=[])
    resolved = kernel.resolve(data).on_points(X)[0]
    layout = Layout(resolved)
    if blind(criterion) and quiet and layout.amplitudes() is None:
        # Kernel and noise are in a unit of their own, which y has no part in.
        data = Data(X, _without_unit(y), sample_weight, names, anchors=[])
        resolved = kernel.resolve(data).on_points(X)[0]
        layout = Layout(resolved)
    layout.has_values = has_values(kernel)
    return layout, landscape(layout, data.anchors or []), data.variance


def _without_unit(y: Vector) -> Vector:
    spread = np.std(y, axis=0)
    return np.asarray((y - np.mean(y, axis=0)) / np.where(spread > 0, spread, 1.0))


def _fine(n: int) -> float:
    """Return how much of a criterion may be missing at the end: a few more evaluations are cheap where there are few points."""
    return 1e-10 if n <= 300 else 1e-5


def _spread(H: Vector, used: NDArray[np.intp], n: int) -> Vector:
    """Return a trend of some points as one of all, zero elsewhere."""
    everywhere = np.zeros((n, H.shape[1]))
    everywhere[used] = H
    return everywhere


def generator_of(random_state: Any) -> np.random.Generator:
    """Return the generator that a `random_state` stands for, in the ways that scikit-learn knows."""
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

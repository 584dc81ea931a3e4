"""The search for the hyperparameters for which a criterion is best, given data and a kernel."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel import _core
from kernsel._base.annotations import Indices, Vector
from kernsel._base.blas import with_one_blas_thread
from kernsel._data.together import copies_in, first_of_equal, repeats_in, weights_of_first
from kernsel._data.trend import Trend, trend_matrix
from kernsel._search.core_search import SUBSET, Budget, core_search
from kernsel._search.layout import Layout, has_open, has_values
from kernsel._search.own_optimizer import Optimizer, own_optimizer
from kernsel._search.selection import Selection
from kernsel._solve.evaluate import require_takes_groups
from kernsel.approximations import Approximation, Nystrom
from kernsel.criteria import Criterion, Evidence, Likelihood
from kernsel.criteria.base import Given
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data
from kernsel.linalg.jitter import least_jitter

__all__ = ["choose", "explained", "finished", "generator_of", "require_few_if_interrupted"]

RandomState = int | np.random.Generator | np.random.RandomState | None

_SPREADS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)  # the spreads of length scales that a search chooses from
_KEPT = 2000  # with more points, nothing is computed after an interrupt of the search, since it would take seconds


@with_one_blas_thread
def choose(
    criterion: Criterion,
    kernel: Kernel,
    X: Vector,
    y: Vector,
    *,
    noise: ArrayLike = 0.0,
    finds_noise: bool = False,
    finds_amplitude: bool = False,
    jitter: float | None = None,
    trend: Trend = None,
    sample_weight: Vector | None = None,
    groups: Indices | None = None,
    names: Sequence[str] | None = None,
    optimizer: str | Optimizer = "auto",
    n_restarts: int = 0,
    random_state: RandomState = None,
    budget: Budget | None = None,
    profile: bool = True,
    shrinkage: float | str | None = None,
    approximation: Approximation | None = None,
) -> Selection:
    """Find the hyperparameters of a kernel and the noise for which a criterion is best. The search runs in the C++ core.

    Parameters
    ----------
    criterion : Criterion
    kernel : Kernel
        Its "auto" parameters are set from the data, and its fixed ones are not changed.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or (n, m)
    noise : float or ndarray of shape (n,)
        The known noise variances.
    finds_noise : bool
        Whether to find another noise variance, which is the same for all points.
    finds_amplitude : bool
        Whether to find a factor of the kernel that is not one of its hyperparameters.
    jitter : float, optional
        Also added to the diagonal. By default, without known noise, 4 n^(1/2) times the rounding error of the kernel's
        diagonal, multiplied by ten as long as the kernel matrix cannot be factorized anywhere.
    trend : None, str, array-like or callable
    sample_weight : ndarray of shape (n,), optional
    groups : ndarray of int of shape (n,), optional
        The groups that are left out together; by default equal rows are.
    names : list of str, optional
        The names of the columns.
    optimizer : {"auto", "newton", "l-bfgs-b"} or callable
        "auto" is a trust-region Newton method for likelihoods and a quasi-Newton method (L-BFGS-B) for other criteria;
        "l-bfgs-b" is the quasi-Newton method for all criteria. A function is called as by scikit-learn:
        f(objective, x, bounds=bounds), with objective(x, eval_gradient=True).
    n_restarts : int
        The number of random starts, besides the starts that are derived from the data.
    random_state : int, RandomState or None
        Determines the random and quasi-random starts, and the points of the subset.
    budget : Budget, optional
    profile : bool
        Whether to use the closed form of the best common factor of kernel and noise, where there is one, instead of searching
        for the factor.
    shrinkage : float, "auto" or None
        The standard deviation of the logarithms of a kernel's length scales around their common value that is expected. "auto"
        is the one of a few for which the data are the most probable, if the criterion is a likelihood and a hyperparameter is
        "auto"; otherwise, like None, no expectation.
    approximation : kernsel.Vecchia or kernsel.Nystrom, optional
        For many points: the search begins on some of them, and from what it found there continues with the approximation.

    Returns
    -------
    selection : Selection
    """
    began = time.perf_counter()
    used = np.arange(len(y)) if sample_weight is None else np.flatnonzero(sample_weight)
    known = np.atleast_1d(np.asarray(noise, dtype=np.float64))
    require_takes_groups(criterion, groups)
    first = first_of_equal(X[used])
    remarks = [] if first is None else remarks_on(criterion, X[used], y[used], groups)
    if first is not None and (once := _rows_once(criterion, kernel, X[used], y[used], known, finds_noise)) is not None:
        weights = np.zeros(len(y))
        weights[used] = weights_of_first(once, None if sample_weight is None else sample_weight[used])
        used, sample_weight = np.flatnonzero(weights), weights
        first = first_of_equal(X[used])
    same_for_any_points = criterion.same_for_any_points and groups is None
    if first is not None:  # nearly all points of a subset may be equal
        same_for_any_points = same_for_any_points and 2 * len(np.unique(first)) >= len(first)
    H = np.zeros((len(y), 0))
    if trend is not None:
        of_used = trend_matrix(trend, X, used)
        H = np.zeros((len(y), of_used.shape[1]))
        H[used] = of_used
    units = _Units.of(criterion, y, used, H.shape[1])
    y, budget = y / units.of_outputs, units.converted(budget or Budget())
    criterion.require_trend(H[used], Given(X, y, used, groups))
    data, layout = _layout(criterion, kernel, X, y, sample_weight, names, alone=not known.any() and not finds_amplitude)
    if explained(y[used], H[used]).all():
        return replace(_undecided(criterion, layout, len(used), finds_noise, began, X[used], known), remarks=remarks)
    own = callable(optimizer)
    options: dict[str, object] = {
        "finds_amplitude": finds_amplitude,
        "restarts": n_restarts,
        "newton": optimizer != "l-bfgs-b" and layout.kernel.build().adjustable,
        "profile": profile and not own,
        "same_for_any_points": same_for_any_points and not own,
        "has_values": has_values(kernel),
        "seed": None if random_state is None else int(generator_of(random_state).integers(2**63)),
        "spreads": _spreads(shrinkage, criterion, kernel, own),
        "approximation": None if approximation is None else approximation.core(),
    }
    if isinstance(approximation, Nystrom) and approximation.search_rows is not None:
        options["search_points"] = approximation.search_rows
    search = core_search(
        criterion,
        layout,
        data,
        y,
        used,
        H,
        known=known if known.any() else np.zeros(0),
        finds_noise=finds_noise,
        jitter=jitter,
        budget=budget,
        options=options,
        groups=groups,
    )
    found = own_optimizer(optimizer, search, n_restarts) if callable(optimizer) else search.run()
    if np.isnan(found["criterion"]) and found["interrupt"] is not None and len(used) <= _KEPT:
        best = search.finish(found["x"].tolist())
        best["ended"], best["interrupt"] = found["ended"], found["interrupt"]
        best["evaluations_of_some"], best["of_starts"] = found["evaluations_of_some"], found["of_starts"]
        best["evaluations"] = 1
        found = best
    subset = SUBSET if found["evaluations_of_some"] else len(used)
    found["criterion"] += units.shift(len(used))
    found["evidence"] += units.shift(len(used))
    found["of_starts"] = np.asarray(found["of_starts"]) + units.shift(subset)
    approximate = approximation is not None
    return replace(finished(found, layout, criterion, finds_noise, began, approximate), remarks=remarks)


def remarks_on(criterion: Criterion, X: Vector, y: Vector, groups: Indices | None) -> list[str]:
    """Return sentences on the rows that are repeated, and on what that means for a criterion."""
    repeats = repeats_in(X, y)
    if not repeats.points:
        return []
    if isinstance(criterion, Likelihood):
        if not repeats.copies:
            return []  # measurements at equal points tell what the noise is
        effect = "a likelihood takes copies for independent measurements, and the noise it finds may be too small"
    elif not criterion.leaves_points_out:
        effect = "the criterion takes them for independent measurements"
    elif criterion.counts_copies_once:
        if copies_in(X, y) is None:
            return []
        effect = "copies count as one row, with the sum of their weights"
    elif groups is not None:
        effect = "groups are left out as they were told, also where rows of several groups are equal"
    else:
        effect = "equal rows are left out together"
    return [f"{repeats}: {effect}."]


def _rows_once(
    criterion: Criterion, kernel: Kernel, X: Vector, y: Vector, known: NDArray[np.float64], finds_noise: bool
) -> Indices | None:
    """Return for each row the first one of those that count as one for the criterion; None if each counts.

    Copies count as one row for a criterion that does not leave any out. Without noise, equal rows have equal targets and make
    the kernel matrix singular, so that they count as one, too.
    """
    if not criterion.leaves_points_out or len(known) > 1:
        return None
    if criterion.counts_copies_once:
        return copies_in(X, y)
    if finds_noise or known.any():
        return None
    resolved = kernel.resolve(Data(X, y, None, None)).on_points(X)[0]
    return None if np.asarray(resolved.build().noise(X)).any() else first_of_equal(np.column_stack([X, y]))


@dataclass(frozen=True)
class _Units:
    """The units in which a search sees the outputs: standard deviations for a likelihood with a scale for each output.

    Starts, bounds and rounding are then the same whatever the outputs are measured in. In all other cases they stay as they
    are, since their common unit tells the kernel's amplitude.
    """

    of_outputs: Vector
    taken: int  # the number of points' worth of the likelihood that the trend takes

    @classmethod
    def of(cls, criterion: Criterion, y: Vector, used: NDArray[np.intp], q: int) -> _Units:
        """Return the units of outputs y, for a trend of q functions."""
        if not (isinstance(criterion, Likelihood) and criterion.scale == "each"):
            return cls(np.ones(1), 0)
        spread = np.atleast_1d(np.std(y[used], axis=0))
        return cls(np.where(spread > 0, spread, 1.0), q if criterion.restricted else 0)

    def shift(self, n: int) -> float:
        """Return what is added to the likelihood of n points to have it in the units of the outputs."""
        return -(n - self.taken) * float(np.sum(np.log(self.of_outputs)))

    def converted(self, budget: Budget) -> Budget:
        """Return a budget whose progress is told in the units of the outputs."""
        tell = budget.progress
        if tell is None:
            return budget
        return replace(budget, progress=lambda evaluations, n, best: tell(evaluations, n, best + self.shift(n)))


def _spreads(shrinkage: float | str | None, criterion: Criterion, kernel: Kernel, own_optimizer: bool) -> list[float]:
    """Return the spreads of length scales that are tried."""
    if shrinkage is None or own_optimizer:
        return []
    if isinstance(shrinkage, str):
        return list(_SPREADS) if isinstance(criterion, Likelihood) and has_open(kernel) else []
    return [float(shrinkage)]


def _layout(
    criterion: Criterion,
    kernel: Kernel,
    X: Vector,
    y: Vector,
    sample_weight: Vector | None,
    names: Sequence[str] | None,
    *,
    alone: bool,
) -> tuple[Data, Layout]:
    """Return the data, and the layout of the kernel with its "auto" parameters set.

    If kernel and noise are the only terms (`alone`), the criterion does not depend on their common scale, and the kernel has no
    amplitude, then "auto" parameters are set for y standardized to variance one.
    """
    data = Data(X, y, sample_weight, names, anchors=[])
    layout = Layout(kernel.resolve(data).on_points(X)[0])
    if alone and not criterion.sees_scale and layout.amplitudes() is None:
        spread = np.std(y, axis=0)
        standardized = (y - np.mean(y, axis=0)) / np.where(spread > 0, spread, 1.0)
        data = Data(X, standardized, sample_weight, names, anchors=[])
        layout = Layout(kernel.resolve(data).on_points(X)[0])
    return data, layout


def explained(y: Vector, H: Vector) -> NDArray[np.bool_]:
    """Tell for each output whether the trend alone explains it, up to rounding, so that no criterion can choose a kernel."""
    y = y.reshape(len(y), -1)
    q = H.shape[1]
    rest = y - (H @ ((H.T @ y) / np.sum(H**2)) if q == 1 else H @ np.linalg.lstsq(H, y, rcond=None)[0]) if q else y
    largest = np.abs(y).max(axis=0, initial=0.0)
    return np.asarray(np.abs(rest).max(axis=0, initial=0.0) <= 16 * np.finfo(float).eps * largest)


def _undecided(
    criterion: Criterion, layout: Layout, n: int, finds_noise: bool, began: float, X: Vector, known: Vector
) -> Selection:
    """Return the kernel as the data's scale has it: no criterion can tell more."""
    least = least_jitter(n, max(float(np.mean(layout.kernel.diag(X[:1000]))), np.finfo(float).tiny))
    return Selection(
        kernel=layout.kernel,
        noise=1e4 * least if finds_noise else np.nan,
        jitter=0.0 if known.any() else least,
        criterion=criterion,
        value=np.nan,
        flat=layout.names() + (["noise"] if finds_noise else []),
        ended="undecided",
        seconds=time.perf_counter() - began,
    )


def finished(
    found: _core.Found,
    layout: Layout,
    criterion: Criterion,
    finds_noise: bool,
    began: float,
    approximate: bool,
    more: Sequence[str] = (),
) -> Selection:
    """Return the report of what a search of the core has found; `more` are the names of what it found besides."""
    theta, limits = found["theta"], layout.bounds
    names = [*layout.names(), "amplitude"]
    near = np.abs(theta[:, None] - limits).min(axis=1, initial=np.inf) <= 1e-6 * np.maximum(1.0, np.abs(theta))
    at_bounds = [name for name, is_near in zip(names, near, strict=False) if is_near]
    unknowns = [names[p] for p in found["free"]] + (["noise"] if finds_noise else []) + list(more)
    flat = []
    if isinstance(criterion, Likelihood) and found["information"] is not None:
        curves, slopes = np.diag(found["information"]), np.abs(found["gradient"])
        flat = [name for name, curve, slope in zip(unknowns, curves, slopes, strict=True) if curve < 0.02 and slope < 0.02]
    worst = -np.inf if criterion.larger_is_better else np.inf
    scale_free = criterion.without_scale()
    return Selection(
        kernel=layout.kernel_at(theta),
        noise=found["noise"] if finds_noise else np.nan,
        jitter=found["jitter"],
        criterion=scale_free if found["profiled"] and scale_free is not None else criterion,
        value=found["evidence"] if isinstance(criterion, Evidence) and not approximate else found["criterion"],
        amplitude=found["amplitude"],
        scale=found["scale"],
        spread=found["spread"],
        n_evaluations=found["evaluations"],
        n_evaluations_subset=found["evaluations_of_some"],
        of_starts=np.where(np.isnan(found["of_starts"]), worst, found["of_starts"]),
        at_bounds=at_bounds + (["noise"] if found["noise_at_bound"] else []),
        flat=flat,
        ended=found["ended"],
        seconds=time.perf_counter() - began,
        interrupt=found.get("interrupt"),
    )


def require_few_if_interrupted(interrupt: BaseException | None, n: int) -> None:
    """Raise the exception that interrupted a search if there are so many points n that the fit would take seconds."""
    if interrupt is not None and n > _KEPT:
        raise interrupt


def generator_of(random_state: RandomState) -> np.random.Generator:
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

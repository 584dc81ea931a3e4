"""The choice of C, epsilon and the kernel of support vector regression."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernsel._base.annotations import Indices, Vector
from kernsel._search.choice import remarks_on
from kernsel.criteria import LeaveOneOut
from kernsel.estimators.kernel_ridge import KernelRidge
from kernsel.estimators.support.path import SVRPath, fold_scores, grids, one_of, spread
from kernsel.estimators.support.vectors import SupportVectors
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data

__all__ = ["FACTORS", "SupportSelection", "SupportTried", "choose_support"]

_LONG = 30.0  # standard deviations of its column: a kernel of a longer scale is linear
FACTORS = (0.5**0.5, 1.0, 2.0**0.5)  # the factors of all length scales that are tried
_PAYS = 0.01  # the relative decrease of the error for which C and epsilon beyond the first grids are accepted
_FEW = 500  # the largest number of points with which kernels are compared


@dataclass(frozen=True)
class SupportTried:
    """The scores of all pairs of C and epsilon that were tried with one kernel.

    Attributes
    ----------
    kernel : Kernel
    origin : str
        "given" for the given kernel with its "auto" parameters set from the data; "likelihood" for one that maximizes the
        likelihood.
    factor : float
        The factor by which the length scales of the latter were then multiplied.
    Cs : ndarray of shape (p,)
    epsilons : ndarray of shape (q,)
    scores : ndarray of shape (p, q)
        The mean errors of points left out; smaller is better.
    n_points : int
        The number of points from which the scores were computed.
    """

    kernel: Kernel
    origin: str
    factor: float
    Cs: Vector
    epsilons: Vector
    scores: Vector
    n_points: int

    @property
    def value(self) -> float:
        """The least score."""
        return float(self.scores.min())


@dataclass(frozen=True)
class SupportSelection:
    """The choice for a support vector regression, with all kernels that were tried; it is printed as a table.

    Attributes
    ----------
    C, epsilon : float
        The chosen parameters.
    kernel : Kernel
        The chosen kernel.
    factor : float
        The factor by which the length scales of largest likelihood were multiplied.
    value : float
        The mean error of points left out.
    criterion, scoring : str
    table : tuple of SupportTried
        The kernels, in the order in which they were tried.
    seconds : float
        The duration of the search.
    remarks : list of str
        Sentences that a user should read, such as how many rows are repeated.
    """

    C: float
    epsilon: float
    kernel: Kernel
    factor: float
    value: float
    criterion: str
    scoring: str
    table: tuple[SupportTried, ...]
    seconds: float
    remarks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{'kernel':50s} {'from':>10s} {'factor':>6s} {'C':>9s} {'epsilon':>9s} {'value':>9s}"]
        for one in self.table:
            i, j = _least(one.scores)
            numbers = f"{one.factor:6.3g} {one.Cs[i]:9.4g} {one.epsilons[j]:9.4g} {one.value:9.4g}"
            lines.append(f"{str(one.kernel)[:50]:50s} {one.origin:>10s} {numbers}")
        return "\n".join([*lines, f"value: mean {self.scoring} error by {self.criterion}", *self.remarks])


def choose_support(
    kernel: Kernel,
    X: Vector,
    y: Vector,
    weights: Vector | None,
    *,
    C: float | None,
    epsilon: float | None,
    criterion: str,
    scoring: str,
    folds: Any,
    groups: Indices | None = None,
    **options: Any,
) -> SupportSelection:
    """Choose C and epsilon where they are None, and the free hyperparameters of the kernel, by the error of points left out.

    If the kernel has free hyperparameters, the candidates are the given kernel, and the kernel of largest restricted likelihood
    of kernel ridge regression, with its length scales multiplied by each of `FACTORS`. The likelihood is that without the
    outliers which the ridge regression finds. If it finds none, large errors are clipped for it: leave-one-out residuals of the
    first candidate beyond twice their spread are reduced to that. (The squared leave-one-out error instead of the likelihood
    overfits kernels with a length scale for each column.) Kernels are compared
    on 500 random points, if there are more; C and epsilon are chosen on all points. If the best ones are the largest C or the
    smallest epsilon, values beyond are tried with the best kernel, as long as they reduce the error by 1 %.

    Parameters
    ----------
    kernel : Kernel
        A kernel without "auto" parameters.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    weights : ndarray of shape (n,) or None
        Positive.
    C, epsilon : float or None
        Given values; None for a parameter to choose.
    criterion : {"kfold", "loo"}
    scoring : {"absolute", "squared"}
    folds : int, labels of points, or splitter
    groups : ndarray of int of shape (n,), optional
        The groups that are left out together; by default equal rows are.
    **options
        `fit_intercept`, `tol`, `max_iter` and `cache_size` of :class:`kernsel.SVRPath`.

    Returns
    -------
    selection : SupportSelection
    """
    one_of("criterion", criterion, ("kfold", "loo"))
    one_of("scoring", scoring, ("absolute", "squared"))
    began = time.perf_counter()
    if len(y) < 2:
        raise ValueError(f"C, epsilon: there is nothing to choose them by, got n_samples = {len(y)} of positive weight")
    problem = _Problem(X, y, weights, C, epsilon, criterion, scoring, folds, groups, options)
    table: list[SupportTried] = []
    best = None
    if kernel.n_dims and np.ptp(y) > 0:
        few = problem.part(_FEW)
        table = [few.tried(*candidate) for candidate in few.candidates(kernel)]
        best = min(table, key=lambda one: one.value)
    if best is None or best.n_points < len(y):
        best = problem.tried(kernel, "given", 1.0) if best is None else problem.tried(best.kernel, best.origin, best.factor)
        table.append(best)
    place = next(k for k, one in enumerate(table) if one is best)
    best = table[place] = problem.beyond(best)
    i, j = _least(best.scores)
    chosen = float(best.Cs[i]), float(best.epsilons[j])
    seconds = time.perf_counter() - began
    return SupportSelection(
        *chosen,
        best.kernel,
        best.factor,
        best.value,
        criterion,
        scoring,
        tuple(table),
        seconds,
        remarks_on(LeaveOneOut(), X, y, groups),
    )


@dataclass(frozen=True)
class _Problem:
    """The data, and the options by which candidates are scored."""

    X: Vector
    y: Vector
    weights: Vector | None
    C: float | None
    epsilon: float | None
    criterion: str
    scoring: str
    folds: Any
    groups: Indices | None
    options: dict[str, Any]

    def part(self, most: int) -> _Problem:
        """Return the problem on a random subset of at most this many points, which is the same in each call."""
        n = len(self.y)
        if n <= most:
            return self
        some = np.sort(np.random.default_rng(0).permutation(n)[:most])
        weights = None if self.weights is None else self.weights[some]
        folds = self.folds if isinstance(self.folds, int | np.integer) else 5  # a splitter may be made for all points only
        groups = None if self.groups is None else self.groups[some]
        return replace(self, X=self.X[some], y=self.y[some], weights=weights, folds=folds, groups=groups)

    def path(self, kernel: Kernel, Cs: Vector, epsilons: Vector) -> SVRPath:
        """Return the fits for all pairs of C and epsilon."""
        return SVRPath(self.X, self.y, kernel, Cs=Cs, epsilons=epsilons, sample_weight=self.weights, **self.options)

    def grids(self, kernel: Kernel) -> tuple[Vector, Vector]:
        """Return the values of C and epsilon that are tried first."""
        Cs, epsilons = grids(kernel, self.X, self.y)
        return (
            Cs if self.C is None else np.array([self.C]),
            epsilons if self.epsilon is None else np.array([self.epsilon]),
        )

    def scores(self, kernel: Kernel, Cs: Vector, epsilons: Vector) -> Vector:
        """Return the criterion for all pairs of C and epsilon."""
        if self.criterion == "loo":
            return self.path(kernel, Cs, epsilons).scores("loo", scoring=self.scoring, groups=self.groups)
        options = dict(self.options)
        solver = SupportVectors(kernel, self.X, options.pop("cache_size"))
        weights = np.ones(len(self.y)) if self.weights is None else self.weights
        power = 1 if self.scoring == "absolute" else 2
        return fold_scores(solver, kernel, self.X, self.y, weights, Cs, epsilons, self.folds, self.groups, power, **options)

    def tried(self, kernel: Kernel, origin: str, factor: float) -> SupportTried:
        """Return the scores of all pairs with one kernel."""
        Cs, epsilons = self.grids(kernel)
        return SupportTried(kernel, origin, factor, Cs, epsilons, self.scores(kernel, Cs, epsilons), len(self.y))

    def beyond(self, one: SupportTried) -> SupportTried:
        """Extend the grids by larger C and smaller epsilon, while the best pair is at the end and the error falls by 1 %."""
        for _ in range(4):
            i, j = _least(one.scores)
            if self.epsilon is None and j == len(one.epsilons) - 1:
                more = one.epsilons[-1] / np.array([4.0, 16.0])
                table = np.hstack([one.scores, self.scores(one.kernel, one.Cs, more)])
                longer = replace(one, epsilons=np.append(one.epsilons, more), scores=table)
            elif self.C is None and i == len(one.Cs) - 1:
                more = one.Cs[-1] * np.array([2.0, 4.0, 8.0])
                table = np.vstack([one.scores, self.scores(one.kernel, more, one.epsilons)])
                longer = replace(one, Cs=np.append(one.Cs, more), scores=table)
            else:
                break
            if longer.value > (1 - _PAYS) * one.value:
                break
            one = longer
        return one

    def candidates(self, kernel: Kernel) -> Iterator[tuple[Kernel, str, float]]:
        """Yield the kernels to try, each with its origin and the factor of its length scales."""
        yield kernel, "given", 1.0
        likely = self._likely(kernel)
        spreads = _spreads_of_scales(likely, self.X)
        scales = ~np.isnan(spreads)
        theta = likely.theta.copy()
        if scales.any():
            # Of a function that is nearly linear the likely scales have no end, and with them the C that is needed.
            theta[scales] -= max(float(np.min(theta[scales] - spreads[scales])) - np.log(_LONG), 0.0)
        low, high = likely.bounds.T
        for factor in FACTORS if scales.any() else (1.0,):
            yield likely.clone_with_theta(np.clip(theta + np.log(factor) * scales, low, high)), "likelihood", factor

    def _likely(self, kernel: Kernel) -> Kernel:
        """Return the kernel that is the most likely one without outliers, or for clipped targets if none are found."""
        ridge = KernelRidge(kernel, alpha="auto", criterion="reml", fit_intercept=self.options["fit_intercept"], random_state=0)
        # Outliers are looked for where weights do not tell that some targets are worse; equal ones tell nothing.
        weights = None if self.weights is None or np.ptp(self.weights) == 0 else self.weights
        ridge.fit(self.X, self.y, weights)
        if not len(ridge.outliers_):
            ridge.fit(self.X, self._without_outliers(kernel), weights)
        assert isinstance(ridge.kernel_, Kernel)
        return ridge.kernel_

    def _without_outliers(self, kernel: Kernel) -> Vector:
        """Return y with its leave-one-out residuals clipped to twice their spread."""
        path = self.path(kernel, *self.grids(kernel))
        i, j = _least(path.scores("loo", groups=self.groups))
        residuals = path.loo_residuals(i, j, self.groups)
        most = 2 * spread(residuals)
        return self.y - residuals + np.clip(residuals, -most, most)


def _least(scores: Vector) -> tuple[int, int]:
    i, j = np.unravel_index(int(np.argmin(scores)), scores.shape)
    return int(i), int(j)


def _spreads_of_scales(kernel: Kernel, X: Vector) -> Vector:
    """Return the logarithm of its column's deviation for each number of `theta` that is that of a length scale; else nan."""
    data = Data(X, anchors=[])
    kernel.resolve(data)
    layout = kernel.layout()
    found = np.full(kernel.n_dims, np.nan)
    if [h.n_elements for _, h, _ in layout] == [anchor.count for anchor in data.anchors or []]:
        for (at, h, _), anchor in zip(layout, data.anchors or [], strict=True):
            if at >= 0 and h.log and anchor.rule == "length":
                deviations = np.maximum(anchor.data.X.std(axis=0), np.finfo(np.float64).tiny)
                logs = np.log(deviations)
                found[at : at + h.n_elements] = logs if len(logs) == h.n_elements else logs.mean()
    return found

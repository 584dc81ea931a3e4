"""Support vector regression for many values of C and epsilon, with warm starts, and its cross-validation errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import BaseCrossValidator

from kernsel._base.annotations import Indices, Vector
from kernsel._data.folds import Splits, folds_of_rows, splits_of_folds
from kernsel._data.kernel import kernel_and_points, kernel_of
from kernsel._data.noise import point_weights
from kernsel._data.together import checked_groups
from kernsel._data.training import for_objects
from kernsel.estimators.support.span import left_out_residuals
from kernsel.estimators.support.vectors import SupportSolution, SupportVectors
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points

__all__ = ["CRITERIA", "SCORINGS", "SVRPath", "fold_scores", "grids", "one_of", "spread", "walk"]

CRITERIA = ("kfold", "loo")
SCORINGS = ("absolute", "squared")
Folds: TypeAlias = int | ArrayLike | BaseCrossValidator


class SVRPath:
    """Support vector regression for all pairs of some C and some epsilon, and the errors of points that are left out.

    Like :class:`kernsel.SVR`, each fit minimizes ::

        |f - b|^2 / 2 + C sum_i w_i max(|y_i - f(x_i)| - epsilon, 0)

    All fits share the rows of the kernel matrix. They are computed for increasing C and decreasing epsilon. Each starts from
    t a, where a are the coefficients of a neighbouring fit and 0 <= t <= C / C_neighbour keeps them within their bounds. The t
    that maximizes the dual, t (a'y - epsilon |a|_1) - t^2 a'Ka / 2, and the better one of two neighbours, are found without
    a product with K.

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, n) if the kernel is precomputed
    y : array-like of shape (n,)
    kernel : Kernel or "precomputed"
        The kernel; its "auto" parameters are set from the data.
    Cs : array-like of shape (p,), optional
        Positive. By default 20 values, from 0.01 to 1000 times the spread of y divided by the mean of k(x, x).
    epsilons : array-like of shape (q,), optional
        Not negative. By default 7 values, from 1/2 to 1/128 of the spread of y.
    sample_weight : float or array-like of shape (n,), optional
        Not negative. A weight of zero leaves the point out.
    fit_intercept : bool
        Whether there is an intercept b.
    tol : float
        The duality gap at which a fit stops, relative to the objective.
    max_iter : int
        The largest number of steps in each fit; -1 for no limit.
    cache_size : float
        The memory for rows of the kernel matrix, in megabytes.

    Attributes
    ----------
    Cs : ndarray of shape (p,)
        The values of C in ascending order.
    epsilons : ndarray of shape (q,)
        The values of epsilon in descending order.
    coefficients : ndarray of shape (p, q, n)
        The coefficients a of all points in each fit.
    intercepts, objectives, gaps : ndarray of shape (p, q)
        The intercept, the objective and the duality gap of each fit.
    n_support, n_iter : ndarray of int of shape (p, q)
        The numbers of support vectors and of steps of each fit.
    converged : ndarray of bool of shape (p, q)
        Whether each fit has reached `tol`.

    Notes
    -----
    The spread of y is 1.4826 times its median absolute deviation. For normal variables this is the standard deviation, and it
    hardly depends on outliers.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 80).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(80)
    >>> path = ks.SVRPath(X, y, ks.kernels.RBF(1.0), Cs=[0.1, 1, 10], epsilons=[0.05, 0.2])
    >>> path.n_support.shape, path.scores("loo").shape
    ((3, 2), (3, 2))
    >>> C, epsilon = path.best("loo")
    >>> C in path.Cs, epsilon in path.epsilons
    (True, True)
    """

    def __init__(
        self,
        X: Points,
        y: ArrayLike,
        kernel: Kernel | Literal["precomputed"],
        *,
        Cs: ArrayLike | None = None,
        epsilons: ArrayLike | None = None,
        sample_weight: ArrayLike | float | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = -1,
        cache_size: float = 500.0,
    ) -> None:
        if for_objects(kernel, X):
            kernel, X, _ = kernel_of(kernel).ready(X)
        points, targets = _points_and_targets(X, y)
        self._kernel, numbers, _ = kernel_and_points(kernel, points, y=targets)
        self._X = np.asarray(numbers, dtype=np.float64)
        self._y, self._intercept = targets, bool(fit_intercept)
        weights = point_weights(sample_weight, points)
        self._weights = np.ones(len(targets)) if weights is None else weights
        used = self._weights > 0
        own = grids(self._kernel, self._X[used], targets[used])
        self.Cs = own[0] if Cs is None else np.sort(_numbers("Cs", Cs, positive=True))
        self.epsilons = own[1] if epsilons is None else np.sort(_numbers("epsilons", epsilons, positive=False))[::-1]
        self._solver = SupportVectors(self._kernel, self._X, cache_size)
        self._options: Options = {"fit_intercept": self._intercept, "tol": tol, "max_iter": max_iter}
        shape = (len(self.Cs), len(self.epsilons))
        self.coefficients = np.zeros((*shape, len(targets)))
        self.intercepts, self.objectives, self.gaps = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.n_support, self.n_iter = np.zeros(shape, dtype=int), np.zeros(shape, dtype=int)
        self.converged = np.zeros(shape, dtype=bool)
        for at, found in self._walk(self._weights):
            self.coefficients[at] = found.a
            self.intercepts[at], self.objectives[at], self.gaps[at] = found.intercept, found.objective, found.gap
            self.n_support[at], self.n_iter[at] = np.count_nonzero(found.a), found.iterations
            self.converged[at] = found.converged

    def _walk(self, weights: Vector) -> Iterator[tuple[tuple[int, int], SupportSolution]]:
        return walk(self._solver, self._y, weights, self.Cs, self.epsilons, **self._options)

    def loo_residuals(self, i: int, j: int, groups: ArrayLike | None = None) -> Vector:
        """Return y_k minus the prediction of each point k from all other points, for `Cs[i]` and `epsilons[j]`.

        See :func:`kernsel.estimators.support.span.left_out_residuals`.

        Parameters
        ----------
        i, j : int
            The indices of C and epsilon.
        groups : array-like of shape (n,), optional
            A label for each point: the points of a group are left out together. By default equal points are.

        Returns
        -------
        residuals : ndarray of shape (n,)
        """
        bounds = self.Cs[i] * self._weights
        return left_out_residuals(
            self._kernel,
            self._X,
            self._y,
            self.coefficients[i, j],
            self.intercepts[i, j],
            bounds,
            self._intercept,
            checked_groups(groups, len(self._y)),
        )

    def scores(
        self, criterion: str = "loo", *, scoring: str = "absolute", folds: Folds = 5, groups: ArrayLike | None = None
    ) -> Vector:
        """Return the mean error of points that are left out, for each pair; weighted if points have weights.

        Parameters
        ----------
        criterion : {"loo", "kfold"}
            "loo" leaves out one point at a time (and those that equal it, or are in its group), by the span estimate, which
            needs no further fit. "kfold" fits the path again
            for each fold, with warm starts and the known rows of the kernel matrix.
        scoring : {"absolute", "squared"}
            Whether to average absolute or squared errors.
        folds : int, array-like of shape (n,), or splitter
            A number of random folds, which are the same in each call; a label for each point; or an object with a method
            `split`. No fold learns from a row that equals one that it leaves out, except by labels.
        groups : array-like of shape (n,), optional
            A label for each point: folds keep groups whole, and splitters receive them.

        Returns
        -------
        scores : ndarray of shape (p, q)
        """
        one_of("criterion", criterion, CRITERIA)
        one_of("scoring", scoring, SCORINGS)
        power = 1 if scoring == "absolute" else 2
        if criterion == "loo":
            table = np.zeros(self.n_support.shape)
            for at in np.ndindex(*table.shape):
                table[at] = np.average(np.abs(self.loo_residuals(at[0], at[1], groups)) ** power, weights=self._weights)
            return table
        told = checked_groups(groups, len(self._y))
        data = self._X, self._y, self._weights
        return fold_scores(self._solver, self._kernel, *data, self.Cs, self.epsilons, folds, told, power, **self._options)

    def best(
        self, criterion: str = "loo", *, scoring: str = "absolute", folds: Folds = 5, groups: ArrayLike | None = None
    ) -> tuple[float, float]:
        """Return the C and the epsilon with the least score; of equal scores, the least C and then the largest epsilon.

        Parameters
        ----------
        criterion : {"loo", "kfold"}
        scoring, folds, groups
            As in :meth:`scores`.

        Returns
        -------
        C, epsilon : float
        """
        table = self.scores(criterion, scoring=scoring, folds=folds, groups=groups)
        i, j = np.unravel_index(int(np.argmin(table)), table.shape)
        return float(self.Cs[i]), float(self.epsilons[j])


def spread(y: Vector) -> float:
    """Return the median absolute deviation times 1.4826; the standard deviation if that is zero, and 1 for a constant.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.estimators.support.path import spread
    >>> round(spread(np.array([0.0, 1.0, 2.0, 3.0, 400.0])), 4)
    1.4826
    """
    deviation = 1.4826 * float(np.median(np.abs(y - np.median(y))))
    return deviation or float(np.std(y)) or 1.0


def grids(kernel: Kernel, X: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Return the default grids of C (ascending) and epsilon (descending), which scale with the data.

    The unit of C is spread(y) / mean(k(x, x)): coefficients of that size give a function that varies as much as y.
    """
    size = spread(y)
    mean = float(np.mean(np.abs(kernel.diag(X)))) or 1.0
    width = np.geomspace(1 / 2, 1 / 128, 7)
    return np.geomspace(1e-2, 1e3, 20) * (size / mean), size * width


class Options(TypedDict, total=False):
    """Arguments of :meth:`SupportVectors.solve`."""

    fit_intercept: bool
    tol: float
    max_iter: int


def walk(
    solver: SupportVectors,
    y: Vector,
    weights: Vector,
    Cs: Vector,
    epsilons: Vector,
    **options: Unpack[Options],
) -> Iterator[tuple[tuple[int, int], SupportSolution]]:
    """Solve for all pairs of Cs and epsilons in order, each from a neighbour; yield the indices (i, j) and solutions."""
    before: list[SupportSolution] = []
    for i, C in enumerate(Cs):
        row: list[SupportSolution] = []
        for j, epsilon in enumerate(epsilons):
            neighbours = [(row[-1], epsilons[j - 1], 1.0)] if j else []
            if i:
                neighbours.append((before[j], epsilon, C / Cs[i - 1]))
            start = _start(neighbours, y, float(epsilon))
            found = solver.solve(y, C * weights, float(epsilon), start=start, **options)
            row.append(found)
            yield (i, j), found
        before = row


def _start(neighbours: list[tuple[SupportSolution, float, float]], y: Vector, epsilon: float) -> Vector | None:
    """Return the multiple of a neighbour's coefficients with the largest dual; None if zero is at least as good.

    Each neighbour is a solution, its epsilon, and the largest multiple that keeps its coefficients within their bounds.
    """
    best, start = 0.0, None
    for solution, its_epsilon, most in neighbours:
        a = solution.a
        fits, size = float(a @ y), float(np.abs(a).sum())
        quadratic = 2 * (fits - its_epsilon * size - (solution.objective - solution.gap))  # a'Ka, by objective - gap = dual
        linear = fits - epsilon * size
        t = min(max(linear / quadratic, 0.0), most) if quadratic > 0 else most
        value = t * linear - t**2 * quadratic / 2
        if value > best:
            best, start = value, t * a
    return start


def fold_scores(
    solver: SupportVectors,
    kernel: Kernel,
    X: Vector,
    y: Vector,
    weights: Vector,
    Cs: Vector,
    epsilons: Vector,
    folds: Folds,
    groups: Indices | None,
    power: int,
    **options: Unpack[Options],
) -> Vector:
    """Return the weighted mean of |error|^power over the points that folds leave out, for each pair.

    Each fold is solved on all points, with bounds of zero for the points left out, so that all folds share kernel rows.
    """
    used = np.flatnonzero(weights)
    folds = folds_of_rows(folds, used, len(y))
    told = None if groups is None else groups[used]
    total, weight = np.zeros((len(Cs), len(epsilons))), 0.0
    for train, test in folds_of(folds, X[used], y[used], told):
        left = used[test]
        inside = np.zeros_like(weights)
        inside[used[train]] = weights[used[train]]
        weight += float(weights[left].sum())
        K = kernel(X[left], X[used[train]])
        for at, found in walk(solver, y, inside, Cs, epsilons, **options):
            errors = y[left] - K @ found.a[used[train]] - found.intercept
            total[at] += float(weights[left] @ np.abs(errors) ** power)
    return total / weight


def folds_of(folds: Folds, X: Vector, y: Vector, groups: Indices | None = None) -> Splits:
    """Return the folds; a number stands for random folds, the same in each call, and at most as many as there are points."""
    if len(y) < 2:
        raise ValueError(f"folds: there is nothing to leave out, got n_samples = {len(y)} of positive weight")
    if isinstance(folds, int | np.integer) and not isinstance(folds, bool):
        if folds < 2:
            raise ValueError(f"folds: expected two folds at least, got {folds}")
        folds = min(int(folds), len(y))
    return splits_of_folds(folds, X, y, groups)


def one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise unless a value is one of the allowed texts."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}: expected one of {', '.join(allowed)}, got {value!r}")


def _points_and_targets(X: ArrayLike, y: ArrayLike) -> tuple[Vector, Vector]:
    points, targets = np.ascontiguousarray(X, dtype=np.float64), np.array(y, dtype=np.float64)
    if points.ndim != 2 or not points.size or not np.isfinite(points).all():
        raise ValueError(f"X: expected finite numbers, one row for each point, got shape {points.shape}")
    if targets.shape != (len(points),) or not np.isfinite(targets).all():
        raise ValueError(f"y: expected a finite number for each of {len(points)} points, got shape {targets.shape}")
    return points, targets


def _numbers(name: str, values: ArrayLike, *, positive: bool) -> Vector:
    numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if (
        numbers.ndim != 1
        or not len(numbers)
        or not np.isfinite(numbers).all()
        or (numbers < 0).any()
        or (positive and not numbers.all())
    ):
        what = "positive, finite numbers" if positive else "finite numbers from 0 on"
        raise ValueError(f"{name}: expected {what}, got {values!r}")
    return numbers

"""Gross errors among the targets: what left-out residuals tell of them, and which rows have them.

A normal distribution of the noise is a poor model of data of which a few targets are grossly wrong (a typing error, a broken
sensor): their squares rule any fit. Residuals of points that are left out, in units of their standard deviations, show it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special, stats
from scipy.spatial import cKDTree

from kernsel._base.annotations import Indices, Matrix, Vector

__all__ = ["LeftOutRows", "far_from_neighbours", "find_outliers", "said_of_outliers", "said_of_tails"]

_LEAST = 12  # points, of fewer no scale can be told
_FAR = 5.0  # robust standard deviations beyond which a residual is suspect, whatever the number of points
_CHANCE = 0.001  # the probability that normal noise has a residual beyond the limit
_MOST = 0.15  # the largest share of points that are taken for outliers: of more, there is no telling
_CLUSTERED = 0.05  # the probability by chance below which outliers are too close together to be errors of single points
_STEPS = 5  # the most fits until the rows do not change any more
_NEIGHBOURS = 7  # points of which the median is compared with each target
_HEAVY = 4.0  # standard deviations beyond which residuals are counted
_ALARM = 0.002  # the probability that normal noise has as many of them
_NAMED = 5  # rows that are named
_SPREAD_OF_NORMAL = float(special.ndtri(0.75))  # the median of |z| for normal z


@dataclass(frozen=True)
class LeftOutRows:
    """The prediction of each of n targets from the others but for the outliers, and what a test of them needs.

    Attributes
    ----------
    residuals, variances : ndarray of shape (n,)
        The variances are those of ordinary observations, also for outliers.
    freedom : float
        The degrees of freedom of the noise: the number of points that were fitted less the sum of their leverages.
    """

    residuals: Vector
    variances: Vector
    freedom: float

    @property
    def standardized(self) -> Vector:
        """The residuals in units of a standard deviation of which outliers know nothing: the median of |z| is that of a normal."""
        z = self.residuals / np.sqrt(self.variances)
        return np.asarray(z / (np.median(np.abs(z)) / _SPREAD_OF_NORMAL or 1.0))

    @property
    def limit(self) -> float:
        """The size of standardized residuals that one of 1000 data sets with normal noise exceeds somewhere; 5 at least."""
        return max(_FAR, float(stats.t.isf(_CHANCE / (2 * len(self.residuals)), max(self.freedom, 1.0))))

    def far(self) -> Indices:
        """Return the points whose standardized residuals exceed the limit."""
        return np.flatnonzero(np.abs(self.standardized) > self.limit)

    def log_density(self, own: Indices) -> float:
        """Return the sum of the log densities of the residuals; some points have their own, most likely variances."""
        variances = self.variances.copy()
        variances[own] = np.maximum(variances[own], self.residuals[own] ** 2)
        return float(-0.5 * np.sum(self.residuals**2 / variances + np.log(variances)))


def far_from_neighbours(X: Matrix, y: Vector) -> Indices:
    """Return the points whose targets differ from the median of their neighbours' by far more than others do.

    Unlike a fit, the median is not moved by a few outliers, which may hide each other in the fit's residuals.
    """
    spread = X.std(axis=0)
    Z = X / np.where(spread > 0, spread, 1.0)
    nearest = cKDTree(Z).query(Z, k=min(_NEIGHBOURS, len(y)))[1]
    off = np.abs(y - np.median(y[nearest], axis=1))
    return np.flatnonzero(off > _FAR * np.median(off) / _SPREAD_OF_NORMAL)


def find_outliers(
    first: LeftOutRows,
    suspects: Callable[[], Indices],
    without: Callable[[Indices], LeftOutRows],
    correlations: Callable[[Indices], Matrix],
) -> Indices:
    """Return the points with gross errors; none unless all of the following hold.

    1. After a fit without them, exactly these points are far from what the others predict, too far for normal noise.
    2. That fit is far more likely: the log density of left-out residuals grows by more than 1.5 log(n) for each outlier, whose
       own variance is counted.
    3. Errors come at any place. Outliers that are neighbours of each other more often than chance has it are a part of the
       function, such as an edge or a narrow peak, or the noise is larger there.
    4. There are 15 % at most.

    Parameters
    ----------
    first : LeftOutRows
        The fit to all points.
    suspects : callable
        Returns further points which to begin without.
    without : callable
        Returns the fit without some points.
    correlations : callable
        Returns the prior correlations, in the last fit, between some points and all.

    Returns
    -------
    rows : ndarray of int
    """
    n = len(first.residuals)
    none = np.zeros(0, dtype=np.intp)
    rows = first.far()
    if n < _LEAST or not len(rows):
        return none
    rows = np.union1d(rows, suspects())
    for _ in range(_STEPS):
        if not 0 < len(rows) <= _MOST * n:
            return none
        fit = without(rows)
        far = fit.far()
        if np.array_equal(far, rows):
            break
        rows = far
    else:
        return none
    gain = fit.log_density(rows) - first.log_density(none)
    if gain < 1.5 * len(rows) * np.log(n) or _clustered(correlations(rows), rows):
        return none
    return rows


def _clustered(correlations: Matrix, rows: Indices) -> bool:
    """Tell whether some points are nearest neighbours of each other more often than chance has it."""
    others = correlations.copy()
    others[np.arange(len(rows)), rows] = -np.inf
    hits = int(np.isin(others.argmax(axis=1), rows).sum())
    pairs = (hits + 1) // 2  # two points are often the nearest of each other
    chance = (len(rows) - 1) / (correlations.shape[1] - 1)
    return bool(pairs) and bool(stats.binom.sf(pairs - 1, len(rows), chance) < _CLUSTERED)


def said_of_outliers(rows: Sequence[int], sizes: Sequence[float]) -> str:
    """Return a remark on rows that were taken for outliers, the largest first."""
    return (
        f"{_points(len(rows))} far from what the others predict, and hardly count: {_listed(rows, sizes)}. Check these rows; "
        "outliers=None lets them count."
    )


def said_of_tails(z: Vector) -> str:
    """Return a remark if more standardized left-out residuals are large than normal noise has; otherwise an empty text."""
    heavy = np.flatnonzero(np.abs(z) > _HEAVY)
    if not len(heavy) or stats.binom.sf(len(heavy) - 1, len(z), 2 * special.ndtr(-_HEAVY)) > _ALARM:
        return ""
    rows = heavy[np.argsort(-np.abs(z[heavy]), kind="stable")]
    return (
        f"{_points(len(rows))} more than {_HEAVY:.0f} standard deviations from what the others predict, more than normal noise "
        f"has: {_listed(rows.tolist(), z[rows].tolist())}. Check these rows or remove them; criterion=\"loo_absolute\" and "
        'SVR("auto") depend less on them.'
    )


def _points(count: int) -> str:
    return f"{count} row{' is' if count == 1 else 's are'}"


def _listed(rows: Sequence[int], sizes: Sequence[float]) -> str:
    named = ", ".join(f"{row} ({size:+.1f})" for row, size in zip(rows[:_NAMED], sizes, strict=False))
    return f"row {named}" if len(rows) == 1 else f"rows {named}{', ...' if len(rows) > _NAMED else ''}"

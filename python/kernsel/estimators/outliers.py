"""Gross errors among the targets: what left-out residuals tell of them, and which rows have them.

A normal distribution of the noise is a poor model of data of which a few targets are grossly wrong (a typing error, a broken
sensor): their squares rule any fit. Residuals of points that are left out, in units of their standard deviations, show it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.spatial import cKDTree

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.allowed import Allowed
from kernsel._search.far_rows import FarRows

__all__ = [
    "LEAST_POINTS",
    "OUTLIERS",
    "LeftOutRows",
    "far_from_neighbours",
    "farthest_first",
    "find_outliers",
    "given_rows",
    "heavy_tails",
]

LEAST_POINTS = 12  # points, of fewer no scale can be told
_FAR = 5.0  # robust standard deviations beyond which a residual is suspect, whatever the number of points
_GROSS = 3.0  # standard deviations of the targets beyond which an error is gross
_HARM = 2.0  # the factor of the others' mean squared residuals from which on outliers matter
_CHANCE = 0.001  # the probability that normal noise has a residual beyond the limit
_LEAST_NOISE = 1e-6  # the share of noise in the variance of the targets below which there is none
_MOST = 0.15  # the largest share of points that are taken for outliers: of more, there is no telling
_CLUSTERED = 0.05  # the probability by chance below which outliers are too close together to be errors of single points
_NEAREST = 2  # neighbours that are looked at: one on each side, in one dimension
_STEPS = 5  # the most fits until the rows do not change any more
_NEIGHBOURS = 7  # points of which the median is compared with each target
_HEAVY = 4.0  # standard deviations beyond which residuals are counted
_ALARM = 0.002  # the probability that normal noise has as many of them
_MEDIAN_OF_NORMAL = float(special.ndtri(0.75))  # the median of |z| for normal z


OUTLIERS = Allowed('"auto", rows or None', lambda value: value is None or not isinstance(value, str) or value == "auto")


def given_rows(rows: ArrayLike | None, n: int) -> Indices:
    """Return the numbers of outliers that are given, sorted; raise if they are no rows of n, or if too few are left."""
    found = np.unique(np.asarray([] if rows is None else rows))
    if not len(found):
        return found.astype(np.intp)
    if found.dtype.kind not in "iu" or found[0] < 0 or found[-1] >= n or len(found) > n - 2:
        raise ValueError(f'outliers: expected "auto", None or {n - 2} row numbers at most, 0 to {n - 1}, got {rows!r:.100}')
    return found.astype(np.intp)


@dataclass(frozen=True)
class LeftOutRows:
    """The prediction of each of n targets from the others but for the outliers, and what a test of them needs.

    Attributes
    ----------
    residuals, variances : ndarray of shape (n,)
        The variances are those of ordinary observations, also for outliers.
    freedom : float
        The degrees of freedom of the noise: the number of points that were fitted less the sum of their leverages.
    noise : float
        The noise variance that was found.
    """

    residuals: Vector
    variances: Vector
    freedom: float
    noise: float

    @property
    def scale(self) -> float:
        """The factor of standard deviations for which the median of the standardized |residuals| is that of a normal.

        Outliers hardly change it, and criteria that do not depend on the scale of kernel and noise leave it open.
        """
        return float(np.median(np.abs(self.residuals) / np.sqrt(self.variances))) / _MEDIAN_OF_NORMAL or 1.0

    @property
    def standardized(self) -> Vector:
        """The residuals in units of their standard deviations, with their best scale."""
        return np.asarray(self.residuals / (self.scale * np.sqrt(self.variances)))

    @property
    def limit(self) -> float:
        """The size of standardized residuals that one of 1000 data sets with normal noise exceeds somewhere; 5 at least."""
        return max(_FAR, -float(special.stdtrit(max(self.freedom, 1.0), _CHANCE / (2 * len(self.residuals)))))

    def gross(self, y: Vector, rows: Indices) -> Indices:
        """Return the points whose residuals exceed the limit, and three standard deviations of the targets but for `rows`."""
        spread = float((np.delete(y, rows) if len(rows) else y).std())
        gross = np.flatnonzero(np.abs(self.residuals) > _GROSS * spread)
        return gross[np.abs(self.standardized[gross]) > self.limit] if len(gross) else gross

    def mean_square(self, rows: Indices) -> float:
        """Return the mean of the squared residuals of all points but these."""
        return float(np.mean(np.delete(self.residuals, rows) ** 2))


def far_from_neighbours(X: Matrix, y: Vector) -> Indices:
    """Return the points whose targets differ from the median of their neighbours' by far more than others do.

    Unlike a fit, the median is not moved by a few outliers, which may hide each other in the fit's residuals.
    """
    low, high = X.min(axis=0), X.max(axis=0)  # not standard deviations, because squares may overflow
    Z = (X - low) / np.where(high > low, high - low, 1.0)
    nearest = cKDTree(Z).query(Z, k=min(_NEIGHBOURS, len(y)))[1]
    off = np.abs(y - np.median(y[nearest], axis=1))
    return np.flatnonzero(off > max(_FAR * np.median(off) / _MEDIAN_OF_NORMAL, _GROSS * _robust_spread(y)))


def _robust_spread(y: Vector) -> float:
    """Return the standard deviation of the normal distribution that has the same median deviation."""
    return float(np.median(np.abs(y - np.median(y)))) / _MEDIAN_OF_NORMAL


def find_outliers(
    y: Vector,
    first: LeftOutRows,
    suspects: Callable[[], Indices],
    without: Callable[[Indices], LeftOutRows | None],
    correlations: Callable[[Indices], Matrix],
) -> Indices:
    """Return the points with gross errors; none unless all of the following hold.

    1. After a fit without them, exactly these points are farther from what the others predict than normal noise has it, and
       than three standard deviations of the other targets: no value of a function that the others show.
    2. They do harm: without them, the mean square of the left-out residuals of all others is at most half as large.
    3. Errors come at any place. If most of the points have neighbours with errors of the same sign, and more often than chance
       has it, they are a part of the function, such as a narrow peak.
    4. There are 15 % at most, and the others have noise: a function without noise has no errors.

    A peak so narrow that a single point is on it cannot be told from an error.

    Parameters
    ----------
    y : ndarray of shape (n,)
    first : LeftOutRows
        The fit to all points.
    suspects : callable
        Returns points without which to begin, besides those that are far in the first fit. Asked only if a residual of that fit
        is gross: outliers may hide each other, but they are not hidden entirely.
    without : callable
        Returns the fit without some points, or None if there is none.
    correlations : callable
        Returns the prior correlations, in the last fit, between some points and all.

    Returns
    -------
    rows : ndarray of int
    """
    n = len(y)
    none = np.zeros(0, dtype=np.intp)
    if np.abs(first.residuals).max() <= _GROSS * _robust_spread(y):
        return none
    rows = np.union1d(suspects(), first.gross(y, none))
    for _ in range(_STEPS):
        if not 0 < len(rows) <= _MOST * n:
            return none
        fit = without(rows)
        if fit is None:
            return none
        gross = fit.gross(y, rows)
        if np.array_equal(gross, rows):
            break
        rows = gross
    else:
        return none
    noiseless = fit.scale**2 * fit.noise < _LEAST_NOISE * float(np.var(np.delete(y, rows)))
    if noiseless or first.mean_square(rows) < _HARM * fit.mean_square(rows):
        return none
    return none if _clustered(correlations(rows), rows, fit.residuals[rows] > 0) else rows


def _clustered(correlations: Matrix, rows: Indices, above: NDArray[np.bool_]) -> bool:
    """Tell whether most points are near others of them, with errors of the same sign, and more often than chance has it."""
    k, n = correlations.shape
    others = correlations.copy()
    others[np.arange(k), rows] = -np.inf
    nearest = np.argpartition(-others, _NEAREST - 1, axis=1)[:, :_NEAREST]
    alike = above[:, None] == above[None, :]
    hits = sum(bool(np.isin(nearest[i], rows[alike[i]]).any()) for i in range(k))
    pairs = (hits + 1) // 2  # two points are often the nearest of each other
    chance = 1 - (1 - (k - 1) / (2 * (n - 1))) ** _NEAREST
    return 2 * hits >= k and bool(special.bdtrc(pairs - 1, k, chance) < _CLUSTERED)


def heavy_tails(z: Vector) -> FarRows | None:
    """Return the rows of large standardized left-out residuals, if there are more of them than normal noise has."""
    heavy = np.flatnonzero(np.abs(z) > _HEAVY)
    if not len(heavy) or special.bdtrc(len(heavy) - 1, len(z), 2 * special.ndtr(-_HEAVY)) > _ALARM:
        return None
    return farthest_first(heavy, z[heavy], count_little=False)


def farthest_first(rows: Indices, sizes: Vector, *, count_little: bool) -> FarRows:
    """Return the report of rows, given the sizes of their residuals."""
    order = np.argsort(-np.abs(sizes), kind="stable")
    return FarRows(rows[order], sizes[order], count_little)

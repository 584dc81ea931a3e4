"""Gross errors among the targets: what left-out residuals tell of them, and which rows have them.

A normal distribution of the noise is a poor model of data of which a few targets are grossly wrong (a typing error, a broken
sensor): their squares rule any fit. Residuals of points that are left out, in units of their standard deviations, show it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.allowed import Allowed
from kernsel._search.far_rows import FarRows

__all__ = [
    "LEAST_POINTS",
    "OUTLIERS",
    "LeftOutRows",
    "farthest_first",
    "find_outliers",
    "given_rows",
    "heavy_tails",
]

LEAST_POINTS = 12  # points, of fewer no scale can be told
_FAR = 5.0  # robust standard deviations up to which a residual is not gross, whatever the number of points
_CHANCE = 0.001  # the probability that normal noise has a residual beyond the limit
_SUSPECT = 2.5  # standard deviations beyond which points are left out at first, if any residual is gross
_RETURNS = 0.8  # the share of the limit below which a point that was left out returns: it keeps the rows from alternating
_HARM = 1.0  # the excess squared error of predictions, in units of its expectation, from which on it matters
_LEAST_NOISE = 1e-6  # the share of noise in the variance of the targets below which there is none
_LEAST_ERROR = 0.5  # standard deviations of the targets; the least error that is suspect after a fit without noise
_MOST = 0.15  # the largest share of points that are taken for outliers: of more, there is no telling
_SIGNIFICANT = 0.01  # the probability by chance below which something is taken for real
_EXPLAINED = 0.75  # the share of the squared residuals that points of a function explain of each other
_ABSURD = 3.0  # times the limit: noise that is larger in some places is hardly ever larger by such a factor
_PLAIN = 1.5  # times the limit: it takes no significance of the harm
_NEAREST = 2  # neighbours that are looked at: one on each side, in one dimension
_DRAWS = 1000  # random sets of rows with which the neighbourhood of outliers is compared
_ROUNDS = 3  # the most searches for rows that hide
_STEPS = 8  # the most fits until the rows do not change any more
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

    def is_noiseless(self, y: Vector, rows: Indices) -> bool:
        """Tell whether there is no noise to speak of in the targets but for those of `rows`."""
        return self.scale**2 * self.noise < _LEAST_NOISE * float(np.var(np.delete(y, rows)))

    def beyond_chance(self, y: Vector) -> Indices:
        """Return the points whose residuals are larger than any of normal noise.

        A fit that takes all variation for the function has no noise to compare with. Its residuals must be large for the
        targets, too.
        """
        far = np.abs(self.standardized) > -float(special.ndtri(_CHANCE / (2 * len(y))))
        if self.is_noiseless(y, np.zeros(0, dtype=np.intp)):
            far &= np.abs(self.residuals) > _LEAST_ERROR * float(y.std())
        return np.flatnonzero(far)

    def misses(self, rows: Indices, y: Vector) -> bool:
        """Tell whether the others predict one of some rows worse than the mean of all would."""
        return bool(np.any(np.abs(self.residuals[rows]) > float(y.std())))


def find_outliers(
    y: Vector,
    first: LeftOutRows,
    suspects: Callable[[], Indices],
    without: Callable[[Indices], LeftOutRows | None],
    correlations: Callable[[Indices], Matrix],
) -> Indices:
    """Return the points with gross errors; none unless all of the following hold.

    1. After a fit without them, these points are farther from what the others predict than normal noise has it: their residuals
       exceed the limit, in units of the noise of the others. The rows are found by steps. The first fit may have taken them for
       noise, or bent to them, so all points with suspect residuals are left out at first; after each fit, points whose
       residuals are small return, and those with gross residuals are left out.
    2. They do harm: without them, the squared left-out residuals of the others are smaller by the variance of the predictions
       or more, so that half of the squared error of predictions is due to them; and this is significant (by signed ranks),
       unless they are so far off that no test is needed.
    3. The points do not predict each other. In the first fit, each is predicted from the others. If this explains three
       quarters of what the fit without them leaves, they are a part of the function, such as a peak.
    4. Errors come at any place. If most of the points have others of them among their neighbours, and more often than random
       sets of points have, the noise is larger there, or the function is another; unless they are so far off, and so useless
       for predicting each other, that it can only be chance.
    5. The residuals of all others are those of normal noise. If more of them are large than normal noise has, and the
       outliers are not far beyond the limit, they are the end of a distribution with long tails.
    6. There are 15 % at most, and the others have noise: a function without noise has no errors.

    A peak so narrow that a single point is on it cannot be told from an error.

    Parameters
    ----------
    y : ndarray of shape (n,)
    first : LeftOutRows
        The fit to all points.
    suspects : callable
        Returns points without which to begin, besides those that are far in the first fit. Asked only if a residual of that fit
        is gross, or if it can hardly tell the noise: outliers may hide each other, and a fit may go through them.
    without : callable
        Returns the fit without some points, or None if there is none.
    correlations : callable
        Returns the prior correlations between all points, in the fit without some points.

    Returns
    -------
    rows : ndarray of int
    """
    none = np.zeros(0, dtype=np.intp)
    most = int(_MOST * len(y))
    gross = len(first.beyond_chance(y)) > 0
    if not most or not (gross or first.limit > _FAR):
        return none
    also = suspects()
    if not (gross or first.misses(also, y)):
        return none
    sizes = np.abs(first.standardized)
    sizes[also] = np.maximum(sizes[also], _FAR)
    rows = _largest(sizes, _SUSPECT, most)
    for _ in range(_ROUNDS):
        settled = _settled(first, rows, without, most)
        if settled is None:
            return none
        rows, fit = settled
        if _are_errors(y, first, fit, rows, correlations):
            return rows
        # Others may hide, to which this fit has bent.
        sizes = np.abs(fit.standardized)
        if not np.any(sizes[rows] > _FAR) or _explained(first, fit, rows) >= _EXPLAINED:
            return none
        more = _largest(sizes, _SUSPECT, most)
        if np.isin(more, rows).all():
            return none
        rows = more
    return none


def _settled(
    first: LeftOutRows, rows: Indices, without: Callable[[Indices], LeftOutRows | None], most: int
) -> tuple[Indices, LeftOutRows] | None:
    """Return rows that are gross in a fit without just these, and that fit; None if there are none, or too many."""
    for step in range(_STEPS):
        fit = without(rows)
        if fit is None:
            return None
        sizes = np.abs(fit.standardized)
        sizes[rows] /= _RETURNS
        # At first, points may be left out that are needed to tell the noise; those of small residuals return in any case.
        limit = fit.limit if step else _FAR
        gross = np.flatnonzero(sizes > limit)
        harmless = np.isin(gross, rows).all() and _harm(first, fit, rows) < _HARM and sizes.max() < _PLAIN * limit
        if len(gross) and (harmless or np.array_equal(gross, rows)):
            return rows, fit
        if not len(gross) or (step and len(gross) > most):
            return None
        rows = _largest(sizes, limit, most)
    return None


def _are_errors(
    y: Vector, first: LeftOutRows, fit: LeftOutRows, rows: Indices, correlations: Callable[[Indices], Matrix]
) -> bool:
    """Tell whether all that `find_outliers` asks of gross errors holds, given a fit without them."""
    if np.any(np.abs(fit.standardized[rows]) < _RETURNS * fit.limit) or fit.is_noiseless(y, rows):
        return False
    size = float(np.median(np.abs(fit.standardized[rows]))) / fit.limit
    if _harm(first, fit, rows) < _HARM or not (size > _PLAIN or _significant(first, fit, rows)):
        return False
    explained = _explained(first, fit, rows)
    by_chance = explained <= 0.0 and size >= _ABSURD
    of_function = explained >= _EXPLAINED or (not by_chance and _clustered(correlations(rows), rows))
    return not of_function and not _end_of_long_tails(fit, rows)


def _largest(sizes: Vector, limit: float, most: int) -> Indices:
    """Return the indices of the largest numbers, those above the limit and so many at most, in ascending order."""
    order = np.argsort(-sizes, kind="stable")[:most]
    return np.sort(order[sizes[order] > limit])


def _decrease(first: LeftOutRows, fit: LeftOutRows, rows: Indices) -> Vector:
    """Return how much smaller the squared left-out residuals of all points but `rows` are in the second fit."""
    return np.asarray(np.delete(first.residuals**2 - fit.residuals**2, rows))


def _harm(first: LeftOutRows, fit: LeftOutRows, rows: Indices) -> float:
    """Return the excess squared error of predictions that rows cause, in units of the variance of predictions without them."""
    of_predictions = np.delete(np.maximum(fit.variances - fit.noise, 0.0), rows) * fit.scale**2
    return float(_decrease(first, fit, rows).mean() / max(of_predictions.mean(), np.finfo(float).tiny))


def _significant(first: LeftOutRows, fit: LeftOutRows, rows: Indices) -> bool:
    """Tell whether the decrease of squared residuals is significant, by the signed ranks, of which the largest are few."""
    decrease = _decrease(first, fit, rows)
    ranks = stats.rankdata(np.abs(decrease))
    return float(np.sign(decrease) @ ranks) > -float(special.ndtri(_SIGNIFICANT)) * float(np.sqrt(ranks @ ranks))


def _explained(first: LeftOutRows, fit: LeftOutRows, rows: Indices) -> float:
    """Return the share of the squared residuals of rows that is left out by the fit without them but not by the fit to all."""
    left, alone = np.sum(first.residuals[rows] ** 2), np.sum(fit.residuals[rows] ** 2)
    return float(1.0 - left / alone)


def _clustered(correlations: Matrix, rows: Indices) -> bool:
    """Tell whether most rows have others of them among their nearest points, and more often than random rows have."""
    n = len(correlations)
    others = np.array(correlations, dtype=np.float64)
    np.fill_diagonal(others, -np.inf)
    nearest = np.argpartition(-others, _NEAREST - 1, axis=1)[:, :_NEAREST]
    chosen = np.zeros(n, dtype=bool)
    chosen[rows] = True

    def hits(chosen: NDArray[np.bool_]) -> int:
        return int(np.sum(chosen & chosen[nearest].any(axis=1)))

    found = hits(chosen)
    if 2 * found < len(rows):
        return False
    random = np.random.default_rng(0)
    as_many = sum(hits(random.permutation(chosen)) >= found for _ in range(_DRAWS))
    return as_many < _SIGNIFICANT * _DRAWS


def _end_of_long_tails(fit: LeftOutRows, rows: Indices) -> bool:
    """Tell whether the others have more large residuals than normal noise, and half of the rows are within twice the limit."""
    if np.median(np.abs(fit.standardized[rows])) >= 2 * fit.limit:
        return False
    z = np.delete(np.abs(fit.residuals) / np.sqrt(fit.variances), rows)
    large = int(np.sum(z > _SUSPECT * np.median(z) / _MEDIAN_OF_NORMAL))
    return large > 0 and bool(special.bdtrc(large - 1, len(z), 2 * special.ndtr(-_SUSPECT)) < _SIGNIFICANT)


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

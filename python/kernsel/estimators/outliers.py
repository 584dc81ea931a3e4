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
_SUSPECT = 2.5
_STAYS = 1.25
_LEAST_ERROR = 0.5
_HARM = 2.0  # the factor of the others' mean squared residuals from which on outliers matter
_CHANCE = 0.001  # the probability that normal noise has a residual beyond the limit
_LEAST_NOISE = 1e-6  # the share of noise in the variance of the targets below which there is none
_MOST = 0.15  # the largest share of points that are taken for outliers: of more, there is no telling
_CLUSTERED = 0.05  # the probability by chance below which outliers are too close together to be errors of single points
_DRAWS = 1000
_NEAREST = 2  # neighbours that are looked at: one on each side, in one dimension
_STEPS = 8  # the most fits until the rows do not change any more
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

    def mean_square(self, rows: Indices) -> float:
        """Return the mean of the squared residuals of all points but these."""
        return float(np.mean(np.delete(self.residuals, rows) ** 2))

    def is_noiseless(self, y: Vector, rows: Indices) -> bool:
        """Tell whether there is no noise to speak of in the targets but for those of `rows`."""
        return self.scale**2 * self.noise < _LEAST_NOISE * float(np.var(np.delete(y, rows)))


def far_from_neighbours(X: Matrix, y: Vector) -> Indices:
    low, high = X.min(axis=0), X.max(axis=0)  # not standard deviations, because squares may overflow
    Z = (X - low) / np.where(high > low, high - low, 1.0)
    nearest = cKDTree(Z).query(Z, k=min(_NEIGHBOURS, len(y)))[1]
    off = np.abs(y - np.median(y[nearest], axis=1))
    return np.flatnonzero(off > _FAR * np.median(off) / _MEDIAN_OF_NORMAL)


LOG = []

def special_w(d):
    rank = np.argsort(np.argsort(np.abs(d))) + 1.0
    return np.sum(np.sign(d) * rank) / np.sqrt(np.sum(rank**2))

def first_harm(first, fit, rows):
    others = np.setdiff1d(np.arange(len(first.residuals)), rows)
    d = (first.residuals**2 - fit.residuals**2)[others]
    varf = np.maximum(fit.variances - fit.noise, 0) * fit.scale**2
    return float(np.round(d.mean() / max(np.mean(varf[others]), 1e-300), 2)), float(np.round(special_w(d), 2))

def find_outliers(y, first, suspects, without, correlations):
    n = len(y)
    none = np.zeros(0, dtype=np.intp)
    most = int(_MOST * n)
    z = np.abs(first.standardized)
    chance = -float(special.ndtri(_CHANCE / (2 * n)))
    far = z > chance
    if first.is_noiseless(y, none):
        far &= np.abs(first.residuals) > _LEAST_ERROR * y.std()
    if not far.any() or not most:
        return none
    size = np.where(np.isin(np.arange(n), suspects()), np.maximum(z, chance), z)
    rows = _largest(size, _SUSPECT, most)
    seen = []
    for _ in range(_STEPS):
        fit = without(rows)
        if fit is None:
            return none
        z = np.abs(fit.standardized)
        z[rows] *= _STAYS
        gross = np.flatnonzero(z > fit.limit)
        seen.append(len(rows))
        if np.array_equal(gross, rows):
            break
        new = np.setdiff1d(gross, rows)
        if not len(gross) or (len(gross) > most and len(seen) > 1) or (not len(new) and first_harm(first, fit, rows)[0] < 1.0):
            LOG.append(dict(why="stopped", g=len(gross), seen=seen, harm=first_harm(first, fit, rows)))
            return none
        rows = _largest(z, fit.limit, most)
    else:
        LOG.append(dict(why="steps", seen=seen))
        return none
    others = np.setdiff1d(np.arange(n), rows)
    varf = np.maximum(fit.variances - fit.noise, 0) * fit.scale**2
    hp = np.mean((first.residuals - fit.residuals)[others]**2)/np.mean(varf[others])
    hr = first.mean_square(rows) / max(fit.mean_square(rows), 1e-300)
    noiseless = fit.is_noiseless(y, rows)
    clustered = _clustered(correlations(np.arange(n)), rows, fit.residuals[rows] > 0)
    hg, ht = first_harm(first, fit, rows)
    zz = np.sort(np.abs(fit.standardized[rows]))
    r2 = 1 - np.sum(first.residuals[rows]**2) / np.sum(fit.residuals[rows]**2)
    r2m = 1-np.median(first.residuals[rows]**2 / fit.residuals[rows]**2)
    zo = np.abs(fit.residuals[others]) / np.sqrt(fit.variances[others]); zo /= np.median(zo) * 1.4826
    t25, t3 = int((zo > 2.5).sum()), int((zo > 3).sum())
    p25, p3 = float(special.bdtrc(t25 - 1, len(zo), .01242)) if t25 else 1., float(special.bdtrc(t3 - 1, len(zo), .0027)) if t3 else 1.
    sh, sp, ah, ap = clustered
    clustered = (sh >= .5 and sp < .05) or (ah >= .5 and ap < .01)
    LOG.append(dict(sh=sh, sp=sp, ah=ah, ap=ap, t25=t25, p25=round(p25, 4), t3=t3, p3=round(p3, 5), r2=round(r2,2), r2m=round(r2m,2), hg=hg, ht=ht, k=len(rows), n=n, hr=round(hr,2), hp=round(hp,2), zmin=round(zz[0],1), zmed=round(np.median(zz),1), zmax=round(zz[-1],1), size=round(np.abs(fit.residuals[rows]).min()/np.delete(y,rows).std(),2), noiseless=noiseless, clus=clustered, seen=seen, nr=round((first.noise*first.scale**2)/max(1e-300,fit.noise*fit.scale**2),2)))
    if noiseless or clustered or not ACCEPT(LOG[-1]):
        return none
    return rows

ACCEPT = lambda d: d["hg"] >= 3 and (d["hr"] >= 2 or d["ht"] >= 3)

def _largest(sizes, limit, most):
    order = np.argsort(-sizes, kind="stable")[:most]
    return np.sort(order[sizes[order] > limit])


def _clustered(correlations, rows, above):
    n = len(correlations)
    others = correlations.copy()
    np.fill_diagonal(others, -np.inf)
    nearest = np.argpartition(-others, _NEAREST - 1, axis=1)[:, :_NEAREST]
    out = []
    for s in (np.where(above, 1, -1), np.ones(len(rows))):
        sign = np.zeros(n, dtype=np.int8)
        sign[rows] = s
        def hits(sign):
            return int(np.sum((sign != 0) & (sign[nearest] == sign[:, None]).any(axis=1)))
        found = hits(sign)
        draw = np.random.default_rng(0)
        out += [round(found / len(rows), 2), float(np.mean([hits(draw.permutation(sign)) >= found for _ in range(_DRAWS)]))]
    return out


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

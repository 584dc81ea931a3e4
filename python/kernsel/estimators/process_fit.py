"""A Gaussian process conditioned on data with the hyperparameters of a search, and on data of which some rows are outliers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.trend import Trend, points_of_leverage_one, trend_matrix
from kernsel._search import Selection
from kernsel._search.far_rows import FarRows
from kernsel._solve.conditioned import conditioned
from kernsel._solve.posterior import Posterior
from kernsel.approximations import Approximation
from kernsel.estimators.outliers import LeftOutRows, farthest_first, find_outliers, heavy_tails
from kernsel.estimators.suspects import suspects_among
from kernsel.kernels import ConstantKernel
from kernsel.linalg.jitter import with_jitter

__all__ = ["Outliers", "ProcessData", "ProcessFit", "fit_despite_outliers", "outliers_in"]

_OF_NOISE = 0.1  # the share of noise in the variance of left-out residuals from which on their tails tell of the noise
_BEYOND = 1.25  # times the limit: the remark's margin, because the median tells the scale of few points badly
_OF_TARGETS = 1e-3  # the share of noise in the variance of the targets from which on; less is what the kernel misses


@dataclass(frozen=True)
class ProcessData:
    """The data of a process.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    targets : ndarray of shape (n, n_targets)
    known : float or ndarray of shape (n,)
        The known noise variances.
    finds_noise : bool
        Whether a noise variance is found as well.
    trend : str, callable or None
    groups : ndarray of int of shape (n,), optional
        The groups of points that are left out together, if they were told.
    approximation : Vecchia or Nystrom, optional
        Of the posterior.
    weights : ndarray of shape (n,), optional
        Positive; the variances of the noise, known or found, are divided by them.
    """

    X: Matrix
    targets: Matrix
    known: float | Vector
    finds_noise: bool
    trend: Trend
    groups: Indices | None = None
    approximation: Approximation | None = None
    weights: Vector | None = None

    def only(self, rows: Indices) -> ProcessData:
        """Return the data of some rows."""
        known = self.known if np.ndim(self.known) == 0 else np.asarray(self.known)[rows]
        groups = None if self.groups is None else self.groups[rows]
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=self.X[rows], targets=self.targets[rows], known=known, groups=groups, weights=weights)

    def conditioned(self, selection: Selection, own: float | Vector = 0.0) -> ProcessFit:
        """Return the process with selected hyperparameters; noise variances of points' own are added to those of all."""
        factor = selection.scale  # of kernel and noise, known noise included: criteria may determine only their ratio
        amplitude = factor * selection.amplitude
        kernel = selection.kernel if amplitude == 1 else ConstantKernel(amplitude) * selection.kernel
        noise = selection.noise * factor if self.finds_noise else 0.0

        weights = 1.0 if self.weights is None else self.weights

        def condition(jitter: float) -> Posterior:
            each = (self.known * factor + noise) / weights + own + jitter
            diagonal = np.broadcast_to(each, (len(self.X),)).astype(np.float64)
            return conditioned(kernel, self.X, self.targets, diagonal, self.trend, self.approximation)

        # The search may have gone to the edge of what can be factorized.
        return ProcessFit(selection, noise, *with_jitter(selection.jitter * factor, condition))


@dataclass(frozen=True)
class ProcessFit:
    """A process conditioned on data.

    Attributes
    ----------
    selection : Selection
    noise : float
        The noise variance that was found; 0.0 if it was known.
    posterior : Posterior
    jitter : float
    outliers : ndarray of int
        The rows that have a noise variance of their own.
    """

    selection: Selection
    noise: float
    posterior: Posterior
    jitter: float
    outliers: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


@dataclass(frozen=True)
class Outliers:
    """The rows that are outliers, and what was found without them.

    Attributes
    ----------
    rows : ndarray of int
        None are found in most data.
    fit : ProcessFit
        The fit to all others; to all rows if there are no outliers.
    left_out : LeftOutRows
        The prediction of all rows by that fit.
    far : FarRows or None
        The report on these rows, or on the tails of the noise.
    """

    rows: Indices
    fit: ProcessFit
    left_out: LeftOutRows | None
    far: FarRows | None


def outliers_in(
    data: ProcessData, first: ProcessFit, select: Callable[[ProcessData], Selection], given: Indices | None = None
) -> Outliers:
    """Return the rows that are outliers, see :func:`kernsel.estimators.outliers.find_outliers`.

    Parameters
    ----------
    data : ProcessData
        With one output, and noise that is found.
    first : ProcessFit
        The fit to all rows.
    select : callable
        Returns the hyperparameters for some of the rows.
    given : ndarray of int, optional
        The outliers, if they are known.
    """
    fits: dict[bytes, ProcessFit] = {}

    def without(rows: Indices) -> LeftOutRows | None:
        kept = data.only(np.setdiff1d(np.arange(len(data.X)), rows))
        if len(points_of_leverage_one(trend_matrix(data.trend, kept.X, check=False))):
            return None  # the trend needs these rows
        fits[rows.tobytes()] = fit = kept.conditioned(select(kept))
        return _left_out(data, fit, rows)

    def correlations(rows: Indices) -> Matrix:
        kernel, X = fits[rows.tobytes()].posterior.kernel, data.X
        scales = np.sqrt(np.asarray(kernel.diag(X)))
        return np.asarray(kernel(X, X)) / np.maximum(np.multiply.outer(scales, scales), np.finfo(float).tiny)

    none, y = np.zeros(0, dtype=np.intp), data.targets[:, 0]

    def suspects() -> Indices:
        return none if first.posterior.kernel.for_objects() else suspects_among(data.X, y)

    if given is not None:
        rows = given
    elif len(points_of_leverage_one(first.posterior.H)):
        rows = none  # there are rows that cannot be left out
    else:
        at_first = _left_out(data, first, none)
        rows = find_outliers(y, at_first, suspects, without, correlations)
        if not len(rows):
            return Outliers(rows, first, at_first, _tails_of_noise(at_first, y))
    if not len(rows):
        return Outliers(rows, first, None, None)
    found = _left_out(data, fits[rows.tobytes()], rows) if rows.tobytes() in fits else without(rows)
    if found is None:
        raise ValueError("outliers: the trend is not determined without them; give fewer rows, or a simpler trend")
    fit = fits[rows.tobytes()]
    return Outliers(rows, fit, found, farthest_first(rows, found.standardized[rows], count_little=True))


def fit_despite_outliers(
    data: ProcessData, first: ProcessFit, select: Callable[[ProcessData], Selection], given: Indices | None = None
) -> ProcessFit:
    """Return a fit in which outliers hardly count; the first fit if there are none. The arguments are those of `outliers_in`.

    The hyperparameters are then those for the other rows. An outlier has a noise variance of its own, so large that its
    left-out residual is one standard deviation, which is the most likely one.
    """
    found = outliers_in(data, first, select, given)
    rows, left_out, fit = found.rows, found.left_out, first
    if left_out is not None and len(rows):
        own = np.zeros(len(data.X))
        own[rows] = np.maximum(left_out.residuals[rows] ** 2 - left_out.variances[rows], 0.0)
        fit = replace(data.conditioned(found.fit.selection, own), outliers=rows)
    return replace(fit, selection=replace(fit.selection, far=found.far))


def _tails_of_noise(fit: LeftOutRows, y: Vector) -> FarRows | None:
    """Return rows that are farther off than normal noise has it; where there is hardly any, residuals tell of the function."""
    z = fit.residuals / np.sqrt(fit.variances)
    scale = float(np.sqrt(np.mean(z**2))) or 1.0  # some criteria leave the scale of kernel and noise open
    far = heavy_tails(z / scale)
    if fit.noise >= max(_OF_NOISE * np.median(fit.variances), _OF_TARGETS * float(np.var(y)) / scale**2):
        robust = fit.standardized  # a few gross errors make the mean square large, and all residuals small in its unit
        rows = np.flatnonzero(np.abs(robust) > _BEYOND * fit.limit)
        return farthest_first(rows, robust[rows], count_little=False) if far is None and len(rows) else far
    return None


def _left_out(data: ProcessData, fit: ProcessFit, rows: Indices) -> LeftOutRows:
    """Return the prediction of each target by a fit that some rows are no part of."""
    kept = np.setdiff1d(np.arange(len(data.X)), rows)
    errors, of_kept, leverage = fit.posterior.leave_one_out(data.only(kept).groups)
    freedom = len(errors) - float(leverage.sum())
    if not len(rows):
        return LeftOutRows(errors[:, 0], of_kept, freedom, fit.noise)
    n = len(data.X)
    residuals, variances = np.zeros(n), np.zeros(n)
    residuals[kept], variances[kept] = errors[:, 0], of_kept
    known = np.broadcast_to(data.known * fit.selection.scale, (n,))[rows]
    residuals[rows] = data.targets[rows, 0] - fit.posterior.mean(data.X[rows])[:, 0]
    variances[rows] = fit.posterior.variance(data.X[rows]) + known + fit.noise + fit.jitter
    return LeftOutRows(residuals, variances, freedom, fit.noise)

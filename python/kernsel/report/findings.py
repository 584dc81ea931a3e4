"""The leave-one-out validation of a study's model: errors, coverage of intervals, outliers, and a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from scipy import special, stats

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.estimators.observed_distribution import ObservedDistribution
from kernsel.estimators.stacking.mixture import Mixture
from kernsel.plotting.rootogram import frequencies_of
from kernsel.study import Study

__all__ = ["Findings", "findings_of"]

_SIGNIFICANCE = 2.0  # standard errors by which a useful model is better than the mean


@dataclass(frozen=True)
class Findings:
    """The model's leave-one-out predictions at each point, and statistics of their errors.

    Attributes
    ----------
    truth, predicted, errors, std : ndarray of shape (n,)
        The targets, their leave-one-out predictions, the differences of both, and the standard deviations of these.
    z : ndarray of shape (n,)
        Errors divided by `std`; where the predictive distribution F is not normal, the quantiles ndtri(F(truth)), randomized
        for counts.
    leverage : ndarray of shape (n,)
    rmse, rmse_of_mean : float
        The root mean squares of the errors, and of the errors if the mean of the targets that are not left out is the
        prediction; of all rows but those that the fit takes for gross errors.
    rmse_of_all : float
        The root mean square of all errors.
    gross : int
        The number of rows that the fit takes for gross errors.
    log_density : float
        The mean log density of the truths, of the same rows as `rmse`.
    explained : float
        1 - rmse^2 / rmse_of_mean^2; nan if all truths are equal.
    within : int
        The number of targets within their 95 % leave-one-out intervals.
    quantiles : callable or None
        Of predictive distributions that are not normal, a function from k probabilities to quantiles of shape (n, k).
    counts : dict or None
        For whole numbers, the frequencies that :class:`kernsel.plotting.RootogramDisplay` takes.
    verdict : {"constant", "useless", "doubtful", "useful"}
        "doubtful" if the model is better than the mean by less than two standard errors of the difference of squared errors.
    """

    truth: Vector
    predicted: Vector
    errors: Vector
    std: Vector
    z: Vector
    leverage: Vector
    rmse: float
    rmse_of_mean: float
    rmse_of_all: float
    gross: int
    log_density: float
    explained: float
    within: int
    verdict: str
    quantiles: Callable[[Vector], Matrix] | None = None
    counts: dict[str, Any] | None = None

    def farthest(self, count: int) -> Indices:
        """Return the points with the largest errors in units of `std`, the largest first."""
        return np.argsort(-np.abs(self.z), kind="stable")[:count]

    @property
    def far(self) -> float:
        """The threshold for outliers in standard deviations, which one of 20 data sets without outliers exceeds somewhere."""
        return float(special.ndtri(1 - 0.025 / len(self.z)))

    @property
    def outliers(self) -> Indices:
        """The outliers, those with the largest errors first."""
        order = self.farthest(len(self.z))
        return order[np.abs(self.z[order]) > self.far]

    def within_shares(self, nominal: Vector) -> Vector:
        """Return the share of targets within the leave-one-out intervals of each nominal level."""
        widths = special.ndtri(0.5 * (1 + nominal))
        return np.asarray(np.mean(np.abs(self.z)[:, None] <= widths, axis=0))

    @property
    def calibration(self) -> str:
        """A sentence on whether the intervals have the coverage that their levels say."""
        n = len(self.z)
        nominal = np.linspace(0.02, 0.98, 49)
        observed = self.within_shares(nominal)
        low, high = (stats.binom.ppf(level, n, nominal) / n for level in (0.025, 0.975))
        if ((observed >= low - 1e-9) & (observed <= high + 1e-9)).mean() > 0.9:
            return "They hold what they promise, as far as chance lets one see."
        if (observed >= nominal).all():
            return "They are wider than need be: the model is surer than it says."
        if (observed <= nominal).all():
            return "They are too narrow: the model is less sure than it says."
        return "Narrow and wide ones do not agree: errors have another distribution than the model takes them to have."


def findings_of(study: Study) -> Findings:
    """Return the leave-one-out validation of a study's model."""
    model = study.model
    truth = np.asarray(model.y_train_, dtype=np.float64)
    errors, std, found = model.loo_residuals_, model.loo_std_, model.left_out_predictive()
    together = model.left_out_together_
    of_mean = _errors_of_mean(truth, together)
    z = found.standardized(truth[:, None])[:, 0]
    rows = study.process.outliers_
    if len(rows):  # which have a noise of their own in the fit
        std = study.process.loo_std_of_ordinary()
        z[rows] = errors[rows] / std[rows]
    right = np.setdiff1d(np.arange(len(truth)), rows)
    rmse, rmse_of_mean, rmse_of_all = (float(np.sqrt(np.mean(e**2))) for e in (errors[right], of_mean[right], errors))
    explained = np.nan if not np.ptp(truth) else 1 - (rmse / rmse_of_mean) ** 2
    # Divided by a variance, because the fourth power of the target's unit could overflow in the standard deviation.
    gain = ((of_mean**2 - errors**2) / (rmse_of_mean**2 or 1.0))[right]
    if not np.ptp(truth):
        verdict = "constant"
    elif explained <= 0:
        verdict = "useless"
    else:
        verdict = "useful" if gain.mean() > _SIGNIFICANCE * _standard_error(gain, together[right]) else "doubtful"
    return Findings(
        truth,
        truth - errors,
        errors,
        std,
        z,
        model.leverage_,
        rmse,
        rmse_of_mean,
        rmse_of_all,
        len(rows),
        float(np.mean(found.log_density(truth[:, None])[right])),
        float(explained),
        _within(truth, found) if isinstance(found, ObservedDistribution) else int(np.sum(np.abs(z) <= special.ndtri(0.975))),
        verdict,
        (lambda p: found.quantiles(p)[:, 0]) if isinstance(found, ObservedDistribution) else None,
        frequencies_of(found, truth) if _is_of_counts(found) else None,
    )


def _is_of_counts(found: Mixture | ObservedDistribution) -> TypeGuard[ObservedDistribution]:
    """Tell whether values are whole numbers from 0 on."""
    return isinstance(found, ObservedDistribution) and found.likelihood.outcomes[0] == 0 and found.likelihood.outcomes[2]


def _within(truth: Vector, found: ObservedDistribution) -> int:
    """Return how many observations are from the 2.5 % to the 97.5 % quantile of their distributions."""
    low, high = found.quantiles([0.025, 0.975])[:, 0].T
    return int(np.sum((low <= truth) & (truth <= high)))


def _errors_of_mean(truth: Vector, together: Indices) -> Vector:
    """Return the errors if each target is predicted by the mean of those that are not left out together with it."""
    sums, counts = np.bincount(together, truth - truth.mean()), np.bincount(together)
    others = np.maximum(len(truth) - counts, 1)
    return np.asarray(truth - truth.mean() + (sums / others)[together])


def _standard_error(values: Vector, together: Indices) -> float:
    """Return the standard error of a mean, where only the values of different groups are independent."""
    groups, count = np.unique(together, return_inverse=True)[1], len(np.unique(together))
    sums = np.bincount(groups, values - values.mean())
    return float(np.sqrt(np.sum(sums**2) * count / max(count - 1, 1)) / len(values))

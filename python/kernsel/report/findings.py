"""What leaving points out says of the model of a study: errors, intervals, outliers, and whether it is worth anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from kernsel.study import Study

__all__ = ["Findings", "findings_of"]

Vector = NDArray[np.float64]

_SURE = 2.0  # standard errors by which the model must be better than the mean


@dataclass(frozen=True)
class Findings:
    """The model's leave-one-out predictions, point by point, and what they come to.

    Attributes
    ----------
    truth, predicted, errors, std : ndarray of shape (n,)
        Errors are truth less prediction, both of points left out.
    z : ndarray of shape (n,)
        Errors in units of `std`.
    leverage : ndarray of shape (n,)
    rmse, rmse_of_mean : float
        Root mean square of the errors, and of those of the mean of all other points.
    explained : float
        1 - rmse^2 / rmse_of_mean^2; nan if all truths are equal.
    verdict : {"constant", "useless", "doubtful", "useful"}
        "doubtful": better than the mean by less than two standard errors of the difference of their squared errors.
    """

    truth: Vector
    predicted: Vector
    errors: Vector
    std: Vector
    z: Vector
    leverage: Vector
    rmse: float
    rmse_of_mean: float
    explained: float
    verdict: str

    @property
    def within(self) -> int:
        """How many truths lie in the 95 % intervals that the other points give."""
        return int(np.sum(np.abs(self.z) <= special.ndtri(0.975)))

    def farthest(self, count: int) -> NDArray[np.intp]:
        """Return which points are farthest from their predictions, in units of `std`."""
        return np.argsort(-np.abs(self.z), kind="stable")[:count]

    @property
    def far(self) -> float:
        """How many standard deviations off is an outlier: as far as, of all points, one is by chance in one of 20 data sets."""
        return float(special.ndtri(1 - 0.025 / len(self.z)))

    @property
    def outliers(self) -> NDArray[np.intp]:
        """Which points are outliers, the farthest first."""
        order = self.farthest(len(self.z))
        return order[np.abs(self.z[order]) > self.far]

    def within_shares(self, nominal: Vector) -> Vector:
        """Return for nominal shares of intervals how many of the truths are within them."""
        widths = special.ndtri(0.5 * (1 + nominal))
        return np.asarray(np.mean(np.abs(self.z)[:, None] <= widths, axis=0))

    @property
    def calibration(self) -> str:
        """Whether intervals hold what they promise, in a sentence."""
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
    """Return what leaving points out says of the model of a study."""
    model = study.model
    truth = np.asarray(model.y_train_, dtype=np.float64)
    n = len(truth)
    errors, std = model.loo_residuals_, model.loo_std_
    of_mean = (truth - truth.mean()) * (n / max(n - 1, 1))  # the mean of the others
    z = np.divide(errors, std, out=np.zeros(n), where=std > 0)
    rmse, rmse_of_mean = (float(np.sqrt(np.mean(e**2))) for e in (errors, of_mean))
    explained = np.nan if not np.ptp(truth) else 1 - (rmse / rmse_of_mean) ** 2
    gain = (of_mean**2 - errors**2) / (rmse_of_mean**2 or 1.0)  # without a unit: its variance has the fourth power of y's
    if not np.ptp(truth):
        verdict = "constant"
    elif explained <= 0:
        verdict = "useless"
    else:
        verdict = "useful" if gain.mean() > _SURE * gain.std(ddof=1) / np.sqrt(n) else "doubtful"
    return Findings(truth, truth - errors, errors, std, z, model.leverage_, rmse, rmse_of_mean, float(explained), verdict)

"""How good an approximation is that predictions are made by, and what to do if it is not good enough."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._search.plan import Plan
from kernsel._solve.evaluate import left_out_in_groups
from kernsel._solve.landmark_posterior import LandmarkPosterior
from kernsel._solve.near import NearPosterior
from kernsel._solve.posterior import Posterior
from kernsel.criteria import Workspace

__all__ = ["Check", "LandmarksCheck", "NeighborsCheck", "checked"]

_SAMPLE = 2000  # points at which neighbours are compared with twice as many
_SIGNIFICANT = 1.5  # standard errors of a mean difference of log densities
_CLOSE = 0.1  # standard deviations by which twice as many neighbours may change predictions
_MOST = 400  # neighbours of predictions that are chosen without being asked for


@dataclass(frozen=True)
class LandmarksCheck:
    """What landmarks do not see of the function.

    Attributes
    ----------
    missing : float
        The mean over training points of (k(x, x) - q(x, x)) / noise variance: what is not known of the function, even if its
        values at all landmarks are, in units of the noise.
    """

    missing: float

    @property
    def change(self) -> float:
        """What orders checks: the larger, the worse."""
        return self.missing

    @property
    def matters(self) -> bool:
        """Whether landmarks miss more than the noise hides, so that nothing they say can be trusted."""
        return self.missing > 1

    def warn(self, landmarks: int) -> None:
        """Warn of so many landmarks if they are too few."""
        if self.matters:
            warnings.warn(f"approximation: {landmarks} landmarks, {self}", UserWarning, stacklevel=4)

    def __str__(self) -> str:
        said = f"which miss {self.missing:.2g} times the noise variance of the function"
        if not self.matters:
            return said
        return f"{said}: too few for so little noise; more landmarks or kernsel.Vecchia() predict better"


@dataclass(frozen=True)
class NeighborsCheck:
    """How predictions of points that are left out change with more neighbours.

    Attributes
    ----------
    neighbors : int
        Of the predictions that are compared, twice as many or as many as there may be.
    change : float
        The root of the mean square of the changes of means, in standard deviations of the function.
    gain, error : float
        The change of the mean log density of points that are left out, and its standard error.
    """

    neighbors: int
    change: float
    gain: float
    error: float

    @property
    def matters(self) -> bool:
        """Whether predictions change, and are not surely worse."""
        return self.change > _CLOSE and self.gain > -_SIGNIFICANT * self.error

    def __str__(self) -> str:
        return (
            f"{self.neighbors} would change them by {self.change:.2g} standard deviations of the function, and the log density "
            f"of a point that is left out by {self.gain:+.2g}"
        )


Check: TypeAlias = LandmarksCheck | NeighborsCheck


def checked(plan: Plan, posterior: Posterior, scale: Vector | None = None) -> tuple[Plan, Posterior, Check | None]:
    """Return the plan and the posterior with enough neighbours, and how good it is; None if nothing is approximated.

    How twice as many neighbours would change predictions is looked at on a sample of points that are left out. More neighbours
    are taken if these change the function, unless points are then predicted worse: no process is right for all of some data,
    and points nearby may tell more than all. If all points are to be seen, the plan says so; the posterior is then still that
    of neighbours. Landmarks are taken as they are; a warning says if they miss more than the noise hides.

    Parameters
    ----------
    plan : Plan
    posterior : Posterior
    scale : ndarray of shape (outputs,), optional
        The factor of kernel and noise of each output, if it is not one.
    """
    if isinstance(posterior, LandmarkPosterior):
        found = LandmarksCheck(posterior.missing)
        found.warn(len(posterior.landmarks))
        return plan, posterior, found
    if not isinstance(posterior, NearPosterior):
        return plan, posterior, None
    unit = np.ones(1) if scale is None else np.sqrt(scale)
    n = len(posterior.X)
    rows = np.sort(np.random.default_rng(0).choice(n, size=min(n, _SAMPLE), replace=False))
    noise = posterior.noise[rows] + np.asarray(posterior.kernel.build().noise(posterior.X[rows]))
    while True:
        near = posterior.approximation
        m = near.predict_neighbors
        if m >= n - 1:
            return plan, posterior, None
        more_neighbors = min(2 * m, 500)
        few, many = (_left_out(posterior, rows, unit, count) for count in (m, more_neighbors))
        of_function = np.maximum(many[1] - noise, np.finfo(float).tiny)
        change = float(np.sqrt(np.mean((few[0] - many[0]) ** 2 / of_function[:, None])))
        gains = _densities(*many) - _densities(*few)
        error = float(gains.std() / np.sqrt(len(rows)))
        check = NeighborsCheck(min(more_neighbors, n - 1), change, float(gains.mean()), error)
        too_few = check.matters and plan.may_grow
        if too_few and plan.may_be_exact:
            return replace(plan, posterior=None), posterior, None
        if not too_few or m >= _MOST:
            return plan, posterior, check
        more = replace(near, predict_neighbors=min(2 * m, _MOST))
        plan = replace(plan, posterior=more)
        posterior = posterior.with_approximation(more)


def _densities(residuals: Matrix, variances: Vector) -> Vector:
    """Return the log density of each row of residuals, summed over outputs."""
    values = -0.5 * (np.log(2 * np.pi * variances)[:, None] + residuals**2 / variances[:, None])
    return np.asarray(values.sum(axis=1))


def _left_out(posterior: NearPosterior, rows: Indices, unit: Vector, neighbors: int) -> tuple[Matrix, Vector]:
    """Return the residuals in a unit, shape (count, outputs), and variances of rows, from so many neighbours.

    The coefficients of the trend are taken to be known: they are those of all points.
    """
    near = posterior.approximation.core(rows.tolist(), neighbors, np.ravel(posterior.landmarks).tolist())
    kernel, workspace, y = posterior.kernel.build(), Workspace(), posterior.y - posterior.H @ posterior.beta
    none = np.zeros(0, dtype=np.intp)

    def evaluated(criterion: _core.Criterion) -> _core.Evaluation:
        no_trend = np.zeros((len(y), 0))
        return _core.evaluate(criterion, kernel, posterior.X, y, posterior.noise, no_trend, None, False, workspace, near)

    residuals, variances = left_out_in_groups(evaluated, none, 0)
    return residuals / unit, variances

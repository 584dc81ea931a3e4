"""What of a fit is exact and what is approximated, by how many points there are and how long that may take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._base.memory import require_memory_of_points
from kernsel._solve.evaluate import left_out_in_groups
from kernsel._solve.near import NearPosterior
from kernsel._solve.posterior import Posterior
from kernsel.approximations import Approximation, Nystrom, Vecchia, Wish, approximation_given
from kernsel.criteria import Criterion, Likelihood, Workspace
from kernsel.kernels import Kernel

__all__ = ["Plan", "checked", "plan_for"]

_PATIENCE = 60.0  # seconds that an exact computation may take, unless the user allows more
_EVALUATIONS = 15  # of the criterion on all points, in a typical search
_CERTAINLY_EXACT = 3000  # up to so many points nothing needs to be estimated
_SHARE_OF_PEAK = 0.6  # of the rate of products of tiles that whole factorizations reach, at least
_SAMPLE = 2000  # points at which neighbours are compared with twice as many
_SIGNIFICANT = 1.5  # standard errors of a mean difference of log densities
_CLOSE = 0.1  # standard deviations by which twice as many neighbours may change predictions
_MOST = 400  # neighbours of predictions that are chosen without being asked for


@dataclass(frozen=True)
class Plan:
    """How hyperparameters are chosen, and how predictions are made; None means exactly.

    Attributes
    ----------
    search : Vecchia or None
    posterior : Vecchia, Nystrom or None
    reason : str
        Why something is approximated; empty if nothing is, or if the user asked for it.
    may_grow : bool
        Whether predictions may have more neighbours than the approximation says, if these are too few.
    may_be_exact : bool
        Whether they may see all points in that case.
    """

    search: Vecchia | None = None
    posterior: Approximation | None = None
    reason: str = ""
    may_grow: bool = False
    may_be_exact: bool = False

    @property
    def approximates(self) -> bool:
        """Whether anything is approximated."""
        return self.search is not None or self.posterior is not None

    def said(self, n: int, check: Check | None = None) -> str:
        """Return a sentence on what was approximated, and how good that is; empty if nothing was."""
        parts = []
        if self.search is not None and self.search.neighbors < n - 1:
            inducing = f" and {min(self.search.inducing, n)} inducing points" if self.search.inducing else ""
            parts.append(f"hyperparameters were chosen by {self.search.neighbors} nearest neighbours of each point{inducing}")
        if isinstance(self.posterior, Nystrom):
            parts.append(f"predictions see {min(self.posterior.count, n)} landmarks")
        elif self.posterior is not None and self.posterior.predict_neighbors < n:
            good = "" if check is None else f" ({check})"
            explained = min(self.posterior.inducing, n)
            points = f"{self.posterior.predict_neighbors} nearest points" + (
                f" and {explained} inducing points" if explained else ""
            )
            parts.append(f"predictions see the {points}{good}")
        elif parts:
            parts.append("predictions are exact")
        if not parts:
            return ""
        return f"approximated for {n:,} points: {'; '.join(parts)}{f'. {self.reason}' if self.reason else ''}."


@dataclass(frozen=True)
class Check:
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


def plan_for(
    wish: Wish, kernel: Kernel, criterion: Criterion, n: int, *, searches: bool, max_seconds: float | None = None
) -> Plan:
    """Return what is to be approximated for n points.

    Parameters
    ----------
    wish : Vecchia, "auto" or None
        "auto" approximates what would take longer than a minute, or than `max_seconds`, or more than half of the memory that is
        available.
    kernel : Kernel
    criterion : Criterion
    n : int
    searches : bool
        Whether hyperparameters are searched for.
    max_seconds : float, optional
    """
    if wish is None or (isinstance(wish, str) and (n <= _CERTAINLY_EXACT or kernel.reading() is not None)):
        require_memory_of_points(n)
        return Plan()
    if not isinstance(wish, str):
        given = approximation_given(wish, kernel)
        if isinstance(given, Nystrom):
            if searches:
                raise TypeError(f'approximation: expected "auto", None or kernsel.Vecchia() here, got {given!r}')
            return Plan(None, given)
        return Plan(given if searches else None, given)
    if wish != "auto":
        raise ValueError(f'approximation: expected "auto", None or an approximation such as kernsel.Vecchia(), got {wish!r}')
    patience = _PATIENCE if max_seconds is None else max(float(max_seconds), _PATIENCE)
    seconds = float(n) ** 3 / (_SHARE_OF_PEAK * _rate())
    one_evaluation = seconds if isinstance(criterion, Likelihood) else 2 * seconds
    available = _core.available_memory()
    fits = not 0 < available < 2 * 8 * n * (n + 1) / 2
    near, reasons = Vecchia(), []
    search = near if searches and not (fits and _EVALUATIONS * one_evaluation <= patience) else None
    may_be_exact = fits and seconds / 3 <= patience
    posterior = near if search is not None or not may_be_exact else None
    if search is not None:
        reasons.append(f"an exact search would take about {_in_words(_EVALUATIONS * one_evaluation)}")
    if not fits:
        reasons.append(f"an exact fit needs {4 * n * (n + 1) / 2**30:.3g} GiB")
    if fits and not may_be_exact:
        reasons.append(f"exact predictions would take {_in_words(seconds / 3)}")
    reason = " and ".join(reasons)
    said = f"{reason[:1].upper()}{reason[1:]}; approximation=None asks for it" if reason else ""
    return Plan(search, posterior, said, True, may_be_exact)


def checked(plan: Plan, posterior: Posterior, scale: Vector | None = None) -> tuple[Plan, Posterior, Check | None]:
    """Return the plan and the posterior with enough neighbours, and how twice as many would change predictions.

    This is looked at on a sample of points that are left out. More neighbours are taken if these change the function, unless
    points are then predicted worse: no process is right for all of some data, and points nearby may tell more than all. If all
    points are to be seen, the plan says so; the posterior is then still that of neighbours.

    Parameters
    ----------
    plan : Plan
    posterior : Posterior
    scale : ndarray of shape (outputs,), optional
        The factor of kernel and noise of each output, if it is not one.
    """
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
        check = Check(min(more_neighbors, n - 1), change, float(gains.mean()), error)
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


@cache
def _rate() -> float:
    """Return the operations a second of products of tiles, on all threads."""
    return max(_core.tile_product_rate(), 1e9)


def _in_words(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.3g} minutes"
        if seconds < 7200
        else f"{seconds / 3600:.3g} hours"
    )

"""What of a fit is exact and what is approximated, by how many points there are and how long that may take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from kernsel import _core
from kernsel._base.memory import require_memory_of_points
from kernsel.approximations import Approximation, Nystrom, Vecchia, Wish, approximation_given
from kernsel.criteria import Criterion, Likelihood
from kernsel.kernels import Kernel

__all__ = ["Plan", "plan_for"]

_PATIENCE = 60.0  # seconds that an exact computation may take, unless the user allows more
_EVALUATIONS = 15  # of the criterion on all points, in a typical search
_CERTAINLY_EXACT = 3000  # up to so many points nothing needs to be estimated
_SHARE_OF_PEAK = 0.6  # of the rate of products of tiles that whole factorizations reach, at least


@dataclass(frozen=True)
class Plan:
    """How hyperparameters are chosen, and how predictions are made; None means exactly.

    Attributes
    ----------
    search, posterior : Vecchia, Nystrom or None
    reason : str
        Why something is approximated; empty if nothing is, or if the user asked for it.
    may_grow : bool
        Whether predictions may have more neighbours than the approximation says, if these are too few.
    may_be_exact : bool
        Whether they may see all points in that case.
    """

    search: Approximation | None = None
    posterior: Approximation | None = None
    reason: str = ""
    may_grow: bool = False
    may_be_exact: bool = False

    @property
    def approximates(self) -> bool:
        """Whether anything is approximated."""
        return self.search is not None or self.posterior is not None

    def said(self, n: int, check: object = None) -> str:
        """Return a sentence on what was approximated, and what a check tells of how good that is; empty if nothing was."""
        parts = []
        if isinstance(self.search, Nystrom):
            rows = (
                ""
                if self.search.search_rows is None or self.search.search_rows >= n
                else f" on {self.search.search_rows:,} rows"
            )
            parts.append(f"hyperparameters were chosen by {min(self.search.count, n)} landmarks{rows}")
        elif self.search is not None and self.search.neighbors < n - 1:
            inducing = f" and {min(self.search.inducing, n)} inducing points" if self.search.inducing else ""
            parts.append(f"hyperparameters were chosen by {self.search.neighbors} nearest neighbours of each point{inducing}")
        good = "" if check is None else f" ({check})"
        if isinstance(self.posterior, Nystrom):
            what = "standard deviations" if self.posterior.refine else "predictions"
            parts.append(f"{what} see {min(self.posterior.count, n)} landmarks{good}")
        elif self.posterior is not None and self.posterior.predict_neighbors < n:
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


def plan_for(
    wish: Wish,
    kernel: Kernel,
    criterion: Criterion,
    n: int,
    *,
    searches: bool,
    max_seconds: float | None = None,
    columns: int | None = None,
    may_refine: bool = False,
) -> Plan:
    """Return what is to be approximated for n points.

    Parameters
    ----------
    wish : Vecchia, Nystrom, "auto" or None
        "auto" approximates what would take longer than a minute, or than `max_seconds`, or more than half of the memory that is
        available.
    kernel : Kernel
    criterion : Criterion
    n : int
    searches : bool
        Whether hyperparameters are searched for.
    max_seconds : float, optional
    columns : int, optional
        Those of the points, which landmarks that are given must have, too.
    may_refine : bool
        Whether a fit by landmarks may be iterated to the exact one.
    """
    if wish is None or (isinstance(wish, str) and (n <= _CERTAINLY_EXACT or kernel.for_objects())):
        require_memory_of_points(n)
        return Plan()
    if not isinstance(wish, str):
        given = approximation_given(wish, kernel, columns, may_refine=may_refine)
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

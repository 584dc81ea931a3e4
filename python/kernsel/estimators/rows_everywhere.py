"""Fits to rows that are read in blocks, on this machine or on those of Dask: the fitted models are ordinary ones.

One pass draws some rows, by which the model itself chooses its hyperparameters and landmarks, as it does for rows in memory. If
the criterion is to see all rows, these hyperparameters are where its search on all of them begins. The last pass sums over all
rows what the landmarks see of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel._data.rows import RowSource
from kernsel._data.trend import Trend
from kernsel._search.checks import LandmarksCheck
from kernsel._solve.by_blocks import evaluate_by_blocks
from kernsel._solve.drawn_rows import DrawnRows, draw_rows
from kernsel._solve.found_by_blocks import ByBlocks
from kernsel._solve.landmark_posterior import LandmarkPosterior
from kernsel._solve.passes import Passes
from kernsel.approximations import Nystrom, require_unrefined
from kernsel.criteria import Criterion
from kernsel.kernels import Kernel

__all__ = [
    "FitToAll",
    "approximation_of_rows",
    "choose_landmarks",
    "drawn_from",
    "fit_to_all",
    "fitted_to_some",
    "take_columns",
]

_SEARCH_ROWS = 50_000  # by which hyperparameters are chosen before all rows are seen
_MOST_LANDMARKS = 4000  # that are chosen without being asked for
_SAMPLE = 2000  # rows at which it is looked at what landmarks miss


@dataclass(frozen=True)
class FitToAll:
    """A process conditioned on rows that were read in blocks.

    Attributes
    ----------
    posterior : LandmarkPosterior
        Without the rows.
    kernel : Kernel
    noise : float
        The variance of the noise of all rows.
    found : ByBlocks
        The criterion for all rows.
    n_evaluations : int
        The number of its evaluations on all rows.
    """

    posterior: LandmarkPosterior
    kernel: Kernel
    noise: float
    found: ByBlocks
    n_evaluations: int

    def said(self, some: int) -> str:
        """Return a sentence on what was approximated, where some of the rows have chosen hyperparameters."""
        rows, landmarks = self.found.sums.rows, len(self.posterior.landmarks)
        by = "all of them" if self.n_evaluations > 1 or some >= rows else f"{some:,} of them"
        check = LandmarksCheck(self.posterior.missing)
        return f"{rows:,} rows: hyperparameters were chosen by {by}, and predictions see {landmarks} landmarks ({check})."


def approximation_of_rows(wish: object) -> Nystrom:
    """Return the approximation for rows that are read in blocks, of which only landmarks can be one."""
    if isinstance(wish, str) and wish == "auto":
        return Nystrom()
    if not isinstance(wish, Nystrom):
        raise ValueError(
            f'approximation: expected kernsel.Nystrom() or "auto" for rows that are read in blocks, such as a collection of '
            f"Dask, got {wish!r}"
        )
    require_unrefined(wish)
    return wish


def drawn_from(passes: Passes, near: Nystrom) -> DrawnRows:
    """Return the rows by which hyperparameters and landmarks are chosen."""
    return draw_rows(passes, near.search_rows or _SEARCH_ROWS, near.random_state)


def fitted_to_some(model: Any, source: RowSource, drawn: DrawnRows, near: Nystrom, **more: Any) -> Any:
    """Return a copy of a model that is fitted to some rows."""
    X: Any = drawn.X
    assert drawn.y is not None
    folds = getattr(getattr(model, "criterion", None), "folds", 5)
    if drawn.rows > len(X) and not (isinstance(folds, Integral) or hasattr(folds, "split")):
        raise ValueError(
            f"folds: labels are of all {drawn.rows:,} rows, of which {len(X):,} are drawn to choose by; expected "
            "a number of folds or a splitter"
        )
    if source.names is not None:
        import pandas as pd

        X = pd.DataFrame(X, columns=source.names)
    y = drawn.y[:, 0] if drawn.y.shape[1] == 1 else drawn.y
    some = clone(model).set_params(approximation=near)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "approximation:", UserWarning)  # the fit to all rows looks at its own landmarks
        return some.fit(X, y, **more)


def take_columns(model: Any, some: Any) -> None:
    """Set the attributes of a model that tell of the columns of X, from a model that was fitted to some rows."""
    for name in ("n_features_in_", "feature_names_in_"):
        vars(model).pop(name, None)
        if hasattr(some, name):
            setattr(model, name, getattr(some, name))


def fit_to_all(
    passes: Passes,
    criterion: Criterion,
    kernel: Kernel,
    landmarks: Matrix,
    near: Nystrom,
    *,
    noise: float,
    least_noise: float | None,
    trend: Trend,
    searches: bool,
    most: int = 100,
) -> FitToAll:
    """Condition a process on all rows, and choose its hyperparameters by all of them before if it `searches`.

    Parameters
    ----------
    passes : Passes
    criterion : Criterion
    kernel : Kernel
    landmarks : ndarray of shape (m, d)
        They stay where they are.
    near : Nystrom
    noise : float
        The variance of the noise that some rows have told, or that is known.
    least_noise : float or None
        What of it is known and no unknown; None if all is.
    trend : str, callable or None
    searches : bool
    most : int
        The most evaluations of the criterion.
    """

    def evaluated(at: Kernel, variance: float, gradient: bool) -> ByBlocks:
        return evaluate_by_blocks(
            criterion, at, landmarks, passes, noise=variance, trend=trend, bound=near.bound, gradient=gradient
        )

    count = 1
    if searches:
        kernel, noise, count = _searched(criterion, kernel, noise, least_noise, evaluated, most)
    found = evaluated(kernel, noise, False)
    posterior = LandmarkPosterior.of_sums(kernel, trend, near, landmarks, found.sums)
    LandmarksCheck(posterior.missing).warn(len(landmarks))
    return FitToAll(posterior, kernel, noise, found, count)


def _searched(
    criterion: Criterion,
    kernel: Kernel,
    noise: float,
    least: float | None,
    evaluated: Callable[[Kernel, float, bool], ByBlocks],
    most: int,
) -> tuple[Kernel, float, int]:
    """Return the kernel and the noise for which a criterion of all rows is best, and the number of evaluations.

    The search is for the logarithm of what of the noise is not known, and for the hyperparameters in their bounds, from those
    that some of the rows have told, and by L-BFGS-B.
    """
    sign = -1.0 if criterion.larger_is_better else 1.0
    finds_noise = least is not None and noise > least
    known = float(least or 0.0) if finds_noise else noise
    count, unit = 0, 1.0

    def at(x: Vector) -> tuple[Kernel, float]:
        theta, rest = (x[:-1], np.exp(x[-1])) if finds_noise else (x, 0.0)
        return kernel.clone_with_theta(theta), known + float(rest)

    def objective(x: Vector) -> tuple[float, Vector]:
        nonlocal count
        count += 1
        there, variance = at(x)
        try:
            found = evaluated(there, variance, True)
        except np.linalg.LinAlgError:
            return np.inf, np.zeros(len(x))
        assert found.gradient is not None
        value, slopes = criterion.with_prior(there, found.value, there.in_theta(found.gradient))
        assert slopes is not None
        if finds_noise:
            slopes = np.append(slopes, (found.noise_gradient or 0.0) * (variance - known))
        return sign * value / unit, sign * np.asarray(slopes) / unit

    start, bounds = np.asarray(kernel.theta, dtype=np.float64), [tuple(pair) for pair in kernel.bounds]
    if finds_noise:
        start = np.append(start, np.log(noise - known))
        bounds.append((start[-1] - 10.0, start[-1] + 10.0))
    if not len(start):
        return kernel, noise, 0
    unit = max(abs(objective(start)[0]), np.finfo(float).tiny)
    best = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxfun": most, "ftol": 1e-9})
    return *at(np.asarray(best.x)), count


def choose_landmarks(
    kernel: Kernel, X: Matrix, near: Nystrom, noise: float = 0.0, *, may_grow: bool = False
) -> tuple[Matrix, Nystrom]:
    """Return the landmarks that are given, or some that are chosen among points, and the approximation that asks for so many.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n, d)
    near : Nystrom
    noise : float
        The variance of the noise.
    may_grow : bool
        Whether to choose twice as many, up to 4000, as long as they miss more of the function than the noise hides.
    """
    if near.given is not None:
        return near.given, near
    while True:
        landmarks = np.asarray(_core.choose_landmarks(kernel.build(), X, near.core()))
        grows = may_grow and len(landmarks) == near.count < _MOST_LANDMARKS
        some = X[np.linspace(0, len(X) - 1, min(len(X), _SAMPLE)).astype(np.intp)]
        if not grows or not LandmarksCheck(_missing(kernel, some, landmarks, noise)).matters:
            return landmarks, near
        near = replace(near, landmarks=min(2 * near.count, _MOST_LANDMARKS))


def _missing(kernel: Kernel, X: Matrix, landmarks: Matrix, noise: float) -> float:
    """Return the mean over points of what landmarks do not see of the function, in units of the noise."""
    core = kernel.build()
    features = _core.NystromBlocks.begin(core, landmarks, 0).features(X, len(landmarks))
    own = np.asarray(core.noise(X))
    return float(np.mean((kernel.diag(X) - own - np.sum(features**2, axis=1)) / (noise + own)))

"""Evaluating a criterion for a kernel, a noise and a trend: the value, and all derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel._data.kernel import kernel_and_points
from kernsel._data.noise import point_weights, variances
from kernsel._data.trend import Trend, require_leverage_below_one, require_trend_of_objects, trend_matrix
from kernsel.criteria import Criterion, Workspace
from kernsel.criteria.base import Given, Loss
from kernsel.criteria.names import criterion_named
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points
from kernsel.kernels.written import KernelLike

__all__ = ["Evaluation", "LeaveOneOutFit", "evaluate", "loo"]


@dataclass(frozen=True)
class Evaluation:
    """What :func:`evaluate` returns.

    Attributes
    ----------
    value : float
    gradient : ndarray of shape (p,) or None
        In the order and on the scale of the kernel's `theta`.
    noise_gradient : float, ndarray of shape (n,) or None
        In the noise variance itself: one number if the noise was one, or one for each point.
    beta : ndarray of shape (q,) or (q, m)
        The coefficients of the trend, by generalized least squares.
    scale : float
        The factor of the kernel and the noise that was profiled out; 1 otherwise.
    effective_dof : float
        Effective degrees of freedom, sum_i (1 - N_i P_ii): nan where the diagonal of P was not needed.
    dual_coef : ndarray of shape (n,) or (n, m)
        c = P (y - H beta).
    larger_is_better : bool
    """

    value: float
    gradient: NDArray[np.float64] | None
    noise_gradient: float | Vector | None
    beta: NDArray[np.float64]
    scale: float
    effective_dof: float
    dual_coef: NDArray[np.float64]
    larger_is_better: bool


def evaluate(
    criterion: str | Criterion | Loss,
    kernel: KernelLike,
    X: Points,
    y: ArrayLike,
    *,
    noise: float | ArrayLike = 0.0,
    trend: Trend = None,
    sample_weight: ArrayLike | None = None,
    gradient: bool = False,
    workspace: Workspace | None = None,
    **options: Any,
) -> Evaluation:
    """Evaluate a criterion for a kernel, a noise and a trend, with its gradient in all of them.

    Parameters
    ----------
    criterion : str, Criterion or callable
        See :mod:`kernsel.criteria` for what each is, and when it is right: "lml", "profiled_lml", "reml", "profiled_reml",
        "map", "loo", "loo_log_density", "profiled_loo_log_density", "loo_crps", "loo_absolute", "gcv", "risk", "kfold",
        "kfold_log_density". A function is the loss of a leave-one-out criterion, see :class:`kernsel.criteria.LeaveOneOut`.
    kernel : Kernel or str
        One of scikit-learn, too, or a text; "precomputed" if X is the kernel matrix. "auto" is set from the data.
    X : array-like of shape (n, d) or (n, n); or n objects, for a kernel of such
    y : array-like of shape (n,) or (n, m)
        Outputs share everything; values are sums (of log densities) or means over them.
    noise : float or array-like of shape (n,)
        Variances, not negative. White parts of the kernel count as noise, too.
    trend : None, "constant", "linear", "quadratic", array-like of shape (n, q), or callable
        Its coefficients are estimated by generalized least squares, and again without each point that is left out.
    sample_weight : array-like of shape (n,), optional
        Not negative: the noise of a point is divided by its weight, and losses are weighted. Points of weight 0 are left out.
    gradient : bool
    workspace : optional
        Memory that evaluations of the same size share, from :class:`kernsel.criteria.Workspace`.
    **options
        Arguments of the criterion, if it is given by name: ``folds=10``, ``sigma=0.1``, ...

    Returns
    -------
    evaluation : Evaluation
        n^3 / 3 operations for a likelihood, n^3 with gradient; twice that for criteria of the diagonal of P. Memory: half of
        one n x n matrix, whatever the number of hyperparameters.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X = np.linspace(0, 6, 25).reshape(-1, 1)
    >>> ev = ks.evaluate("lml", RBF(1.0), X, np.sin(X[:, 0]), noise=0.01, gradient=True)
    >>> round(ev.value, 3), ev.gradient.round(3), round(ev.noise_gradient, 1)
    (13.645, array([12.449]), -813.9)
    """
    ours, points, targets, known, weights = _problem(kernel, X, y, noise, trend, sample_weight)
    n = len(points)
    used = np.arange(n) if weights is None else np.flatnonzero(weights)
    diagonal = np.broadcast_to(known, (n,))[used] / (1.0 if weights is None else weights[used])
    H = trend_matrix(trend, points, used)
    chosen = criterion_named(criterion, options)
    given = Given(points, targets, used)
    chosen.require_trend(H, given)
    result = _core.evaluate(
        chosen.core(given),
        ours.build(),
        points[used],
        targets[used],
        diagonal,
        H,
        None if weights is None else weights[used],
        gradient,
        workspace or Workspace(),
    )
    slopes = noise_slopes = None
    if gradient:
        slopes = ours.in_theta(result["gradient"])
        in_noise = np.zeros(n)
        in_noise[used] = result["noise_gradient"] / (1.0 if weights is None else weights[used])
        noise_slopes = float(in_noise.sum()) if np.ndim(noise) == 0 else in_noise
    value, slopes = chosen.with_prior(ours, result["value"], slopes)
    dual_coef = np.zeros_like(targets)
    dual_coef[used] = result["dual_coef"]
    return Evaluation(
        float(value),
        slopes,
        noise_slopes,
        result["beta"],
        result["scale"],
        result["effective_dof"],
        dual_coef,
        chosen.larger_is_better,
    )


@dataclass(frozen=True)
class LeaveOneOutFit:
    """What :func:`loo` returns: of every point, in a fit without it.

    Attributes
    ----------
    residuals : ndarray of shape (n,) or (n, m)
        y_i - mean_i
    means : ndarray of shape (n,) or (n, m)
    variances : ndarray of shape (n,)
        Of the noisy y_i.
    leverage : ndarray of shape (n,)
        1 - N_i P_ii, in the fit with all points: how much of y_i goes into its own fitted value.
    """

    residuals: NDArray[np.float64]
    means: NDArray[np.float64]
    variances: NDArray[np.float64]
    leverage: NDArray[np.float64]


def loo(kernel: KernelLike, X: Points, y: ArrayLike, *, noise: float | ArrayLike = 0.0, trend: Trend = None) -> LeaveOneOutFit:
    """Return residuals, means, variances and leverage of all points, each left out in turn, from one factorization.

    With P as in :mod:`kernsel.criteria`: the residual is c_i / P_ii, the variance 1 / P_ii.

    Parameters
    ----------
    kernel : Kernel or str
        One of scikit-learn, too, or a text; "precomputed" if X is the kernel matrix. "auto" is set from the data.
    X : array-like of shape (n, d) or (n, n); or n objects, for a kernel of such
    y : array-like of shape (n,) or (n, m)
    noise : float or array-like of shape (n,)
    trend : None, "constant", "linear", "quadratic", array-like of shape (n, q), or callable
        Estimated again without each point.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.0])
    >>> ks.loo(RBF(1.0), X, y, noise=0.1).means.round(3)
    array([0.695, 0.   , 0.695])
    """
    ours, points, targets, known, _ = _problem(kernel, X, y, noise, trend, None)
    H = trend_matrix(trend, points)
    require_leverage_below_one(H)
    squared = _core.leave_out("squared", 0.0, None, False, False)
    fit = _core.evaluate(squared, ours.build(), points, targets, np.atleast_1d(known), H, None, False, Workspace())
    precision = fit["precision"]
    residuals = fit["dual_coef"] / (precision if targets.ndim == 1 else precision[:, None])
    return LeaveOneOutFit(residuals, targets - residuals, 1 / precision, 1 - fit["noise"] * precision)


def _problem(
    kernel: KernelLike, X: Points, y: ArrayLike, noise: float | ArrayLike, trend: Trend, sample_weight: ArrayLike | None
) -> tuple[Kernel, Matrix, Matrix, Vector, Vector | None]:
    """Return kernel, points, targets, variances of the noise (one, or one for each point), and weights."""
    targets = np.asarray(y, dtype=np.float64)
    weights = point_weights(sample_weight, targets)
    ours, points, _ = kernel_and_points(kernel, X, y=targets, weights=weights)
    if ours.reading() is not None:
        require_trend_of_objects(trend)
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2:
        raise ValueError(f"X: expected shape (n, d), got {points.shape}")
    if targets.ndim not in (1, 2) or len(targets) != len(points):
        raise ValueError(f"y: expected one row for each of {len(points)} points, got shape {targets.shape}")
    if isinstance(noise, str):
        raise TypeError(f'noise: expected numbers, got {noise!r}; estimators find the noise if it is "auto"')
    return ours, points, targets, variances("noise", noise, len(points)), weights

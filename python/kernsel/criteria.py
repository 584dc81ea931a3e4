"""Criteria: how well a kernel, a noise and a trend fit data, with all derivatives, from one factorization."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel import _core
from kernsel.kernels import Kernel
from kernsel.kernels.algebra import as_kernel
from kernsel.trend import Trend, require_leverage_below_one, trend_matrix

__all__ = ["CRITERIA", "Evaluation", "LeaveOneOut", "evaluate", "loo"]

CRITERIA = (
    "lml",
    "profiled_lml",
    "reml",
    "profiled_reml",
    "map",
    "loo",
    "loo_log_density",
    "profiled_loo_log_density",
    "loo_crps",
    "loo_absolute",
    "gcv",
    "risk",
    "kfold",
    "kfold_log_density",
)
LARGER_IS_BETTER = {
    "lml",
    "profiled_lml",
    "reml",
    "profiled_reml",
    "map",
    "loo_log_density",
    "profiled_loo_log_density",
    "kfold_log_density",
}

Loss = Callable[[NDArray[np.float64], NDArray[np.float64]], tuple[Any, Any, Any]]


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
    noise_gradient: Any
    beta: NDArray[np.float64]
    scale: float
    effective_dof: float
    dual_coef: NDArray[np.float64]
    larger_is_better: bool


def evaluate(
    criterion: str | Loss,
    kernel: Kernel,
    X: ArrayLike,
    y: ArrayLike,
    *,
    noise: float | ArrayLike = 0.0,
    trend: Trend = None,
    sample_weight: ArrayLike | None = None,
    gradient: bool = False,
    folds: Any = 5,
    sigma: float | ArrayLike | None = None,
    smoothing: float = 0.1,
    scale: Literal["shared", "each"] = "shared",
    workspace: _core.Workspace | None = None,
) -> Evaluation:
    """Evaluate a criterion for a kernel, a noise and a trend, with its gradient in all of them.

    With K~ = k(X, X) + diag(noise), P = K~^-1 (or, with a trend H, P - P H (H'PH)^-1 H'P), c = P y; r_i = c_i / P_ii is the
    residual of point i in a fit without it, and v_i = 1 / P_ii its variance:

    ==========================  ==========================================================================
    "lml"                       log likelihood, -1/2 y'c - 1/2 log det K~ - n/2 log 2 pi
    "profiled_lml"              the same at the best common factor of kernel and noise, y'c / n
    "reml"                      restricted likelihood: of contrasts that the trend does not touch; -1/2 y'c
                                - 1/2 log det K~ - 1/2 log det H'PH + 1/2 log det H'H - (n-q)/2 log 2 pi
    "profiled_reml"             the same at the best common factor, y'c / (n - q)
    "map"                       "lml" plus the log densities of the kernel's priors
    "loo"                       mean of r_i^2
    "loo_log_density"           sum of log N(r_i; 0, v_i)
    "profiled_loo_log_density"  the same at the best common factor, the mean of r_i^2 / v_i
    "loo_crps"                  mean continuous ranked probability score of N(0, v_i) at r_i
    "loo_absolute"              mean of (r_i^2 + d^2)^(1/2), d = `smoothing` times the standard deviation of y
    "gcv"                       generalized cross-validation, n c'c / tr(P)^2; where the noise is not one number,
                                n c'Nc / tr(N P)^2, N = diag(noise), of residuals in units of their noise
    "risk"                      unbiased estimate of sum_i (f(x_i) - fit_i)^2, with `sigma` known
    "kfold"                     mean of squared residuals of groups that are left out together
    "kfold_log_density"         sum of the joint log densities of those groups
    a function                  mean of a loss of (r, v): it returns values and derivatives in r and in v
    ==========================  ==========================================================================

    Likelihoods are sharpest if the model is right; leave-one-out criteria ask for predictions only, and forgive a wrong model
    more; "loo" and "gcv" do not see the scale of the kernel and the noise together, so fix it by another rule.

    Parameters
    ----------
    criterion : str or callable
    kernel : Kernel
    X : array-like of shape (n, d)
    y : array-like of shape (n,) or (n, m)
        Outputs share everything; values are sums (of log densities) or means over them.
    noise : float or array-like of shape (n,)
        Variances, not negative. White parts of the kernel count as noise, too.
    trend : None, "constant", "linear", "quadratic", array-like of shape (n, q), or callable
    sample_weight : array-like of shape (n,), optional
        Not negative: the noise of a point is divided by its weight, and losses are weighted. Points of weight 0 are left out.
    gradient : bool
    folds : int, array-like of shape (n,), or splitter
        For "kfold": a number of consecutive groups, the label of each point's group, or scikit-learn's splitter.
    sigma : float or array-like of shape (n,)
        For "risk": the standard deviation of the noise.
    smoothing : float
        For "loo_absolute".
    scale : {"shared", "each"}
        For profiled likelihoods of several outputs: one factor, or one for each.
    workspace : optional
        Memory that evaluations of the same size share, from ``kernsel.criteria.workspace()``.

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
    ours = as_kernel(kernel)
    if ours is None:
        raise TypeError(f"kernel: expected a kernel of kernsel.kernels, got {kernel!r}")
    ours, points = ours._on_points(X)
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2:
        raise ValueError(f"X: expected shape (n, d), got {points.shape}")
    n = len(points)
    targets = np.asarray(y, dtype=np.float64)
    if targets.ndim not in (1, 2) or len(targets) != n:
        raise ValueError(f"y: expected one row for each of {n} points, got shape {targets.shape}")
    weights = _weights(sample_weight, n)
    used = np.arange(n) if weights is None else np.flatnonzero(weights)
    variances = np.broadcast_to(_variances(noise, n), (n,))[used] / (1.0 if weights is None else weights[used])
    H = trend_matrix(trend, points, used)
    uneven = np.ndim(noise) > 0 or weights is not None
    spec, divides = _criterion(criterion, targets, used, folds, sigma, smoothing, scale, points, uneven)
    if divides:
        require_leverage_below_one(H)
    result = _core.evaluate(
        spec,
        ours._build(),
        points[used],
        targets[used],
        variances,
        H,
        None if weights is None else weights[used],
        gradient,
        workspace or _core.Workspace(),
    )
    value, slopes, noise_slopes = result["value"], result["gradient"], result["noise_gradient"]
    if gradient:
        slopes = ours._of_theta(slopes)
        in_noise = np.zeros(n)
        in_noise[used] = noise_slopes / (1.0 if weights is None else weights[used])
        noise_slopes = float(in_noise.sum()) if np.ndim(noise) == 0 else in_noise
    if criterion == "map":
        prior, prior_slopes = ours.log_prior()
        value += prior
        slopes = slopes + prior_slopes if gradient else None
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
        isinstance(criterion, str) and criterion in LARGER_IS_BETTER,
    )


def workspace() -> _core.Workspace:
    """Return memory for evaluations of one size, one after the other: nothing is allocated twice."""
    return _core.Workspace()


def _variances(noise: float | ArrayLike, n: int) -> NDArray[np.float64]:
    variances = np.asarray(noise, dtype=np.float64)
    if variances.shape not in ((), (n,)):
        raise ValueError(f"noise: expected one variance, or one for each of {n} points, got shape {variances.shape}")
    if not np.isfinite(variances).all() or (variances < 0).any():
        raise ValueError(f"noise: expected finite numbers that are not negative, got {noise!r}")
    return np.atleast_1d(variances)


def _weights(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError("sample_weight: expected a finite number for each point, not negative, and not all zero")
    return weights


def _criterion(
    criterion: Any,
    y: NDArray[np.float64],
    used: NDArray[np.intp],
    folds: Any,
    sigma: Any,
    smoothing: float,
    scale: str,
    X: NDArray[np.float64],
    uneven: bool,
) -> tuple[_core.Criterion, bool]:
    """Return the criterion of the core, and whether it divides by the diagonal of P."""
    if callable(criterion):
        return _core.leave_one_out("", 0.0, criterion, False, False), True
    if not isinstance(criterion, str) or criterion not in CRITERIA:
        raise ValueError(f"criterion: expected one of {', '.join(CRITERIA)}, or a function, got {criterion!r}")
    if scale not in ("shared", "each"):
        raise ValueError(f'scale: expected "shared" or "each", got {scale!r}')
    match criterion:
        case "lml" | "map":
            return _core.likelihood(False, "known"), False
        case "reml":
            return _core.likelihood(True, "known"), False
        case "profiled_lml" | "profiled_reml":
            return _core.likelihood(criterion == "profiled_reml", scale), False
        case "gcv":
            return _core.generalized_cross_validation(uneven), False
        case "risk":
            return _core.unbiased_risk(_known_noise(sigma, len(y), used)), False
        case "kfold" | "kfold_log_density":
            labels, count = groups(folds, used, X, y)
            return _core.leave_groups_out(labels.tolist(), count, criterion == "kfold_log_density"), False
        case "loo_log_density" | "profiled_loo_log_density":
            return _core.leave_one_out("log_density", 0.0, None, True, criterion.startswith("profiled")), True
    if not isinstance(smoothing, Real) or not smoothing > 0:
        raise ValueError(f"smoothing: expected a positive number, got {smoothing!r}")
    width = float(smoothing) * (float(np.std(y)) or 1.0)
    loss = {"loo": "squared", "loo_crps": "crps", "loo_absolute": "absolute"}[criterion]
    return _core.leave_one_out(loss, width, None, False, False), True


def _known_noise(sigma: Any, n: int, used: NDArray[np.intp]) -> list[float]:
    if sigma is None:
        raise ValueError("sigma: the unbiased risk needs the standard deviation of the noise")
    values = np.asarray(sigma, dtype=np.float64)
    if values.shape not in ((), (n,)) or not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"sigma: expected a number that is not negative, or one for each of {n} points, got {sigma!r}")
    return (np.broadcast_to(values, (n,))[used] ** 2).tolist()  # type: ignore[no-any-return]


def groups(folds: Any, used: NDArray[np.intp], X: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.intp], int]:
    """Return the number of the group of each point that is used, and how many there are."""
    n = len(used)
    if isinstance(folds, int | np.integer) and not isinstance(folds, bool):
        if not 2 <= folds <= n:
            raise ValueError(f"folds: expected a number from 2 to {n}, the number of points, got {folds!r}")
        return np.arange(n) * int(folds) // n, int(folds)
    if hasattr(folds, "get_n_splits"):
        given = np.full(n, -1)
        for group, (_, left_out) in enumerate(folds.split(X[used], y[used])):
            if (given[left_out] >= 0).any():
                raise ValueError("folds: a point is left out twice; expected a splitter whose test sets do not overlap")
            given[left_out] = group
        if (given < 0).any():
            raise ValueError("folds: a point is never left out; expected a splitter whose test sets cover all points")
    else:
        given = np.asarray(folds)
        if given.shape != (len(y),):
            raise ValueError(f"folds: expected a number, a splitter, or one label for each of {len(y)} points, got {folds!r}")
        given = given[used]
    values, labels = np.unique(given, return_inverse=True)
    if len(values) < 2:
        raise ValueError("folds: expected two groups at least: one of them must be left to learn from")
    return labels.astype(np.intp), len(values)


@dataclass(frozen=True)
class LeaveOneOut:
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


def loo(kernel: Kernel, X: ArrayLike, y: ArrayLike, *, noise: float | ArrayLike = 0.0, trend: Trend = None) -> LeaveOneOut:
    """Return residuals, means, variances and leverage of all points, each left out in turn, from one factorization.

    Parameters
    ----------
    kernel : Kernel
    X : array-like of shape (n, d)
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
    ours = as_kernel(kernel)
    if ours is None:
        raise TypeError(f"kernel: expected a kernel of kernsel.kernels, got {kernel!r}")
    ours, points = ours._on_points(X)
    points, targets = np.asarray(points, dtype=np.float64), np.asarray(y, dtype=np.float64)
    H = trend_matrix(trend, points)
    require_leverage_below_one(H)
    spec = _core.leave_one_out("squared", 0.0, None, False, False)
    fit = _core.evaluate(
        spec, ours._build(), points, targets, _variances(noise, len(points)), H, None, False, _core.Workspace()
    )
    precision = fit["precision"]
    residuals = fit["dual_coef"] / (precision if targets.ndim == 1 else precision[:, None])
    return LeaveOneOut(residuals, targets - residuals, 1 / precision, 1 - fit["noise"] * precision)

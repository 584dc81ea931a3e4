"""Leave-one-out predictions of estimators: what each point is predicted to be, by all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernsel.evaluation import LeaveOneOutFit, loo
from kernsel.gaussian_process import GaussianProcessRegressor
from kernsel.interpolator import KernelInterpolator
from kernsel.kernel_machine import dense
from kernsel.kernel_ridge import KernelRidge
from kernsel.kernel_ridge_cv import KernelRidgeCV
from kernsel.kernels.given import Precomputed
from kernsel.plotting.models import column, model_in, require_fitted, require_training_data, targets_for
from kernsel.ridge_regression import RidgeRegression
from kernsel.support import SVR
from kernsel.support_span import left_out_residuals

__all__ = ["LeftOut", "left_out", "unweighted_targets"]

Vector = NDArray[np.float64]

_ACCEPTED = (
    "GaussianProcessRegressor, KernelRidge, KernelRidgeCV, KernelInterpolator, RidgeRegression, SVR, "
    "or what ks.select returns with one of them"
)


@dataclass(frozen=True)
class LeftOut:
    """Of every point, what all others say.

    Attributes
    ----------
    y, predictions : ndarray of shape (n,)
    std : ndarray of shape (n,) or None
        Of y - predictions.
    leverage : ndarray of shape (n,) or None
        In the fit with all points.
    """

    y: Vector
    predictions: Vector
    std: Vector | None = None
    leverage: Vector | None = None


def left_out(estimator: Any, X: Any, y: Any, output: int) -> LeftOut:
    """Return leave-one-out predictions of an estimator that is fitted; raise TypeError for one that has none.

    Models without a scale of their own (all but Gaussian processes) get that of the best likelihood, so that the standard
    deviations are those of a Gaussian process with the same predictions.
    """
    model = model_in(estimator)
    for kind, of in (
        (GaussianProcessRegressor, _of_process),
        (KernelRidge | KernelRidgeCV, _of_machine),
        (KernelInterpolator, _of_interpolator),
        (RidgeRegression, _of_features),
        (SVR, _of_support),
    ):
        if isinstance(model, kind):
            require_fitted(model)
            return of(model, X, y, output)
    raise TypeError(f"estimator: expected a fitted {_ACCEPTED}, got {type(model).__name__}")


def _of_process(model: GaussianProcessRegressor, X: Any, y: Any, output: int) -> LeftOut:
    known = np.asarray(model.y_train_ * model._y_train_std + model._y_train_mean)
    require_training_data(model, X, y, model.X_train_, known)
    targets = column(known, output)
    residuals = column(model.loo_residuals_, output)
    return LeftOut(targets, targets - residuals, column(model.loo_std_, output), model.leverage_)


def _of_machine(model: KernelRidge | KernelRidgeCV, X: Any, y: Any, output: int) -> LeftOut:
    targets = unweighted_targets(model, X, y)
    kernel, points, n = model.kernel_, model.X_fit_, len(targets)
    if isinstance(kernel, str):
        K = np.asarray(points, dtype=np.float64)
        kernel, points = Precomputed((K + K.T) / 2), np.arange(n, dtype=np.float64)[:, None]
    alpha = float(np.ravel(model.alpha_)[output if np.ndim(model.alpha_) else 0])
    noise = alpha * (n if model.alpha_scale == "n" else 1.0)
    wanted = column(targets, output)
    fit = loo(kernel, points, wanted, noise=noise, trend="constant" if model.fit_intercept else None)
    return _scaled(wanted, fit, 1 if model.fit_intercept else 0, fit.leverage)


def _of_interpolator(model: KernelInterpolator, X: Any, y: Any, output: int) -> LeftOut:
    known = np.asarray(model.kernel_.matmul(model.X_fit_, model.X_fit_, model.dual_coef_))
    require_training_data(model, X, None, model.X_fit_)
    points, values = model.X_fit_[model._used], column(known if y is None else y, output, len(known))[model._used]
    return _scaled(values, loo(model.kernel_, points, values), 0, None)  # all leverages are one


def _scaled(y: Vector, fit: LeaveOneOutFit, free: int, leverage: Vector | None) -> LeftOut:
    """Return a fit with the variances at the best scale, y'Py / (n - q), with Py = residuals / variances."""
    scale = float(y @ (fit.residuals / fit.variances)) / max(len(y) - free, 1)
    return LeftOut(y, fit.means, np.sqrt(max(scale, 0.0) * fit.variances), leverage)


def _of_features(model: RidgeRegression, X: Any, y: Any, output: int) -> LeftOut:
    """Return what the model knows; var_i = s^2 / (1 - h_i), s^2 = sum_j y_j e_j / (n - q), with residuals e = (1 - h) r."""
    del X  # it keeps its residuals
    residuals = column(model.loo_residuals_, output, name="y")
    targets = column(targets_for(model, y, len(residuals)), output)
    leverage = column(model.leverage_, output)
    inside = residuals * (1 - leverage)
    if model.fit_intercept and abs(inside.sum()) > 1e-6 * np.abs(inside).sum():
        raise ValueError(_WEIGHTED.format("RidgeRegression"))
    scale = float(targets @ inside) / max(len(targets) - int(model.fit_intercept), 1)
    std = None if (leverage >= 1).any() else np.sqrt(max(scale, 0.0) / (1 - leverage))
    return LeftOut(targets, targets - residuals, std, leverage)


def _of_support(model: SVR, X: Any, y: Any, output: int) -> LeftOut:
    """Return the span estimate, for which all points are needed."""
    del output  # there is one
    if X is None or y is None:
        raise ValueError("X, y: an SVR keeps its support vectors only; give all points that it was fitted to")
    points, targets = dense(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64), column(y, None)
    kernel: Any = model.kernel_
    given = isinstance(kernel, str)
    same = points.shape == tuple(model.shape_fit_) and len(targets) == len(points)
    if not same or (not given and not np.array_equal(points[model.support_], dense(model.support_vectors_))):
        raise ValueError("X, y: expected the points that the SVR was fitted to, in the same order")
    if given:
        kernel, points = Precomputed((points + points.T) / 2), np.arange(len(targets), dtype=np.float64)[:, None]
    a = np.zeros(len(targets))
    a[model.support_] = dense(model.dual_coef_)[0]
    bounds = np.full(len(a), model.C_)
    residuals = left_out_residuals(kernel, points, targets, a, float(model.intercept_[0]), bounds, model.fit_intercept)
    return LeftOut(targets, targets - residuals)


_WEIGHTED = (
    "y: not what this {} was fitted to, or it was fitted with weights, which it does not keep: for a fit with weights, "
    "use from_predictions or a path"
)


def unweighted_targets(model: KernelRidge | KernelRidgeCV, X: Any, y: Any) -> Vector:
    """Return the targets; raise unless y - f(X) = alpha c, as it is for those of the fit and no weights."""
    require_training_data(model, X, None, model.X_fit_)
    targets = np.asarray(targets_for(model, y, len(model.X_fit_)), dtype=np.float64)
    c = np.asarray(model.dual_coef_, dtype=np.float64)
    if c.shape != targets.shape:
        raise ValueError(f"y: expected shape {c.shape}, as in the fit, got {targets.shape}")
    if isinstance(model.kernel_, str):
        fitted = np.asarray(model.X_fit_ @ c)
    else:
        X = np.asarray(model.X_fit_, dtype=np.float64)
        fitted = np.asarray(model.kernel_.matmul(X, X, c))
    unit = len(c) if model.alpha_scale == "n" else 1.0
    off = targets - fitted - model.intercept_ - np.asarray(model.alpha_) * unit * c
    precision = np.finfo(np.asarray(model.dual_coef_).dtype).eps
    size = np.linalg.norm(targets) + np.linalg.norm(fitted)
    if np.linalg.norm(off) > 1e3 * precision**0.5 * max(size, 1e-300) * 1e-2:
        raise ValueError(_WEIGHTED.format(type(model).__name__))
    return targets

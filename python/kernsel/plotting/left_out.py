"""Leave-one-out predictions of fitted estimators: the prediction of each target from all other points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator

from kernsel._base.annotations import Vector
from kernsel._data.training import dense
from kernsel._solve.evaluate import LeaveOneOutFit, loo
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.interpolator import KernelInterpolator
from kernsel.estimators.kernel_ridge import KernelRidge
from kernsel.estimators.kernel_ridge_cv import KernelRidgeCV
from kernsel.estimators.ridge_regression import RidgeRegression
from kernsel.estimators.support.span import left_out_residuals
from kernsel.estimators.support.svr import SVR
from kernsel.kernels.given import Precomputed
from kernsel.kernels.objects import Points
from kernsel.plotting.models import column, model_in, require_fitted, require_training_data, targets_for

__all__ = ["LeftOut", "left_out", "unweighted_targets"]


_ACCEPTED = (
    "GaussianProcessRegressor, KernelRidge, KernelRidgeCV, KernelInterpolator, RidgeRegression, SVR, "
    "or what ks.select returns with one of them"
)


@dataclass(frozen=True)
class LeftOut:
    """The leave-one-out predictions at the training points.

    Attributes
    ----------
    y, predictions : ndarray of shape (n,)
    std : ndarray of shape (n,) or None
        The standard deviations of y - predictions.
    leverage : ndarray of shape (n,) or None
        The leverages in the fit with all points.
    """

    y: Vector
    predictions: Vector
    std: Vector | None = None
    leverage: Vector | None = None


def left_out(estimator: BaseEstimator, X: Points | None, y: ArrayLike | None, output: int) -> LeftOut:
    """Return the leave-one-out predictions of a fitted estimator; raise TypeError for one that has none.

    For models without a variance (all but Gaussian processes), the variance is the one of the best likelihood, so that the
    standard deviations are those of a Gaussian process with the same predictions.
    """
    model = model_in(estimator)
    for kind, predictions in (
        (GaussianProcessRegressor, _of_process),
        (KernelRidge | KernelRidgeCV, _of_machine),
        (KernelInterpolator, _of_interpolator),
        (RidgeRegression, _of_features),
        (SVR, _of_support),
    ):
        if isinstance(model, kind):
            require_fitted(model)
            return predictions(model, X, y, output)
    raise TypeError(f"estimator: expected a fitted {_ACCEPTED}, got {type(model).__name__}")


def _of_process(model: GaussianProcessRegressor, X: Points | None, y: ArrayLike | None, output: int) -> LeftOut:
    all_targets = np.asarray(model.y_train_ * model._y_train_std + model._y_train_mean)
    require_training_data(model, X, y, model.X_train_, all_targets)
    targets = column(all_targets, output)
    residuals = column(model.loo_residuals_, output)
    return LeftOut(targets, targets - residuals, column(model.loo_std_, output), model.leverage_)


def _of_machine(model: KernelRidge | KernelRidgeCV, X: Points | None, y: ArrayLike | None, output: int) -> LeftOut:
    targets = unweighted_targets(model, X, y)
    kernel, points, n = model.kernel_, model.X_fit_, len(targets)
    if isinstance(kernel, str):
        K = np.asarray(points, dtype=np.float64)
        kernel, points = Precomputed((K + K.T) / 2), np.arange(n, dtype=np.float64)[:, None]
    alpha = float(np.ravel(model.alpha_)[output if np.ndim(model.alpha_) else 0])
    noise = alpha * (n if model.alpha_scale == "n" else 1.0)
    target = column(targets, output)
    fit = loo(kernel, points, target, noise=noise, trend="constant" if model.fit_intercept else None)
    return _scaled(target, fit, 1 if model.fit_intercept else 0, fit.leverage)


def _of_interpolator(model: KernelInterpolator, X: Points | None, y: ArrayLike | None, output: int) -> LeftOut:
    values = np.asarray(model.kernel_.matmul(model.X_fit_, model.X_fit_, model.dual_coef_))
    require_training_data(model, X, None, model.X_fit_)
    points, target = model.X_fit_[model._used], column(values if y is None else y, output, len(values))[model._used]
    return _scaled(target, loo(model.kernel_, points, target), 0, None)  # all leverages are one


def _scaled(y: Vector, fit: LeaveOneOutFit, trend: int, leverage: Vector | None) -> LeftOut:
    """Return a fit with its variances times the scale of the best likelihood, y'Py / (n - q), where Py = residuals / variances.

    q is the number of the trend's coefficients.
    """
    scale = float(y @ (fit.residuals / fit.variances)) / max(len(y) - trend, 1)
    return LeftOut(y, fit.means, np.sqrt(max(scale, 0.0) * fit.variances), leverage)


def _of_features(model: RidgeRegression, X: Points | None, y: ArrayLike | None, output: int) -> LeftOut:
    """Return the left-out residuals r that the model keeps, with their variances.

    These are s^2 / (1 - h_i), where h are the leverages and s^2 = sum_j y_j e_j / (n - q) with the residuals e = (1 - h) r.
    """
    del X
    residuals = column(model.loo_residuals_, output, name="y")
    targets = column(targets_for(model, y, len(residuals)), output)
    leverage = column(model.leverage_, output)
    fit_residuals = residuals * (1 - leverage)
    # With an intercept and without weights, they add up to zero.
    if model.fit_intercept and abs(fit_residuals.sum()) > 1e-6 * np.abs(fit_residuals).sum():
        raise ValueError(_WEIGHTED.format("RidgeRegression"))
    scale = float(targets @ fit_residuals) / max(len(targets) - int(model.fit_intercept), 1)
    std = None if (leverage >= 1).any() else np.sqrt(max(scale, 0.0) / (1 - leverage))
    return LeftOut(targets, targets - residuals, std, leverage)


def _of_support(model: SVR, X: Points | None, y: ArrayLike | None, output: int) -> LeftOut:
    """Return the span estimate of the left-out predictions, which needs all points and not only the support vectors."""
    del output  # an SVR has one target
    if X is None or y is None:
        raise ValueError("X, y: an SVR keeps its support vectors only; give all points that it was fitted to")
    points, targets = dense(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64), column(y, None)
    precomputed = isinstance(model.kernel_, str)
    same_shape = points.shape == tuple(model.shape_fit_) and len(targets) == len(points)
    if not same_shape or (not precomputed and not np.array_equal(points[model.support_], dense(model.support_vectors_))):
        raise ValueError("X, y: expected the points that the SVR was fitted to, in the same order")
    kernel = model.kernel_
    if isinstance(kernel, str):
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


def unweighted_targets(model: KernelRidge | KernelRidgeCV, X: Points | None, y: ArrayLike | None) -> Vector:
    """Return the targets; raise unless y - f(X) = alpha c, which holds for the targets of a fit without weights."""
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
    error = targets - fitted - model.intercept_ - np.asarray(model.alpha_) * unit * c
    precision = np.finfo(np.asarray(model.dual_coef_).dtype).eps
    size = np.linalg.norm(targets) + np.linalg.norm(fitted)
    if np.linalg.norm(error) > 1e3 * precision**0.5 * max(size, 1e-300) * 1e-2:
        raise ValueError(_WEIGHTED.format(type(model).__name__))
    return targets

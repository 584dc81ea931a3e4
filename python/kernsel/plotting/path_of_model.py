"""The regularization path of an estimator: its own, or one that is computed from its kernel and its training data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kernsel._solve.path import RegularizationPath
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.kernel_ridge import KernelRidge
from kernsel.estimators.kernel_ridge_cv import KernelRidgeCV
from kernsel.estimators.ridge_regression import RidgeRegression
from kernsel.kernels.objects import Points
from kernsel.plotting.left_out import unweighted_targets
from kernsel.plotting.models import column, model_in, require_fitted, require_training_data

__all__ = ["ModelPath", "path_of_model"]

_ACCEPTED = "GaussianProcessRegressor, KernelRidge, KernelRidgeCV, RidgeRegression, or what ks.select returns with one of them"


@dataclass(frozen=True)
class ModelPath:
    """A regularization path, and the lambda of a model on it.

    Attributes
    ----------
    path : RegularizationPath
    alpha : float or None
        The lambda of the model.
    scale_known : bool
        Whether the kernel and lambda are variances, so that likelihoods need no scale.
    """

    path: RegularizationPath
    alpha: float | None
    scale_known: bool


def path_of_model(estimator: BaseEstimator, X: Points | None, y: ArrayLike | None, output: int) -> ModelPath:
    """Return the path of a fitted estimator; raise TypeError for one that has none."""
    model = model_in(estimator)
    accepted = (GaussianProcessRegressor, KernelRidge, KernelRidgeCV, RidgeRegression)
    if not isinstance(model, accepted):
        raise TypeError(f"estimator: expected a fitted {_ACCEPTED}, got {type(model).__name__}")
    require_fitted(model)
    if isinstance(model, GaussianProcessRegressor):
        return _of_process(model, X, y)
    alpha = float(np.ravel(model.alpha_)[output if np.ndim(model.alpha_) else 0])
    path = getattr(model, "path_", None)
    if path is not None:
        path = path[output] if isinstance(path, list) else path
    elif isinstance(model, RidgeRegression):
        path = _of_features(model, X, y)
    else:
        path = _of_machine(model, X, y)
    return ModelPath(path, alpha if alpha > 0 else None, scale_known=False)


def _of_process(model: GaussianProcessRegressor, X: Points | None, y: ArrayLike | None) -> ModelPath:
    """Return the path of the kernel without noise; where the noise differs from point to point, its inverses are weights."""
    posterior = model.posterior_
    targets = np.asarray(model.y_train_ * model._y_train_std + model._y_train_mean)
    require_training_data(model, X, y, model.X_train_, targets)
    variances = np.asarray(model.kernel_.build().noise(posterior.X) + posterior.noise)
    mean = float(np.mean(variances))
    has_noise = mean > 2 * model.jitter_
    # One target is in the unit of the data; several are in those of the fit, which may be normalized.
    unit = float(model._y_train_std[0]) if posterior.y.shape[1] == 1 else 1.0
    K = np.asarray(model.kernel_(posterior.X, posterior.X)) * unit**2
    level = mean * unit**2
    equal = bool(np.ptp(variances) <= 1e-12 * mean)
    path = RegularizationPath(
        (K + K.T) / 2,
        posterior.y * unit,
        X=posterior.X,
        trend=posterior.H if posterior.H.shape[1] else None,
        sigma=level**0.5 if has_noise else None,
        sample_weight=None if equal else mean / variances,
    )
    return ModelPath(path, level if level > 0 else None, scale_known=True)


def _of_machine(model: KernelRidge | KernelRidgeCV, X: Points | None, y: ArrayLike | None) -> RegularizationPath:
    targets = unweighted_targets(model, X, y)
    points, n = model.X_fit_, len(targets)
    K = np.asarray(points if isinstance(model.kernel_, str) else model.kernel_(points), dtype=np.float64)
    return RegularizationPath(
        (K + K.T) / 2,
        targets,
        sigma=model.sigma,
        trend=np.ones((n, 1)) if model.fit_intercept else None,
        alpha_scale=model.alpha_scale,
    )


def _of_features(model: RidgeRegression, X: Points | None, y: ArrayLike | None) -> RegularizationPath:
    if X is None or y is None:
        raise ValueError("X, y: a RidgeRegression of a given alpha keeps neither a path nor its training data; give both")
    Phi = np.asarray(X if model.features is None else model.features_.transform(X), dtype=np.float64)
    targets = column(y, None, len(Phi)) if np.ndim(y) == 1 else np.asarray(y, dtype=np.float64)
    return RegularizationPath.from_features(
        Phi, targets, sigma=model.sigma, trend=np.ones((len(Phi), 1)) if model.fit_intercept else None
    )

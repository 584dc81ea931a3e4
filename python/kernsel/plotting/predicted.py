"""Predictions of an estimator on a line or a plane through the space of points, with their bands and uncertainties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.base import BaseEstimator

from kernsel._base.annotations import Indices, Matrix, Seed, Vector
from kernsel._data.training import for_objects
from kernsel.estimators.classification import GaussianProcessClassifier
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.interpolator import KernelInterpolator
from kernsel.estimators.kernel_ridge import KernelRidge
from kernsel.estimators.kernel_ridge_cv import KernelRidgeCV
from kernsel.estimators.ridge_regression import RidgeRegression
from kernsel.estimators.support.svr import SVR
from kernsel.kernels.objects import Points
from kernsel.plotting.models import as_array, column, column_names, model_in, require_fitted
from kernsel.plotting.writing import percent

__all__ = ["Predicted", "Scene", "model_for_scene", "predicted", "scene_of", "training_data"]


_ACCEPTED = (
    GaussianProcessRegressor,
    GaussianProcessClassifier,
    KernelRidge,
    KernelRidgeCV,
    KernelInterpolator,
    RidgeRegression,
    SVR,
)
_MARGIN = 0.06  # on both sides of the range of a column, as a share of it
_ON_A_LINE, _ON_A_SIDE = 201, 51  # grid points of a line, and of each side of a plane


@dataclass(frozen=True)
class Predicted:
    """Predictions at points.

    Attributes
    ----------
    mean : ndarray of shape (m,)
    lower, upper : ndarray of shape (m,) or None
    spread : ndarray of shape (m,) or None
        The uncertainty of the prediction: a standard deviation, or an error bound.
    band_name, spread_name, mean_name : str
    samples : ndarray of shape (m, s) or None
    """

    mean: Vector
    lower: Vector | None = None
    upper: Vector | None = None
    spread: Vector | None = None
    band_name: str = ""
    spread_name: str = ""
    mean_name: str = "prediction"
    samples: Vector | None = None


@dataclass(frozen=True)
class Scene:
    """A line or a plane through the space of the points.

    Attributes
    ----------
    columns : tuple of int
        The one or two columns that vary.
    grid : tuple of ndarray
        Their values.
    center : ndarray of shape (d,)
        A point whose coordinates the other columns have.
    """

    columns: tuple[int, ...]
    grid: tuple[Vector, ...]
    center: Vector

    def points(self) -> Matrix:
        """Return all points of the grid, shape (m, d), the first column changing fastest."""
        meshes = np.meshgrid(*self.grid)
        Z = np.repeat(self.center[None], meshes[0].size, axis=0)
        for k, mesh in zip(self.columns, meshes, strict=True):
            Z[:, k] = mesh.ravel()
        return Z

    @overload
    def shaped(self, values: Vector) -> Matrix: ...
    @overload
    def shaped(self, values: Vector | None) -> Matrix | None: ...
    def shaped(self, values: Vector | None) -> Matrix | None:
        """Return values at `points` in the shape of the grid."""
        return None if values is None else values.reshape([len(axis) for axis in self.grid[::-1]])


def model_for_scene(estimator: BaseEstimator) -> BaseEstimator:
    """Return the fitted model of an estimator; raise TypeError unless its points are columns of numbers."""
    model = model_in(estimator)
    if not isinstance(model, _ACCEPTED):
        names = ", ".join(kind.__name__ for kind in _ACCEPTED)
        raise TypeError(f"estimator: expected a fitted {names} or Selected, got {type(model).__name__}")
    require_fitted(model)
    kernel = getattr(model, "kernel_", None)
    if isinstance(kernel, str) or for_objects(kernel):
        kind = "a kernel matrix" if isinstance(kernel, str) else "objects"
        raise TypeError(f"estimator: expected one that was fitted to columns of numbers, got one of {kind}")
    if isinstance(model, GaussianProcessClassifier) and model.n_classes_ > 2:
        raise TypeError(f"estimator: expected a classifier of two classes, got one of {model.n_classes_}")
    return model


def training_data(
    model: BaseEstimator, X: Points | None, y: ArrayLike | None, output: int
) -> tuple[Matrix, Vector | None, Indices]:
    """Return the points, the targets if they are known (of a classifier 0 and 1), and the indices of the support vectors."""
    support = np.zeros(0, dtype=np.intp)
    if X is not None:
        points = as_array(X).astype(np.float64, copy=False)
        if points.ndim != 2 or points.shape[1] != model.n_features_in_:
            raise ValueError(f"X: expected {model.n_features_in_} columns, as in the fit, got shape {points.shape}")
        if isinstance(model, SVR) and points.shape == tuple(model.shape_fit_):
            support = np.asarray(model.support_, dtype=np.intp)
        if y is None:
            return points, None, support
        if isinstance(model, GaussianProcessClassifier):
            return points, (np.asarray(y) == model.classes_[1]).astype(np.float64), support
        return points, column(y, output, len(points)), support
    if isinstance(model, GaussianProcessRegressor):
        points = model.X_train_
        kept: Vector | None = column(model.y_train_ * model._y_train_std + model._y_train_mean, output)
    elif isinstance(model, GaussianProcessClassifier):
        points, kept = model.base_estimator_.X_train_, (model.base_estimator_.y_train_ > 0).astype(np.float64)
    elif isinstance(model, SVR):
        raise ValueError("X: an SVR keeps its support vectors only; give the points that it was fitted to")
    elif isinstance(model, RidgeRegression):
        raise ValueError("X: a RidgeRegression keeps no points; give those that it was fitted to")
    else:
        points, kept = model.X_fit_, None
        if isinstance(model, KernelInterpolator):
            kept = column(model.kernel_.matmul(points, points, model.dual_coef_), output)
    return np.asarray(points, dtype=np.float64), kept if y is None else column(y, output, len(points)), support


def scene_of(
    model: BaseEstimator,
    X: Matrix,
    columns: Sequence[int | str] | int | str | None,
    at: Mapping[int | str, float] | None,
    output: int,
) -> Scene:
    """Return the line or plane along some columns; by default all columns, or of more than two the one the mean varies most in.

    The other columns have the values of `at`, or their medians.
    """
    d = X.shape[1]
    names = column_names(model, d)
    center = np.median(X, axis=0)
    for key, value in (at or {}).items():
        center[_index(key, names, "at")] = float(value)
    if columns is None:
        indices = tuple(range(d)) if d <= 2 else (_most_telling(model, X, center, output),)
    else:
        keys = [columns] if isinstance(columns, int | str) else list(columns)
        indices = tuple(_index(key, names, "columns") for key in keys)
        if len(indices) not in (1, 2) or len(set(indices)) != len(indices):
            raise ValueError(f"columns: expected one or two different columns, got {columns!r}")
    return Scene(indices, tuple(_axis(X[:, k], _ON_A_LINE if len(indices) == 1 else _ON_A_SIDE) for k in indices), center)


def _index(key: object, names: list[str], argument: str) -> int:
    if isinstance(key, str) and key in names:
        return names.index(key)
    if isinstance(key, int | np.integer) and -len(names) <= key < len(names):
        return int(key) % len(names)
    raise ValueError(f"{argument}: expected columns from 0 to {len(names) - 1}, or of {', '.join(names)}, got {key!r}")


def _axis(values: Vector, count: int) -> Vector:
    low, high = float(values.min()), float(values.max())
    margin = _MARGIN * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, count)


def _most_telling(model: BaseEstimator, X: Matrix, center: Vector, output: int) -> int:
    """Return the column along which the mean changes most, the other columns being at the center."""
    changes = []
    for k in range(X.shape[1]):
        Z = np.repeat(center[None], 41, axis=0)
        Z[:, k] = np.linspace(X[:, k].min(), X[:, k].max(), 41)
        changes.append(float(np.ptp(_mean(model, Z, output))))
    return int(np.argmax(changes))


def _mean(model: BaseEstimator, Z: Matrix, output: int) -> Vector:
    """Return the predictions, of a classifier the probabilities of its second class."""
    points = _as_fitted(model, Z)
    if isinstance(model, GaussianProcessClassifier):
        return np.asarray(model.predict_proba(points)[:, 1])
    return column(model.predict(points), output)


def _as_fitted(model: BaseEstimator, Z: Matrix) -> Points:
    """Return points as a table if the model was fitted to one, because scikit-learn warns of points without names then."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return Z
    try:
        from pandas import DataFrame
    except ImportError:  # the table was of another package: the warning remains
        return Z
    table: Points = DataFrame(Z, columns=names)
    return table


def predicted(
    model: BaseEstimator, Z: Matrix, level: float, noisy: bool, n_samples: int, random_state: Seed, output: int
) -> Predicted:
    """Return the predictions of a model, with a band if the model has one."""
    if n_samples and not isinstance(model, GaussianProcessRegressor):
        raise ValueError(f"n_samples: samples are of a GaussianProcessRegressor, expected 0 for a {type(model).__name__}")
    mean, points = _mean(model, Z, output), _as_fitted(model, Z)
    z = float(stats.norm.isf((1 - level) / 2))
    if isinstance(model, GaussianProcessRegressor):
        std = column(model.predict(points, return_std=True, noisy=noisy)[1], output)
        samples = None
        if n_samples:
            samples = model.sample_y(points, n_samples, random_state)
            samples = samples[:, output] if samples.ndim == 3 else samples
        band = f"{percent(level)} of {'observations' if noisy else 'the function'}"
        return Predicted(mean, mean - z * std, mean + z * std, std, band, "standard deviation", "mean", samples)
    if isinstance(model, GaussianProcessClassifier):
        latent, std = model.latent(points, return_std=True)
        link = model.base_estimator_.link
        lower, upper = (np.exp(link.log_density(latent + sign * z * std)) for sign in (-1.0, 1.0))
        return Predicted(mean, lower, upper, std, f"{percent(level)} of the probability", "latent standard deviation")
    if isinstance(model, KernelInterpolator):
        bound = column(model.error_bound(points), output)
        return Predicted(mean, mean - bound, mean + bound, bound, "error bound, norm up to √2 of its own", "error bound")
    if isinstance(model, SVR):
        return Predicted(mean, mean - model.epsilon_, mean + model.epsilon_, band_name="errors up to ε cost nothing")
    return Predicted(mean)

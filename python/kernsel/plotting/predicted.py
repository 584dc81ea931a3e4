"""Predictions of an estimator on a line or a plane through the space of points, with their bands and uncertainties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from sklearn.base import BaseEstimator

from kernsel._base.annotations import Matrix, Seed, Vector
from kernsel._data.training import for_objects
from kernsel.estimators.fitted import HasPrediction, HasSamples, Prediction, as_fitted, require_fitted
from kernsel.kernels.objects import Points
from kernsel.plotting.models import column_names, model_and_points, require_two_classes

__all__ = ["Scene", "model_for_scene", "predicted", "samples_of", "scene_of", "scene_of_columns"]

_ACCEPTED = (
    "GaussianProcessRegressor, StackedRegressor, GaussianProcessClassifier, KernelRidge, KernelRidgeCV, KernelInterpolator, "
    "RidgeRegression, SVR, a pipeline that ends with one, or Selected"
)
_MARGIN = 0.06  # on both sides of the range of a column, as a share of it
_ON_A_LINE, _ON_A_SIDE = 201, 51  # grid points of a line, and of each side of a plane


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


def model_for_scene(estimator: BaseEstimator, X: Points | None) -> tuple[HasPrediction, Points | None]:
    """Return the fitted model of an estimator, and points as it has them; raise TypeError unless its points are numbers."""
    model, X = model_and_points(estimator, X)
    if not isinstance(model, HasPrediction):
        raise TypeError(f"estimator: expected a fitted {_ACCEPTED}, got {type(model).__name__}")
    require_fitted(model)
    for part in getattr(model, "estimators_", [model]):
        kernel = getattr(part, "kernel_", None)
        if isinstance(kernel, str) or for_objects(kernel):
            kind = "a kernel matrix" if isinstance(kernel, str) else "objects"
            raise TypeError(f"estimator: expected one that was fitted to columns of numbers, got one of {kind}")
    require_two_classes(model)
    return model, X


def scene_of(
    model: HasPrediction,
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
    if columns is None and d > 2:
        columns = _most_telling(model, X, _center(X, names, at), output)
    return scene_of_columns(X, names, range(d) if columns is None else columns, at)


def scene_of_columns(
    X: Matrix,
    names: list[str],
    columns: Sequence[int | str] | int | str,
    at: Mapping[int | str, float] | None,
    *,
    on_a_side: int = _ON_A_SIDE,
) -> Scene:
    """Return the line or plane along one or two given columns; the others have the values of `at`, or their medians."""
    keys = [columns] if isinstance(columns, int | str) else list(columns)
    indices = tuple(_index(key, names, "columns") for key in keys)
    if len(indices) not in (1, 2) or len(set(indices)) != len(indices):
        raise ValueError(f"columns: expected one or two different columns, got {columns!r}")
    count = _ON_A_LINE if len(indices) == 1 else on_a_side
    return Scene(indices, tuple(_axis(X[:, k], count) for k in indices), _center(X, names, at))


def _center(X: Matrix, names: list[str], at: Mapping[int | str, float] | None) -> Vector:
    center = np.median(X, axis=0)
    for key, value in (at or {}).items():
        center[_index(key, names, "at")] = float(value)
    return center


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


def _most_telling(model: HasPrediction, X: Matrix, center: Vector, output: int) -> int:
    """Return the column along which the mean changes most, the other columns being at the center."""
    changes = []
    for k in range(X.shape[1]):
        Z = np.repeat(center[None], 41, axis=0)
        Z[:, k] = np.linspace(X[:, k].min(), X[:, k].max(), 41)
        changes.append(float(np.ptp(model.prediction(as_fitted(model, Z), output=output).mean)))
    return int(np.argmax(changes))


def predicted(model: HasPrediction, Z: Matrix, level: float, noisy: bool, output: int) -> Prediction:
    """Return the predictions of a model, with a band if the model has one."""
    return model.prediction(as_fitted(model, Z), level=level, noisy=noisy, output=output)


def samples_of(model: HasPrediction, Z: Matrix, count: int, random_state: Seed, output: int) -> Matrix | None:
    """Return samples of the function of one output of a Gaussian process, shape (m, count); None for a count of zero."""
    if not count:
        return None
    if not isinstance(model, HasSamples):
        raise ValueError(f"n_samples: samples are of a GaussianProcessRegressor, expected 0 for a {type(model).__name__}")
    samples = model.sample_y(as_fitted(model, Z), count, random_state, noisy=False)
    likelihood = getattr(model, "likelihood_", None)
    if likelihood is not None and not likelihood.is_of_two:  # of the latent function, where the mean of observations is shown
        samples = likelihood.conditional(samples)[0]
    return samples[:, output] if samples.ndim == 3 else samples

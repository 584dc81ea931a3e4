"""The path of Nystrom's approximation: sums over rows take the place of the kernel matrix.

Rows that are equal are left out together, without a matrix of their own: to the function they are one row with the sum of their
weights and the mean of their targets, whose error when it is left out adds to the scatter of the targets around that mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.kernel import kernel_and_points, kernel_of
from kernsel._data.trend import Trend, trend_matrix
from kernsel.approximations import Nystrom, approximation_given
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points

__all__ = ["LandmarkRows", "landmark_path"]


@dataclass(frozen=True)
class LandmarkRows:
    """The rows that a path by landmarks reads once more for leave-one-out errors: equal ones, if left out together, are one.

    Attributes
    ----------
    kernel : Kernel
    landmarks : ndarray of shape (m, d)
    X : ndarray of shape (n, d)
    targets : ndarray of shape (n, outputs)
        Without their least squares fit by the trend.
    trend : ndarray of shape (n, q)
    weights : ndarray of shape (n,) or None
    of_trend : ndarray of shape (q, outputs)
        The coefficients of that fit.
    scatter : ndarray of shape (outputs,)
        The mean square of the differences between targets and their means over equal rows, which adds to the errors.
    """

    kernel: Kernel
    landmarks: Matrix
    X: Matrix
    targets: Matrix
    trend: Matrix
    weights: Vector | None
    of_trend: Matrix
    scatter: Vector

    def with_equal_rows_once(self, groups: Indices) -> LandmarkRows:
        """Return one row for each group; raise unless the rows of each are equal."""
        _, first, group = np.unique(groups, return_index=True, return_inverse=True)
        same = all(np.array_equal(values[first][group], values) for values in (self.X, self.trend))
        if not same:
            raise ValueError("groups: expected groups of equal rows, or None, with approximation=Nystrom(), got others")
        weights = np.ones(len(groups)) if self.weights is None else self.weights
        total = np.asarray(np.bincount(group, weights), dtype=np.float64)
        sums = np.column_stack([np.bincount(group, weights * column) for column in self.targets.T])
        means = sums / total[:, None]
        scatter = np.sum(weights[:, None] * (self.targets - means[group]) ** 2, axis=0) / weights.sum()
        X, trend = self.X[first], self.trend[first]
        return replace(self, X=X, targets=means, trend=trend, weights=total, scatter=scatter)

    def attached(self, path: _core.RegularizationPath) -> _core.RegularizationPath:
        """Return a path with these rows to read."""
        kernel = self.kernel.build()
        return _core.path_with_rows(path, kernel, self.landmarks, self.X, self.targets, self.trend, self.weights)


def landmark_path(
    kernel: object,
    X: Points | None,
    y: Matrix,
    *,
    trend: Trend,
    weights: Vector | None,
    groups: Indices | None,
    sigma: float,
    mean_of_errors: bool,
    approximation: object,
) -> tuple[_core.RegularizationPath, LandmarkRows]:
    """Return the path of a kernel with Nystrom's approximation, and its rows.

    Parameters
    ----------
    kernel : Kernel or str
    X : array-like of shape (n, d)
    y : ndarray of shape (n, outputs)
    trend : None, "constant", "linear", "quadratic", array-like of shape (n, q), or callable
    weights : ndarray of shape (n,) or None
    groups : ndarray of int of shape (n,) or None
        The groups of equal rows that are left out together.
    sigma : float
        The standard deviation of the noise, 0 if it is not known.
    mean_of_errors : bool
        Whether lambda is multiplied by the sum of the weights.
    approximation : Nystrom
    """
    if X is None:
        raise ValueError("X: a path by landmarks needs the points")
    resolved, numbers, _ = kernel_and_points(kernel_of(kernel, name="K"), X, y=y if len(y) == len(np.asarray(X)) else None)
    points = np.asarray(numbers, dtype=np.float64)
    points = np.asarray(numbers, dtype=np.float64)
    near = approximation_given(approximation, resolved, points.shape[-1])
    if not isinstance(near, Nystrom):
        raise TypeError(f"approximation: expected None or kernsel.Nystrom(), got {approximation!r}")
    if points.ndim != 2 or len(points) != len(y) or not np.isfinite(points).all():
        raise ValueError(f"X: expected finite numbers, one row for each of {len(y)} targets, got shape {points.shape}")
    H = trend_matrix(trend, points)
    # No criterion sees what the trend explains. Without it, sums of squares of targets with a large mean do not cancel.
    of_trend: Matrix = np.zeros((H.shape[1], y.shape[1]))
    targets = y
    if H.shape[1]:
        root = 1.0 if weights is None else np.sqrt(weights)[:, None]
        of_trend = np.asarray(np.linalg.lstsq(H * root, y * root, rcond=None)[0], dtype=np.float64)
        targets = y - H @ of_trend
    made, landmarks = _core.landmark_path(resolved.build(), near.core(), points, targets, H, weights, sigma, mean_of_errors)
    rows = LandmarkRows(resolved, landmarks, points, targets, H, weights, of_trend, np.zeros(y.shape[1]))
    if groups is not None:
        rows = rows.with_equal_rows_once(groups)
        made = rows.attached(made)
    return made, rows

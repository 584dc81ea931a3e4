"""What kernel machines have in common: their data, kernels of all forms, predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernsel import _core
from kernsel._base.errors import NotPositiveDefiniteError
from kernsel._data.points import checked_targets, for_objects, in_parts, new_points, training_points
from kernsel._data.weights import point_weights
from kernsel._solve.cholesky import Cholesky
from kernsel._solve.path import RegularizationPath
from kernsel.estimators.fitted_machine import FittedMachine
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data
from kernsel.kernels.objects import Points
from kernsel.kernels.pairwise import INDEFINITE, machine_kernel

__all__ = ["KernelMachine", "TrainingData", "dense", "factorize", "is_number"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class TrainingData:
    """Data that have been checked."""

    X: NDArray[Any]
    y: NDArray[Any]  # as it came
    targets: NDArray[Any]  # (n, m)
    weights: Vector | None
    used: Any  # the points of positive weight
    kernel: Kernel | Literal["precomputed"]

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return len(self.y) if self.weights is None else float(self.weights.sum())

    @property
    def weights_used(self) -> Vector | None:
        """The weights of the points that count."""
        return None if self.weights is None else self.weights[self.used]

    @property
    def least(self) -> float:
        """The least regularization that single precision can tell from none; zero for double, where a search sees to it."""
        if self.X.dtype != np.float32:
            return 0.0
        diagonal = np.diag(self.X) if isinstance(self.kernel, str) else self.kernel.diag(self.X[:1000].astype(np.float64))
        return float(len(self.X) * np.finfo(np.float32).eps * np.mean(np.abs(diagonal)))

    def in_double(self) -> TrainingData:
        """Return the same in the precision of searches and paths."""
        X, y, targets = (np.asarray(a, dtype=np.float64) for a in (self.X, self.y, self.targets))
        return TrainingData(X, y, targets, self.weights, self.used, self.kernel)

    def matrix(self) -> NDArray[Any]:
        """Return the kernel matrix of the points that count; a given one is only as precise as it came."""
        if isinstance(self.kernel, str):
            K = self.X[self.used] if isinstance(self.used, slice) else self.X[np.ix_(self.used, self.used)]
            return np.asarray((K + K.T) / 2)
        return np.asarray(self.kernel(np.asarray(self.X[self.used], dtype=np.float64)))


class KernelMachine(FittedMachine, MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """What both estimators have in common: kernels of all forms, points, predictions."""

    kernel: Any
    gamma: float | None
    degree: float
    coef0: float
    kernel_params: Mapping[str, Any] | None
    fit_intercept: bool
    alpha_scale: Literal["none", "n"]
    sigma: float | None
    criterion: Any

    def predict(self, X: Points) -> NDArray[Any]:
        """Return f(X).

        The kernel matrix between X and the training points is never stored: memory does not grow with their product.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n) if the kernel is precomputed

        Returns
        -------
        y : ndarray of shape (m,) or (m, n_targets)
        """
        check_is_fitted(self)
        if (parts := in_parts(self.kernel_, X)) is not None:
            return np.concatenate([self.predict(part) for part in parts])
        X = dense(new_points(self, self.kernel_, X, dtype=(np.float64, np.float32), accept_sparse=("csr", "csc")))
        if isinstance(self.kernel_, str):
            return np.asarray(X @ self.dual_coef_ + self.intercept_)
        return np.asarray(self.kernel_.matmul(X, self.X_fit_, self.dual_coef_) + self.intercept_)

    _path_of: tuple[TrainingData, Vector]  # data and alphas, if alpha was chosen along a path

    @cached_property
    def path_(self) -> Any:
        """The path along which alpha was chosen, or one for each target; decomposed again for a model that was loaded."""
        if "_path_of" not in self.__dict__:
            raise AttributeError(f"path_: alpha was not chosen along a path by this {type(self).__name__}")
        path = self._path(*self._path_of)
        return path.of_each_target() if getattr(self, "alpha_per_target", False) else path

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        kernel = self.kernel
        if for_objects(kernel, X):
            kernel, X = training_points(self, kernel, X)
            y = checked_targets(X, y)
        else:
            X, y = validate_data(
                self, X, y, dtype=(np.float64, np.float32), accept_sparse=("csr", "csc"), multi_output=True, y_numeric=True
            )
        X = dense(X)
        y = np.asarray(y, dtype=X.dtype)
        for name in ("fit_intercept", "alpha_per_target"):
            if not isinstance(getattr(self, name, False), bool | np.bool_):
                raise TypeError(f"{name}: expected True or False, got {getattr(self, name)!r}")
        if self.alpha_scale not in ("none", "n"):
            raise ValueError(f'alpha_scale: expected "none" or "n", got {self.alpha_scale!r}')
        if self.sigma is not None and not (is_number(self.sigma) and 0 < self.sigma < np.inf):
            raise ValueError(f"sigma: expected a positive number or None, got {self.sigma!r}")
        kernel = machine_kernel(kernel, X.shape[1], self.gamma, self.degree, self.coef0, self.kernel_params)
        if isinstance(kernel, str) and X.shape[0] != X.shape[1]:
            raise ValueError(f"X: expected a square kernel matrix, since kernel='precomputed', got shape {X.shape}")
        weights = point_weights(sample_weight, X)
        used: Any = slice(None) if weights is None or weights.all() else np.flatnonzero(weights)
        return TrainingData(X, y, y.reshape(len(y), -1), weights, used, kernel)

    def _resolved(self, given: TrainingData) -> TrainingData:
        """Return the same with all set in the kernel that is "auto"."""
        if isinstance(given.kernel, str):
            return given
        kernel = given.kernel.resolve(self._data(given))
        return TrainingData(given.X, given.y, given.targets, given.weights, given.used, kernel)

    def _data(self, given: TrainingData) -> Data:
        X = given.X.astype(np.float64, copy=False)
        return Data(X, given.y, given.weights, getattr(self, "feature_names_in_", None))

    def _factorized(self, given: TrainingData, noise: Vector) -> Cholesky:
        try:
            return factorize(given, noise)
        except NotPositiveDefiniteError as error:
            if isinstance(self.kernel, str) and self.kernel in INDEFINITE:
                error.add_note(f'"{self.kernel}" is not a positive semidefinite kernel: with larger alpha it may pass')
            raise

    def _require_sigma(self, criterion: Any) -> None:
        if self.sigma is None and isinstance(criterion, str) and criterion in ("risk", "sure", "discrepancy"):
            raise ValueError(f'sigma: the criterion "{criterion}" needs the standard deviation of the noise, got None')

    def _path(self, given: TrainingData, alphas: Any) -> RegularizationPath:
        """Return the path of the points that count."""
        n = len(given.targets[given.used])
        if n < 2:
            raise ValueError(f"alpha: there is nothing to choose it by, got n_samples = {n} of positive weight")
        return RegularizationPath(
            given.matrix(),
            np.asarray(given.targets[given.used], dtype=np.float64),
            alphas=alphas,
            noise_std=self.sigma,
            trend=np.ones((n, 1)) if self.fit_intercept else None,
            sample_weight=given.weights_used,
            alpha_scale=self.alpha_scale,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = True
        return tags


def dense(X: Any) -> NDArray[Any]:
    """Return an array, of a sparse matrix too."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def is_number(value: Any) -> bool:
    """Tell whether it is a real number, and not True or False."""
    return isinstance(value, Real) and not isinstance(value, bool)


def factorize(given: TrainingData, noise: Vector) -> Cholesky:
    """Return the factor of the kernel matrix of the points that count, with this on its diagonal."""
    if isinstance(given.kernel, str):
        X = given.X if isinstance(given.used, slice) else given.X[np.ix_(given.used, given.used)]
        return Cholesky(_core.cholesky(X, noise))
    return Cholesky(given.kernel.build().cholesky(given.X[given.used], noise))

"""The base class of the kernel ridge regressions: training data, kernels in all accepted forms, predictions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.gaussian_process import GaussianProcessRegressor as GaussianProcess
from sklearn.utils.validation import check_is_fitted

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel._base.errors import NotPositiveDefiniteError
from kernsel._base.memory import require_memory
from kernsel._data.allowed import FLAG, Allowed, is_auto, number, one_of, require
from kernsel._data.categories import with_categories
from kernsel._data.kernel import kernel_or_name
from kernsel._data.points import in_parts, new_points
from kernsel._data.rows import is_of_dask
from kernsel._data.training import TrainingSet, dense, training_set
from kernsel._solve.path import RegularizationPath
from kernsel.criteria import Likelihood
from kernsel.criteria.table import TABLE
from kernsel.estimators.as_sklearn import as_process
from kernsel.estimators.fitted import TakesGroups
from kernsel.estimators.lazy_predictions import lazily
from kernsel.estimators.ridge_explained import RidgeExplained
from kernsel.kernels import RBF, Kernel
from kernsel.kernels.objects import Points
from kernsel.kernels.pairwise import INDEFINITE, pairwise_kernel, row_kernel
from kernsel.linalg.cholesky import Cholesky

__all__ = ["ALLOWED", "KernelMachine", "factorize", "is_likelihood"]


_MATRICES = 3  # of n x n numbers, that a path takes: the kernel matrix, its eigenvectors and what they are computed from

# The allowed values of the parameters that all kernel ridge regressions share.
ALLOWED = {"alpha_scale": one_of("none", "n"), "fit_intercept": FLAG, "sigma": number("positive") | None}


class KernelMachine(TakesGroups, RidgeExplained, MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of `KernelRidge` and `KernelRidgeCV`: kernels in all accepted forms, points, predictions."""

    kernel: Any
    gamma: float | None
    degree: float
    coef0: float
    kernel_params: Mapping[str, Any] | None
    fit_intercept: bool | None
    alpha_scale: Literal["none", "n"]
    sigma: float | None
    criterion: Any
    _allowed: ClassVar[Mapping[str, Allowed]]

    def predict(self, X: Points) -> NDArray[Any]:
        """Return f(X).

        The kernel matrix between X and the training points is never stored, so that memory does not grow as m n. The cost is
        O(m n) kernel evaluations.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n) if the kernel is precomputed
            Or a collection of Dask, for which an array of Dask is returned.

        Returns
        -------
        y : ndarray of shape (m,) or (m, n_targets)
        """
        check_is_fitted(self)
        if is_of_dask(X):
            one = self._function(np.zeros((1, self.n_features_in_)))
            found: NDArray[Any] = lazily(self, X, type(self).predict, 0 if one.ndim == 1 else one.shape[1])
            return found
        if (parts := in_parts(self.kernel_, X)) is not None:
            return np.concatenate([self.predict(part) for part in parts])
        X = dense(new_points(self, self.kernel_, X, dtype=(np.float64, np.float32), accept_sparse=("csr", "csc")))
        return self._function(X)

    def _function(self, X: Matrix) -> NDArray[Any]:
        """Return f at points whose columns have been checked."""
        if isinstance(self.kernel_, str):
            return np.asarray(X @ self.dual_coef_ + self.intercept_)
        return np.asarray(self.kernel_.matmul(X, self.X_fit_, self.dual_coef_) + self.intercept_)

    def to_sklearn(self) -> GaussianProcess:
        """Return this function as a fitted Gaussian process of scikit-learn, which converters to ONNX know, too.

        Returns
        -------
        process : sklearn.gaussian_process.GaussianProcessRegressor
            With the same predictions to rounding. It has no standard deviations. Kernels that scikit-learn does not have are
            an error, see :func:`kernsel.kernels.to_sklearn`.

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> X = np.linspace(0, 6, 12).reshape(-1, 1)
        >>> model = ks.KernelRidge("RBF").fit(X, np.sin(X[:, 0]))
        >>> bool(np.allclose(model.to_sklearn().predict(X), model.predict(X)))
        True
        """
        check_is_fitted(self)
        return as_process(self, self.kernel_, self.X_fit_, self.dual_coef_, self.intercept_)

    _path_of: tuple[TrainingSet, Vector]  # the data and the alphas of `path_`, if alpha was chosen along a path

    @cached_property
    def path_(self) -> Any:
        """The path along which alpha was chosen, or one for each target; in a loaded model, computed on first access."""
        if "_path_of" not in self.__dict__:
            raise AttributeError(f"path_: alpha was not chosen along a path by this {type(self).__name__}")
        path = self._path(*self._path_of)
        return path.of_each_target() if getattr(self, "alpha_per_target", False) else path

    def _training_set(self, X: Points, y: ArrayLike | None, sample_weight: ArrayLike | float | None) -> TrainingSet:
        require(self, self._allowed)
        kernel = self._kernel()
        if is_auto(self.kernel) and isinstance(kernel, Kernel):
            kernel = with_categories(kernel, X)
        return training_set(self, kernel, X, y, sample_weight, named=self._named, single=True, accept_sparse=("csr", "csc"))

    def _kernel(self) -> Kernel | str:
        """Return the kernel that the parameter `kernel` stands for, or its name."""
        return kernel_or_name(self.kernel, auto=RBF("auto"), function=partial(row_kernel, options=self.kernel_params))

    def _with_rows_once(self, given: TrainingSet, criterion: object) -> TrainingSet:
        """Set `copies_`, and return the data in which these have no weight, if a likelihood is to find the noise.

        Criteria that leave points out leave copies out with them, and are not misled. For these a row and its copy are one
        point of weight two, as scikit-learn has weights.
        """
        self.copies_ = np.zeros(0, dtype=np.intp)
        if is_likelihood(criterion):
            given, self.copies_ = given.with_rows_once()
        return given

    def _named(self, name: str, X: Matrix) -> Kernel:
        """Return the kernel that has this name in scikit-learn."""
        return pairwise_kernel(name, X.shape[1], self.gamma, self.degree, self.coef0)

    def _factorized(self, given: TrainingSet, noise: Vector) -> Cholesky:
        try:
            return factorize(given, noise)
        except NotPositiveDefiniteError as error:
            if isinstance(self.kernel, str) and self.kernel in INDEFINITE:
                error.add_note(f'"{self.kernel}" is not a positive semidefinite kernel: with larger alpha it may pass')
            raise

    def _path(self, given: TrainingSet, alphas: Any) -> RegularizationPath:
        """Return the regularization path of the points of positive weight."""
        n = len(given.targets[given.used])
        if n < 2:
            raise ValueError(f"alpha: there is nothing to choose it by, got n_samples = {n} of positive weight")
        cure = "" if isinstance(given.kernel, str) else '; KernelRidge(alpha="auto", approximation="auto") takes any number'
        require_memory(8 * _MATRICES * n**2, f"the eigenvectors of {n} points need", cure)
        return RegularizationPath(
            given.matrix(),
            np.asarray(given.targets[given.used], dtype=np.float64),
            alphas=alphas,
            sigma=self.sigma,
            trend=np.ones((n, 1)) if self.has_intercept else None,
            sample_weight=given.weights_used,
            alpha_scale=self.alpha_scale,
            groups=given.together,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = True
        return tags


def is_likelihood(criterion: object) -> bool:
    """Tell whether a criterion, or the one of a name, is a likelihood."""
    row = TABLE.get(criterion) if isinstance(criterion, str) else None
    kind = type(criterion) if row is None else row.kind
    return isinstance(kind, type) and issubclass(kind, Likelihood)


def factorize(given: TrainingSet, noise: Vector) -> Cholesky:
    """Return the Cholesky factor of the kernel matrix of the points of positive weight, with noise added to its diagonal."""
    if isinstance(given.kernel, str):
        return Cholesky(_core.cholesky(given.matrix_used(), noise))
    return Cholesky(given.kernel.build().cholesky(given.X[given.used], noise))

"""What all support vector machines share: kernels in all accepted forms, the options of the solver, what they warn of."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor as GaussianProcess
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Vector
from kernsel._data.allowed import FLAG, is_number, number, whole
from kernsel._data.kernel import kernel_or_name
from kernsel._data.points import in_parts, new_points
from kernsel._data.training import dense
from kernsel.estimators.as_sklearn import as_process
from kernsel.estimators.fitted import FittedModel, ShownData
from kernsel.estimators.support.vectors import SupportSolution
from kernsel.kernels import RBF, Kernel, Linear
from kernsel.kernels.given import FunctionKernel, Precomputed
from kernsel.kernels.objects import Points
from kernsel.kernels.pairwise import pairwise_kernel

__all__ = ["ALLOWED", "FunctionMachine", "SupportMachine", "coefficients_of_columns", "require_some_weight", "sum_over_vectors"]

_MANY = 1000  # the number of points on which a user's kernel is checked for negative eigenvalues
_POSITIVE = number("positive").said("a number, positive")
_ROUNDING = 10.0  # a gap up to so many times what rounding errors leave is due to them
_WITHOUT_GAMMA = ("linear", "cosine", "additive_chi2", "precomputed")

# The allowed values of the parameters that all support vector machines share.
ALLOWED = {
    "shrinking": FLAG,
    "verbose": FLAG,
    "tol": _POSITIVE,
    "cache_size": _POSITIVE,
    "gamma": (number("positive") | "scale" | "auto").said('a positive number, "scale" or "auto"'),
    "max_iter": whole(-1).said("a whole number from 0 on, or -1 for no limit"),
}


class SupportMachine(FittedModel, BaseEstimator):  # type: ignore[misc]
    """Base class of the support vector machines."""

    kernel: Any
    degree: float
    gamma: float | Literal["scale", "auto"]
    coef0: float
    kernel_params: Mapping[str, Any] | None
    tol: float
    shrinking: bool
    cache_size: float
    max_iter: int

    kernel_: Kernel | str
    support_: Vector
    support_vectors_: Any
    shape_fit_: tuple[int, ...]

    def kernel_and_points(self) -> tuple[Kernel | str, Vector]:
        """Return the kernel and the support vectors."""
        return self.kernel_, dense(self.support_vectors_)

    def kept_data(self) -> tuple[Vector, None]:
        """Raise ValueError, since only the support vectors are stored, and not all training points."""
        name = type(self).__name__
        raise ValueError(f"X: {_article(name)} {name} keeps its support vectors only; give the points that it was fitted to")

    def shown_data(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> ShownData:
        """Return the training data, which must be given, with the indices of the support vectors, see `FittedModel`."""
        given = super().shown_data(X, y, output)
        same = given.points.shape == tuple(self.shape_fit_)
        return replace(given, support=np.asarray(self.support_, dtype=np.intp)) if same else given

    def _kernel_or_name(self) -> Kernel | str:
        """Return the kernel that the parameter `kernel` stands for, or its name."""
        return kernel_or_name(self.kernel, auto=RBF("auto"), function=partial(_function_kernel, options=self.kernel_params))

    def _named(self, name: str, X: Vector) -> Kernel:
        """Return the kernel that has this name in scikit-learn."""
        return pairwise_kernel(name, X.shape[1], self._gamma(X), self.degree, self.coef0)

    def _gamma(self, X: Vector) -> float:
        gamma = self.gamma
        if is_number(gamma):
            return float(gamma)
        if self.kernel in _WITHOUT_GAMMA or not isinstance(self.kernel, str):
            return 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            variance = float(X.var()) if gamma == "scale" else 1.0
            found = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        if not np.isfinite(variance) or not 0 < found < np.inf:
            raise ValueError(f'gamma: "scale" is not possible for X of variance {variance:g}: scale X, or give a number')
        return found

    def _solver_options(self) -> dict[str, Any]:
        """Return the options of `SupportVectors.between` that are parameters of all machines."""
        return {"tol": self.tol, "max_iter": self.max_iter, "shrinking": self.shrinking}

    def _warn(self, found: Sequence[SupportSolution], kernel: Kernel, points: Vector) -> None:
        """Warn of a kernel that is not positive semidefinite, and of a gap that is not closed; to be called by `fit`."""
        # Rounding of a kernel matrix to single precision causes small negative eigenvalues.
        rounded = isinstance(kernel, Precomputed) and _is_single(np.asarray(kernel.K))
        rounding = float(np.finfo(np.float32).eps) if rounded else 1e-13
        if (any(one.indefinite for one in found) and not rounded) or _seen_indefinite(kernel, points, rounding):
            warnings.warn(
                f"kernel: {self.kernel!r} is not positive semidefinite: this is a stationary point, and the duality gap says "
                "nothing of how good it is",
                ConvergenceWarning,
                stacklevel=3,
            )
        open_gaps = [one for one in found if not one.converged]
        if open_gaps:
            worst = max(open_gaps, key=lambda one: one.gap / (abs(one.objective) or 1.0))
            if 0 <= self.max_iter <= worst.iterations:
                why = "raise max_iter"
            elif worst.gap <= _ROUNDING * worst.rounding and worst.rounding > self.tol * abs(worst.objective):
                why = (
                    "the terms of the function are so large that rounding errors of their sum leave as much; scale the columns "
                    "of X or the kernel so that k(x, x) is near 1, or lower the weight of the errors"
                )
            else:
                why = "raise tol, which is below what rounding allows"
            warnings.warn(
                f"the duality gap is {worst.gap:.3g}, of an objective of {worst.objective:.6g}: {why}",
                ConvergenceWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = True
        return tags


class FunctionMachine(SupportMachine):
    """A machine of one function f = b + sum_i a_i k(., x_i), of one problem."""

    dual_coef_: Any
    intercept_: Vector

    def _keep(self, X: Any, found: SupportSolution) -> None:
        """Set the attributes of a solution; those with a column for each support vector are sparse if X is."""
        self.support_ = np.flatnonzero(found.a).astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if isinstance(self.kernel_, str) else X[self.support_]
        self.dual_coef_ = found.a[None, self.support_]
        if sparse.issparse(X):
            self.dual_coef_ = type(X)(self.dual_coef_)
        self.intercept_ = np.array([found.intercept])
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self.objective_ = found.objective
        self.duality_gap_ = found.gap
        self.n_iter_ = found.iterations
        self.fit_status_ = 0 if found.converged else 1
        self.shape_fit_ = X.shape

    def _function(self, X: Points) -> Vector:
        """Return f(X), computed from the support vectors in O(m n_SV) kernel evaluations."""
        check_is_fitted(self)
        if (parts := in_parts(self.kernel_, X)) is not None:
            return np.concatenate([self._function(part) for part in parts])
        X = dense(new_points(self, self.kernel_, X, dtype=np.float64, accept_sparse="csr"))
        return np.asarray(sum_over_vectors(self, X, dense(self.dual_coef_)[0]) + self.intercept_)

    def to_sklearn(self) -> GaussianProcess:
        """Return this function as a fitted Gaussian process of scikit-learn, which converters to ONNX know, too.

        Returns
        -------
        process : sklearn.gaussian_process.GaussianProcessRegressor
            Its `predict` is f, to rounding: what the regressions predict, and the decision function of one class. It has no
            standard deviations. Kernels that scikit-learn does not have are an error, see
            :func:`kernsel.kernels.to_sklearn`.

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> X = np.linspace(0, 6, 12).reshape(-1, 1)
        >>> model = ks.SVR("RBF").fit(X, np.sin(X[:, 0]))
        >>> bool(np.allclose(model.to_sklearn().predict(X), model.predict(X)))
        True
        """
        check_is_fitted(self)
        return as_process(self, *self.kernel_and_points(), dense(self.dual_coef_)[0], self.intercept_[0])

    @property
    def coef_(self) -> Any:
        """The coefficients of the columns, shape (1, d), if the kernel is linear; a read-only array."""
        check_is_fitted(self)
        return coefficients_of_columns(self, dense(self.dual_coef_).T)


def sum_over_vectors(machine: SupportMachine, X: Vector, coefficients: Vector) -> Vector:
    """Return sum_i c_i k(X, x_i) over the support vectors, for coefficients of shape (n_SV,) or (n_SV, q)."""
    if isinstance(machine.kernel_, str):
        return np.asarray(X[:, machine.support_] @ coefficients)
    if not len(machine.support_):
        return np.zeros((len(X), *coefficients.shape[1:]))
    return np.asarray(machine.kernel_.matmul(X, dense(machine.support_vectors_), coefficients))


def coefficients_of_columns(machine: Any, coefficients: Vector) -> Any:
    """Return the coefficients of the columns, shape (q, d), of a linear kernel, for those of support vectors; read-only."""
    if not isinstance(machine.kernel_, Linear):
        raise AttributeError("coef_ is only available when using a linear kernel")
    found = np.ascontiguousarray(sum_over_vectors(machine, np.eye(machine.n_features_in_), coefficients).T)
    if sparse.issparse(machine.dual_coef_):
        columns: Any = type(machine.dual_coef_)(found)
        columns.data.flags.writeable = False
        return columns
    found.flags.writeable = False
    return found


class _OfMatrices:
    """A function of two sets of points, with fixed keyword arguments."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.function = function
        self.options = options

    def __call__(self, X: Vector, Z: Vector) -> Any:
        return self.function(X, Z, **self.options)

    def __repr__(self) -> str:
        return f"<{getattr(self.function, '__name__', self.function)} of matrices>"


def _function_kernel(function: Callable[..., Any], options: Mapping[str, Any] | None) -> FunctionKernel:
    if not isinstance(options, Mapping | None):
        raise TypeError(f"kernel_params: expected a dict or None, got {options!r}")
    return FunctionKernel(_OfMatrices(function, dict(options or {})))


def require_some_weight(sample_weight: ArrayLike | float | None) -> None:
    """Raise unless some weight is positive, by the words that scikit-learn checks for."""
    if sample_weight is not None:
        given = np.asarray(sample_weight, dtype=np.float64)
        if given.size and (given <= 0).all():
            raise ValueError("sample_weight: Invalid input - all samples have zero or negative weights.")


def _article(name: str) -> str:
    return "an" if name[0] in "AEIOS" else "a"


def _is_single(K: Vector) -> bool:
    with np.errstate(over="ignore"):
        return np.array_equal(K, K.astype(np.float32))


def _seen_indefinite(kernel: Kernel, points: Vector, rounding: float) -> bool:
    """Tell whether a user's matrix or function has negative eigenvalues on the first 1000 points."""
    if not isinstance(kernel, Precomputed | FunctionKernel):
        return False
    K = np.array(kernel(points[:_MANY]))
    K[np.diag_indices_from(K)] += len(K) * rounding * np.abs(np.diag(K)).max(initial=0.0)
    try:
        np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return True
    return False

"""Regression estimators with scikit-learn's manners."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from kernsel import _core
from kernsel.factor import Cholesky
from kernsel.kernels import RBF, Kernel
from kernsel.kernels.algebra import as_kernel
from kernsel.kernels.automatic import Data

__all__ = ["KernelRidge"]


class KernelRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Kernel ridge regression.

    Finds the function f = sum_i c_i k(., x_i) that minimizes ::

        sum_i w_i (y_i - f(x_i))^2 + alpha |f|^2

    by one Cholesky factorization, (K + alpha diag(1 / w)) c = y: n^3/3 flops, n^2/2 numbers of memory; the kernel
    matrix is never stored whole.

    Parameters
    ----------
    kernel : Kernel, "precomputed" or None
        None is ``RBF("auto")``, with length scales from the spread of each column. With "precomputed", X is the kernel
        matrix: (n, n) in `fit`, (n_test, n) in `predict`.
    alpha : float or array-like of shape (n_targets,)
        The regularization, not negative; one for all targets, or one for each.
    alpha_scale : {"none", "n"}
        The convention of `alpha`. "n" multiplies it by the number of points (the sum of the weights), which is the
        objective with the *mean* of the squared errors: then the same alpha means the same for any number of points.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, n_targets)
        The coefficients c. Zero for points of weight zero.
    X_fit_ : ndarray of shape (n, d)
        The training points, or the kernel matrix if it is precomputed.
    kernel_ : Kernel or "precomputed"
        The kernel in use, "auto" parameters set.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If X has column names.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.linspace(0, 6, 30).reshape(-1, 1)
    >>> model = ks.KernelRidge(ks.kernels.RBF(1.0), alpha=1e-3).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 1e-2)
    True
    """

    def __init__(
        self,
        kernel: Kernel | Literal["precomputed"] | None = None,
        *,
        alpha: float | ArrayLike = 1.0,
        alpha_scale: Literal["none", "n"] = "none",
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.alpha_scale = alpha_scale

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | float | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) if the kernel is precomputed
        y : array-like of shape (n,) or (n, n_targets)
        sample_weight : float or array-like of shape (n,), optional
            Not negative. A weight of zero leaves the point out.

        Returns
        -------
        self : KernelRidge
        """
        X, y = validate_data(self, X, y, dtype=(np.float64, np.float32), multi_output=True, y_numeric=True)
        X, y = np.asarray(X), np.asarray(y, dtype=X.dtype)
        kernel = self._valid_kernel()
        if kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"X: expected a square kernel matrix, since kernel='precomputed', got shape {X.shape}")
        targets = y.reshape(len(y), -1)
        weights = _weights(sample_weight, X)
        alphas = self._alphas(targets.shape[1], len(y) if weights is None else float(weights.sum()))
        used = slice(None) if weights is None or weights.all() else np.flatnonzero(weights)
        if not isinstance(kernel, str):
            kernel = kernel._resolve(
                Data(X.astype(np.float64, copy=False), y, weights, getattr(self, "feature_names_in_", None))
            )

        coefficients = np.zeros_like(targets)
        for alpha in np.unique(alphas):
            mine = alphas == alpha
            noise = np.full(1, alpha) if weights is None else alpha / weights[used]
            part = coefficients[used]
            part[:, mine] = _factorize(kernel, X, used, noise).solve(targets[used][:, mine])
            coefficients[used] = part

        self.kernel_ = kernel
        self.X_fit_ = X
        self.dual_coef_ = coefficients.reshape(y.shape)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
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
        X = np.asarray(validate_data(self, X, dtype=(np.float64, np.float32), reset=False))
        if isinstance(self.kernel_, str):
            return np.asarray(X @ self.dual_coef_)
        return self.kernel_.matmul(X, self.X_fit_, self.dual_coef_)

    def _valid_kernel(self) -> Kernel | Literal["precomputed"]:
        if self.kernel is None:
            return RBF("auto")
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return "precomputed"
        if not isinstance(self.kernel, Real) and (kernel := as_kernel(self.kernel)) is not None:
            return kernel
        raise ValueError(f'kernel: expected a kernel of kernsel.kernels, "precomputed" or None, got {self.kernel!r}')

    def _alphas(self, targets: int, total_weight: float) -> NDArray[np.float64]:
        """Return one regularization for each target, in the convention of the linear system."""
        if self.alpha_scale not in ("none", "n"):
            raise ValueError(f'alpha_scale: expected "none" or "n", got {self.alpha_scale!r}')
        if not isinstance(self.alpha, Real | list | tuple | np.ndarray) or isinstance(self.alpha, bool):
            raise TypeError(f"alpha: expected a number, or one for each target, got {self.alpha!r}")
        alphas = np.asarray(self.alpha, dtype=np.float64)
        if not (np.isfinite(alphas).all() and (alphas >= 0).all()):
            raise ValueError(f"alpha: expected finite numbers that are not negative, got {self.alpha!r}")
        if alphas.shape not in ((), (1,), (targets,)):
            raise ValueError(f"alpha: expected one number or {targets}, one for each target, got shape {alphas.shape}")
        return np.broadcast_to(alphas * (total_weight if self.alpha_scale == "n" else 1.0), (targets,))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def _weights(sample_weight: ArrayLike | float | None, X: NDArray[Any]) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    weights = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if (weights < 0).any():
        raise ValueError(f"sample_weight: expected weights that are not negative, got {weights.min():g}")
    if not weights.any():
        raise ValueError("sample_weight: all weights are zero, which leaves nothing to fit")
    return weights


def _factorize(kernel: Kernel | str, X: NDArray[Any], used: Any, noise: NDArray[np.float64]) -> Cholesky:
    if isinstance(kernel, str):
        return Cholesky(_core.cholesky(X if isinstance(used, slice) else X[np.ix_(used, used)], noise))
    return Cholesky(kernel._build().cholesky(X[used], noise))

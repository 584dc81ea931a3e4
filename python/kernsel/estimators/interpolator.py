"""An estimator for data without noise: the function of least norm that takes all the given values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.gaussian_process import GaussianProcessRegressor as GaussianProcess
from sklearn.utils.validation import check_is_fitted

from kernsel import _core
from kernsel._base.annotations import Vector
from kernsel._base.errors import NotPositiveDefiniteError
from kernsel._data.kernel import kernel_of
from kernsel._data.points import in_parts, new_points
from kernsel._data.training import training_set
from kernsel._solve.evaluate import loo
from kernsel.estimators.as_sklearn import as_process
from kernsel.estimators.fitted import FittedModel, LeftOut, Prediction, column, require_training_data
from kernsel.kernels import Kernel, Matern
from kernsel.kernels.objects import Points
from kernsel.linalg.cholesky import Cholesky
from kernsel.linalg.minimum_norm import FEASIBLE, positive_part

__all__ = ["KernelInterpolator"]

# An interpolant may miss the data by OF_SPREAD |y - mean(y)| + OF_SIZE |y|. Dropping eigenvalues below n eps causes errors of
# about 1e-7 |y| if y are values of a function in the kernel's space, and of 1e-3 |y| or more otherwise.
OF_SPREAD, OF_SIZE = 1e-5, 1e-7


class KernelInterpolator(FittedModel, MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Interpolation by a kernel: the function s of least norm |s| in the kernel's space with s(x_i) = y_i.

    s = sum_i c_i k(., x_i) with K c = y, by one Cholesky factorization: n^3/3 flops, and memory for n^2/2 numbers. If K is
    singular up to rounding (a kernel of finite rank, or one too smooth for points so close together), c = K^+ y is computed
    from an eigendecomposition, which is about 20 times slower. Equal points with equal values count once. If no function in
    the kernel's space takes the values, `fit` raises an error; :class:`~kernsel.KernelRidge` is for data with noise.

    Parameters
    ----------
    kernel : Kernel, optional
        A kernel without noise. None is ``Matern("auto", nu=1.5)``. Matrices of smoother kernels, above all of `RBF`, soon
        become singular up to rounding (from about 20 points in one dimension), and then only smooth data can be interpolated.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, n_targets)
        The coefficients c; zero for all but the first of equal points.
    norm_ : float or ndarray of shape (n_targets,)
        |s| = (y'c)^(1/2), the smallest norm of all functions in the kernel's space through the data.
    rank_ : int
        The rank of K, up to rounding.
    X_fit_ : ndarray of shape (n, d)
        The training points.
    y_fit_ : ndarray of shape (n,) or (n, n_targets)
        The training targets.
    used_ : ndarray of int
        The indices of the distinct points: of equal points, only the first is used.
    kernel_ : Kernel
        The kernel in use, with its "auto" parameters set.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If X has column names.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, Z = np.linspace(0, 4, 9).reshape(-1, 1), np.array([[0.25], [2.1]])
    >>> f = lambda Z: RBF(1.0)(Z, [[1.0], [2.3]]) @ [1.0, -2.0]
    >>> norm = (1 + 4 - 4 * np.exp(-(1.3**2) / 2)) ** 0.5  # the norm of f in the space of the kernel
    >>> model = ks.KernelInterpolator(RBF(1.0)).fit(X, f(X))
    >>> bool(model.norm_ <= norm), bool((abs(f(Z) - model.predict(Z)) <= model.error_bound(Z, norm)).all())
    (True, True)
    """

    def __init__(self, kernel: Kernel | None = None) -> None:
        self.kernel = kernel

    def fit(self, X: Points, y: ArrayLike) -> Self:
        """Compute the interpolant of the data.

        Parameters
        ----------
        X : array-like of shape (n, d); or n objects, for a kernel on objects
        y : array-like of shape (n,) or (n, n_targets)

        Returns
        -------
        self : KernelInterpolator

        Raises
        ------
        ValueError
            If no function in the kernel's space takes the values; the message names the points that are missed most. To allow
            for rounding, |s(X) - y| may be up to 1e-5 |y - mean(y)| + 1e-7 |y|.
        """
        smooth = Matern("auto", nu=1.5)
        given = training_set(self, kernel_of(self.kernel, auto=smooth, none=smooth, points=X), X, y).resolved()
        X, y, kernel = given.X, given.y, given.kernel_and_points()[0]
        _refuse_noise(kernel, X)
        targets = given.targets
        used, values = _distinct(X, targets)
        self.used_ = used
        self._factor, part = _factorize(kernel, X[used], values)
        rank = len(used) if isinstance(self._factor, Cholesky) else self._factor.shape[1]
        coefficients = np.zeros(targets.shape)
        coefficients[used] = part
        _require_interpolation(kernel, X, used, values, part, rank)
        norm = np.sqrt(self._squared_norms(values))

        self.kernel_ = kernel
        self.X_fit_, self.y_fit_ = X, y
        self.dual_coef_ = coefficients.reshape(y.shape)
        self.norm_ = norm if y.ndim == 2 else float(norm[0])
        self.rank_ = rank
        return self

    def factorize(self) -> None:
        """Factorize the kernel matrix of the points `used_` again, for a model whose other attributes were read from a file."""
        self._factor, _ = _factorize(self.kernel_, self.X_fit_[self.used_], np.zeros((len(self.used_), 0)))

    def predict(self, X: Points) -> Vector:
        """Return the values s(X) of the interpolant.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        y : ndarray of shape (m,) or (m, n_targets)
        """
        check_is_fitted(self)
        if (parts := in_parts(self.kernel_, X)) is not None:
            return np.concatenate([self.predict(part) for part in parts])
        X = self._points(X)
        return np.asarray(self.kernel_.matmul(X, self.X_fit_, self.dual_coef_))

    def power_function(self, X: Points) -> Vector:
        """Return the power function, the largest error of the interpolant of a function of norm one.

        P(x)^2 = k(x, x) - k(x, X) K^+ k(X, x). It is zero at the training points, and equals the standard deviation of a
        Gaussian process without noise. It does not depend on y. The cost is O(n^2) for each point.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        power : ndarray of shape (m,)
        """
        return np.asarray(np.sqrt(np.maximum(self._posterior().variance(self._points(X)), 0.0)))

    def _posterior(self) -> _core.Posterior:
        """Return the Gaussian process without noise whose mean the function is."""
        core, X, weights = self.kernel_.build(), self.X_fit_[self.used_], self.dual_coef_[self.used_]
        if isinstance(self._factor, Cholesky):
            return _core.Posterior.of_factor(core, X, weights, self._factor.core)
        return _core.Posterior.of_root(core, X, weights, self._factor)

    def error_bound(self, X: Points, norm: ArrayLike | None = None) -> Vector:
        """Return a bound on |f - s| at points, for all f in the kernel's space through the data with norm at most `norm`.

        |f(x) - s(x)| <= P(x) (norm^2 - |s|^2)^(1/2), where P is the power function; some f attains the bound. It requires the
        norm of the unknown function, since data alone do not bound the error. Without `norm`, the squared norm of f is assumed
        to be at most 2 |s|^2, which gives P(x) |s|: a bound for such functions, and only an estimate for others.

        Parameters
        ----------
        X : array-like of shape (m, d)
        norm : float or array-like of shape (n_targets,), optional
            At least `norm_`, the smallest norm of a function through the data; by default 2^(1/2) times `norm_`.

        Returns
        -------
        bound : ndarray of shape (m,) or (m, n_targets)
        """
        check_is_fitted(self)
        least = np.asarray(self.norm_)
        norms = 2**0.5 * least if norm is None else np.asarray(norm, dtype=np.float64)
        if norms.shape not in ((), least.shape) or not np.isfinite(norms).all():
            raise ValueError(f"norm: expected a finite number, or one for each target, got {norm!r}")
        if (norms < least * (1 - 1e-8)).any():
            raise ValueError(f"norm: every function through the data has a norm of {self.norm_} or more, got {norm!r}")
        rest = np.sqrt(np.maximum((norms - least) * (norms + least), 0.0))
        power = self.power_function(X)
        return np.asarray(power * rest if least.ndim == 0 else np.outer(power, rest))

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
        >>> model = ks.KernelInterpolator("RBF").fit(X, np.sin(X[:, 0]))
        >>> bool(np.allclose(model.to_sklearn().predict(X), model.predict(X)))
        True
        """
        check_is_fitted(self)
        return as_process(self, self.kernel_, self.X_fit_, self.dual_coef_, 0.0)

    def kernel_and_points(self) -> tuple[Kernel, Vector]:
        """Return the kernel and the training points."""
        return self.kernel_, self.X_fit_

    def kept_data(self) -> tuple[Vector, Vector]:
        """Return the training points and targets."""
        return self.X_fit_, self.y_fit_

    def prediction(self, X: Points, *, level: float | None = None, noisy: bool = False, output: int = 0) -> Prediction:
        """Return one output of the function at points, and the bound on its error, see `FittedModel`."""
        del noisy
        if level is None:
            return super().prediction(X, output=output)
        mean, bound = column(self.predict(X), output), column(self.error_bound(X), output)
        return Prediction(mean, mean - bound, mean + bound, bound, "error bound, norm up to √2 of its own", "error bound")

    def left_out(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> LeftOut:
        """Return the leave-one-out predictions of one output, see :class:`kernsel.estimators.fitted.HasLeftOut`."""
        require_training_data(self, self.kernel_, X, None, self.X_fit_)
        targets = column(self.y_fit_ if y is None else y, output, len(self.X_fit_))[self.used_]
        fit = loo(self.kernel_, self.X_fit_[self.used_], targets)
        return LeftOut.of_best_scale(targets, fit, 0, None)  # all leverages are one

    def _points(self, X: Any) -> Vector:
        check_is_fitted(self)
        return np.asarray(new_points(self, self.kernel_, X, dtype=np.float64))

    def _squared_norms(self, B: Vector) -> Vector:
        """Return b'K^+ b for each column b: |L^-1 b|^2 with the factor, |R'b|^2 with R R' = K^+."""
        if isinstance(self._factor, Cholesky):
            return np.asarray(self._factor.inverse_quadratic(B))
        return np.asarray(np.sum((self._factor.T @ B) ** 2, axis=0))


def _factorize(kernel: Kernel, X: Vector, y: Vector) -> tuple[Cholesky | Vector, Vector]:
    """Return the Cholesky factor of K = k(X, X), or R with R R' = K^+ if K is singular up to rounding; and K^+ y."""
    try:
        factor = Cholesky(kernel.build().cholesky(X, np.zeros(1)))
    except NotPositiveDefiniteError:
        pass
    else:
        start = np.linalg.qr(np.random.default_rng(0).standard_normal((factor.n, min(7, factor.n))))[0]
        solved, step = np.hsplit(factor.solve(np.hstack([y, start])), [y.shape[1]])  # one solve for both is faster
        if not _is_singular(factor, kernel, X, start, step):
            return factor, solved
        del factor
    e, Q = positive_part(kernel(X))
    R = np.asarray(Q / np.sqrt(e))
    return R, R @ (R.T @ y)


def _is_singular(factor: Cholesky, kernel: Kernel, X: Vector, start: Vector, step: Vector) -> bool:
    """Tell whether the smallest eigenvalue of K is at most n eps times the largest, both by the power method; O(n^2).

    `start` has a few orthonormal columns, and `step` is K^-1 start.
    """
    limit = 1 / (factor.n * float(np.finfo(float).eps) * _norm(factor.solve, step))
    if np.sum(kernel.diag(X)) < limit:  # the trace, an upper bound of the largest eigenvalue
        return False
    return _norm(lambda V: kernel.matmul(X, X, V), kernel.matmul(X, X, start)) >= limit


def _norm(multiply: Callable[[Vector], Vector], step: Vector) -> float:
    """Return a lower bound of the largest eigenvalue of a positive definite matrix: its norm on the column space of `step`."""
    return float(np.linalg.norm(multiply(np.linalg.qr(step)[0]), 2))


def _refuse_noise(kernel: Kernel, X: Vector) -> None:
    """Raise if the kernel has noise: if its diagonal exceeds its value for two distinct but equal points."""
    some = X[:: max(1, len(X) // 32)][:64]
    noise = kernel.diag(some) - np.diag(kernel(some, some))
    if (noise > 1e-12 * np.abs(kernel.diag(some))).any():
        raise ValueError(f"kernel: {kernel} has noise, and no function of it goes through the data; use KernelRidge")


def _distinct(X: Vector, y: Vector) -> tuple[NDArray[np.intp], Vector]:
    """Return the indices of the first of all equal points, and their values; raise if values of equal points differ."""
    _, first, group = np.unique(X, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(X):
        return np.arange(len(X)), y
    original = first[group.ravel()]
    off = np.abs(y - y[original]).max(axis=1)
    if (np.abs(y - y[original]) > FEASIBLE * np.abs(y).max(axis=0)).any():
        i = int(np.argmax(off))
        contradicting = [f"{original[j]} and {j}" for j in np.argsort(-off, kind="stable")[:5] if off[j] > 0]
        raise ValueError(
            f"y: no function goes through different values at equal points, such as {', '.join(contradicting)}: "
            f"{y[original[i]].tolist()} and {y[i].tolist()} at {X[i].tolist()}; use KernelRidge"
        )
    used = np.sort(first)
    return used, y[used]


def _require_interpolation(kernel: Kernel, X: Vector, used: NDArray[np.intp], y: Vector, c: Vector, rank: int) -> None:
    """Raise if the function does not interpolate the data, naming the points where its error is largest."""
    off = y - kernel.matmul(X[used], X[used], c)
    spread, size = np.linalg.norm(y - y.mean(axis=0), axis=0), np.linalg.norm(y, axis=0)
    if (np.linalg.norm(off, axis=0) <= OF_SPREAD * spread + OF_SIZE * size).all():
        return
    worst = np.argsort(-np.abs(off).max(axis=1), kind="stable")[:5]
    named = ", ".join(f"{used[i]} (by {np.abs(off[i]).max():.3g})" for i in worst)
    raise ValueError(
        f"y: no function of the kernel {kernel} takes these values, to rounding: its matrix has rank {rank} at {len(used)} "
        f"points; the closest function is off at the points {named}. A rougher kernel, or a shorter length scale, has a higher "
        "rank; KernelRidge need not go through the data"
    )

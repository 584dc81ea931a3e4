"""An estimator for data without noise: the function of least norm through all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from kernsel import _core
from kernsel._base.annotations import Vector
from kernsel._base.errors import NotPositiveDefiniteError
from kernsel._data.kernel import kernel_of
from kernsel._data.points import in_parts, new_points
from kernsel._data.training import training_set
from kernsel._solve.evaluate import loo
from kernsel.estimators.fitted import FittedModel, LeftOut, Prediction, column, require_training_data
from kernsel.kernels import Kernel, Matern
from kernsel.kernels.objects import Points
from kernsel.linalg.cholesky import Cholesky
from kernsel.linalg.minimum_norm import FEASIBLE, positive_part

__all__ = ["KernelInterpolator"]

# What an interpolant may be off at the data. Cutting off eigenvalues of n eps costs functions of the kernel some 1e-7 of their
# size, and other data 1e-3 or more.
OF_SPREAD, OF_SIZE = 1e-5, 1e-7


class KernelInterpolator(FittedModel, MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Interpolation by a kernel: the function s of least norm |s| in the kernel's space with s(x_i) = y_i.

    s = sum_i c_i k(., x_i), K c = y, by one Cholesky factorization: n^3/3 flops, n^2/2 numbers of memory. If K is singular to
    rounding (a kernel of finite rank, or one too smooth for points that close), c = K^+ y from an eigendecomposition: some 20
    times slower. Equal points with equal values count once. Where no function of the kernel takes the values, `fit` says so:
    data with noise are for :class:`~kernsel.KernelRidge`.

    Parameters
    ----------
    kernel : Kernel, optional
        Without noise. None is ``Matern("auto", nu=1.5)``: matrices of smoother kernels, `RBF` above all, are soon singular to
        rounding (from 20 points of one column on), and then interpolate nothing but smooth data.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, n_targets)
        The coefficients c; zero for all but the first of equal points.
    norm_ : float or ndarray of shape (n_targets,)
        |s| = (y'c)^(1/2): no function in the kernel's space through the data has a smaller one.
    rank_ : int
        Of K, to rounding.
    X_fit_ : ndarray of shape (n, d)
        The training points.
    y_fit_ : ndarray of shape (n,) or (n, n_targets)
        The training targets.
    used_ : ndarray of int
        The indices of the points that the function is made of: the first of all equal ones.
    kernel_ : Kernel
        The kernel in use, "auto" parameters set.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If X has column names.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, Z = np.linspace(0, 4, 9).reshape(-1, 1), np.array([[0.25], [2.1]])
    >>> f = lambda Z: RBF(1.0)(Z, [[1.0], [2.3]]) @ [1.0, -2.0]
    >>> norm = (1 + 4 - 4 * np.exp(-(1.3**2) / 2)) ** 0.5  # of f in the space of the kernel
    >>> model = ks.KernelInterpolator(RBF(1.0)).fit(X, f(X))
    >>> bool(model.norm_ <= norm), bool((abs(f(Z) - model.predict(Z)) <= model.error_bound(Z, norm)).all())
    (True, True)
    """

    def __init__(self, kernel: Kernel | None = None) -> None:
        self.kernel = kernel

    def fit(self, X: Points, y: ArrayLike) -> Self:
        """Interpolate.

        Parameters
        ----------
        X : array-like of shape (n, d); or n objects, for a kernel of such
        y : array-like of shape (n,) or (n, n_targets)

        Returns
        -------
        self : KernelInterpolator

        Raises
        ------
        ValueError
            If no function in the kernel's space takes the values, with the points where they contradict. What is allowed for
            rounding: |s(X) - y| may be 1e-5 of |y - mean(y)|, plus 1e-7 of |y|.
        """
        smooth = Matern("auto", nu=1.5)
        given = training_set(self, kernel_of(self.kernel, auto=smooth, none=smooth), X, y).resolved()
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
        """Return s(X).

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
        """Return how badly a function of norm one can be interpolated at points: P(x)^2 = k(x, x) - k(x, X) K^+ k(X, x).

        Zero at the training points; the standard deviation of a Gaussian process without noise. The values of y play no part.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        power : ndarray of shape (m,)
            In O(n^2) for each point, block after block of them.
        """
        return np.asarray(np.sqrt(np.maximum(self._posterior().variance(self._points(X)), 0.0)))

    def _posterior(self) -> _core.Posterior:
        """Return the Gaussian process without noise whose mean the function is."""
        core, X, weights = self.kernel_.build(), self.X_fit_[self.used_], self.dual_coef_[self.used_]
        if isinstance(self._factor, Cholesky):
            return _core.Posterior.latent(core, X, weights, self._factor.core, [])
        return _core.Posterior.of_root(core, X, weights, self._factor)

    def error_bound(self, X: Points, norm: ArrayLike | None = None) -> Vector:
        """Return a bound of |f - s| at points, for any f in the kernel's space through the data, of norm at most `norm`.

        |f(x) - s(x)| <= P(x) (norm^2 - |s|^2)^(1/2), P the power function; the bound is reached by some f. It needs the norm of
        the unknown function: data alone bound nothing. Without it, the function is supposed to have twice the squared norm that
        the data show, which gives P(x) |s|: a bound for such functions, an estimate for others.

        Parameters
        ----------
        X : array-like of shape (m, d)
        norm : float or array-like of shape (n_targets,), optional
            At least `norm_`, the smallest that a function through the data can have; 2^(1/2) times it by default.

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

    def kernel_and_points(self) -> tuple[Kernel, Vector]:
        """Return the kernel and the training points."""
        return self.kernel_, self.X_fit_

    def kept_data(self) -> tuple[Vector, Vector]:
        """Return the training points and targets."""
        return self.X_fit_, self.y_fit_

    def prediction(self, X: Points, *, level: float | None = None, noisy: bool = False, output: int = 0) -> Prediction:
        """Return one output of the function at points, and the bound of its error, see `FittedModel`."""
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
    """Return the Cholesky factor of k(X, X), or R with R R' = K^+ if it is singular to rounding; and K^+ y."""
    try:
        factor = Cholesky(kernel.build().cholesky(X, np.zeros(1)))
    except NotPositiveDefiniteError:
        pass
    else:
        start = np.linalg.qr(np.random.default_rng(0).standard_normal((factor.n, min(7, factor.n))))[0]
        solved, step = np.hsplit(factor.solve(np.hstack([y, start])), [y.shape[1]])  # reading the factor is what takes time
        if not _is_singular(factor, kernel, X, start, step):
            return factor, solved
        del factor
    e, Q = positive_part(kernel(X))
    R = np.asarray(Q / np.sqrt(e))
    return R, R @ (R.T @ y)


def _is_singular(factor: Cholesky, kernel: Kernel, X: Vector, start: Vector, step: Vector) -> bool:
    """Is the smallest eigenvalue n eps of the largest, or less? Both by the power method, from K^-1 start; O(n^2)."""
    limit = 1 / (factor.n * float(np.finfo(float).eps) * _norm(factor.solve, step))
    if np.sum(kernel.diag(X)) < limit:  # the sum of all eigenvalues, which the largest does not exceed
        return False
    return _norm(lambda V: kernel.matmul(X, X, V), kernel.matmul(X, X, start)) >= limit


def _norm(multiply: Callable[[Vector], Vector], step: Vector) -> float:
    """Return the largest eigenvalue of a positive definite matrix, from below: its norm on a space that turned towards it."""
    return float(np.linalg.norm(multiply(np.linalg.qr(step)[0]), 2))


def _refuse_noise(kernel: Kernel, X: Vector) -> None:
    """Raise if k(x, x) is more for a point against itself than for two equal points."""
    some = X[:: max(1, len(X) // 32)][:64]
    noise = kernel.diag(some) - np.diag(kernel(some, some))
    if (noise > 1e-12 * np.abs(kernel.diag(some))).any():
        raise ValueError(f"kernel: {kernel} has noise, and no function of it goes through the data; use KernelRidge")


def _distinct(X: Vector, y: Vector) -> tuple[NDArray[np.intp], Vector]:
    """Return the first of all equal points, and their values; raise if values of equal points differ."""
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
    """Raise if the function is no interpolant, naming the points where it is farthest off."""
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

"""The regularization path: all criteria for all values of lambda, from one eigendecomposition."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, fields
from math import isfinite
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.gaussian_process import kernels as sk

from kernsel import _core
from kernsel._base.annotations import Vector
from kernsel._base.renamed import RenamedAttribute, refuses_arguments
from kernsel._data.kernel import kernel_and_points, kernel_of
from kernsel._data.training import require_squares
from kernsel._data.trend import Trend, require_trend_of_objects, trend_matrix
from kernsel.criteria.names import along_path, require_name, require_sigma
from kernsel.criteria.table import TABLE
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points

__all__ = ["PathValues", "RegularizationPath"]

# Why a rule has chosen none.
_PROBLEMS = {
    "no corner": 'the L-curve has no corner for these data; choose another rule, such as "gcv" or "reml"',
    "no minimum": "the quasi-optimality function has no interior minimum for these data; choose another rule, such as "
    '"gcv" or "reml"',
    "noise is all": "the noise explains all of y, whose norm is {norm:.4g} and below tau n^(1/2) sigma = {wanted:.4g}; "
    "every lambda fits well enough",
    "noise too small": "no lambda leaves a residual as small as {wanted:.4g}: {least:.4g} of y is out of the kernel's reach",
}


@dataclass(frozen=True)
class PathValues:
    """What a path is at some values of lambda; every attribute has one entry for each.

    Attributes
    ----------
    alphas : ndarray of shape (l,)
    loo : ndarray of shape (l,)
        Mean squared leave-one-out residual.
    gcv : ndarray of shape (l,)
    log_likelihood, restricted_log_likelihood : ndarray of shape (l,)
        Of kernel K and noise lambda.
    profiled_log_likelihood, profiled_restricted_log_likelihood : ndarray of shape (l,)
        At the best common factor of the two.
    residual_norm : ndarray of shape (l,)
        |y - f|, with weights |w^(1/2) (y - f)|.
    seminorm : ndarray of shape (l,)
        |f| = (c'Kc)^(1/2), without the trend.
    effective_dof : ndarray of shape (l,)
    risk : ndarray of shape (l,)
        Unbiased estimate of the mean squared error of the fitted values; nan if `sigma` is not given.
    curvature : ndarray of shape (l,)
        Of the L-curve, log seminorm against log residual norm; positive at a corner.
    quasi_optimality : ndarray of shape (l,)
        |lambda df/dlambda|.
    """

    alphas: Vector
    loo: Vector
    gcv: Vector
    log_likelihood: Vector
    restricted_log_likelihood: Vector
    profiled_log_likelihood: Vector
    profiled_restricted_log_likelihood: Vector
    residual_norm: Vector
    seminorm: Vector
    effective_dof: Vector
    risk: Vector
    curvature: Vector
    quasi_optimality: Vector


@dataclass(frozen=True)
class _Features:
    """What stands for a kernel matrix A A'."""

    A: ArrayLike


class RegularizationPath:
    """Kernel ridge regression for all values of lambda at once, and the rules that choose one.

    The fit for lambda minimizes sum_i w_i (y_i - f(x_i))^2 + lambda |f|^2. One eigendecomposition, K = Q diag(e) Q', makes each
    value of lambda cost two products with a matrix for leave-one-out, and O(n) for everything else.

    Parameters
    ----------
    K : array-like of shape (n, n), or Kernel
        A kernel matrix, or a kernel; then X is needed.
    y : array-like of shape (n,) or (n, m)
    X : array-like of shape (n, d), or sequence of n objects, optional
        The points, for a kernel or for a trend.
    alphas : array-like of shape (l,), optional
        Positive values of lambda; by default 200 from 1e-12 to 100 times the largest eigenvalue.
    sigma : float, optional
        The standard deviation of the noise (of a point of weight one), for "risk" and "discrepancy".
    trend : None, "constant", "linear", "quadratic", array-like of shape (n, q), or callable
        Not penalized.
    sample_weight : array-like of shape (n,), optional
        Positive.
    alpha_scale : {"none", "n"}
        "n" multiplies all lambda by n, the sum of the weights: the objective with the mean of squared errors.

    Attributes
    ----------
    alphas, loo, gcv, log_likelihood, residual_norm, seminorm, effective_dof, risk, curvature, ... : ndarray of shape (l,)
        Those of :class:`PathValues` at `alphas`.
    eigenvalues : ndarray
        Of K where the trend has been taken out, the largest first, none negative.
    sigma : float or None
        The one that was given.
    n_points, n_targets, n_trend : int
        Points, columns of y, columns of the trend.
    largest_alpha : float
        The lambda that is as large as the largest eigenvalue.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 80).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(80)
    >>> path = ks.RegularizationPath(RBF(1.0), y, X=X, sigma=0.1)
    >>> path.loo.shape
    (200,)
    >>> [round(path.best(rule), 4) for rule in ("loo", "gcv", "reml", "discrepancy")]
    [0.0012, 0.0022, 0.0085, 0.8921]
    """

    @refuses_arguments(noise_std="sigma")
    def __init__(
        self,
        K: ArrayLike | Kernel,
        y: ArrayLike,
        *,
        X: Points | None = None,
        alphas: ArrayLike | None = None,
        sigma: float | None = None,
        trend: Trend = None,
        sample_weight: ArrayLike | None = None,
        alpha_scale: Literal["none", "n"] = "none",
    ) -> None:
        targets = np.asarray(y, dtype=np.float64)
        if targets.ndim not in (1, 2) or not len(targets) or not np.isfinite(targets).all():
            raise ValueError(f"y: expected finite numbers, one row for each point, got shape {targets.shape}")
        require_squares(targets)
        n = len(targets)
        matrix, points = (_feature_matrix(K.A, n), X) if isinstance(K, _Features) else _matrix(K, X, targets)
        weights = _weights(sample_weight, n)
        if sigma is not None and not (isinstance(sigma, Real) and sigma > 0 and isfinite(sigma)):
            raise ValueError(f"sigma: expected a positive number, got {sigma!r}")
        if alpha_scale not in ("none", "n"):
            raise ValueError(f'alpha_scale: expected "none" or "n", got {alpha_scale!r}')
        if isinstance(K, Kernel) and K.for_objects():
            require_trend_of_objects(trend)
        H = trend_matrix(trend, np.zeros((n, 0)) if points is None and not isinstance(trend, str) else _points(points))
        precision = np.finfo(np.float32 if getattr(K, "dtype", None) == np.float32 else np.float64).eps
        made = _core.path(
            matrix,
            isinstance(K, _Features),
            targets.reshape(n, -1),
            H,
            weights,
            0.0 if sigma is None else float(sigma),
            alpha_scale == "n",
            float(precision),
            _svd if isinstance(K, _Features) else _eigh,
        )
        if isinstance(made, tuple):
            raise np.linalg.LinAlgError(
                f"K: expected a positive semidefinite matrix, got one with eigenvalues from {made[0]:.4g} to {made[1]:.4g}"
            )
        self._path = made
        self.sigma = None if sigma is None else float(sigma)
        self.eigenvalues = made.eigenvalues
        self.alphas = made.default_alphas() if alphas is None else self._checked(alphas)
        self._tabulate()

    loo: Vector
    gcv: Vector
    log_likelihood: Vector
    restricted_log_likelihood: Vector
    profiled_log_likelihood: Vector
    profiled_restricted_log_likelihood: Vector
    residual_norm: Vector
    seminorm: Vector
    effective_dof: Vector
    risk: Vector
    curvature: Vector
    quasi_optimality: Vector
    noise_std = RenamedAttribute("sigma")

    @classmethod
    def from_features(cls, A: ArrayLike, y: ArrayLike, **options: Any) -> RegularizationPath:
        """Return the path of ridge regression on features, |A x - y|^2 + lambda |x|^2, by singular values of A.

        The same as the path of the kernel matrix A A', in O(n d^2) instead of O(n^3): choose the one that is less.

        Parameters
        ----------
        A : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, m)
        **options
            Those of :class:`RegularizationPath`.

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> A = np.vander(np.linspace(-1, 1, 50), 6)
        >>> path = ks.RegularizationPath.from_features(A, np.abs(A[:, -2]), alphas=[0.1, 1.0])
        >>> bool(np.allclose(path.loo, ks.RegularizationPath(A @ A.T, np.abs(A[:, -2]), alphas=[0.1, 1.0]).loo))
        True
        """
        return cls(_Features(A), y, **options)  # type: ignore[arg-type]

    def of_each_target(self) -> list[RegularizationPath]:
        """Return a path for each column of y, so that each can have a lambda of its own; nothing is decomposed again.

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> X = np.linspace(0, 6, 50).reshape(-1, 1)
        >>> Y = np.column_stack([np.sin(X[:, 0]), np.sin(3 * X[:, 0])]) + 0.1 * np.cos(1e3 * X)
        >>> path = ks.RegularizationPath(ks.kernels.RBF(1.0), Y, X=X)
        >>> [round(one.best("gcv"), 4) for one in path.of_each_target()]
        [0.09, 0.0012]
        """
        paths = []
        for k in range(self.n_targets):
            path = copy(self)
            path._path = self._path.target(k)
            path._tabulate()
            paths.append(path)
        return paths

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return self._path.points

    @property
    def n_targets(self) -> int:
        """How many columns y has."""
        return self._path.targets

    @property
    def n_trend(self) -> int:
        """How many columns the trend has."""
        return self._path.trend_columns

    @property
    def largest_alpha(self) -> float:
        """The lambda that is as large as the largest eigenvalue; much larger ones leave nothing but the trend."""
        return self._path.largest_alpha

    def _tabulate(self) -> None:
        values = self.at(self.alphas)
        for entry in fields(values):
            setattr(self, entry.name, getattr(values, entry.name))

    def at(self, alphas: ArrayLike) -> PathValues:
        """Return everything at other values of lambda."""
        return PathValues(**self._path.values(self._checked(alphas), True))

    def dual_coef(self, alpha: float) -> Vector:
        """Return c for one lambda: f = sum_i c_i k(., x_i), and the trend's part of y is what it leaves."""
        c = self._path.dual_coef(float(self._checked(alpha)[0]))
        return np.asarray(c[:, 0] if self.n_targets == 1 else c)

    def leave_groups_out(self, groups: ArrayLike, *, log_density: bool = False) -> Vector:
        """Return the error of leaving groups of points out, k-fold cross-validation, at all `alphas`; no fold is refitted.

        Parameters
        ----------
        groups : array-like of shape (n,)
            A label for each point.
        log_density : bool
            The sum of the joint log densities of groups, instead of the mean of squared residuals; both with `sample_weight`.

        Returns
        -------
        values : ndarray of shape (l,)
            n^3 / k operations for each of them, with k groups.

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> from kernsel.kernels import RBF
        >>> X, y = np.arange(6.0)[:, None], np.array([0.0, 1.0, 0.5, 0.0, 1.0, 0.5])
        >>> path = ks.RegularizationPath(RBF(1.0), y, X=X, alphas=[0.1])
        >>> path.leave_groups_out([0, 0, 1, 1, 2, 2]).round(4)
        array([0.3754])
        """
        labels = np.asarray(groups)
        if labels.shape != (self.n_points,):
            raise ValueError(f"groups: expected one label for each of {self.n_points} points, got shape {labels.shape}")
        names, numbers = np.unique(labels, return_inverse=True)
        if len(names) < 2:
            raise ValueError("groups: expected two at least: one of them must be left to learn from")
        return self._path.leave_groups_out(numbers.astype(np.int64), len(names), log_density, self.alphas)

    def best(self, rule: str = "loo", *, tau: float = 1.0) -> float:
        """Return the lambda that a rule chooses, between and beyond the grid.

        Parameters
        ----------
        rule : str
            The minimum of "loo", "gcv" or "risk" (needs `sigma`); the maximum of a likelihood: "lml", "reml",
            "profiled_lml", "profiled_reml"; the lambda whose residual has the norm tau n^(1/2) sigma ("discrepancy"); the
            corner of the L-curve ("lcurve"); the interior minimum of `quasi_optimality` ("quasi-optimality"). The last two know
            nothing of the noise, and can fail: they raise ValueError where there is no corner, or no minimum.
        tau : float
            For "discrepancy".

        Returns
        -------
        alpha : float
        """
        require_name(rule, along_path(), argument="rule")
        require_sigma(rule, self.sigma, called="rule")
        if rule == "discrepancy" and (not isinstance(tau, Real) or not tau > 0):
            raise ValueError(f"tau: expected a positive number, got {tau!r}")
        found = self._path.best(rule, self.alphas, getattr(self, TABLE[rule].curve), float(tau))
        if found["outcome"] != "found":
            raise ValueError(f"{rule}: {_PROBLEMS[found['outcome']].format(**found)}")
        return float(found["alpha"])

    def _checked(self, alphas: ArrayLike) -> Vector:
        values = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (values <= 0).any():
            raise ValueError(f"alphas: expected positive, finite numbers, got {alphas!r}")
        return values


def _matrix(K: Any, X: Any, y: Vector) -> tuple[Vector, Any]:
    if isinstance(K, Kernel | sk.Kernel | str):
        if X is None:
            raise ValueError("X: a kernel needs the points")
        kernel, points, _ = kernel_and_points(kernel_of(K, name="K"), X, y=y if len(y) == len(X) else None)
        matrix = kernel(points)
        if kernel.for_objects():
            X = np.zeros((len(matrix), 0))  # what a trend sees of them
    else:
        matrix = np.asarray(K, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"K: expected a kernel or a square matrix, got shape {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise ValueError("K: expected finite numbers")
        if np.abs(matrix - matrix.T).max(initial=0) > 1e-10 * np.abs(matrix).max(initial=0):
            raise ValueError("K: expected a symmetric matrix")
    if len(matrix) != len(y):
        raise ValueError(f"y: expected one row for each of {len(matrix)} points, got {len(y)}")
    return np.asarray(matrix, dtype=np.float64), None if X is None else np.asarray(X, dtype=np.float64)


def _feature_matrix(A: ArrayLike, n: int) -> Vector:
    matrix = np.asarray(A, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) != n or not matrix.size or not np.isfinite(matrix).all():
        raise ValueError(f"A: expected finite numbers, one row for each of {n} points, got shape {matrix.shape}")
    return matrix


def _points(X: Points | None) -> Vector:
    if X is None:
        raise ValueError("X: this trend needs the points")
    return np.asarray(X, dtype=np.float64)


def _weights(sample_weight: ArrayLike | None, n: int) -> Vector | None:
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights <= 0).any():
        raise ValueError("sample_weight: expected a positive, finite number for each point; leave out points of weight zero")
    return weights


def _eigh(A: Vector, values: Vector, vectors: Vector) -> None:
    """Decompose a symmetric matrix by LAPACK; write the results, the largest eigenvalue first."""
    e, V = linalg.eigh(A, driver="evd", overwrite_a=True, check_finite=False)
    values[:, 0], vectors[:] = e[::-1], V[:, ::-1]


def _svd(A: Vector, values: Vector, vectors: Vector) -> None:
    """Write singular values and left singular vectors, by LAPACK."""
    vectors[:], values[:, 0], _ = linalg.svd(A, full_matrices=False, overwrite_a=True, check_finite=False)

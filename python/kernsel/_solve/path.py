"""The regularization path: all criteria for all values of lambda, from one eigendecomposition."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from math import isfinite
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, optimize

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._base.renamed import RenamedAttribute, refuses_arguments
from kernsel._data.kernel import kernel_and_points, kernel_of
from kernsel._data.together import checked_groups
from kernsel._data.training import require_squares
from kernsel._data.trend import Trend, require_trend_of_objects, trend_matrix
from kernsel._solve.landmark_path import LandmarkRows, landmark_path
from kernsel.approximations import Nystrom
from kernsel.criteria.names import along_path, require_name, require_sigma
from kernsel.criteria.table import TABLE
from kernsel.kernels import Kernel
from kernsel.kernels.convert import is_of_sklearn
from kernsel.kernels.objects import Points

__all__ = ["PathValues", "RegularizationPath"]

# The error messages for rules that choose no lambda, by the outcome that the core returns.
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
    """The criteria of a regularization path at some values of lambda; every attribute has one entry for each value.

    Attributes
    ----------
    alphas : ndarray of shape (l,)
        The values of lambda.
    loo : ndarray of shape (l,)
        The mean squared leave-one-out residual.
    gcv : ndarray of shape (l,)
        Generalized cross-validation.
    log_likelihood, restricted_log_likelihood : ndarray of shape (l,)
        The likelihoods of a Gaussian process with kernel matrix K and noise variance lambda.
    profiled_log_likelihood, profiled_restricted_log_likelihood : ndarray of shape (l,)
        The same, maximized over a common factor of K and lambda.
    residual_norm : ndarray of shape (l,)
        |y - f|; with weights, |w^(1/2) (y - f)|.
    seminorm : ndarray of shape (l,)
        |f| = (c'Kc)^(1/2), without the trend.
    effective_dof : ndarray of shape (l,)
        The effective degrees of freedom, the sum of the leverages.
    risk : ndarray of shape (l,)
        An unbiased estimate of the mean squared error of the fitted values; nan if `sigma` is not given.
    curvature : ndarray of shape (l,)
        The curvature of the L-curve, log seminorm against log residual norm; positive at a corner.
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
    """A feature matrix A, in place of the kernel matrix A A'."""

    A: ArrayLike


class RegularizationPath:
    """Kernel ridge regression for all values of lambda at once, and the rules that choose one.

    The fit for lambda minimizes sum_i w_i (y_i - f(x_i))^2 + lambda |f|^2. After one eigendecomposition, K = Q diag(e) Q', each
    value of lambda takes two products of a matrix with a vector for leave-one-out, and O(n) for all other criteria.

    Parameters
    ----------
    K : array-like of shape (n, n), or Kernel
        A kernel matrix, or a kernel, for which X is required.
    y : array-like of shape (n,) or (n, m)
        The targets.
    X : array-like of shape (n, d), or sequence of n objects, optional
        The points, for a kernel or for a trend.
    alphas : array-like of shape (l,), optional
        Positive values of lambda; by default 200 values from 1e-12 to 100 times the largest eigenvalue.
    sigma : float, optional
        The standard deviation of the noise (of a point of weight one), for "risk" and "discrepancy".
    trend : None, "constant", "linear", "quadratic", array-like of shape (n, q), or callable
        Functions that are added to f and not penalized.
    sample_weight : array-like of shape (n,), optional
        The weights w, positive.
    alpha_scale : {"none", "n"}
        "n" multiplies every lambda by n, or by the sum of the weights, which gives the objective with the mean of the squared
        errors.
    groups : array-like of shape (n,), optional
        A label for each point: `loo` and the rule "loo" leave all points of a group out together, see `leave_groups_out`. By
        default each point is left out alone, also where others equal it. `loo` is nan where lambda is too small against
        rounding to leave out a group of nearly equal points.
    approximation : Nystrom, optional
        For a kernel and any number of points: its matrix is replaced by what landmarks determine of it. All criteria come from
        one m x m eigendecomposition, after a pass over the points of about 2 n m^2 operations. `loo` takes another pass of the
        same length for all `alphas` together, when it is asked for. Nothing of the size n x m is stored. Likelihoods are lower
        bounds of those of the kernel if `approximation.bound` is set. `groups` may be of equal rows, and are refused otherwise.
        The kernel must have no noise of its own.

    Attributes
    ----------
    alphas, loo, gcv, log_likelihood, residual_norm, seminorm, effective_dof, risk, curvature, ... : ndarray of shape (l,)
        The attributes of :class:`PathValues` at `alphas`.
    eigenvalues : ndarray
        The eigenvalues of K restricted to the complement of the trend, in decreasing order, not negative. With landmarks those
        that are not zero.
    landmarks : ndarray of shape (m, d) or None
        The landmarks, with `approximation`.
    sigma : float or None
        The parameter `sigma`.
    n_points, n_targets, n_trend : int
        The numbers of points, of columns of y, and of columns of the trend.
    largest_alpha : float
        The lambda that equals the largest eigenvalue.

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
        groups: ArrayLike | None = None,
        approximation: Nystrom | None = None,
    ) -> None:
        targets = np.asarray(y, dtype=np.float64)
        if targets.ndim not in (1, 2) or not len(targets) or not np.isfinite(targets).all():
            raise ValueError(f"y: expected finite numbers, one row for each point, got shape {targets.shape}")
        require_squares(targets)
        n = len(targets)
        weights = _weights(sample_weight, n)
        if sigma is not None and not (isinstance(sigma, Real) and sigma > 0 and isfinite(sigma)):
            raise ValueError(f"sigma: expected a positive number, got {sigma!r}")
        if alpha_scale not in ("none", "n"):
            raise ValueError(f'alpha_scale: expected "none" or "n", got {alpha_scale!r}')
        known_sigma, mean_of_errors = 0.0 if sigma is None else float(sigma), alpha_scale == "n"
        self._rows: LandmarkRows | None = None
        self._all: RegularizationPath | None = None  # the path of all targets, of which this is one; with landmarks
        self._target = 0
        told = checked_groups(groups, n)
        self._groups = None if told is None or len(np.unique(told)) == n else told
        if approximation is None:
            self._path = _exact(K, X, targets, trend, weights, known_sigma, mean_of_errors)
        else:
            if isinstance(K, _Features) or not (isinstance(K, Kernel | str) or is_of_sklearn(K)):
                raise ValueError("K: expected a kernel with approximation=Nystrom(), whose landmarks need its values")
            self._path, self._rows = landmark_path(
                K,
                X,
                targets.reshape(n, -1),
                trend=trend,
                weights=weights,
                groups=self._groups,
                sigma=known_sigma,
                mean_of_errors=mean_of_errors,
                approximation=approximation,
            )
        self.landmarks = None if self._rows is None else self._rows.landmarks
        self._of_trend = None if self._rows is None else self._rows.of_trend
        self._scatter = np.zeros(1)  # what equal rows add to the errors of each target
        if self._rows is not None:
            self._scatter, self._groups = self._rows.scatter, None
        self.sigma: float | None = None if sigma is None else float(sigma)
        self.eigenvalues = self._path.eigenvalues
        self.alphas = self._path.default_alphas() if alphas is None else self._checked(alphas)
        self._tabulate()

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
        """Return the path of ridge regression on features, |A x - y|^2 + lambda |x|^2, from the singular values of A.

        It equals the path of the kernel matrix A A', and takes O(n d min(n, d)) operations instead of O(n^3).

        Parameters
        ----------
        A : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, m)
        **options
            Parameters of :class:`RegularizationPath`.

        Returns
        -------
        path : RegularizationPath

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
        """Return a path for each column of y, so that each can have its own lambda. The eigendecomposition is shared.

        Returns
        -------
        paths : list of RegularizationPath, of length n_targets

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
            path = object.__new__(type(self))
            path.__dict__.update(self.__dict__)
            path._path = self._path.target(k)
            if self.by_landmarks:
                path._all, path._target = self, k
                path._of_trend = None if self._of_trend is None else self._of_trend[:, k : k + 1]
                path._scatter = self._scatter[k : k + 1]
            path._tabulate()
            paths.append(path)
        return paths

    def of_all_targets(self) -> RegularizationPath:
        """Return the path of which `of_each_target` has given this one; the path itself if there is none. With landmarks."""
        return self if self._all is None else self._all

    @property
    def by_landmarks(self) -> bool:
        """Whether the kernel is approximated by landmarks."""
        return self.landmarks is not None

    @cached_property
    def loo(self) -> Vector:
        """The mean squared leave-one-out residual, see the class. With landmarks it is computed on first access."""
        if self._all is not None:
            return np.asarray(self._all._errors_of_targets[self._target])
        return np.asarray(self._errors_of_targets.mean(axis=0))

    @cached_property
    def _errors_of_targets(self) -> Matrix:
        """The mean squared leave-one-out residuals of each target, shape (n_targets, l), by one pass over the points."""
        return _core.left_out_along_path(self._path, self.alphas.tolist()) + self._scatter[:, None]

    def stored(self) -> dict[str, Vector]:
        """Return a path by landmarks as arrays, without points and landmarks; errors are among them if they are known."""
        assert self._of_trend is not None
        state = np.asarray(self._path.__reduce__()[1][0])
        arrays: dict[str, Vector] = {"state": state, "alphas": self.alphas, "of_trend": self._of_trend}
        known = self.__dict__.get("_errors_of_targets")
        return arrays if known is None else arrays | {"errors": known}

    @classmethod
    def restored(cls, arrays: dict[str, Vector], landmarks: Matrix, sigma: float | None) -> RegularizationPath:
        """Return the path that `stored` described. Without points, `loo` is known at `alphas` at most."""
        path = object.__new__(cls)
        path._path = _core.RegularizationPath(arrays["state"])
        path._scatter = np.zeros(path.n_targets)
        path._rows, path._all, path._target, path._groups = None, None, 0, None
        path.landmarks, path._of_trend, path.sigma = landmarks, arrays["of_trend"], sigma
        path.eigenvalues = path._path.eigenvalues
        path.alphas = path._checked(arrays["alphas"])
        path._tabulate()
        if "errors" in arrays:
            path._errors_of_targets = arrays["errors"]
        return path

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the attributes of a copy; a path by landmarks reads its rows again."""
        self.__dict__.update(state)
        if state.get("_rows") is not None:
            self._path = state["_rows"].attached(self._path)

    @property
    def n_points(self) -> int:
        """The number of points."""
        return self._path.points

    @property
    def n_targets(self) -> int:
        """The number of columns of y."""
        return self._path.targets

    @property
    def n_trend(self) -> int:
        """The number of columns of the trend."""
        return self._path.trend_columns

    @property
    def largest_alpha(self) -> float:
        """The lambda that equals the largest eigenvalue; for much larger values, the fit is the trend alone."""
        return self._path.largest_alpha

    def _tabulate(self) -> None:
        lazy = self.by_landmarks
        values = self.at(self.alphas, leave_out=not lazy)
        self.__dict__.pop("loo", None)
        for entry in fields(values):
            if not lazy or entry.name != "loo":
                setattr(self, entry.name, getattr(values, entry.name))

    def at(self, alphas: ArrayLike, *, leave_out: bool = True) -> PathValues:
        """Return all criteria at other values of lambda.

        Parameters
        ----------
        alphas : array-like of shape (l,)
            Positive values of lambda.
        leave_out : bool
            Whether `loo` is wanted, which takes longer than all others; nan without it.

        Returns
        -------
        values : PathValues
        """
        checked = self._checked(alphas)
        values = self._path.values(checked, leave_out and self._groups is None)
        values["loo"] = values["loo"] + self._scatter.mean()
        if leave_out and self._groups is not None:
            values["loo"] = self._errors_without(self._groups, checked)
        return PathValues(**values)

    def dual_coef(self, alpha: float) -> Vector:
        """Return the coefficients c of f = sum_i c_i k(., x_i), the trend not included, for one lambda.

        Parameters
        ----------
        alpha : float
            A positive value of lambda.

        Returns
        -------
        c : ndarray of shape (n,) or (n, m)
            Not for a path by landmarks, see `landmark_coef`.
        """
        if self.by_landmarks:
            raise ValueError("dual_coef: a path by landmarks has no coefficients of points; see landmark_coef")
        c = self._path.dual_coef(float(self._checked(alpha)[0]))
        return np.asarray(c[:, 0] if self.n_targets == 1 else c)

    def landmark_coef(self, alpha: float) -> tuple[Matrix, Matrix]:
        """Return the coefficients of f = sum_j u_j k(., z_j) + sum_p b_p h_p for one lambda, for a path by landmarks.

        Parameters
        ----------
        alpha : float
            A positive value of lambda.

        Returns
        -------
        u : ndarray of shape (m, n_targets)
            Those of the landmarks.
        b : ndarray of shape (q, n_targets)
            Those of the trend.

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> from kernsel.kernels import RBF
        >>> X = np.linspace(0, 6, 500).reshape(-1, 1)
        >>> path = ks.RegularizationPath(RBF(1.0), np.sin(X[:, 0]), X=X, approximation=ks.Nystrom(20), trend="constant")
        >>> u, b = path.landmark_coef(0.01)
        >>> f = RBF(1.0)(X, path.landmarks) @ u + b
        >>> bool(np.abs(f[:, 0] - np.sin(X[:, 0])).max() < 0.02)
        True
        """
        if self.landmarks is None:
            raise ValueError("landmark_coef: expected a path with approximation=Nystrom()")
        both = _core.landmark_coef(self._path, float(self._checked(alpha)[0]), len(self.landmarks))
        u, b = both[: len(self.landmarks)], both[len(self.landmarks) :]
        return u, b if self._of_trend is None else b + self._of_trend

    def leave_groups_out(self, groups: ArrayLike, *, log_density: bool = False, alphas: ArrayLike | None = None) -> Vector:
        """Return the k-fold cross-validation error at all `alphas`, in closed form: each group of points is left out in turn.

        Parameters
        ----------
        groups : array-like of shape (n,)
            A label for each point.
        log_density : bool
            Return the sum of the joint log densities of the groups, instead of the mean of the squared residuals. Both take
            `sample_weight` into account.
        alphas : array-like of shape (l,), optional
            Other values of lambda than the attribute `alphas`.

        Returns
        -------
        values : ndarray of shape (l,)
            Each takes n^3 / k operations, with k groups.

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> from kernsel.kernels import RBF
        >>> X, y = np.arange(6.0)[:, None], np.array([0.0, 1.0, 0.5, 0.0, 1.0, 0.5])
        >>> path = ks.RegularizationPath(RBF(1.0), y, X=X, alphas=[0.1])
        >>> path.leave_groups_out([0, 0, 1, 1, 2, 2]).round(4)
        array([0.3754])
        """
        if self.by_landmarks:
            raise ValueError(
                "leave_groups_out: expected a path without approximation; with landmarks `groups` may be of equal rows"
            )
        labels = np.asarray(groups)
        if labels.shape != (self.n_points,):
            raise ValueError(f"groups: expected one label for each of {self.n_points} points, got shape {labels.shape}")
        names, numbers = np.unique(labels, return_inverse=True)
        if len(names) < 2:
            raise ValueError("groups: expected two at least: one of them must be left to learn from")
        return self._path.leave_groups_out(
            numbers.astype(np.int64), len(names), log_density, self.alphas if alphas is None else self._checked(alphas)
        )

    def best(self, rule: str = "loo", *, tau: float = 1.0) -> float:
        """Return the lambda that a rule chooses, which may lie between or beyond the values in `alphas`.

        Parameters
        ----------
        rule : str
            "loo", "gcv" or "risk" (which needs `sigma`): the minimum of that curve. "lml", "reml", "profiled_lml" or
            "profiled_reml": the maximum of a likelihood. "discrepancy" (which needs `sigma`): the lambda whose residual has the
            norm tau n^(1/2) sigma. "lcurve": the corner of the L-curve. "quasi-optimality": the interior minimum of
            `quasi_optimality`. The last two do not use the size of the noise, and can fail.
        tau : float
            The factor in the rule "discrepancy".

        Returns
        -------
        alpha : float

        Raises
        ------
        ValueError
            If no lambda satisfies the rule, for example because the L-curve has no corner.
        """
        require_name(rule, along_path(), argument="rule")
        require_sigma(rule, self.sigma, called="rule")
        if rule == "loo" and self._groups is not None:
            return self._best_without(self._groups)
        if rule == "discrepancy" and (not isinstance(tau, Real) or not tau > 0):
            raise ValueError(f"tau: expected a positive number, got {tau!r}")
        curve = getattr(self, TABLE[rule].curve)
        found = self._path.best(rule, self.alphas, curve - self._scatter.mean() if rule == "loo" else curve, float(tau))
        if found["outcome"] != "found":
            raise ValueError(f"{rule}: {_PROBLEMS[found['outcome']].format(**found)}")
        return float(found["alpha"])

    def _errors_without(self, groups: Indices, alphas: Vector) -> Vector:
        """Return the errors of groups that are left out; nan where lambda is too small against rounding to tell them."""
        try:
            return self.leave_groups_out(groups, alphas=alphas)
        except np.linalg.LinAlgError:
            if len(alphas) == 1:
                return np.full(1, np.nan)
            return np.concatenate([self._errors_without(groups, alpha) for alpha in np.split(alphas, len(alphas))])

    def _best_without(self, groups: Indices) -> float:
        """Return the lambda with the least error of groups that are left out, near the best of `alphas`."""
        order = np.sort(self.alphas)
        errors = self.loo[np.argsort(self.alphas)]
        at = int(np.nanargmin(errors))
        low, high = (order[k] for k in (max(at - 1, 0), min(at + 1, len(order) - 1)))
        if at in (0, len(order) - 1):  # also beyond the ends
            low, high = (low / 10, high) if at == 0 else (low, 10 * high)
            low, high = (low, 10 * high) if len(order) == 1 else (low, high)

        def error(log: float) -> float:
            return float(np.nan_to_num(self._errors_without(groups, np.exp([log]))[0], nan=np.inf))

        found = optimize.minimize_scalar(error, bounds=(np.log(low), np.log(high)), method="bounded", options={"xatol": 1e-9})
        return float(np.exp(found.x)) if found.fun < errors[at] else float(order[at])

    def _checked(self, alphas: ArrayLike) -> Vector:
        values = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (values <= 0).any():
            raise ValueError(f"alphas: expected positive, finite numbers, got {alphas!r}")
        return values


def _exact(
    K: Any, X: Any, targets: Matrix, trend: Trend, weights: Vector | None, sigma: float, mean_of_errors: bool
) -> _core.RegularizationPath:
    """Return the path of a kernel matrix, or of features."""
    n = len(targets)
    matrix, points = (_feature_matrix(K.A, n), X) if isinstance(K, _Features) else _matrix(K, X, targets)
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
        sigma,
        mean_of_errors,
        float(precision),
        _svd if isinstance(K, _Features) else _eigh,
    )
    if isinstance(made, tuple):
        raise np.linalg.LinAlgError(
            f"K: expected a positive semidefinite matrix, got one with eigenvalues from {made[0]:.4g} to {made[1]:.4g}"
        )
    return made


def _matrix(K: Any, X: Any, y: Vector) -> tuple[Vector, Any]:
    if isinstance(K, Kernel | str) or is_of_sklearn(K):
        if X is None:
            raise ValueError("X: a kernel needs the points")
        kernel, points, _ = kernel_and_points(kernel_of(K, name="K"), X, y=y if len(y) == len(X) else None)
        matrix = kernel(points)
        if kernel.for_objects():
            X = np.zeros((len(matrix), 0))  # a trend cannot use objects, so it gets points without columns
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
    """Write the eigenvalues of a symmetric matrix, in decreasing order, and its eigenvectors, by LAPACK."""
    e, V = linalg.eigh(A, driver="evd", overwrite_a=True, check_finite=False)
    values[:, 0], vectors[:] = e[::-1], V[:, ::-1]


def _svd(A: Vector, values: Vector, vectors: Vector) -> None:
    """Write the singular values of a matrix, in decreasing order, and its left singular vectors, by LAPACK."""
    vectors[:], values[:, 0], _ = linalg.svd(A, full_matrices=False, overwrite_a=True, check_finite=False)

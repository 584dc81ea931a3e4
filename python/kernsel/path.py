"""The regularization path: all criteria for all values of lambda, from one eigendecomposition."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, fields
from math import isfinite
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, optimize

from kernsel.kernels import Kernel
from kernsel.kernels.algebra import as_kernel
from kernsel.kernels.objects import Points
from kernsel.points import require_squares
from kernsel.trend import Trend, require_trend_of_objects, trend_matrix

__all__ = ["CURVES", "RULES", "PathValues", "RegularizationPath", "ridge_rule"]

# What each rule looks at, and whether it is small or large there.
CURVES = {
    "loo": ("loo", 1),
    "gcv": ("gcv", 1),
    "lml": ("log_likelihood", -1),
    "reml": ("restricted_log_likelihood", -1),
    "profiled_lml": ("profiled_log_likelihood", -1),
    "profiled_reml": ("profiled_restricted_log_likelihood", -1),
    "sure": ("risk", 1),
    "discrepancy": ("residual_norm", 1),
    "lcurve": ("curvature", -1),
    "quasi-optimality": ("quasi_optimality", 1),
}
RULES = tuple(CURVES)


def ridge_rule(rule: str) -> str:
    """Return the rule for a ridge regression: likelihoods with the best scale of kernel and noise, since it has none."""
    return f"profiled_{rule}" if rule in ("lml", "reml") else rule


Vector = NDArray[np.float64]


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
        Unbiased estimate of the mean squared error of the fitted values; nan if `noise_std` is not given.
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
    noise_std : float, optional
        The standard deviation of the noise (of a point of weight one), for `risk`, "sure" and "discrepancy".
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

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 80).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(80)
    >>> path = ks.RegularizationPath(RBF(1.0), y, X=X, noise_std=0.1)
    >>> path.loo.shape
    (200,)
    >>> [round(path.best(rule), 4) for rule in ("loo", "gcv", "reml", "discrepancy")]
    [0.0012, 0.0022, 0.0085, 0.8921]
    """

    def __init__(
        self,
        K: ArrayLike | Kernel,
        y: ArrayLike,
        *,
        X: Points | None = None,
        alphas: ArrayLike | None = None,
        noise_std: float | None = None,
        trend: Trend = None,
        sample_weight: ArrayLike | None = None,
        alpha_scale: Literal["none", "n"] = "none",
    ) -> None:
        targets = np.asarray(y, dtype=np.float64)
        if targets.ndim not in (1, 2) or not len(targets) or not np.isfinite(targets).all():
            raise ValueError(f"y: expected finite numbers, one row for each point, got shape {targets.shape}")
        require_squares(targets)
        n = len(targets)
        matrix, points = (_feature_matrix(K.A, n), X) if isinstance(K, _Features) else _matrix(K, X, n)
        root = _root_weights(sample_weight, n)
        if noise_std is not None and not (isinstance(noise_std, Real) and noise_std > 0 and isfinite(noise_std)):
            raise ValueError(f"noise_std: expected a positive number, got {noise_std!r}")
        if alpha_scale not in ("none", "n"):
            raise ValueError(f'alpha_scale: expected "none" or "n", got {alpha_scale!r}')
        if isinstance(K, Kernel) and K.for_objects():
            require_trend_of_objects(trend)
        H = trend_matrix(trend, np.zeros((n, 0)) if points is None and not isinstance(trend, str) else _points(points))
        precision = np.finfo(np.float32 if getattr(K, "dtype", None) == np.float32 else np.float64).eps
        self._least = 100 * n * float(precision)  # an eigenvalue that is below minus this times the largest is no rounding
        self._root = root
        self._decompose(matrix, H * root[:, None], targets.reshape(n, -1) * root[:, None], features=isinstance(K, _Features))
        self._noise = None if noise_std is None else float(noise_std)
        # What `alphas` are multiplied by to be in the unit of eigenvalues.
        self._per_alpha = (float(np.sum(root**2)) if alpha_scale == "n" else 1.0) / self._k_unit
        self._largest = float(self._e[0]) if len(self._e) and self._e[0] > 0 else 1.0
        self.eigenvalues = self._e * self._k_unit
        default = np.geomspace(1e-12, 100, 200) * self._largest / self._per_alpha
        self.alphas = default if alphas is None else self._checked(alphas)
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
        for k in range(self._m):
            path = copy(self)
            path._m, path._z, path._rest = 1, self._z[:, [k]], self._rest[:, [k]]
            path._energy = path._z[:, 0] ** 2
            path._energy_of_rest = float(np.sum(path._rest**2))
            path._tabulate()
            paths.append(path)
        return paths

    def _tabulate(self) -> None:
        values = self.at(self.alphas)
        for entry in fields(values):
            setattr(self, entry.name, getattr(values, entry.name))

    def _decompose(self, matrix: Vector, H: Vector, y: Vector, *, features: bool) -> None:
        """Find eigenvalues and eigenvectors, and y in their coordinates.

        All are of K and y over powers of two, which rounds nothing: the fourth powers of what is computed with must be numbers.
        """
        self._y_unit = _power_of_two(y)
        matrix = matrix * (self._root[:, None] if features else np.outer(self._root, self._root))
        unit = _power_of_two(matrix)
        matrix /= unit
        self._k_unit = unit**2 if features else unit
        (self._decompose_features if features else self._decompose_matrix)(matrix, H, y / self._y_unit)

    def _decompose_features(self, A: Vector, H: Vector, y: Vector) -> None:
        n, q = H.shape
        U = linalg.qr(H, mode="economic")[0] if q else np.zeros((n, 0))
        V, s, W = linalg.svd(A - U @ (U.T @ A), full_matrices=False)
        kept = s > max(A.shape) * np.finfo(float).eps * s.max(initial=0.0)
        V, s, W = V[:, kept], s[kept], W[kept]
        self._e = s**2
        self._V, self._squares = np.ascontiguousarray(V), V**2
        self._U: Vector | None = U
        self._n, self._q, self._m = n, q, y.shape[1]
        self._z = V.T @ y
        self._energy = np.sum(self._z**2, axis=1)
        part = U.T @ A
        self._of_trend = (part @ part.T, (part @ W.T) * s)
        # What lies beyond the features, at eigenvalue 0.
        self._rest = y - U @ (U.T @ y) - V @ self._z
        self._beyond = np.maximum(1 - np.sum(self._squares, axis=1) - np.sum(U**2, axis=1), 0.0)
        self._zeros, self._energy_of_rest = n - q - len(s), float(np.sum(self._rest**2))

    def _decompose_matrix(self, K: Vector, H: Vector, y: Vector) -> None:
        n, q = H.shape
        self._U = None
        if q:
            basis = linalg.qr(H)[0]
            U, Z = basis[:, :q], basis[:, q:]
            e, Q = linalg.eigh(Z.T @ K @ Z, driver="evd")
            V = Z @ Q
            self._of_trend = (U.T @ K @ U, U.T @ K @ V[:, ::-1])
        else:
            e, V = linalg.eigh(K, driver="evd")
        # What the trend takes out of K may be much larger than what it leaves, and rounding is of its size.
        if len(e) and e[0] < -self._least * max(np.abs(e).max(), np.abs(K).max()):
            least, most = e[0] * self._k_unit, e[-1] * self._k_unit
            raise np.linalg.LinAlgError(
                f"K: expected a positive semidefinite matrix, got one with eigenvalues from {least:.4g} to {most:.4g}"
            )
        least = n * np.finfo(float).eps * np.abs(e).max(initial=0.0)  # what is below is rounding
        self._e = np.where(e[::-1] > least, e[::-1], 0.0)
        self._V = np.ascontiguousarray(V[:, ::-1])
        self._squares = self._V**2
        self._n, self._q, self._m = n, q, y.shape[1]
        self._z = self._V.T @ y
        self._energy = np.sum(self._z**2, axis=1)
        self._rest, self._beyond = np.zeros_like(y), np.zeros(n)
        self._zeros, self._energy_of_rest = 0, 0.0

    def at(self, alphas: ArrayLike) -> PathValues:
        """Return everything at other values of lambda."""
        return self._values(self._checked(alphas), leave_out=True)

    def _values(self, given: Vector, *, leave_out: bool) -> PathValues:
        """Return everything, leave-one-out errors only if they are wanted: all else is O(n) for each lambda."""
        lam = given * self._per_alpha
        e, energy, n, m, q = self._e[:, None], self._energy[:, None], self._n, self._m, self._q
        D = 1 / (e + lam)  # (n - q, l)
        residual = lam**2 * np.sum(energy * D**2, axis=0) + self._energy_of_rest
        semi = np.sum(e * energy * D**2, axis=0)
        quadratic = np.sum(energy * D, axis=0) + self._energy_of_rest / lam
        trace = np.sum(D, axis=0) + self._zeros / lam
        log_det = np.sum(np.log(e + lam), axis=0) + self._zeros * np.log(lam)
        weights = self._root**2
        precision = self._squares @ D + self._beyond[:, None] / lam if leave_out else np.nan
        loo = np.zeros(len(lam)) if leave_out else np.full(len(lam), np.nan)
        for k in range(m if leave_out else 0):
            c = self._V @ (self._z[:, [k]] * D) + self._rest[:, [k]] / lam
            left_out = c / precision / self._root[:, None]
            loo += weights @ left_out**2 / (weights.sum() * m)
        log_unit = float(np.log(self._k_unit))
        whole = m * (log_det + self._log_det_of_trend(lam, D) + n * log_unit - np.log(weights).sum())
        rest = n - q
        kept = m * (log_det + rest * log_unit - np.log(weights).sum())
        log_2pi = np.log(2 * np.pi)
        slope = -2 * np.sum(e * energy * D**3, axis=0)
        log_ratio = 2 * float(np.log(self._y_unit)) - log_unit
        with np.errstate(divide="ignore", invalid="ignore"):
            curvature = 2 * residual * semi / np.abs(slope) * (residual * semi + lam * slope * residual + lam**2 * slope * semi)
            curvature = curvature / (residual**2 + lam**2 * semi**2) ** 1.5
            profiled, profiled_rest = (
                -0.5 * (freedom * m * (np.log(2 * np.pi * quadratic / (freedom * m)) + log_ratio + 1) + det)
                for freedom, det in ((n, whole), (rest, kept))
            )
        variance = np.nan if self._noise is None else (self._noise / self._y_unit) ** 2
        square, of_norm = self._y_unit**2, self._y_unit / self._k_unit**0.5
        quadratic = quadratic * of_norm**2
        return PathValues(
            alphas=given,
            loo=square * loo,
            gcv=square * (n * residual / lam**2 / trace**2 / m * np.mean(1 / weights)),
            log_likelihood=-0.5 * (quadratic + whole + n * m * log_2pi),
            restricted_log_likelihood=-0.5 * (quadratic + kept + rest * m * log_2pi),
            profiled_log_likelihood=profiled,
            profiled_restricted_log_likelihood=profiled_rest,
            residual_norm=self._y_unit * np.sqrt(residual),
            seminorm=of_norm * np.sqrt(semi),
            effective_dof=q + np.sum(e * D, axis=0),
            risk=square * ((residual + m * variance * (2 * (n - lam * trace) - n)) / (n * m)),
            curvature=np.where(np.isfinite(curvature), curvature, 0.0),
            quasi_optimality=of_norm * lam * np.sqrt(np.sum(e * energy * D**4, axis=0)),
        )

    def dual_coef(self, alpha: float) -> Vector:
        """Return c for one lambda: f = sum_i c_i k(., x_i), and the trend's part of y is what it leaves."""
        lam = float(self._checked(alpha)[0]) * self._per_alpha
        c = (self._V @ (self._z / (self._e[:, None] + lam)) + self._rest / lam) * self._root[:, None]
        c *= self._y_unit / self._k_unit
        return np.asarray(c[:, 0] if self._m == 1 else c)

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
        if labels.shape != (self._n,):
            raise ValueError(f"groups: expected one label for each of {self._n} points, got shape {labels.shape}")
        parts = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        if len(parts) < 2:
            raise ValueError("groups: expected two at least: one of them must be left to learn from")
        e, m, squared = self._e, self._m, np.zeros(len(self.alphas))
        of_weights = float(np.sum(np.log(self._root)) - 0.5 * self._n * np.log(2 * np.pi * self._k_unit))
        density = np.full(len(self.alphas), m * of_weights)
        square = self._y_unit**2 / self._k_unit
        for i, lam in enumerate(self.alphas * self._per_alpha):
            D = 1 / (e + lam)
            c = self._V @ (self._z * D[:, None]) + self._rest / lam
            for part in parts:
                V = self._V[part]
                if self._U is None:
                    P = (V * D) @ V.T
                else:
                    P = (V * (D - 1 / lam)) @ V.T + (np.eye(len(part)) - self._U[part] @ self._U[part].T) / lam
                left_out = linalg.solve(P, c[part], assume_a="pos")
                squared[i] += float(np.sum(left_out**2))
                if log_density:
                    density[i] += 0.5 * (m * np.linalg.slogdet(P)[1] - square * float(np.sum(left_out * c[part])))
        return density if log_density else self._y_unit**2 * squared / (m * float(np.sum(self._root**2)))

    def best(self, rule: str = "loo", *, tau: float = 1.0) -> float:
        """Return the lambda that a rule chooses, between and beyond the grid.

        Parameters
        ----------
        rule : str
            The minimum of "loo", of "gcv" or of `risk` ("sure"; needs `noise_std`); the maximum of a likelihood: "lml", "reml",
            "profiled_lml", "profiled_reml"; the lambda whose residual has the norm tau n^(1/2) noise_std ("discrepancy"); the
            corner of the L-curve ("lcurve"); the interior minimum of `quasi_optimality` ("quasi-optimality"). The last two know
            nothing of the noise, and can fail: they raise ValueError where there is no corner, or no minimum.
        tau : float
            For "discrepancy".

        Returns
        -------
        alpha : float
        """
        if rule not in RULES:
            raise ValueError(f"rule: expected one of {', '.join(RULES)}, got {rule!r}")
        if rule in ("sure", "discrepancy") and self._noise is None:
            raise ValueError(f'noise_std: the rule "{rule}" needs the standard deviation of the noise')
        if rule == "discrepancy":
            return self._discrepancy(tau)
        if rule in ("lcurve", "quasi-optimality"):
            return self._interior(rule)
        name, sign = CURVES[rule]
        low, high = 1e-16 * self._largest / self._per_alpha, 1e12 * self._largest / self._per_alpha
        order = np.argsort(self.alphas)
        grid, values = self.alphas[order], sign * getattr(self, name)[order]
        while True:  # beyond the grid, as long as it gets better there
            best = int(np.nanargmin(values))
            if best == 0 and grid[0] > low:
                more = np.geomspace(max(low, 1e-3 * grid[0]), grid[0], 16)[:-1]
                grid, values = np.append(more, grid), np.append(self._curve(name, sign, more), values)
            elif best == len(grid) - 1 and grid[-1] < high:
                more = np.geomspace(grid[-1], min(high, 1e3 * grid[-1]), 16)[1:]
                grid, values = np.append(grid, more), np.append(values, self._curve(name, sign, more))
            else:
                return self._refined(grid[max(best - 1, 0)], grid[best], grid[min(best + 1, len(grid) - 1)], name, sign)

    def _curve(self, name: str, sign: int, alphas: Vector) -> Vector:
        return np.asarray(sign * getattr(self._values(alphas, leave_out=name == "loo"), name))

    def _refined(self, left: float, middle: float, right: float, name: str, sign: int) -> float:
        """Return the minimum of `sign` times a curve between two values of lambda, near a third."""
        if right <= left:
            return float(middle)

        def at(t: float) -> float:
            return float(self._curve(name, sign, np.array([np.exp(t)]))[0])

        found = optimize.minimize_scalar(at, bounds=(np.log(left), np.log(right)), method="bounded", options={"xatol": 1e-6})
        return float(np.exp(found.x)) if found.fun <= at(np.log(middle)) else float(middle)

    def _interior(self, rule: str) -> float:
        name, sign = CURVES[rule]
        grid = np.geomspace(1e-14 * self._largest, 1e3 * self._largest, 600) / self._per_alpha
        values = self._curve(name, sign, grid)
        inside = 1 + np.flatnonzero((values[1:-1] < values[:-2]) & (values[1:-1] <= values[2:]))
        if rule == "lcurve":
            inside = inside[values[inside] < 0]
        if not len(inside):
            what = "the L-curve has no corner" if rule == "lcurve" else "the quasi-optimality function has no interior minimum"
            raise ValueError(f'{rule}: {what} for these data; choose another rule, such as "gcv" or "reml"')
        best = int(inside[np.argmin(values[inside])])
        return self._refined(grid[best - 1], grid[best], grid[best + 1], name, sign)

    def _discrepancy(self, tau: float) -> float:
        """Solve |lambda c|^2 = tau^2 n sigma^2 by Newton's method in 1 / lambda, monotone from 0."""
        if not isinstance(tau, Real) or not tau > 0:
            raise ValueError(f"tau: expected a positive number, got {tau!r}")
        assert self._noise is not None
        target = float(tau) ** 2 * self._n * self._m * (self._noise / self._y_unit) ** 2
        stays = self._energy_of_rest + float(self._energy[self._e <= 1e-14 * self._largest].sum())
        total = self._energy_of_rest + float(self._energy.sum())
        norm, wanted, least = (self._y_unit * square**0.5 for square in (total, target, stays))
        if target >= total:
            raise ValueError(
                f"discrepancy: the noise explains all of y, whose norm is {norm:.4g} and below tau n^(1/2) noise_std = "
                f"{wanted:.4g}; every lambda fits well enough"
            )
        if target <= stays:
            raise ValueError(
                f"discrepancy: no lambda leaves a residual as small as {wanted:.4g}: {least:.4g} of y is out of the "
                "kernel's reach"
            )
        beta, e, energy = 0.0, self._e, self._energy
        for _ in range(200):
            scaled = 1 / (1 + beta * e)
            square = float(np.sum(energy * scaled**2)) + self._energy_of_rest
            if abs(square / target - 1) < 1e-13:
                break
            slope = float(np.sum(energy * e * scaled**3)) * square**-1.5  # of square^(-1/2)
            beta += (target**-0.5 - square**-0.5) / slope
        return 1 / beta / self._per_alpha

    def _log_det_of_trend(self, lam: Vector, D: Vector) -> Vector:
        """Return what the trend's directions add to log det K~."""
        if not self._q:
            return np.zeros(len(lam))
        inner, cross = self._of_trend
        result = np.empty(len(lam))
        for i, value in enumerate(lam):
            S = inner + value * np.eye(self._q) - (cross * D[:, i]) @ cross.T
            result[i] = np.linalg.slogdet(S)[1]
        return result

    def _checked(self, alphas: Any) -> Vector:
        values = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (values <= 0).any():
            raise ValueError(f"alphas: expected positive, finite numbers, got {alphas!r}")
        return values


def _matrix(K: Any, X: Any, n: int) -> tuple[Vector, Any]:
    kernel = None if isinstance(K, Real) else as_kernel(K)
    if kernel is not None:
        if X is None:
            raise ValueError("X: a kernel needs the points")
        matrix = kernel(X)
        if kernel.for_objects():
            X = np.zeros((len(matrix), 0))  # what a trend sees of them
    else:
        if isinstance(K, str):
            raise TypeError(
                f"K: expected a matrix or a kernel, got {K!r}; kernsel.kernels.kernel({K!r}) makes a kernel of a text"
            )
        matrix = np.asarray(K, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"K: expected a kernel or a square matrix, got shape {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise ValueError("K: expected finite numbers")
        if np.abs(matrix - matrix.T).max(initial=0) > 1e-10 * np.abs(matrix).max(initial=0):
            raise ValueError("K: expected a symmetric matrix")
    if len(matrix) != n:
        raise ValueError(f"y: expected one row for each of {len(matrix)} points, got {n}")
    return np.asarray(matrix, dtype=np.float64), None if X is None else np.asarray(X, dtype=np.float64)


def _feature_matrix(A: Any, n: int) -> Vector:
    matrix = np.asarray(A, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) != n or not matrix.size or not np.isfinite(matrix).all():
        raise ValueError(f"A: expected finite numbers, one row for each of {n} points, got shape {matrix.shape}")
    return matrix


def _points(X: Any) -> Vector:
    if X is None:
        raise ValueError("X: this trend needs the points")
    return np.asarray(X, dtype=np.float64)


def _power_of_two(values: Vector) -> float:
    """Return the largest power of two up to the largest of the values, to divide by without rounding; 1 for zeros."""
    largest = float(np.abs(values).max(initial=0.0))
    return float(np.ldexp(1.0, max(int(np.frexp(largest)[1]) - 1, -1000))) if largest > 0 else 1.0


def _root_weights(sample_weight: Any, n: int) -> Vector:
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights <= 0).any():
        raise ValueError("sample_weight: expected a positive, finite number for each point; leave out points of weight zero")
    return np.sqrt(weights)

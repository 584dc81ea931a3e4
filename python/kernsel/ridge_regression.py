"""Ridge regression on features: a linear model whose regularization is chosen along its whole path."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from kernsel.errors import NotPositiveDefiniteError
from kernsel.factor import cholesky
from kernsel.least_squares import solved
from kernsel.path import CURVES, RULES, RegularizationPath, ridge_rule
from kernsel.weights import point_weights

__all__ = ["RidgeRegression"]

Vector = NDArray[np.float64]

# Below this part of |Phi|^2, Cholesky factors of Phi'Phi and Phi Phi' have lost more than half of the digits.
LEAST_ALPHA = 1e-8


class RidgeRegression(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Linear ridge regression on features of the points, phi(x), its regularization chosen by a closed-form criterion.

    Finds the coefficients theta and the intercept b that minimize ::

        sum_i w_i (y_i - b - phi(x_i)'theta)^2 + alpha |theta|^2

    Leave-one-out residuals, leverages and degrees of freedom come along, without refitting. n points and p features cost
    O(n p min(n, p)) operations. What depends on the features is done with their weighted means taken out, so that moving a
    feature changes nothing. Everything is in double precision.

    Parameters
    ----------
    features : transformer, optional
        Makes the features, such as those of :mod:`kernsel.features`; a clone of it is fitted in `fit`, with weights if it takes
        any, and is given X as it comes, a table as a table. None takes the columns of X themselves.
    alpha : float, array-like of shape (n_targets,) or "auto"
        The regularization, not negative; one for all targets, or one for each. 0 is least squares, with the smallest |theta| if
        there are many solutions. "auto" chooses it by `criterion`.
    criterion : str
        A rule of :meth:`kernsel.RegularizationPath.best`: the minimum of "loo" (mean squared leave-one-out residual), "gcv" or
        "sure"; the maximum of "lml", "reml", "profiled_lml" or "profiled_reml"; "discrepancy", "lcurve" or
        "quasi-optimality". Only used if alpha is "auto". Likelihoods are taken with the best scale of features and noise
        together.
    alphas : array-like of shape (l,), optional
        Where the search begins; it goes on between and beyond these. By default 200 values, over 14 decades.
    alpha_per_target : bool
        With "auto", choose one alpha for each target instead of one for all. The decomposition is shared.
    fit_intercept : bool
        The intercept is not penalized.
    solver : {"auto", "primal", "dual", "svd"}
        "primal" factorizes Phi'W Phi + alpha I, (p, p); "dual" factorizes Phi Phi' + alpha W^-1, (n, n); "svd" uses the
        singular values of W^1/2 Phi, slower, and accurate for any alpha. "auto" is the smaller matrix, and "svd" where alpha is
        below 1e-8 of the sum of squares of W^1/2 Phi. All find the same, to rounding. Whatever is asked for, "svd" takes over
        where alpha is 0, or a matrix cannot be factorized.
    sigma : float, optional
        The standard deviation of the noise (of a point of weight one), which the criteria "sure" and "discrepancy" need.

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (n_targets, p)
    intercept_ : float or ndarray of shape (n_targets,)
        0.0 without an intercept.
    alpha_ : float or ndarray of shape (n_targets,)
        An array if there was one for each target, given or chosen.
    leverage_ : ndarray of shape (n,) or (n, n_targets)
        How much of y_i goes into its own fitted value; with n_targets columns if `alpha_` is an array. 0 at weight zero.
    loo_residuals_ : ndarray of shape (n,) or (n, n_targets)
        y_i minus what the model predicts for it that is fitted to all others, with the same alpha and the same features (which
        are not refitted). nan if there are no others.
    effective_dof_ : float or ndarray of shape (n_targets,)
        The sum of the leverages.
    solver_ : {"primal", "dual", "svd"}
        The one that was used.
    dual_coef_ : ndarray of shape (n,) or (n, n_targets)
        With "dual": theta = Phi' dual_coef_.
    features_ : transformer
        The fitted features, if there are any.
    path_ : RegularizationPath, or list of n_targets of them with `alpha_per_target`
        If alpha is "auto": all criteria for all alphas.
    best_score_ : float or ndarray of shape (n_targets,)
        If alpha is "auto": the criterion at `alpha_`; for "discrepancy" the norm of the residual, for "lcurve" the curvature.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If X has column names.

    Notes
    -----
    For a given alpha, a whole weight is as good as so many copies of the point, if the features (should they depend on the
    points) take weights, too. The criteria differ there: to leave out a point is not to leave out one of its copies.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(200)
    >>> model = ks.RidgeRegression(ks.features.Fourier(50, random_state=0)).fit(X, y)
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.05)
    True
    >>> round(model.effective_dof_, 1), round(float(np.mean(model.loo_residuals_**2)) ** 0.5, 3)
    (6.3, 0.098)
    """

    def __init__(
        self,
        features: Any = None,
        *,
        alpha: float | ArrayLike | Literal["auto"] = "auto",
        criterion: str = "loo",
        alphas: ArrayLike | None = None,
        alpha_per_target: bool = False,
        fit_intercept: bool = True,
        solver: Literal["auto", "primal", "dual", "svd"] = "auto",
        sigma: float | None = None,
    ) -> None:
        self.features = features
        self.alpha = alpha
        self.criterion = criterion
        self.alphas = alphas
        self.alpha_per_target = alpha_per_target
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.sigma = sigma

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | float | None = None) -> Self:
        """Fit the features, then choose alpha if that is "auto", then solve.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, n_targets)
        sample_weight : float or array-like of shape (n,), optional
            Not negative. A weight of zero leaves the point out.

        Returns
        -------
        self : RidgeRegression
        """
        self._check_parameters()
        X, y = self._checked(X, y)
        weights = point_weights(sample_weight, y)
        used = np.ones(len(y), dtype=bool) if weights is None else weights > 0
        Phi = self._fitted_features(X, y, weights, used)
        targets = y.reshape(len(y), -1)
        w = np.ones(len(y)) if weights is None else weights[used]
        centred, mean = _centred(Phi[used], w if self.fit_intercept else None)
        rest, center = _centred(targets[used], w if self.fit_intercept else None)
        alphas = self._alphas(centred, rest, None if weights is None else w)

        root = np.sqrt(w)[:, None]
        free = root / np.linalg.norm(root) if self.fit_intercept else np.zeros((len(root), 0))
        self.solver_, fits = _solve(centred * root, rest * root, alphas, free, self.solver)
        theta = np.column_stack([fit.coef for fit in fits])
        intercept = center - mean @ theta
        left_out = targets - Phi @ theta - intercept  # at weight zero, all are left out already
        left_out[used] = np.column_stack([fit.left_out for fit in fits]) / root
        leverage = np.zeros(targets.shape)
        leverage[used] = np.column_stack([np.repeat(fit.leverage[:, None], fit.coef.shape[1], axis=1) for fit in fits])
        self.__dict__.pop("dual_coef_", None)
        if self.solver_ == "dual":
            dual = np.zeros(targets.shape)
            dual[used] = np.column_stack([fit.dual for fit in fits if fit.dual is not None]) * root
            self.dual_coef_ = dual.reshape(y.shape)

        self.coef_ = theta.T if y.ndim == 2 else theta[:, 0]
        self.intercept_ = (intercept if y.ndim == 2 else float(intercept[0])) if self.fit_intercept else 0.0
        self.loo_residuals_ = left_out.reshape(y.shape)
        self.leverage_ = leverage if np.ndim(self.alpha_) else leverage[:, 0]
        dof = leverage.sum(axis=0)
        self.effective_dof_ = dof if np.ndim(self.alpha_) else float(dof[0])
        return self

    def predict(self, X: ArrayLike) -> Vector:
        """Return b + phi(x)'theta.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        y : ndarray of shape (m,) or (m, n_targets)
        """
        check_is_fitted(self)
        _refuse_sparse("X", X)
        if self.features is None:
            Phi = np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
        else:
            Phi = _dense(self.features_.transform(X))  # says best what is wrong with X
            validate_data(self, X, reset=False, skip_check_array=True)
        return np.asarray(Phi @ self.coef_.T + self.intercept_)

    def _check_parameters(self) -> None:
        if self.criterion not in RULES:
            raise ValueError(f"criterion: expected one of {', '.join(RULES)}, got {self.criterion!r}")
        if self.solver not in ("auto", "primal", "dual", "svd"):
            raise ValueError(f'solver: expected "auto", "primal", "dual" or "svd", got {self.solver!r}')
        for name in ("alpha_per_target", "fit_intercept"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise TypeError(f"{name}: expected True or False, got {getattr(self, name)!r}")
        sigma = self.sigma
        if sigma is not None and not (isinstance(sigma, Real) and sigma > 0 and isfinite(sigma)):
            raise ValueError(f"sigma: expected a positive number or None, got {sigma!r}")
        if self._automatic() and sigma is None and self.criterion in ("sure", "discrepancy"):
            raise ValueError(f'sigma: the criterion "{self.criterion}" needs the standard deviation of the noise, got None')
        if self.features is not None and not (hasattr(self.features, "fit") and hasattr(self.features, "transform")):
            raise TypeError(f"features: expected a transformer or None, got {self.features!r}")

    def _automatic(self) -> bool:
        return isinstance(self.alpha, str) and self.alpha == "auto"

    def _checked(self, X: Any, y: Any) -> tuple[Any, Vector]:
        """Return points, checked if they are the features themselves, and targets."""
        _refuse_sparse("X", X)
        if self.features is None:
            X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        else:
            validate_data(self, X, y, skip_check_array=True)
            y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
            check_consistent_length(X, y)
        return X, np.asarray(y, dtype=np.float64)

    def _fitted_features(self, X: Any, y: Vector, weights: Vector | None, used: NDArray[np.bool_]) -> Vector:
        """Return the features of all points, fitted to those that count."""
        if self.features is None:
            return np.asarray(X)
        self.features_ = clone(self.features)
        options = (
            {"sample_weight": weights[used]}
            if weights is not None and has_fit_parameter(self.features_, "sample_weight")
            else {}
        )
        if used.all():
            return _dense(self.features_.fit_transform(X, y, **options))
        fitted = _dense(self.features_.fit_transform(_safe_indexing(X, np.flatnonzero(used)), y[used], **options))
        Phi = np.empty((len(used), fitted.shape[1]))
        Phi[used], Phi[~used] = fitted, _dense(self.features_.transform(_safe_indexing(X, np.flatnonzero(~used))))
        return Phi

    def _alphas(self, Phi: Vector, y: Vector, weights: Vector | None) -> Vector:
        """Return one regularization for each target; set `alpha_`, and what comes with a choice."""
        count = y.shape[1]
        for name in ("path_", "best_score_"):
            self.__dict__.pop(name, None)
        if self._automatic():
            return self._chosen(Phi, y, weights)
        if not isinstance(self.alpha, Real | list | tuple | np.ndarray) or isinstance(self.alpha, bool):
            raise TypeError(f'alpha: expected a number, one for each target, or "auto", got {self.alpha!r}')
        alphas = np.asarray(self.alpha, dtype=np.float64)
        if not (np.isfinite(alphas).all() and (alphas >= 0).all()):
            raise ValueError(f"alpha: expected finite numbers that are not negative, got {self.alpha!r}")
        if alphas.shape not in ((), (1,), (count,)):
            raise ValueError(f"alpha: expected one number or {count}, one for each target, got shape {alphas.shape}")
        self.alpha_ = float(alphas.flat[0]) if alphas.size == 1 else alphas
        return np.broadcast_to(alphas, (count,))

    def _chosen(self, Phi: Vector, y: Vector, weights: Vector | None) -> Vector:
        n, count = y.shape
        if n < 2:
            raise ValueError(f'alpha: "auto" needs at least two points of positive weight, got n_samples = {n}')
        path = RegularizationPath.from_features(
            Phi,
            y,
            alphas=self.alphas,
            noise_std=self.sigma,
            trend=np.ones((n, 1)) if self.fit_intercept else None,
            sample_weight=weights,
        )
        paths = path.of_each_target() if self.alpha_per_target else [path]
        rule = ridge_rule(self.criterion)
        alphas = np.array([one.best(rule) for one in paths])
        scores = np.array([getattr(one.at(a), CURVES[rule][0])[0] for one, a in zip(paths, alphas, strict=True)])
        self.path_ = paths if self.alpha_per_target else path
        self.alpha_ = alphas if self.alpha_per_target else float(alphas[0])
        self.best_score_ = scores if self.alpha_per_target else float(scores[0])
        return np.broadcast_to(alphas, (count,))


def _centred(values: Vector, weights: Vector | None) -> tuple[Vector, Vector]:
    """Return columns without their weighted means, and the means; without weights, the columns as they are, and zeros."""
    mean = np.zeros(values.shape[1])
    if weights is None:
        return values, mean
    for _ in range(2):  # once more for the rounding of large means, which would look like a direction of its own
        change = np.average(values, axis=0, weights=weights)
        values, mean = values - change, mean + change
    return values, mean


@dataclass(frozen=True)
class _Fit:
    """A solution for some targets: coefficients (p, m), leave-one-out residuals (n, m), leverages (n,), dual coefficients."""

    coef: Vector
    left_out: Vector
    leverage: Vector
    dual: Vector | None = None


def _solve(A: Vector, b: Vector, alphas: Vector, free: Vector, solver: str) -> tuple[str, list[_Fit]]:
    """Minimize |A x - b|^2 + alpha |x|^2, with alpha for each column of b; return the solver, and one fit for each column.

    Columns of `free` are orthonormal, orthogonal to A and b, and fitted exactly: those of the intercept.
    """
    if solver == "auto":
        smaller = "primal" if A.shape[1] <= A.shape[0] else "dual"
        solver = "svd" if alphas.min() <= LEAST_ALPHA * np.vdot(A, A) else smaller
    if not alphas.all():
        solver = "svd"
    try:
        return solver, _each(A, b, alphas, free, solver)
    except NotPositiveDefiniteError:  # to rounding: alpha is too small for this
        return "svd", _each(A, b, alphas, free, "svd")


def _each(A: Vector, b: Vector, alphas: Vector, free: Vector, solver: str) -> list[_Fit]:
    """Solve once for each alpha that there is."""
    by = {"primal": _by_primal, "dual": _by_dual, "svd": _by_svd}[solver]
    if np.ptp(alphas) == 0:
        return [by(A, b, float(alphas[0]), free)]
    fits = {}
    for alpha in np.unique(alphas):
        mine = np.flatnonzero(alphas == alpha)
        fit = by(A, b[:, mine], float(alpha), free)
        for i, k in enumerate(mine.tolist()):
            dual = None if fit.dual is None else fit.dual[:, [i]]
            fits[k] = _Fit(fit.coef[:, [i]], fit.left_out[:, [i]], fit.leverage, dual)
    return [fits[k] for k in range(len(alphas))]


def _by_primal(A: Vector, b: Vector, alpha: float, free: Vector) -> _Fit:
    M = A.T @ A
    M.flat[:: len(M) + 1] += alpha
    factor = cholesky(M)
    coef = factor.solve(A.T @ b)
    leverage = factor.inverse_quadratic(A.T) + np.sum(free**2, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = (b - A @ coef) / (1 - leverage)[:, None]
    return _Fit(coef, left_out, leverage)


def _by_dual(A: Vector, b: Vector, alpha: float, free: Vector) -> _Fit:
    """Solve (A A' + alpha I) c = b; the leave-one-out residuals are c_i / (M^-1)_ii, exact for the smallest alpha, too.

    M is the same without the directions that are free. To leave them out, they are made as large as an average eigenvalue, so
    that the matrix is no worse for them, and taken out of the inverse.
    """
    K = A @ A.T
    size = float(np.trace(K)) / len(K) + alpha
    K.flat[:: len(K) + 1] += alpha
    factor = cholesky(K + (size - alpha) * free @ free.T)
    c = factor.solve(b)
    diagonal = factor.inverse_diagonal() - np.sum(free**2, axis=1) / size
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = c / diagonal[:, None]
    return _Fit(A.T @ c, left_out, 1 - alpha * diagonal, c)


def _by_svd(A: Vector, b: Vector, alpha: float, free: Vector) -> _Fit:
    found = solved(A, b, alpha, free)
    return _Fit(found.coef, found.residuals, found.leverage)


def _refuse_sparse(name: str, matrix: Any) -> None:
    if issparse(matrix):
        raise TypeError(f"{name}: sparse matrices are not supported, got one of shape {matrix.shape}; use its toarray()")


def _dense(Phi: Any) -> Vector:
    """Return what a transformer made as a matrix of finite numbers."""
    if issparse(Phi):
        raise TypeError(
            f"features: expected a transformer with dense output, got a sparse matrix of shape {Phi.shape}; "
            "many have a parameter sparse_output=False"
        )
    return np.asarray(check_array(Phi, dtype=np.float64, input_name="features"))

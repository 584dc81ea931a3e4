"""Ridge regression on features: a linear model whose regularization is chosen along its regularization path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from scipy.sparse import sparray, spmatrix
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._base.errors import NotPositiveDefiniteError
from kernsel._base.renamed import RenamedAttribute
from kernsel._data.allowed import FLAG, is_auto, number, one_of, require
from kernsel._data.noise import point_weights, regularizations
from kernsel._data.together import checked_groups, copies_in, first_of_equal, numbered, weights_of_first
from kernsel._solve.path import RegularizationPath
from kernsel.criteria import Likelihood
from kernsel.criteria.names import along_path, require_name, require_sigma, with_free_scale
from kernsel.criteria.table import TABLE
from kernsel.estimators.fitted import FittedModel, LeftOut, ModelPath, TakesGroups, column, targets_for, weighted
from kernsel.estimators.weights_posterior import WeightsPosterior
from kernsel.kernels.objects import Points
from kernsel.linalg.cholesky import cholesky
from kernsel.linalg.least_squares import solved

__all__ = ["RidgeRegression"]

# For alpha below this multiple of |Phi|^2, Cholesky factors of Phi'Phi and Phi Phi' lose more than half of the digits.
LEAST_ALPHA = 1e-8


_ALLOWED = {
    "alpha_scale": one_of("none", "n"),
    "solver": one_of("auto", "primal", "dual", "svd"),
    "alpha_per_target": FLAG,
    "fit_intercept": FLAG,
    "sigma": number("positive") | None,
}


class RidgeRegression(TakesGroups, FittedModel, MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Linear ridge regression on features of the points, phi(x), its regularization chosen by a closed-form criterion.

    Finds the coefficients theta and the intercept b that minimize ::

        sum_i w_i (y_i - b - phi(x_i)'theta)^2 + alpha |theta|^2

    Leave-one-out residuals, leverages and degrees of freedom are computed without refitting. n points and p features cost
    O(n p min(n, p)) operations. With an intercept, features are centred first, so that adding a constant to a feature does not
    change the predictions. All computations are in double precision.

    Parameters
    ----------
    features : transformer, optional
        Computes the features, such as a transformer of :mod:`kernsel.features`. `fit` fits a clone of it, with weights if its
        `fit` has `sample_weight`. It receives X unchanged, also if X is a table. With None, the features are the columns of X.
    alpha : float, array-like of shape (n_targets,) or "auto"
        The regularization, not negative; one for all targets, or one for each. 0 is least squares, with the smallest |theta| if
        there are many solutions. "auto" chooses it by `criterion`.
    criterion : str
        A rule of :meth:`kernsel.RegularizationPath.best`: the minimum of "loo" (mean squared leave-one-out residual), "gcv" or
        "risk"; the maximum of "lml", "reml", "profiled_lml" or "profiled_reml"; "discrepancy", "lcurve" or
        "quasi-optimality". Only used if alpha is "auto". For k-fold cross-validation, give `fit` the label of each point's fold
        as its group: "loo" then leaves out one fold at a time. Likelihoods are evaluated for the best common scale of the
        features' covariance and the noise.
    alphas : array-like of shape (l,), optional
        The grid on which the search starts; it continues between and beyond these. By default 200 values, over 14 decades.
    alpha_per_target : bool
        With "auto", choose one alpha for each target instead of one for all. The decomposition is shared.
    fit_intercept : bool
        Whether there is an intercept, which is not penalized.
    alpha_scale : {"none", "n"}
        The convention of `alpha`, `alphas` and `alpha_`. "n" multiplies them by the number of points (the sum of the weights),
        which gives the objective with the mean of the squared errors, see :class:`KernelRidge`: texts that minimize
        1/n sum_i (...)^2 + lambda |theta|^2 have alpha = lambda with "n", also with a factor 1/2 before both terms; those with
        1/(2n) sum_i (...)^2 + lambda |theta|^2 have alpha = 2 lambda. scikit-learn's Ridge has "none".
    solver : {"auto", "primal", "dual", "svd"}
        "primal" factorizes Phi'W Phi + alpha I, (p, p); "dual" factorizes Phi Phi' + alpha W^-1, (n, n); "svd", the
        name of scikit-learn, works on W^1/2 Phi itself by orthogonal transformations (those of Householder, with pivoting, from
        both sides), slower, and accurate for any alpha. "auto" factorizes the smaller of the two matrices, and
        is "svd" if alpha is below 1e-8 of the sum of squares of W^1/2 Phi. All give the same result, up to rounding. With any
        choice, "svd" is used if alpha is 0 or a matrix cannot be factorized.
    sigma : float, optional
        The standard deviation of the noise (of a point of weight one), which the criteria "risk" and "discrepancy" need, and
        which `noise_` is the square of; without it, that is estimated.

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (n_targets, p)
        The coefficients theta.
    intercept_ : float or ndarray of shape (n_targets,)
        0.0 without an intercept.
    alpha_ : float or ndarray of shape (n_targets,)
        The regularization in use; an array if each target has its own, given or chosen.
    leverage_ : ndarray of shape (n,) or (n, n_targets)
        The derivative of each fitted value with respect to its own target, 0 for points of weight zero; with n_targets columns
        if `alpha_` is an array.
    loo_residuals_ : ndarray of shape (n,) or (n, n_targets)
        y_i minus its prediction by the model that is fitted to all other points, with the same alpha and the same features
        (which are not refitted). Points of equal features, or of one group, are left out together. nan for a single point.
    left_out_together_ : ndarray of int of shape (n,)
        The number of the group with which each point is left out for `loo_residuals_`; all different if each is left out alone.
    effective_dof_ : float or ndarray of shape (n_targets,)
        The sum of the leverages.
    noise_ : float or ndarray of shape (n_targets,)
        The variance s^2 of the noise of a point of weight one. With the residuals e of n points of positive weight: `sigma`
        squared, if it was given; if a likelihood has chosen alpha, the s^2 for which the data are the most probable,
        (sum_i w_i e_i^2 + alpha |theta|^2) / n, with n - 1 for restricted likelihoods and an intercept; otherwise
        sum_i w_i e_i^2 / (n - `effective_dof_`), as for least squares. nan where no degrees of freedom are left.
    coef_cov_ : ndarray of shape (p, p) or (n_targets, p, p)
        The covariance of the coefficients, s^2 (Phi'W Phi + alpha I)^-1 with the features less their weighted mean: the
        posterior of Bayesian linear regression with the noise s^2 and the prior theta ~ N(0, s^2 / alpha I), whose mean is
        `coef_`. Computed on first access from the features of the training points, which the model keeps (n p numbers).
    solver_ : {"primal", "dual", "svd"}
        The solver that was used.
    dual_coef_ : ndarray of shape (n,) or (n, n_targets)
        With the solver "dual" only: theta = Phi' dual_coef_, with centred features if there is an intercept.
    features_ : transformer
        The fitted transformer, if there is one.
    path_ : RegularizationPath, or list of n_targets of them with `alpha_per_target`
        If alpha is "auto": all criteria for all alphas.
    criterion_value_ : float or ndarray of shape (n_targets,)
        If alpha is "auto": the criterion at `alpha_`; for "discrepancy" the norm of the residual, for "lcurve" the curvature.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If X has column names.

    Notes
    -----
    For a given alpha, a point with an integer weight is equivalent to as many copies of it, if features that depend on the
    points take weights, too. So do "loo", which leaves copies out together, and "gcv", for which they count as one point; for
    likelihoods, copies tell what the noise is, and a weight does not.

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

    With the standard deviation of new observations, nearly all of which is noise:

    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> bool(0.09 < std[0] < 0.11), round(model.noise_**0.5, 2)
    (True, 0.1)
    """

    best_score_ = RenamedAttribute("criterion_value_")

    def __init__(
        self,
        features: BaseEstimator | None = None,
        *,
        alpha: float | ArrayLike | Literal["auto"] = "auto",
        criterion: str = "loo",
        alphas: ArrayLike | None = None,
        alpha_per_target: bool = False,
        fit_intercept: bool = True,
        alpha_scale: Literal["none", "n"] = "none",
        solver: Literal["auto", "primal", "dual", "svd"] = "auto",
        sigma: float | None = None,
    ) -> None:
        self.features = features
        self.alpha = alpha
        self.criterion = criterion
        self.alphas = alphas
        self.alpha_per_target = alpha_per_target
        self.fit_intercept = fit_intercept
        self.alpha_scale = alpha_scale
        self.solver = solver
        self.sigma = sigma

    def fit(
        self,
        X: Points,
        y: ArrayLike,
        sample_weight: ArrayLike | float | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the features, choose alpha if it is "auto", and compute the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, n_targets)
        sample_weight : float or array-like of shape (n,), optional
            Not negative. A point of weight zero is left out.
        groups : array-like of shape (n,), optional
            A label for each point: "loo" and `loo_residuals_` leave the points of a group out together. By default points of
            equal features are left out together; for "gcv" copies count as one point.

        Returns
        -------
        self : RidgeRegression
        """
        self._check_parameters()
        X, y = self._checked(X, y)
        weights = point_weights(sample_weight, y)
        positive = np.ones(len(y), dtype=bool) if weights is None else weights > 0
        Phi = self._fitted_features(X, y, weights, positive)
        targets = y.reshape(len(y), -1)
        w = np.ones(len(y)) if weights is None else weights[positive]
        told = checked_groups(groups, len(y))
        together = first_of_equal(Phi[positive]) if told is None else told[positive]
        if together is not None and not np.ptp(together):
            together = None  # all points are equal, and nothing would be left
        if told is not None and self.criterion == "gcv" and self._automatic():
            raise ValueError('groups: "gcv" cannot leave them out; "loo" can')
        centred, mean = _centred(Phi[positive], w if self.fit_intercept else None)
        centred_targets, mean_target = _centred(targets[positive], w if self.fit_intercept else None)
        alphas = self._alphas(centred, centred_targets, None if weights is None else w, together)
        alphas = alphas * (w.sum() if self.alpha_scale == "n" else 1.0)

        root = np.sqrt(w)[:, None]
        trend = root / np.linalg.norm(root) if self.fit_intercept else np.zeros((len(root), 0))
        self.solver_, fits = _solve(centred * root, centred_targets * root, alphas, trend, self.solver)
        theta = np.column_stack([fit.coef for fit in fits])
        intercept = mean_target - mean @ theta
        left_out = targets - Phi @ theta - intercept  # final for points of weight zero, which are not in the fit
        residuals = np.column_stack([fit.left_out for fit in fits])
        if together is not None:
            rest = (centred_targets - centred @ theta) * root
            residuals = _left_out_in_groups(centred * root, rest, alphas, trend, together)
        left_out[positive] = residuals / root
        self.left_out_together_ = numbered(np.arange(len(y)) if told is None else told)[0]
        if told is None and together is not None:
            self.left_out_together_[positive] = np.flatnonzero(positive)[together]
        leverage = np.zeros(targets.shape)
        leverage[positive] = np.column_stack([np.repeat(fit.leverage[:, None], fit.coef.shape[1], axis=1) for fit in fits])
        self.__dict__.pop("dual_coef_", None)
        if self.solver_ == "dual":
            dual = np.zeros(targets.shape)
            dual[positive] = np.column_stack([fit.dual for fit in fits if fit.dual is not None]) * root
            self.dual_coef_ = dual.reshape(y.shape)

        self.coef_ = theta.T if y.ndim == 2 else theta[:, 0]
        self.intercept_ = (intercept if y.ndim == 2 else float(intercept[0])) if self.fit_intercept else 0.0
        self.loo_residuals_ = left_out.reshape(y.shape)
        self.leverage_ = leverage if np.ndim(self.alpha_) else leverage[:, 0]
        dof = leverage.sum(axis=0)
        rest = (centred_targets - centred @ theta) * root
        noise = self._noises(np.sum(rest**2, axis=0), alphas * np.sum(theta**2, axis=0), len(rest), dof)
        self.noise_ = noise if y.ndim == 2 else float(noise[0])
        total = float(w.sum()) if self.fit_intercept else None
        self._posterior = WeightsPosterior(centred * root, mean, total, np.asarray(alphas), noise, len(rest))
        self.effective_dof_ = dof if np.ndim(self.alpha_) else float(dof[0])
        return self

    def predict(self, X: Points, return_std: bool = False, *, noisy: bool = True) -> Vector | tuple[Vector, Vector]:
        """Return b + phi(x)'theta and, on request, its standard deviation, see :attr:`coef_cov_`.

        Parameters
        ----------
        X : array-like of shape (m, d)
        return_std : bool
            Also return the standard deviation, in O(p min(n, p)) for each point. With a given alpha and fixed features, it is
            that of the Gaussian process with the kernel s^2 / alpha phi(x)'phi(z), the noise s^2 / w and a constant.
        noisy : bool
            Whether it is that of a new observation of weight one, or that of the function. Infinite where alpha is 0 and the
            training points do not determine the function.

        Returns
        -------
        y : ndarray of shape (m,) or (m, n_targets)
        std : ndarray of the same shape
        """
        check_is_fitted(self)
        _refuse_sparse("X", X)
        if self.features is None:
            Phi = np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
        else:
            Phi = _dense(self.features_.transform(X))  # before validate_data, because the transformer's errors about X say more
            validate_data(self, X, reset=False, skip_check_array=True)
        values = np.asarray(Phi @ self.coef_.T + self.intercept_)
        if not return_std:
            return values
        posterior = self._posterior_of("return_std")
        variance = posterior.variance(Phi) + (posterior.noise if noisy else 0.0)
        return values, np.sqrt(variance).reshape(values.shape)

    @property
    def coef_cov_(self) -> Matrix:
        """The covariance of the coefficients, see the class."""
        check_is_fitted(self)
        found = self._posterior_of("coef_cov_").covariance()
        return found if self.coef_.ndim == 2 else found[0]

    def _posterior_of(self, name: str) -> WeightsPosterior:
        """Return the posterior of the coefficients; raise if it is not known."""
        if "_posterior" not in self.__dict__:
            raise AttributeError(f"{name}: not in the files of earlier versions; fit the model again")
        if np.isnan(self._posterior.noise).any():
            raise ValueError(
                f"{name}: the fit takes all degrees of freedom of {self._posterior.rows} points, so that nothing tells "
                "what the noise is; give its standard deviation, sigma"
            )
        return self._posterior

    def _noises(self, squares: Vector, penalties: Vector, n: int, dof: Vector) -> Vector:
        """Return the variance of the noise of each target, see the attribute `noise_`."""
        if self.sigma is not None:
            return np.full(len(squares), float(self.sigma) ** 2)
        if self._automatic() and isinstance(kind := TABLE[self.criterion].kind, type) and issubclass(kind, Likelihood):
            taken = int(self.fit_intercept and "reml" in self.criterion)
            return (squares + penalties) / max(n - taken, 1)
        left = n - dof
        return np.where(left > n * 1e-8, squares / np.maximum(left, n * 1e-8), np.nan)

    def left_out(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> LeftOut:
        """Return the left-out residuals r that `fit` has kept with their variances, of one target; y is needed.

        The variances are s^2 / (1 - h_i), where h are the leverages and s^2 = sum_j y_j e_j / (n - q) with the residuals
        e = (1 - h) r. See :class:`kernsel.estimators.fitted.HasLeftOut`.
        """
        del X
        residuals = column(self.loo_residuals_, output, name="y")
        targets = column(targets_for(self, y, len(residuals)), output)
        leverage = column(self.leverage_, output)
        groups = self.left_out_together_
        if len(np.unique(groups)) < len(groups):  # their covariances are not kept
            return LeftOut(targets, targets - residuals, None, leverage, groups=groups)
        fit_residuals = residuals * (1 - leverage)
        # With an intercept and without weights, these residuals add up to zero.
        if self.fit_intercept and abs(fit_residuals.sum()) > 1e-6 * np.abs(fit_residuals).sum():
            raise weighted(self)
        scale = float(targets @ fit_residuals) / max(len(targets) - int(self.fit_intercept), 1)
        std = None if (leverage >= 1).any() else np.sqrt(max(scale, 0.0) / (1 - leverage))
        return LeftOut(targets, targets - residuals, std, leverage)

    def regularization_path(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> ModelPath:
        """Return `path_`; if alpha was given, compute the path of the features of X.

        See :class:`kernsel.estimators.fitted.HasPath`.
        """
        path = getattr(self, "path_", None)
        if path is None:
            if X is None or y is None:
                raise ValueError(
                    "X, y: a RidgeRegression of a given alpha keeps neither a path nor its training data; give both"
                )
            Phi = np.asarray(X if self.features is None else self.features_.transform(X), dtype=np.float64)
            targets = column(y, None, len(Phi)) if np.ndim(y) == 1 else np.asarray(y, dtype=np.float64)
            trend = np.ones((len(Phi), 1)) if self.fit_intercept else None
            path = RegularizationPath.from_features(Phi, targets, sigma=self.sigma, trend=trend, alpha_scale=self.alpha_scale)
        return ModelPath.of_machine(path, self.alpha_, output)

    def _check_parameters(self) -> None:
        if self.criterion == "kfold":
            raise ValueError(
                'criterion: expected "loo" for folds as well, with the label of each point\'s fold in fit(..., groups=)'
            )
        require_name(self.criterion, along_path())
        require(self, _ALLOWED)
        if self._automatic():
            require_sigma(self.criterion, self.sigma)
        if self.features is not None and not (hasattr(self.features, "fit") and hasattr(self.features, "transform")):
            raise TypeError(f"features: expected a transformer or None, got {self.features!r}")

    def _automatic(self) -> bool:
        return is_auto(self.alpha)

    def _checked(self, X: Points, y: ArrayLike) -> tuple[Points, Vector]:
        """Return the points, checked if they are the features, and the targets."""
        _refuse_sparse("X", X)
        if self.features is None:
            X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        else:
            validate_data(self, X, y, skip_check_array=True)
            y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
            check_consistent_length(X, y)
        return X, np.asarray(y, dtype=np.float64)

    def _fitted_features(self, X: Points, y: Vector, weights: Vector | None, positive: NDArray[np.bool_]) -> Matrix:
        """Return the features of all points, by a transformer that is fitted to the points of positive weight."""
        if self.features is None:
            return np.asarray(X)
        self.features_ = clone(self.features)
        options = (
            {"sample_weight": weights[positive]}
            if weights is not None and has_fit_parameter(self.features_, "sample_weight")
            else {}
        )
        if positive.all():
            return _dense(self.features_.fit_transform(X, y, **options))
        fitted = _dense(self.features_.fit_transform(_safe_indexing(X, np.flatnonzero(positive)), y[positive], **options))
        Phi = np.empty((len(positive), fitted.shape[1]))
        Phi[positive] = fitted
        Phi[~positive] = _dense(self.features_.transform(_safe_indexing(X, np.flatnonzero(~positive))))
        return Phi

    def _alphas(self, Phi: Matrix, y: Matrix, weights: Vector | None, together: Indices | None) -> Vector:
        """Return one alpha for each target; set `alpha_` and, if alpha is chosen, `path_` and `criterion_value_`."""
        count = y.shape[1]
        for name in ("path_", "criterion_value_"):
            self.__dict__.pop(name, None)
        if self._automatic():
            return self._chosen(Phi, y, weights, together)
        alphas = regularizations(self.alpha, count)
        self.alpha_ = float(alphas[0]) if np.size(self.alpha) == 1 else alphas
        return alphas

    def _chosen(self, Phi: Matrix, y: Matrix, weights: Vector | None, together: Indices | None) -> Vector:
        """Return the alphas that the criterion chooses, one for each target."""
        n, count = y.shape
        if n < 2:
            raise ValueError(f'alpha: "auto" needs at least two points of positive weight, got n_samples = {n}')
        path = self._path(Phi, y, weights, self.alphas, together)
        rule = with_free_scale(self.criterion)
        chosen_by = path
        copies = copies_in(Phi, y) if rule == "gcv" else None
        if copies is not None:  # they count as one point
            total = weights_of_first(copies, weights)
            chosen_by = self._path(Phi[total > 0], y[total > 0], total[total > 0], path.alphas)
        paths, choosing = ([one] if not self.alpha_per_target else one.of_each_target() for one in (path, chosen_by))
        alphas = np.array([one.best(rule) for one in choosing])
        scores = np.array([getattr(one.at(a), TABLE[rule].curve)[0] for one, a in zip(choosing, alphas, strict=True)])
        self.path_ = paths if self.alpha_per_target else path
        self.alpha_ = alphas if self.alpha_per_target else float(alphas[0])
        self.criterion_value_ = scores if self.alpha_per_target else float(scores[0])
        return np.broadcast_to(alphas, (count,))

    def _path(
        self, Phi: Matrix, y: Matrix, weights: Vector | None, alphas: ArrayLike | None, groups: Indices | None = None
    ) -> RegularizationPath:
        return RegularizationPath.from_features(
            Phi,
            y,
            alphas=alphas,
            sigma=self.sigma,
            trend=np.ones((len(y), 1)) if self.fit_intercept else None,
            sample_weight=weights,
            alpha_scale=self.alpha_scale,
            groups=groups,
        )


def _centred(values: Matrix, weights: Vector | None) -> tuple[Matrix, Vector]:
    """Return columns less their weighted means, and the means; if weights are None, the columns unchanged, and zeros."""
    mean = np.zeros(values.shape[1])
    if weights is None:
        return values, mean
    for _ in range(2):  # the second time removes the rounding error of large means, which would act like another feature
        change = np.average(values, axis=0, weights=weights)
        values, mean = values - change, mean + change
    return values, mean


@dataclass(frozen=True)
class _Fit:
    """A solution for some targets: coefficients (p, m), leave-one-out residuals (n, m), leverages (n,), dual coefficients."""

    coef: Matrix
    left_out: Matrix
    leverage: Vector
    dual: Matrix | None = None


def _solve(A: Matrix, b: Matrix, alphas: Vector, trend: Matrix, solver: str) -> tuple[str, list[_Fit]]:
    """Minimize |A x - b|^2 + alpha |x|^2, with an alpha for each column of b; return the solver, and the fits.

    The columns of `trend`, one for the intercept or none, are orthonormal, orthogonal to A and b, and not penalized.
    """
    if solver == "auto":
        smaller = "primal" if A.shape[1] <= A.shape[0] else "dual"
        solver = "svd" if alphas.min() <= LEAST_ALPHA * np.vdot(A, A) else smaller
    if not alphas.all():
        solver = "svd"
    try:
        return solver, _fits(A, b, alphas, trend, solver)
    except NotPositiveDefiniteError:  # because of rounding, if alpha is small
        return "svd", _fits(A, b, alphas, trend, "svd")


def _fits(A: Matrix, b: Matrix, alphas: Vector, trend: Matrix, solver: str) -> list[_Fit]:
    """Solve once for each distinct alpha; return one fit for all columns of b if they share alpha, or one for each."""
    solve = {"primal": _by_primal, "dual": _by_dual, "svd": _by_svd}[solver]
    if np.ptp(alphas) == 0:
        return [solve(A, b, float(alphas[0]), trend)]
    fits = {}
    for alpha in np.unique(alphas):
        columns = np.flatnonzero(alphas == alpha)
        fit = solve(A, b[:, columns], float(alpha), trend)
        for i, k in enumerate(columns.tolist()):
            dual = None if fit.dual is None else fit.dual[:, [i]]
            fits[k] = _Fit(fit.coef[:, [i]], fit.left_out[:, [i]], fit.leverage, dual)
    return [fits[k] for k in range(len(alphas))]


def _left_out_in_groups(A: Matrix, rest: Matrix, alphas: Vector, trend: Matrix, groups: Indices) -> Matrix:
    """Return the residuals (I - H_II)^-1 e_I of each group I that is left out, with the residuals e = `rest` of the fit.

    H = A (A'A + alpha I)^-1 A' plus the projection to the trend, by a singular value decomposition of A.
    """
    U, s, _ = linalg.svd(A, full_matrices=False)
    kept = s > len(A) * np.finfo(np.float64).eps * max(float(s[0]) if len(s) else 0.0, 0.0)
    U, s = U[:, kept], s[kept]
    left_out = np.empty_like(rest)
    for alpha in np.unique(alphas):
        columns = np.flatnonzero(alphas == alpha)
        root = np.column_stack([U * (s / np.hypot(s, np.sqrt(alpha))), trend])  # H = root root'
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            own = np.eye(len(rows)) - root[rows] @ root[rows].T
            if np.linalg.eigvalsh(own)[0] <= 1e-10:
                left_out[np.ix_(rows, columns)] = np.nan  # nothing that is left determines their prediction
            else:
                left_out[np.ix_(rows, columns)] = np.linalg.solve(own, rest[np.ix_(rows, columns)])
    return left_out


def _by_primal(A: Matrix, b: Matrix, alpha: float, trend: Matrix) -> _Fit:
    """Solve (A'A + alpha I) x = A'b."""
    M = A.T @ A
    M.flat[:: len(M) + 1] += alpha
    factor = cholesky(M)
    coef = factor.solve(A.T @ b)
    leverage = factor.inverse_quadratic(A.T) + np.sum(trend**2, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = (b - A @ coef) / (1 - leverage)[:, None]
    return _Fit(coef, left_out, leverage)


def _by_dual(A: Matrix, b: Matrix, alpha: float, trend: Matrix) -> _Fit:
    """Solve (A A' + alpha I) c = b; the leave-one-out residuals are c_i / (M^-1)_ii, accurate for small alpha, too.

    M^-1 is the inverse of A A' + alpha I restricted to vectors orthogonal to the trend H. It is computed as
    (A A' + alpha I + (s - alpha) H H')^-1 - H H' / s, where s is an average eigenvalue, which keeps the matrix well
    conditioned.
    """
    K = A @ A.T
    size = float(np.trace(K)) / len(K) + alpha
    K.flat[:: len(K) + 1] += alpha
    factor = cholesky(K + (size - alpha) * trend @ trend.T)
    c = factor.solve(b)
    diagonal = factor.inverse_diagonal() - np.sum(trend**2, axis=1) / size
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = c / diagonal[:, None]
    return _Fit(A.T @ c, left_out, 1 - alpha * diagonal, c)


def _by_svd(A: Matrix, b: Matrix, alpha: float, trend: Matrix) -> _Fit:
    """Solve by orthogonal transformations of A, which do not square its condition as A'A does."""
    solution = solved(A, b, alpha, trend)
    return _Fit(solution.coef, solution.residuals, solution.leverage)


def _refuse_sparse(name: str, matrix: Points) -> None:
    if isinstance(matrix, spmatrix | sparray):
        raise TypeError(f"{name}: sparse matrices are not supported, got one of shape {matrix.shape}; use its toarray()")


def _dense(Phi: ArrayLike | spmatrix) -> Matrix:
    """Return the output of a transformer as a matrix of finite numbers; raise if it is sparse."""
    if isinstance(Phi, spmatrix | sparray):
        raise TypeError(
            f"features: expected a transformer with dense output, got a sparse matrix of shape {Phi.shape}; "
            "many have a parameter sparse_output=False"
        )
    return np.asarray(check_array(Phi, dtype=np.float64, input_name="features"))

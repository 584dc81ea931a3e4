"""Kernel ridge regression: with a given regularization, with one that is chosen, and for all at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernsel import _core
from kernsel.criteria import (
    CRITERIA,
    Criterion,
    Given,
    GroupsOut,
    Loss,
    UnbiasedRisk,
    criterion_named,
    groups,
)
from kernsel.errors import NotPositiveDefiniteError
from kernsel.factor import Cholesky
from kernsel.kernels import ConstantKernel, Kernel, Product
from kernsel.kernels.automatic import Data
from kernsel.kernels.given import Precomputed
from kernsel.kernels.pairwise import INDEFINITE, machine_kernel
from kernsel.path import CURVES, RULES, RegularizationPath, ridge_rule
from kernsel.selection import Budget, Selection, choose
from kernsel.selection.progress import CallbackSupport, watched, with_callbacks
from kernsel.selection.task import blind
from kernsel.selection.unknowns import Layout
from kernsel.weights import point_weights

__all__ = ["KernelRidge", "KernelRidgeCV"]

Vector = NDArray[np.float64]

# Rules of the path that are no criteria for a search: they choose lambda, for a kernel that is known.
_OF_LAMBDA_ONLY = tuple(rule for rule in RULES if rule not in CRITERIA)


@dataclass(frozen=True)
class _Given:
    """Data that have been checked."""

    X: NDArray[Any]
    y: NDArray[Any]  # as it came
    targets: NDArray[Any]  # (n, m)
    weights: Vector | None
    used: Any  # the points of positive weight
    kernel: Kernel | Literal["precomputed"]

    @property
    def total_weight(self) -> float:
        return len(self.y) if self.weights is None else float(self.weights.sum())

    @property
    def weights_used(self) -> Vector | None:
        return None if self.weights is None else self.weights[self.used]

    @property
    def least(self) -> float:
        """The least regularization that single precision can tell from none; zero for double, where a search sees to it."""
        if self.X.dtype != np.float32:
            return 0.0
        diagonal = np.diag(self.X) if isinstance(self.kernel, str) else self.kernel.diag(self.X[:1000].astype(np.float64))
        return float(len(self.X) * np.finfo(np.float32).eps * np.mean(np.abs(diagonal)))

    def in_double(self) -> _Given:
        """Return the same in the precision of searches and paths."""
        X, y, targets = (np.asarray(a, dtype=np.float64) for a in (self.X, self.y, self.targets))
        return _Given(X, y, targets, self.weights, self.used, self.kernel)

    def matrix(self) -> NDArray[Any]:
        """Return the kernel matrix of the points that count; a given one is only as precise as it came."""
        if isinstance(self.kernel, str):
            K = self.X[self.used] if isinstance(self.used, slice) else self.X[np.ix_(self.used, self.used)]
            return np.asarray((K + K.T) / 2)
        return np.asarray(self.kernel(np.asarray(self.X[self.used], dtype=np.float64)))


class _KernelMachine(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """What both estimators have in common: kernels of all forms, points, predictions."""

    kernel: Any
    gamma: float | None
    degree: float
    coef0: float
    kernel_params: Mapping[str, Any] | None
    fit_intercept: bool
    alpha_scale: Literal["none", "n"]
    sigma: float | None
    criterion: Any

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
        X = _dense(validate_data(self, X, dtype=(np.float64, np.float32), accept_sparse=("csr", "csc"), reset=False))
        if isinstance(self.kernel_, str):
            return np.asarray(X @ self.dual_coef_ + self.intercept_)
        return np.asarray(self.kernel_.matmul(X, self.X_fit_, self.dual_coef_) + self.intercept_)

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> _Given:
        X, y = validate_data(
            self, X, y, dtype=(np.float64, np.float32), accept_sparse=("csr", "csc"), multi_output=True, y_numeric=True
        )
        X = _dense(X)
        y = np.asarray(y, dtype=X.dtype)
        for name in ("fit_intercept", "alpha_per_target"):
            if not isinstance(getattr(self, name, False), bool | np.bool_):
                raise TypeError(f"{name}: expected True or False, got {getattr(self, name)!r}")
        if self.alpha_scale not in ("none", "n"):
            raise ValueError(f'alpha_scale: expected "none" or "n", got {self.alpha_scale!r}')
        if self.sigma is not None and not (_is_number(self.sigma) and 0 < self.sigma < np.inf):
            raise ValueError(f"sigma: expected a positive number or None, got {self.sigma!r}")
        kernel = machine_kernel(self.kernel, X.shape[1], self.gamma, self.degree, self.coef0, self.kernel_params)
        if isinstance(kernel, str) and X.shape[0] != X.shape[1]:
            raise ValueError(f"X: expected a square kernel matrix, since kernel='precomputed', got shape {X.shape}")
        weights = point_weights(sample_weight, X)
        used: Any = slice(None) if weights is None or weights.all() else np.flatnonzero(weights)
        return _Given(X, y, y.reshape(len(y), -1), weights, used, kernel)

    def _resolved(self, given: _Given) -> _Given:
        """Return the same with all set in the kernel that is "auto"."""
        if isinstance(given.kernel, str):
            return given
        kernel = given.kernel._resolve(self._data(given))
        return _Given(given.X, given.y, given.targets, given.weights, given.used, kernel)

    def _data(self, given: _Given) -> Data:
        X = given.X.astype(np.float64, copy=False)
        return Data(X, given.y, given.weights, getattr(self, "feature_names_in_", None))

    def _factorized(self, given: _Given, noise: Vector) -> Cholesky:
        try:
            return _factorize(given, noise)
        except NotPositiveDefiniteError as error:
            if isinstance(self.kernel, str) and self.kernel in INDEFINITE:
                error.add_note(f'"{self.kernel}" is not a positive semidefinite kernel: with larger alpha it may pass')
            raise

    def _require_sigma(self, criterion: Any) -> None:
        if self.sigma is None and isinstance(criterion, str) and criterion in ("risk", "sure", "discrepancy"):
            raise ValueError(f'sigma: the criterion "{criterion}" needs the standard deviation of the noise, got None')

    def _path(self, given: _Given, alphas: Any) -> RegularizationPath:
        """Return the path of the points that count."""
        n = len(given.targets[given.used])
        if n < 2:
            raise ValueError(f"alpha: there is nothing to choose it by, got n_samples = {n} of positive weight")
        return RegularizationPath(
            given.matrix(),
            np.asarray(given.targets[given.used], dtype=np.float64),
            alphas=alphas,
            noise_std=self.sigma,
            trend=np.ones((n, 1)) if self.fit_intercept else None,
            sample_weight=given.weights_used,
            alpha_scale=self.alpha_scale,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = True
        return tags


class KernelRidge(CallbackSupport, _KernelMachine):  # type: ignore[misc]
    """Kernel ridge regression.

    Finds the function f = b + sum_i c_i k(., x_i) that minimizes ::

        sum_i w_i (y_i - f(x_i))^2 + alpha |f - b|^2

    by one Cholesky factorization, (K + alpha diag(1 / w)) c = y - b: n^3/3 flops, n^2/2 numbers of memory; the kernel
    matrix is never stored whole. With ``alpha="auto"``, alpha and all hyperparameters of the kernel that are not fixed are
    chosen by a criterion first.

    Parameters
    ----------
    kernel : Kernel, str, callable or None
        None and "auto" are ``RBF("auto")``, with length scales from the spread of each column. With "precomputed", X is the
        kernel matrix: (n, n) in `fit`, (n_test, n) in `predict`. scikit-learn's names ("linear", "rbf", "poly",
        "laplacian", "cosine", "sigmoid", "chi2", ...) stand for its kernels with `gamma`, `degree` and `coef0`, which
        are fixed; other text is read as by :func:`kernsel.kernels.kernel`. A function is called with two points.
        "sigmoid" and "additive_chi2" are not positive semidefinite: unless alpha is large enough, they raise
        :class:`kernsel.NotPositiveDefiniteError`.
    alpha : float, array-like of shape (n_targets,), or "auto"
        The regularization, not negative; one for all targets, or one for each. "auto" is the best one for all.
    criterion : str, Criterion, callable or None
        What alpha and the kernel are chosen by. None is "loo" with ``alpha="auto"``; with a number, nothing is chosen. Besides
        those of :mod:`kernsel.criteria`, which choose the kernel and alpha together, the rules "discrepancy", "lcurve",
        "quasi-optimality" and "sure" of :meth:`kernsel.RegularizationPath.best`, which choose alpha alone. Criteria that
        see the scale of y, such as likelihoods, are taken with the best scale of kernel and noise, since this model has none.
    gamma : float or None
        Of kernels by name; None is 1 / d, and 1 for "chi2".
    degree, coef0 : float
        Of "poly" and "sigmoid".
    kernel_params : dict, optional
        Arguments for a kernel that is a function.
    fit_intercept : bool
        Add a constant b, not penalized.
    alpha_scale : {"none", "n"}
        The convention of `alpha`. "n" multiplies it by the number of points (the sum of the weights), which is the
        objective with the *mean* of the squared errors: then the same alpha means the same for any number of points.
    sigma : float, optional
        The standard deviation of the noise (of a point of weight one), for "risk", "sure" and "discrepancy".
    random_state : int, RandomState instance or None
        Of the search, see :class:`kernsel.GaussianProcessRegressor`.
    max_evaluations : int
        Of the criterion, at most.
    verbose : int
        1 shows progress of the search.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, n_targets)
        The coefficients c. Zero for points of weight zero.
    intercept_ : float or ndarray of shape (n_targets,)
        b; 0.0 without.
    X_fit_ : ndarray of shape (n, d)
        The training points, or the kernel matrix if it is precomputed.
    kernel_ : Kernel or "precomputed"
        The kernel in use, "auto" parameters set.
    alpha_ : float or ndarray of shape (n_targets,)
        In the convention of `alpha`.
    criterion_value_ : float
        Of what was chosen.
    selection_ : kernsel.selection.Selection
        The report of the search, if there was one.
    path_ : RegularizationPath
        If alpha was chosen along it: all criteria for all alphas.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If X has column names.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 60).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(60)
    >>> model = ks.KernelRidge(ks.kernels.RBF("auto"), alpha="auto", criterion="loo").fit(X, y)
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.1)
    True
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[..., Any] | None = None,
        *,
        alpha: float | ArrayLike | Literal["auto"] = 1.0,
        criterion: str | Criterion | Loss | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        fit_intercept: bool = False,
        alpha_scale: Literal["none", "n"] = "none",
        sigma: float | None = None,
        random_state: Any = None,
        max_evaluations: int = 1000,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.criterion = criterion
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.alpha_scale = alpha_scale
        self.sigma = sigma
        self.random_state = random_state
        self.max_evaluations = max_evaluations
        self.verbose = verbose

    @with_callbacks  # type: ignore[untyped-decorator]
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
        given = self._checked(X, y, sample_weight)
        for name in ("selection_", "path_", "criterion_value_"):
            self.__dict__.pop(name, None)
        unit = given.total_weight if self.alpha_scale == "n" else 1.0
        automatic = isinstance(self.alpha, str) and self.alpha == "auto"
        if automatic or self.criterion is not None:
            given, alphas = self._chosen(given, unit, automatic)
            exact = given.in_double()
        else:
            given = self._resolved(given)
            alphas = self._alphas(given.targets.shape[1])
            exact = given
        coefficients = np.zeros_like(given.targets)
        intercepts = np.zeros(given.targets.shape[1], dtype=given.targets.dtype)
        for alpha in np.unique(alphas):
            mine = alphas == alpha
            strength = alpha * unit
            noise = np.full(1, strength) if given.weights is None else strength / given.weights[given.used]
            factor = self._factorized(exact, noise)
            right = exact.targets[given.used][:, mine]
            part = coefficients[given.used]
            solution = factor.solve(right)
            if self.fit_intercept:
                of_one = factor.solve(np.ones(len(right), dtype=right.dtype))
                intercepts[mine] = solution.sum(axis=0) / of_one.sum()
                solution = factor.solve(right - intercepts[mine])
            part[:, mine] = solution
            coefficients[given.used] = part

        self.kernel_ = given.kernel
        self.X_fit_ = given.X
        self.dual_coef_ = coefficients.reshape(given.y.shape)
        self.intercept_ = (intercepts if given.y.ndim == 2 else float(intercepts[0])) if self.fit_intercept else 0.0
        self.alpha_ = float(alphas[0]) if np.ptp(alphas) == 0 else alphas
        selection = getattr(self, "selection_", None)
        if selection is not None and selection.interrupt is not None:
            raise selection.interrupt
        return self

    def _chosen(self, given: _Given, unit: float, automatic: bool) -> tuple[_Given, Vector]:
        """Return the data with the kernel that was chosen, and one alpha for each target."""
        name = "loo" if self.criterion is None else self.criterion
        count = given.targets.shape[1]
        if not isinstance(self.max_evaluations, Integral) or isinstance(self.max_evaluations, bool) or self.max_evaluations < 1:
            raise ValueError(f"max_evaluations: expected a whole number from 1 on, got {self.max_evaluations!r}")
        if isinstance(name, str) and name not in CRITERIA + RULES:
            raise ValueError(f"criterion: expected one of {', '.join(dict.fromkeys(CRITERIA + RULES))}, got {name!r}")
        self._require_sigma(name)
        resolved = self._resolved(given)
        fixed = isinstance(resolved.kernel, str) or resolved.kernel.n_dims == 0
        if isinstance(name, str) and ((name in _OF_LAMBDA_ONLY) or (fixed and name in RULES)):
            if not automatic:
                raise ValueError(
                    f'alpha: expected "auto", since the criterion {name!r} chooses nothing else, got {self.alpha!r}'
                )
            path = self._path(resolved, None)
            alpha = max(path.best(ridge_rule(name)), resolved.least / unit)
            self.path_ = path
            self.criterion_value_ = float(getattr(path.at(alpha), CURVES[ridge_rule(name)][0])[0])
            return resolved, np.full(count, alpha)
        criterion = criterion_named(name, {"sigma": self.sigma} if name == "risk" else {})
        alphas = np.zeros(0) if automatic else self._alphas(count)
        if np.ptp(alphas) > 0 if len(alphas) else False:
            raise ValueError('alpha: expected one number or "auto", since the kernel is chosen for all targets together')
        kernel, points = given.kernel, np.asarray(given.X, dtype=np.float64)
        if isinstance(kernel, str):
            kernel, points = Precomputed((points + points.T) / 2), np.arange(len(points), dtype=np.float64)[:, None]
        if isinstance(criterion, UnbiasedRisk) and given.weights is not None and np.ndim(criterion.sigma) == 0:
            root = np.sqrt(np.where(given.weights > 0, given.weights, 1.0))
            criterion = replace(criterion, sigma=float(criterion.sigma) / root)  # sigma is that of a point of weight one
        # A criterion that sees the scale of y needs one for the kernel, too, of which only the ratio to alpha matters here.
        known = kernel if isinstance(resolved.kernel, str) else resolved.kernel
        scaled = automatic and not blind(criterion) and Layout(known).amplitudes() is None
        if scaled:
            kernel = ConstantKernel("auto") * kernel
        with watched(self, self.verbose, self.max_evaluations) as tell:
            selection = choose(
                criterion,
                kernel,
                points,
                np.asarray(given.targets, dtype=np.float64),
                noise="auto" if automatic else float(alphas[0]) * unit,
                jitter=resolved.least if automatic and resolved.least else "auto",
                trend="constant" if self.fit_intercept else None,
                sample_weight=given.weights,
                names=getattr(self, "feature_names_in_", None),
                random_state=self.random_state,
                budget=Budget(self.max_evaluations, np.inf, tell),
            )
        self.selection_: Selection = selection
        self.criterion_value_ = selection.value
        strength = (selection.noise if automatic else float(alphas[0]) * unit) + selection.jitter
        if scaled:
            assert isinstance(selection.kernel, Product)
            assert isinstance(selection.kernel.k1, ConstantKernel)
            strength /= selection.kernel.k1._number("constant_value")
            selection = replace(selection, kernel=selection.kernel.k2)
        chosen: Any = "precomputed" if isinstance(given.kernel, str) else selection.kernel
        return (
            _Given(given.X, given.y, given.targets, given.weights, given.used, chosen),
            np.full(count, strength / unit),
        )

    def _alphas(self, targets: int) -> Vector:
        """Return one regularization for each target, in the convention of `alpha`."""
        try:
            alphas = np.asarray(self.alpha)
            alphas = np.asarray(alphas.astype(np.float64, casting="same_kind" if alphas.dtype != object else "unsafe"))
        except (TypeError, ValueError):
            alphas = np.zeros(0, dtype=bool)
        if alphas.dtype == bool or self.alpha is None or isinstance(self.alpha, bool | str):
            raise TypeError(f'alpha: expected a number, one for each target, or "auto", got {self.alpha!r}')
        if not (np.isfinite(alphas).all() and (alphas >= 0).all()):
            raise ValueError(f"alpha: expected finite numbers that are not negative, got {self.alpha!r}")
        if alphas.shape not in ((), (1,), (targets,)):
            raise ValueError(f"alpha: expected one number or {targets}, one for each target, got shape {alphas.shape}")
        return np.broadcast_to(alphas, (targets,))


class KernelRidgeCV(_KernelMachine):
    """Kernel ridge regression with the best of many alphas, by a closed-form criterion, from one eigendecomposition.

    What :class:`KernelRidge` minimizes, for all `alphas` at once: 9 n^3 operations or so, then two products of n x n matrices
    for the leave-one-out errors of hundreds of alphas. No fold is ever refitted. The kernel is taken as it is; "auto" in it is
    set from the data.

    Parameters
    ----------
    kernel : Kernel, str, callable or None
        As in :class:`KernelRidge`.
    alphas : array-like of shape (l,), optional
        Positive. By default 200 over 14 decades, up to 100 times the largest eigenvalue of the kernel matrix.
    criterion : str or GroupsOut
        A rule of :meth:`kernsel.RegularizationPath.best`; likelihoods with the best scale of kernel and noise, since
        this model has none. Those that are the minimum or the maximum of a curve choose among `alphas`; "discrepancy",
        "lcurve" and "quasi-optimality" find their own. "kfold", "kfold_log_density" or
        :class:`kernsel.criteria.GroupsOut`: k-fold cross-validation, in closed form.
    alpha_per_target : bool
        Choose one alpha for each target.
    gamma, degree, coef0, kernel_params, fit_intercept, alpha_scale, sigma
        As in :class:`KernelRidge`.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
    best_score_ : float or ndarray of shape (n_targets,)
        The criterion there.
    path_ : RegularizationPath, or list of n_targets of them with `alpha_per_target`
        Every criterion at every alpha, and the eigenvalues.
    dual_coef_, intercept_, X_fit_, kernel_, n_features_in_, feature_names_in_
        As in :class:`KernelRidge`.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 60).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(60)
    >>> model = ks.KernelRidgeCV("rbf", alphas=np.logspace(-8, 3, 200), criterion="gcv").fit(X, y)
    >>> model.path_.gcv.shape, bool(model.best_score_ == model.path_.gcv.min())
    ((200,), True)
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[..., Any] | None = None,
        *,
        alphas: ArrayLike | None = None,
        criterion: str | GroupsOut = "loo",
        alpha_per_target: bool = False,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        fit_intercept: bool = False,
        alpha_scale: Literal["none", "n"] = "none",
        sigma: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.alphas = alphas
        self.criterion = criterion
        self.alpha_per_target = alpha_per_target
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.alpha_scale = alpha_scale
        self.sigma = sigma

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | float | None = None) -> Self:
        """Decompose the kernel matrix, choose alpha, and solve.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) if the kernel is precomputed
        y : array-like of shape (n,) or (n, n_targets)
        sample_weight : float or array-like of shape (n,), optional
            Not negative. A weight of zero leaves the point out.

        Returns
        -------
        self : KernelRidgeCV
        """
        given = self._resolved(self._checked(X, y, sample_weight))
        folds = self._folds(given)
        unit = given.total_weight if self.alpha_scale == "n" else 1.0
        path = self._path(given, self._grid(given, unit))
        paths = path.of_each_target() if self.alpha_per_target else [path]
        chosen = [self._best(one, folds) for one in paths]
        root = np.ones(len(given.y)) if given.weights is None else given.weights
        K = given.matrix() if self.fit_intercept else None
        coefficients = np.zeros(given.targets.shape)
        intercepts = np.zeros(given.targets.shape[1])
        for k, (one, (alpha, _)) in enumerate(zip(paths, chosen, strict=True)):
            mine: Any = slice(k, k + 1) if self.alpha_per_target else slice(None)
            c = one.dual_coef(alpha).reshape(len(given.targets[given.used]), -1)
            coefficients[given.used, mine] = c
            if K is not None:  # what K c and lambda c / w leave of y is the intercept, everywhere the same
                rest = given.targets[given.used, mine] - K @ c - alpha * unit * c / root[given.used][:, None]
                intercepts[mine] = rest.mean(axis=0)
        self.path_ = paths if self.alpha_per_target else path
        alphas, scores = (np.array(values) for values in zip(*chosen, strict=True))
        self.alpha_ = alphas if self.alpha_per_target else float(alphas[0])
        self.best_score_ = scores if self.alpha_per_target else float(scores[0])
        self.kernel_ = given.kernel
        self.X_fit_ = given.X
        self.dual_coef_ = coefficients.astype(given.y.dtype, copy=False).reshape(given.y.shape)
        self.intercept_ = (intercepts if given.y.ndim == 2 else float(intercepts[0])) if self.fit_intercept else 0.0
        return self

    def _folds(self, given: _Given) -> tuple[NDArray[np.intp], bool] | None:
        """Return the group of each point that counts, and whether their density is asked for, if groups are left out."""
        named = isinstance(self.criterion, str) and self.criterion in ("kfold", "kfold_log_density")
        if named or isinstance(self.criterion, GroupsOut):
            criterion = criterion_named(self.criterion, {})
            assert isinstance(criterion, GroupsOut)
            X = np.asarray(given.X, dtype=np.float64)
            used = np.arange(len(X)) if isinstance(given.used, slice) else given.used
            data = Given(X, np.asarray(given.y, dtype=np.float64), used)
            if self.fit_intercept:
                criterion.require_trend(np.ones((len(used), 1)), data)
            return groups(criterion.folds, data)[0], bool(criterion.log_density)
        if self.criterion not in RULES:
            names = ", ".join((*RULES, "kfold", "kfold_log_density"))
            raise ValueError(f"criterion: expected one of {names}, or kernsel.criteria.GroupsOut, got {self.criterion!r}")
        self._require_sigma(self.criterion)
        return None

    def _grid(self, given: _Given, unit: float) -> Vector | None:
        """Return the alphas; None for those of the path."""
        if self.alphas is None:
            least = given.least
            return np.geomspace(least, 100 * least / float(np.finfo(np.float32).eps), 200) / unit if least else None
        try:
            alphas = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64))
        except (TypeError, ValueError):
            raise TypeError(f"alphas: expected positive numbers or None, got {self.alphas!r}") from None
        if alphas.ndim > 1:
            raise ValueError(f"alphas: expected one row of numbers, got shape {alphas.shape}")
        return alphas

    def _best(self, path: RegularizationPath, folds: tuple[NDArray[np.intp], bool] | None) -> tuple[float, float]:
        if folds is not None:
            labels, log_density = folds
            values = path.leave_groups_out(labels, log_density=log_density)
            at = int(np.nanargmax(values) if log_density else np.nanargmin(values))
            return float(path.alphas[at]), float(values[at])
        rule = ridge_rule(str(self.criterion))
        name, sign = CURVES[rule]
        if rule in ("discrepancy", "lcurve", "quasi-optimality"):
            alpha = path.best(rule)
            return alpha, float(getattr(path.at(alpha), name)[0])
        at = int(np.nanargmin(sign * getattr(path, name)))
        return float(path.alphas[at]), float(getattr(path, name)[at])


def _dense(X: Any) -> NDArray[Any]:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _factorize(given: _Given, noise: Vector) -> Cholesky:
    if isinstance(given.kernel, str):
        X = given.X if isinstance(given.used, slice) else given.X[np.ix_(given.used, given.used)]
        return Cholesky(_core.cholesky(X, noise))
    return Cholesky(given.kernel._build().cholesky(given.X[given.used], noise))

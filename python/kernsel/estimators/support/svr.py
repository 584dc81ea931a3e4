"""Support vector regression: the epsilon-insensitive loss, and predictions from the support vectors alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Indices, Vector
from kernsel._data.allowed import FLAG, is_auto, number, one_of, require
from kernsel._data.categories import with_categories
from kernsel._data.folds import folds_of_rows
from kernsel._data.kernel import leaves_open, matrix_of_indices
from kernsel._data.training import dense, require_squares, training_set
from kernsel._search.selection import said_of_not_sought
from kernsel.estimators.fitted import LeftOut, Prediction, TakesGroups, column
from kernsel.estimators.support.machine import ALLOWED, FunctionMachine, require_some_weight
from kernsel.estimators.support.path import CRITERIA, SCORINGS
from kernsel.estimators.support.selection import choose_support
from kernsel.estimators.support.span import left_out_residuals
from kernsel.estimators.support.vectors import SupportSolution, SupportVectors
from kernsel.kernels import RBF, Kernel
from kernsel.kernels.amplitudes import with_sizes_of_terms
from kernsel.kernels.objects import Points

__all__ = ["SVR", "SupportSolution", "SupportVectors"]

_RAISES = 8  # how often the finite bound in place of an infinite C is raised, by a factor of 100 each time
_ALLOWED = ALLOWED | {
    "fit_intercept": FLAG,
    "C": (number("positive", infinite=True) | "auto" | None).said('a number, positive, "auto" or None'),
    "epsilon": (number("from 0 on") | "auto" | None).said('a number, from 0 on, "auto" or None'),
    "criterion": one_of(*CRITERIA).said(f"one of {', '.join(CRITERIA)}"),
    "scoring": one_of(*SCORINGS).said(f"one of {', '.join(SCORINGS)}"),
    "lam": number("positive") | None,
}
_USUAL = {"C": 1.0, "epsilon": 0.1}  # scikit-learn's defaults


class SVR(TakesGroups, RegressorMixin, FunctionMachine):  # type: ignore[misc]
    """Epsilon support vector regression.

    Finds the function f = b + sum_i a_i k(., x_i) that minimizes ::

        |f - b|^2 / 2 + C sum_i w_i max(|y_i - f(x_i)| - epsilon, 0)

    Points whose error is less than epsilon have a_i = 0 exactly; predictions use only the others, the support vectors. The
    fit solves the dual problem, min a'Ka/2 - a'y + epsilon |a|_1 for |a_i| <= C w_i (and sum a_i = 0 with an intercept), up to
    a duality gap that is reported. Rows of the kernel matrix are computed when they are needed, and kept as far as
    `cache_size` allows.

    Parameters
    ----------
    kernel : Kernel, str, callable or None
        As in :class:`kernsel.KernelRidge`: None and "auto" are ``RBF("auto")``, with length scales from the spread of each
        column; scikit-learn's names are used with `gamma`, `degree` and `coef0`; with "precomputed", X is the kernel matrix.
        Unlike there, a function is called as by scikit-learn's SVR: ``kernel(X, Z)`` returns the matrix between all rows of X
        and of Z, and may be called for parts of the matrix. With "auto" and with text other than scikit-learn's names, C and
        epsilon are chosen unless they are given.
    C : float, "auto" or None
        The weight of the errors. "auto" is chosen by `criterion`; None is "auto" if the kernel leaves it open, and otherwise 1,
        as in scikit-learn. If C or epsilon is chosen, the hyperparameters of the kernel that are not fixed are chosen as well;
        otherwise "auto" parameters of the kernel are set from the spread of the data. An infinite C allows no error beyond
        epsilon: a finite C is then raised until no coefficient is at its bound, and the objective and the gap belong to the
        last one.
    epsilon : float, "auto" or None
        The size up to which errors cost nothing, in the unit of y. "auto" is chosen by `criterion`; None is "auto" if the
        kernel leaves it open, and otherwise 0.1, as in scikit-learn. If it is larger than all errors of a constant, there are
        no support vectors, which is warned of.
    criterion : {"kfold", "loo"}
        The criterion to minimize, the mean error of points left out: by k-fold cross-validation with warm starts ("kfold"), or
        for each point alone, by the span estimate from the support vectors of one fit ("loo").
    scoring : {"absolute", "squared"}
        Whether absolute or squared errors are averaged. Squared errors depend more on outliers.
    folds : int, array-like of shape (n,), splitter, or list of splits
        For "kfold": a number of random folds, which are the same in each fit; a label for each point; an object with a method
        `split`; or a list of what that yields, pairs of the indices of training and test points. No fold learns from a row that
        equals one that it leaves out, except by labels.
    fit_intercept : bool
        False leaves out b, and with it the condition that the coefficients sum to zero.
    lam : float, optional
        The regularization for the objective in the form mean of the losses + lam |f - b|^2, in place of C. C is then
        1 / (2 n lam), where n is the sum of the weights.
    degree, coef0 : float
        The parameters of "poly" and "sigmoid".
    gamma : float, "scale" or "auto"
        The parameter gamma of a kernel given by name. "scale" is 1 / (d var(X)), "auto" is 1 / d.
    kernel_params : dict, optional
        Keyword arguments for a kernel that is a function.
    tol : float
        The duality gap at which the fit stops, relative to the objective.
    shrinking : bool
        Whether to leave out temporarily the points whose coefficients stay at zero or at a bound.
    cache_size : float
        The memory for rows of the kernel matrix, in megabytes; at least 128 rows are kept.
    verbose : bool
        Print a line about the solution, and what was not looked for.
    max_iter : int
        The largest number of steps, each of two coefficients; -1 for no limit.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        The indices of the support vectors.
    support_vectors_ : ndarray or sparse array of shape (n_SV, d)
        The support vectors; empty if the kernel is precomputed. If X is sparse, `support_vectors_`, `dual_coef_` and `coef_`
        are sparse as well.
    dual_coef_ : ndarray or sparse array of shape (1, n_SV)
        The coefficients of the support vectors.
    intercept_ : ndarray of shape (1,)
    n_support_ : ndarray of shape (1,)
        The number of support vectors.
    duality_gap_ : float
        An upper bound of the difference between the objective and its minimum.
    objective_ : float
        The value of the objective.
    n_iter_ : int
        The number of steps.
    fit_status_ : int
        0 if the duality gap has reached `tol`, 1 if not.
    C_, epsilon_ : float
        The parameters in use, given or chosen.
    criterion_value_ : float
        The value of the criterion, if something was chosen.
    selection_ : SupportSelection
        The report of the choice, if something was chosen.
    not_sought_ : list of str
        What was not looked for, without having been told: "C", "epsilon", and the "hyperparameters" of the kernel. A kernel
        that is "auto" or text leaves them open; with other kernels, C and epsilon are scikit-learn's defaults unless given.
    kernel_ : Kernel or "precomputed"
        The kernel in use, with its "auto" parameters set or chosen.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If X has column names.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.linspace(0, 6, 60).reshape(-1, 1)
    >>> y = np.sin(X[:, 0])
    >>> svr = ks.SVR(ks.kernels.RBF("auto"), C=10.0, epsilon=0.1).fit(X, y)
    >>> bool(np.abs(svr.predict(X) - y).max() < 0.11), len(svr.support_) < 20
    (True, True)
    >>> chosen = ks.SVR(C="auto", epsilon="auto", criterion="loo").fit(X, y)
    >>> chosen.criterion_value_ < 0.01, len(chosen.selection_.table)
    (True, 4)
    >>> bool(np.abs(ks.SVR("auto").fit(X, y).predict(X) - y).max() < 0.01)
    True

    A common example: the stopping distance of cars against their speed, with the objective mean of the losses + lam |f|^2.

    >>> speed = np.repeat(np.arange(4.0, 26), [2, 0, 0, 2, 1, 1, 3, 2, 4, 4, 4, 3, 2, 3, 4, 3, 5, 0, 1, 1, 4, 1])
    >>> distance = np.array([2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26,
    ...     54, 32, 40, 32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85.0])
    >>> kernel = ks.kernels.RBF(5.0) + ks.kernels.Polynomial(2, 1.0)
    >>> svr = ks.SVR(kernel, lam=0.01, epsilon=15.0, fit_intercept=False).fit(speed[:, None], distance)
    >>> krr = ks.KernelRidge(kernel, alpha=0.01, alpha_scale="n").fit(speed[:, None], distance)
    >>> len(svr.support_), len(krr.dual_coef_)
    (12, 50)
    >>> svr.predict([[10.0], [20.0]]).round().tolist(), krr.predict([[10.0], [20.0]]).round().tolist()
    ([23.0, 59.0], [21.0, 57.0])
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[..., Any] | None = None,
        *,
        C: float | Literal["auto"] | None = None,
        epsilon: float | Literal["auto"] | None = None,
        criterion: Literal["kfold", "loo"] = "kfold",
        scoring: Literal["absolute", "squared"] = "absolute",
        folds: Any = 5,
        fit_intercept: bool = True,
        lam: float | None = None,
        degree: float = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        kernel_params: Mapping[str, Any] | None = None,
        tol: float = 1e-4,
        shrinking: bool = True,
        cache_size: float = 500.0,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.criterion = criterion
        self.scoring = scoring
        self.folds = folds
        self.fit_intercept = fit_intercept
        self.lam = lam
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.tol = tol
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(
        self,
        X: Points,
        y: ArrayLike,
        sample_weight: ArrayLike | float | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose C, epsilon and the kernel if asked to, and compute the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) if the kernel is precomputed; or n objects, for a kernel on objects
        y : array-like of shape (n,)
        sample_weight : float or array-like of shape (n,), optional
            The factors w of C for each point, not negative. A weight of zero leaves the point out.
        groups : array-like of shape (n,), optional
            A label for each point: where C or epsilon is "auto", the points of a group are left out together. By default rows
            that are equal are left out together.

        Returns
        -------
        self : SVR
        """
        self._check()
        kernel = self._kernel_or_name()
        if is_auto(self.kernel) and isinstance(kernel, Kernel):
            kernel = with_categories(kernel, X)
        if isinstance(kernel, Kernel) and leaves_open(self.kernel) and self._chooses():
            kernel = with_sizes_of_terms(kernel)
        require_some_weight(sample_weight)
        given = (
            training_set(self, kernel, X, y, sample_weight, named=self._named, accept_sparse=("csr",), multi_output=False)
            .with_groups(groups)
            .resolved()
        )
        y, weights = given.y, given.weights
        core_kernel, points = given.kernel_and_points()
        core_kernel = self._choose(core_kernel, points, y, weights, given.groups)
        bounds = self._bounds(len(y), weights)
        found = self._solve(SupportVectors(core_kernel, points, self.cache_size), core_kernel, points, y, bounds)
        self.kernel_ = given.kernel if isinstance(given.kernel, str) else core_kernel
        self._warn([found], core_kernel, points)
        self._warn_of_nothing(found, y if weights is None else y[weights > 0])
        self._keep(given.original, found)
        if self.verbose:
            print(f"SVR: {found.told(len(y))}")
            if self._left_as_they_are():
                print(f"SVR: {said_of_not_sought(self._left_as_they_are(), of_machine=True)}")
        return self

    def opened_by_kernel(self) -> dict[str, object]:
        """Return what is looked for because of the kernel, see :func:`kernsel.estimators.fitted.opened_by_kernel`."""
        names = ("epsilon",) if self.lam is not None else ("C", "epsilon")
        return {name: "auto" for name in names if getattr(self, name) is None} if leaves_open(self.kernel) else {}

    @property
    def not_sought_(self) -> list[str]:
        """What was not looked for, without having been told to leave it, see the class."""
        check_is_fitted(self)
        return self._left_as_they_are()

    def _left_as_they_are(self) -> list[str]:
        if leaves_open(self.kernel):
            return []
        names = ["C", "epsilon"] if self.lam is None else ["epsilon"]
        names = [name for name in names if getattr(self, name) is None]
        kernel = RBF("auto") if self.kernel is None else self.kernel
        has_open = isinstance(kernel, Kernel) and any(not h.fixed for h in kernel.hyperparameters)
        return names + (["hyperparameters"] if names and has_open and not self._chooses() else [])

    def _given(self, name: Literal["C", "epsilon"]) -> float | None:
        """Return the value of a parameter, or None if it is to be chosen."""
        value = getattr(self, name)
        if value is None:
            return None if leaves_open(self.kernel) else _USUAL[name]
        return None if is_auto(value) else float(value)

    def _chooses(self) -> bool:
        """Tell whether C or epsilon is to be chosen."""
        return self._given("epsilon") is None or (self.lam is None and self._given("C") is None)

    def _choose(self, kernel: Kernel, points: Vector, y: Vector, weights: Vector | None, groups: Indices | None) -> Kernel:
        """Set `C_` and `epsilon_`, and return the kernel, which is chosen if C or epsilon is."""
        for name in ("selection_", "criterion_value_"):
            self.__dict__.pop(name, None)
        total = float(len(y) if weights is None else weights.sum())
        C = self._given("C") if self.lam is None else 1.0 / (2.0 * total * float(self.lam))
        epsilon = self._given("epsilon")
        if C is None or epsilon is None:
            if C is not None and not np.isfinite(C):
                raise ValueError(f'C: expected a finite number or "auto" where epsilon is chosen, got {C!r}')
            require_squares(y)
            used: Any = slice(None) if weights is None else weights > 0
            self.selection_ = choose_support(
                kernel,
                points[used],
                y[used],
                None if weights is None else weights[used],
                C=C,
                epsilon=epsilon,
                criterion=self.criterion,
                scoring=self.scoring,
                folds=folds_of_rows(self.folds, used, len(y)),
                groups=None if groups is None else groups[used],
                fit_intercept=self.fit_intercept,
                tol=self.tol,
                max_iter=self.max_iter,
                cache_size=self.cache_size,
            )
            self.criterion_value_ = self.selection_.value
            C, epsilon, kernel = self.selection_.C, self.selection_.epsilon, self.selection_.kernel
        self.C_, self.epsilon_ = C, epsilon
        return kernel

    def _solve(self, solver: SupportVectors, kernel: Kernel, points: Vector, y: Vector, bounds: Vector) -> SupportSolution:
        """Solve the problem. Infinite bounds are replaced by finite ones that are raised until no coefficient reaches them."""
        options: dict[str, Any] = {"fit_intercept": self.fit_intercept, "epsilon": self.epsilon_, **self._solver_options()}
        if np.isfinite(bounds).all():
            return solver.solve(y, bounds, **options)
        most = 10.0 * float(np.ptp(y) or np.abs(y).max() or 1.0) / float(np.mean(np.abs(kernel.diag(points))) or 1.0)
        found = None
        for _ in range(_RAISES):
            start = None if found is None else found.a
            found = solver.solve(y, np.minimum(bounds, most), start=start, **options)
            if not found.converged or np.abs(found.a).max() < most:
                break
            most *= 100.0
        assert found is not None
        return found

    def predict(self, X: Points) -> Vector:
        """Return f(X), computed from the support vectors in O(m n_SV) kernel evaluations.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n) if the kernel is precomputed

        Returns
        -------
        y : ndarray of shape (m,)
        """
        return self._function(X)

    def prediction(self, X: Points, *, level: float | None = None, noisy: bool = False, output: int = 0) -> Prediction:
        """Return f(X) and the tube of width epsilon around it, see `FittedModel`."""
        del level, noisy
        mean = column(self.predict(X), output)
        return Prediction(mean, mean - self.epsilon_, mean + self.epsilon_, band_name="errors up to ε cost nothing")

    def left_out(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> LeftOut:
        """Return the span estimate of the leave-one-out predictions, for which all training points must be given.

        See :class:`kernsel.estimators.fitted.HasLeftOut`.
        """
        del output  # there is one target
        if X is None or y is None:
            raise ValueError("X, y: an SVR keeps its support vectors only; give all points that it was fitted to")
        points, targets = np.asarray(dense(X), dtype=np.float64), column(y, None)
        kernel, support = self.kernel_and_points()
        same_shape = points.shape == tuple(self.shape_fit_) and len(targets) == len(points)
        if not same_shape or (isinstance(kernel, Kernel) and not np.array_equal(points[self.support_], support)):
            raise ValueError("X, y: expected the points that the SVR was fitted to, in the same order")
        if isinstance(kernel, str):
            kernel, points = matrix_of_indices(points)
        a = np.zeros(len(targets))
        a[self.support_] = dense(self.dual_coef_)[0]
        bounds = np.full(len(a), self.C_)
        residuals = left_out_residuals(kernel, points, targets, a, float(self.intercept_[0]), bounds, self.fit_intercept)
        return LeftOut(targets, targets - residuals)

    def _check(self) -> None:
        require(self, _ALLOWED)
        if self.lam is not None and is_auto(self.C):
            raise ValueError(f'lam: expected None with C="auto", which is chosen, got {self.lam!r}')

    def _bounds(self, n: int, weights: Vector | None) -> Vector:
        C = self.C_
        bounds = np.full(n, C)
        if weights is not None:
            with np.errstate(over="ignore"):
                bounds[weights > 0] *= weights[weights > 0]
            bounds[weights == 0] = 0.0
        if np.isfinite(C) and not np.isfinite(bounds).all():
            raise ValueError("C: times the weights, it is too large")
        if not np.isfinite(C) and self.lam is not None:
            raise ValueError(f"lam: {self.lam!r} is too small")
        return bounds

    def _warn_of_nothing(self, found: SupportSolution, y: Vector) -> None:
        """Warn of a fit without support vectors; to be called by `fit`."""
        if found.converged and np.ptp(y) > 0 and not found.a.any() and self._given("epsilon") is not None:
            warnings.warn(
                f"epsilon: errors up to {self.epsilon_:g} cost nothing, but y has a spread of {np.ptp(y):.3g} only, from "
                f"{y.min():.6g} to {y.max():.6g}, so that there are no support vectors and the fit is the constant "
                f'{found.intercept:.6g}; let epsilon="auto" or SVR("auto") choose it',
                stacklevel=3,
            )

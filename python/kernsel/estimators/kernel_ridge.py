"""Kernel ridge regression, with a given regularization or with one that is chosen together with the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.memory import require_memory
from kernsel._data.allowed import FLAG, is_auto, is_number, whole
from kernsel._data.kernel import leaves_open
from kernsel._data.noise import regularizations
from kernsel._data.rows import is_of_rows
from kernsel._data.together import said_of_copies
from kernsel._data.training import TrainingSet, require_squares
from kernsel._search import Budget, Selection, choose, require_few_if_interrupted
from kernsel._search.far_rows import FarRows
from kernsel._search.layout import Layout
from kernsel._search.plan import Plan, plan_for
from kernsel._search.progress import CallbackSupport, remark, watched, with_callbacks
from kernsel._search.selection import said_of_not_sought
from kernsel._solve.path import RegularizationPath
from kernsel.approximations import Approximation, Nystrom, Vecchia, Wish
from kernsel.criteria import Criterion, LeaveOneOut, Likelihood, UnbiasedRisk
from kernsel.criteria.base import Loss
from kernsel.criteria.names import along_path, criterion_named, needs, require_name, require_sigma, searched, with_free_scale
from kernsel.criteria.table import TABLE
from kernsel.estimators.fitted import LeftOut, ModelPath, require_training_data, targets_for
from kernsel.estimators.kernel_machine import ALLOWED, KernelMachine, is_likelihood
from kernsel.estimators.outliers import OUTLIERS
from kernsel.estimators.ridge_explained import EXPLAINED
from kernsel.estimators.ridge_of_rows import RidgeOfRows, ridge_of_rows
from kernsel.estimators.ridge_outliers import outliers_given, outliers_of_ridge, without
from kernsel.estimators.ridge_posteriors import RidgePosteriors
from kernsel.estimators.rows_everywhere import take_columns
from kernsel.estimators.rows_in_memory import rows_in_memory
from kernsel.kernels import Kernel
from kernsel.kernels.amplitudes import with_sizes_of_terms
from kernsel.kernels.objects import Points

__all__ = ["KernelRidge"]

_REPORT = ("selection_", "path_", "_path_of", "criterion_value_")  # what a choice sets
_SOLUTION = ("dual_coef_", "_posteriors", *EXPLAINED)


class KernelRidge(CallbackSupport, KernelMachine):  # type: ignore[misc]
    """Kernel ridge regression.

    Finds the function f = b + sum_i c_i k(., x_i) that minimizes ::

        sum_i w_i (y_i - f(x_i))^2 + alpha |f - b|^2

    by one Cholesky factorization, (K + alpha diag(1 / w)) c = y - b. It takes n^3/3 flops and memory for n^2/2 numbers, since
    only one triangle of the kernel matrix is stored.

    With ``alpha="auto"``, a criterion first chooses alpha and all hyperparameters of the kernel that are not fixed. Each
    evaluation of the criterion takes a Cholesky factorization. This estimator is for kernels with hyperparameters to choose,
    and for a given alpha. :class:`KernelRidgeCV` does not change the kernel, and computes all criteria for all alphas from one
    eigendecomposition: it is for known kernels, for curves over alpha, and for many targets that each have their own alpha.

    Parameters
    ----------
    kernel : Kernel, str, callable or None
        None and "auto" are ``RBF("auto")``, with length scales from the spread of each column; with "auto", alpha and the
        length scales are chosen unless alpha is given. With "precomputed", X is the
        kernel matrix: (n, n) in `fit`, (n_test, n) in `predict`. scikit-learn's names ("linear", "rbf", "poly",
        "laplacian", "cosine", "sigmoid", "chi2", ...) stand for its kernels with `gamma`, `degree` and `coef0`, which
        are fixed; other text, such as ``"RBF + Linear"``, is read by :func:`kernsel.kernels.kernel`, where parameters that the
        text does not give are "auto", and leaves alpha and the sizes of the terms of a sum to be chosen unless alpha is given.
        A function is called with two points.
        "sigmoid" and "additive_chi2" are not positive semidefinite: unless alpha is large enough, they raise
        :class:`kernsel.NotPositiveDefiniteError`.
    alpha : float, array-like of shape (n_targets,), "auto" or None
        The regularization, not negative; one for all targets, or one for each. "auto" chooses one for all targets. None is
        "auto" if the kernel is "auto" or text other than scikit-learn's names, and otherwise 1, as in scikit-learn.
    criterion : str, Criterion, callable or None
        The criterion that chooses alpha and the kernel. If alpha is chosen, None is "reml" where the kernel has hyperparameters
        to choose as well, of which the squared leave-one-out error overfits many, and otherwise "loo"; if alpha is given,
        nothing is then chosen. The criteria of :mod:`kernsel.criteria` choose the kernel and alpha together. The rules
        "discrepancy", "lcurve" and "quasi-optimality" of :meth:`kernsel.RegularizationPath.best` choose alpha alone. Criteria
        that depend on the scale of y, such as likelihoods, are evaluated for the best common scale of kernel and noise, since
        this model has no scale.
    gamma : float or None
        The parameter gamma of a kernel given by name; None is 1 / d, and 1 for "chi2".
    degree, coef0 : float
        The parameters of "poly" and "sigmoid".
    kernel_params : dict, optional
        Keyword arguments for a kernel that is a function.
    fit_intercept : bool or None
        Add a constant b, which is not penalized. None does so if alpha is chosen: the fitted values then follow y to another
        origin and unit. If alpha is given, it does not, as in scikit-learn.
    alpha_scale : {"none", "n"}
        The convention of `alpha`. "n" multiplies it by the number of points (the sum of the weights), which gives the
        objective with the *mean* of the squared errors: an alpha then has the same effect for any number of points. Texts that
        minimize 1/n sum_i (...)^2 + lambda |f|^2 have alpha = lambda with "n", also with a factor 1/2 before both terms; those
        with 1/(2n) sum_i (...)^2 + lambda |f|^2 have alpha = 2 lambda.
    sigma : float, optional
        The standard deviation of the noise (of a point of weight one), for "risk" and "discrepancy".
    random_state : int, RandomState instance or None
        Determines the starts of the search, see :class:`kernsel.GaussianProcessRegressor`.
    outliers : "auto", array-like of int or None
        "auto" looks for targets that are grossly wrong where alpha is chosen, there is one target and there are no weights, see
        :class:`kernsel.GaussianProcessRegressor`: alpha and the kernel are then chosen without them, and they get a weight of
        zero. Numbers are the rows of known ones. With None all rows count alike.
    approximation : "auto", Vecchia, Nystrom or None
        For many points: None is exact. With :class:`kernsel.Vecchia`, alpha and the kernel are chosen by nearest neighbours,
        and f at a new point is computed from its nearest ones: it is the mean of the Gaussian process with the covariance k and
        the noise variance alpha / w. With :class:`kernsel.Nystrom`, which is for much noise, both are by the function's values
        at landmarks; its `refine` iterates from there to the f of all points. "auto" approximates what would take longer than a
        minute or does not fit into half of the memory, see :class:`kernsel.GaussianProcessRegressor`; `approximation_` says
        what. Criteria then choose alpha by a search and not along a path. "discrepancy", "lcurve", "quasi-optimality" and
        kernels of objects or matrices are exact only. Outliers are looked for where nothing is approximated.
    max_evaluations : int
        The largest number of evaluations of the criterion.
    verbose : int
        1 shows the progress of the search, what was not looked for, and what was approximated.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, n_targets)
        The coefficients c. Zero for points of weight zero. An approximation computes them on first access; its predictions are
        not their sum with k(., x_i).
    intercept_ : float or ndarray of shape (n_targets,)
        The constant b; 0.0 without intercept.
    X_fit_ : ndarray of shape (n, d)
        The training points, or the kernel matrix if it is precomputed.
    kernel_ : Kernel or "precomputed"
        The kernel in use, with its "auto" parameters set.
    alpha_ : float or ndarray of shape (n_targets,)
        The regularization in use, in the convention of `alpha_scale`.
    loo_residuals_ : ndarray of shape (n,) or (n, n_targets)
        y_i minus its prediction by the fit to all other points, with the same alpha; equal rows, or groups that were told, are
        left out together. It is computed on first access, as are the next ones, by another factorization.
    leverage_ : ndarray of shape (n,) or (n, n_targets)
        The derivative of each fitted value in its own target; with n_targets columns if `alpha_` is an array.
    effective_dof_ : float or ndarray of shape (n_targets,)
        The sum of the leverages.
    norm_ : float or ndarray of shape (n_targets,)
        The norm |f - b| = (c'Kc)^1/2 in the space of the kernel, which alpha penalizes.
    left_out_together_ : ndarray of int of shape (n,)
        The number of the group with which each point is left out; all different if each is left out alone.
    criterion_value_ : float
        The value of the criterion for the chosen alpha and kernel, if something was chosen.
    outliers_ : ndarray of int
        The rows that were found to be outliers.
    copies_ : ndarray of int
        The rows that are copies of others, where a likelihood such as "reml" chooses alpha. It would take them for further
        measurements without noise, so that each row is learnt from once: copies have no weight. Equal rows with different
        targets are measurements that were repeated, and stay.
    selection_ : kernsel._search.Selection
        The report of the search, if there was one.
    approximation_ : str
        What was approximated, why, and how good that is; empty if nothing was.
    not_sought_ : list of str
        What was not looked for, without having been told: "alpha", "intercept", and the "hyperparameters" of the kernel. A
        kernel that is "auto" or text leaves them open; with other kernels, alpha is 1 unless it is given.
    path_ : RegularizationPath
        All criteria for all alphas, if alpha was chosen along a path.
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
    >>> ks.KernelRidge("RBF").fit(X, y).alpha_ < 0.1, ks.KernelRidge("rbf").fit(X, y).alpha_
    (True, 1.0)
    """

    criterion_value_: float
    selection_: Selection
    approximation_: str
    _posteriors: RidgePosteriors  # if predictions are by neighbours
    _allowed: ClassVar = ALLOWED | {
        "max_evaluations": whole(1),
        "outliers": OUTLIERS,
        "fit_intercept": FLAG | None,
    }

    def __init__(
        self,
        kernel: Kernel | str | Callable[..., Any] | None = None,
        *,
        alpha: float | ArrayLike | Literal["auto"] | None = None,
        criterion: str | Criterion | Loss | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        fit_intercept: bool | None = None,
        alpha_scale: Literal["none", "n"] = "none",
        sigma: float | None = None,
        random_state: Any = None,
        outliers: Literal["auto"] | ArrayLike | None = "auto",
        approximation: Wish = "auto",
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
        self.outliers = outliers
        self.approximation = approximation
        self.max_evaluations = max_evaluations
        self.verbose = verbose

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Points,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | float | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose alpha and the kernel if asked to, and compute the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) if the kernel is precomputed; or n objects, for a kernel on objects
            Also rows that are read in blocks: a source (:func:`kernsel.row_source`), the path of a Parquet or .npy file, a
            dataset of pyarrow, or a collection of Dask, like y and the weights. Some rows, drawn at random, choose alpha, the
            kernel and landmarks (:class:`kernsel.Nystrom`, which "auto" then stands for); all are then read where they are.
            With :class:`kernsel.Vecchia` all rows are brought to this machine first.
        y : array-like of shape (n,) or (n, n_targets); or the name of a column of a file or dataset, or None for a source
        sample_weight : float or array-like of shape (n,), optional
            Not negative. A weight of zero leaves the point out.
        groups : array-like of shape (n,), optional
            A label for each point: criteria that leave points out leave the points of a group out together. By default rows
            that are equal are left out together.

        Returns
        -------
        self : KernelRidge
        """
        if is_of_rows(X) and isinstance(self.approximation, Vecchia):
            X, y, sample_weight = rows_in_memory(X, y, sample_weight)
        if is_of_rows(X):
            for name in (*_REPORT, *_SOLUTION):
                self.__dict__.pop(name, None)
            self._take_rows(ridge_of_rows(self, X, y, sample_weight, groups))
            return self
        given = self._training_set(X, y, sample_weight).with_groups(groups)
        for name in (*_REPORT, *_SOLUTION):
            self.__dict__.pop(name, None)
        self.approximation_ = ""
        automatic = self.chooses_alpha
        weighted = given.weights is not None
        criterion = self.default_criterion if self.criterion is None else self.criterion
        given = self._with_rows_once(given, criterion if automatic else None)
        if self.verbose and self._left_as_they_are():
            remark(f"{type(self).__name__}: {said_of_not_sought(self._left_as_they_are(), of_machine=True)}")
        unit = self._unit(given)
        plan = self._plan(given, criterion if automatic or self.criterion is not None else None)
        self.outliers_ = np.zeros(0, dtype=np.intp)
        if automatic or self.criterion is not None:
            all_rows = given
            given, alphas = self._chosen(all_rows, unit, automatic, plan.search)
            far = None if weighted else self._find_outliers(all_rows, given, alphas, plan)
            if len(self.outliers_):
                all_rows = without(np.union1d(self.outliers_, self.copies_), all_rows)
                unit = self._unit(all_rows)
                given, alphas = self._chosen(all_rows, unit, automatic, plan.search)
            if "selection_" in self.__dict__:
                said = [said_of_copies(len(self.copies_))] if len(self.copies_) else []
                left = self._left_as_they_are()
                self.selection_ = replace(self.selection_, far=far, not_sought=left, remarks=said + self.selection_.remarks)
            exact = given.in_double()
        else:
            given = given.resolved()
            alphas = self._alphas_given(given.targets.shape[1])
            exact = given
        if plan.approximates:
            self._solve_by_posteriors(given, alphas * unit, plan)
        else:
            self._solve(given, exact, alphas * unit)
        self.kernel_ = given.kernel
        self.X_fit_ = given.X
        self.left_out_together_ = given.left_out_together
        self._trained_on = replace(given, original=None)
        self.alpha_ = float(alphas[0]) if np.ptp(alphas) == 0 else alphas
        selection = getattr(self, "selection_", None)
        if selection is not None and selection.interrupt is not None:
            raise selection.interrupt
        return self

    def _take_rows(self, found: RidgeOfRows) -> None:
        """Set the fitted attributes of a fit to rows that were read in blocks, of which none is kept."""
        take_columns(self, found.some)
        none, posterior = np.zeros(0, dtype=np.intp), found.fit.posterior
        targets = [np.arange(posterior.y.shape[1])]
        self._posteriors = RidgePosteriors(
            none, targets, [posterior], [found.fit.noise], found.one_output, np.dtype(np.float64)
        )
        self.kernel_, self.X_fit_, self.alpha_ = found.fit.kernel, posterior.X, found.fit.noise
        self.outliers_, self.copies_, self.left_out_together_ = none, none, none
        self.approximation_ = found.said
        if hasattr(found.some, "selection_"):
            self.selection_ = replace(found.some.selection_, approximation=found.said, far=None)
            self.criterion_value_ = found.some.criterion_value_ if found.value is None else found.value
        self._set_intercept(self._posteriors.intercepts(), posterior.y[:, 0] if found.one_output else posterior.y)

    def _plan(self, given: TrainingSet, criterion: str | Criterion | Loss | None) -> Plan:
        """Return what is approximated for the data, with hyperparameters that a criterion chooses, or that are given."""
        by_matrix = "the kernel matrix is given" if isinstance(given.kernel, str) else ""
        if isinstance(criterion, str) and criterion in TABLE and not TABLE[criterion].for_search:
            by_matrix = f"the criterion {criterion!r} takes the eigenvalues of the whole kernel matrix"
        if by_matrix and isinstance(self.approximation, (Nystrom, Vecchia)):
            raise ValueError(f'approximation: expected "auto" or None, since {by_matrix}, got {self.approximation!r}')
        if isinstance(given.kernel, str) or by_matrix:
            return Plan()
        named = Likelihood() if is_likelihood(criterion) else LeaveOneOut()
        n, columns = len(given.targets[given.used]), given.X.shape[1]
        searches = criterion is not None
        return plan_for(self.approximation, given.kernel, named, n, searches=searches, columns=columns, may_refine=True)

    def _solve(self, given: TrainingSet, exact: TrainingSet, strengths: Vector) -> None:
        """Set the coefficients and the intercept, by one factorization for each different strength of regularization."""
        coefficients = np.zeros_like(given.targets)
        intercepts = np.zeros(given.targets.shape[1], dtype=given.targets.dtype)
        for strength in np.unique(strengths):
            mine = strengths == strength
            noise = np.full(1, strength) if given.weights is None else strength / given.weights[given.used]
            factor = self._factorized(exact, noise)
            right = exact.targets[given.used][:, mine]
            part = coefficients[given.used]
            solution = factor.solve(right)
            if self.has_intercept:
                of_one = factor.solve(np.ones(len(right), dtype=right.dtype))
                intercepts[mine] = solution.sum(axis=0) / of_one.sum()
                solution = factor.solve(right - intercepts[mine])
            part[:, mine] = solution
            coefficients[given.used] = part
            del factor  # frees the memory before the factorization for the next strength
        self.dual_coef_ = coefficients.reshape(given.y.shape)
        self._set_intercept(intercepts, given.y)

    def _solve_by_posteriors(self, given: TrainingSet, strengths: Vector, plan: Plan) -> None:
        """Set the posteriors by which f is approximated, or the coefficients if predictions are exact."""
        conditioned = partial(RidgePosteriors.conditioned, given, strengths, intercept=self.has_intercept)
        if isinstance(plan.posterior, Nystrom) and plan.posterior.refine:
            self._solve_by_iteration(given, conditioned(approximation=plan.posterior), plan)
            return
        plan, posteriors, check = conditioned(approximation=plan.posterior).checked(plan)
        if plan.posterior is None and posteriors.approximated:
            posteriors = conditioned(approximation=None)
        self.approximation_ = plan.said(len(posteriors.rows), check)
        if "selection_" in self.__dict__:
            self.selection_ = replace(self.selection_, approximation=self.approximation_)
        if self.verbose:
            remark(f"{type(self).__name__}: {self.approximation_}")
        if posteriors.approximated:
            self._posteriors = posteriors
        else:
            self.dual_coef_ = posteriors.coefficients(len(given.y))
        self._set_intercept(posteriors.intercepts(), given.y)

    def _solve_by_iteration(self, given: TrainingSet, posteriors: RidgePosteriors, plan: Plan) -> None:
        """Set the coefficients and the intercept of the whole kernel matrix, by conjugate gradients."""
        refined = posteriors.refined()
        said = replace(plan, posterior=None).said(len(posteriors.rows)) if plan.search is not None else ""
        self.approximation_ = " ".join([*([said] if said else []), *map(str, refined.solutions)])
        if "selection_" in self.__dict__:
            self.selection_ = replace(self.selection_, approximation=self.approximation_)
        if self.verbose:
            remark(f"{type(self).__name__}: {self.approximation_}")
        for solution in refined.solutions:
            solution.warn("alpha")
        self.dual_coef_ = refined.coefficients(len(given.y))
        self._set_intercept(refined.intercepts(), given.y)

    def _set_intercept(self, intercepts: Vector, y: Vector) -> None:
        self.intercept_ = (intercepts if y.ndim == 2 else float(intercepts[0])) if self.has_intercept else 0.0

    @property
    def approximate_posteriors(self) -> RidgePosteriors | None:
        """The posteriors by which f is approximated; None if it is computed from the coefficients of all points."""
        return self.__dict__.get("_posteriors")

    def restore_posteriors(self, posteriors: RidgePosteriors) -> None:
        """Set the posteriors of a saved model."""
        self._posteriors = posteriors

    def _function(self, X: Matrix) -> NDArray[Any]:
        posteriors = self.approximate_posteriors
        return super()._function(X) if posteriors is None else posteriors.mean(np.asarray(X, dtype=np.float64))

    def left_out(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> LeftOut:
        """Return the leave-one-out predictions of one target; y must be given.

        See :class:`kernsel.estimators.fitted.HasLeftOut`. Of copies, each is predicted as the row that is learnt from is.

        A fit that was refined by iteration (`refine` of :class:`kernsel.Nystrom`) has no factorization. It is made here, with
        n^2 / 2 numbers of memory and n^3 operations; :func:`kernsel.loo` leaves points out by landmarks alone, in n m^2.
        """
        if self.approximate_posteriors is None:
            if isinstance(self.approximation, Nystrom) and self.approximation.refine:
                n = len(self.X_fit_)
                what = f"a refined fit has no factorization, and that of {n} points needs"
                require_memory(4 * n * (n + 1), what, "; kernsel.loo(approximation=kernsel.Nystrom()) leaves out by landmarks")
            return super().left_out(X, y, output)
        posteriors, targets = self._posteriors_of(X, y)
        found = posteriors.left_out(self.X_fit_, targets, self._groups(), output)
        return self._with_copies(found, targets)

    def _posteriors_of(self, X: Points | None, y: ArrayLike | None) -> tuple[RidgePosteriors, Vector]:
        """Return the posteriors by which f is approximated, and y; raise unless X and y are what they were fitted to."""
        posteriors = self.approximate_posteriors
        assert posteriors is not None
        require_training_data(self, self.kernel_, X, None, self.X_fit_)
        targets = np.asarray(targets_for(self, y, len(self.X_fit_)), dtype=np.float64)
        if not posteriors.has_targets(targets):
            raise ValueError(f"y: expected the targets that this {type(self).__name__} was fitted to")
        return posteriors, targets

    def regularization_path(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> ModelPath:
        """Return `path_`; if alpha was given, compute the path for y. See :class:`kernsel.estimators.fitted.HasPath`.

        That of a fit by landmarks has the same landmarks. If targets have an alpha each, it is of those with the same one.

        Raises
        ------
        ValueError
            If f is approximated by neighbours, or by landmarks without keeping the training points: a path takes the
            eigenvalues of the kernel matrix.
        """
        if self.approximate_posteriors is None:
            return super().regularization_path(X, y, output)
        near = self.approximate_posteriors.path_approximation(output)
        if near is None:
            raise ValueError(
                f"approximation: a path takes the eigenvalues of the whole kernel matrix, which this {type(self).__name__} "
                "approximates; expected a fit with approximation=None, or to some of the points"
            )
        posteriors, _ = self._posteriors_of(X, y)
        posterior, rows = posteriors.of_target(output), posteriors.rows
        groups, weights = self._groups(), posteriors.weights(output)
        path = RegularizationPath(
            posterior.kernel,
            posterior.y,
            X=posterior.X,
            sigma=self.sigma,
            trend="constant" if self.has_intercept else None,
            sample_weight=weights,
            alpha_scale=self.alpha_scale,
            groups=None if groups is None else groups[rows],
            approximation=near,
        )
        return ModelPath.of_machine(path, self.alpha_, output)

    def _unit(self, given: TrainingSet) -> float:
        """Return the number that alpha is multiplied by, see the parameter `alpha_scale`."""
        return given.total_weight if self.alpha_scale == "n" else 1.0

    def _find_outliers(self, given: TrainingSet, chosen: TrainingSet, alphas: Vector, plan: Plan) -> FarRows | None:
        """Set `outliers_`, if they are to be looked for, and return the report on them."""
        report = {name: self.__dict__[name] for name in _REPORT if name in self.__dict__}
        at_end = "selection_" not in report or report["selection_"].ended == "converged"
        plain = given.targets.shape[1] == 1 and not isinstance(given.kernel, str)
        if self.outliers is None or not (self.chooses_alpha and at_end and plain):
            return None
        if not isinstance(self.outliers, str):
            self.outliers_ = outliers_given(self.outliers, given, self.copies_)
            return None
        if plan.approximates:
            return None

        def choose(some: TrainingSet) -> tuple[TrainingSet, float]:
            best, alphas = self._chosen(some, self._unit(some), True, None)
            return best, float(alphas[0]) * self._unit(some)

        found = chosen, float(alphas[0]) * self._unit(given)
        outliers, far = outliers_of_ridge(given, found, choose, intercept=self.has_intercept)
        self.outliers_ = np.setdiff1d(outliers, self.copies_)
        for name in _REPORT:
            self.__dict__.pop(name, None)
        self.__dict__.update(report)
        return far

    @cached_property
    def dual_coef_(self) -> Any:  # type: ignore[override]
        """The coefficients c, see the class."""
        check_is_fitted(self)
        return self._posteriors.coefficients(len(self.X_fit_))

    @property
    def chooses_alpha(self) -> bool:
        """Whether alpha is chosen, and not given."""
        return leaves_open(self.kernel) if self.alpha is None else is_auto(self.alpha)

    def opened_by_kernel(self) -> dict[str, object]:
        """Return what is looked for because of the kernel, see :func:`kernsel.estimators.fitted.opened_by_kernel`."""
        return {"alpha": "auto"} if self.alpha is None and self.chooses_alpha else {}

    @property
    def not_sought_(self) -> list[str]:
        """What was not looked for, without having been told to leave it, see the class."""
        check_is_fitted(self)
        return self._left_as_they_are()

    def _left_as_they_are(self) -> list[str]:
        if self.alpha is not None or self.chooses_alpha:
            return []
        kernel = self._kernel()
        has_open = isinstance(kernel, Kernel) and any(not h.fixed for h in kernel.hyperparameters)
        return (
            ["alpha"]
            + (["intercept"] if self.fit_intercept is None else [])
            + (["hyperparameters"] if has_open and self.criterion is None else [])
        )

    @property
    def has_intercept(self) -> bool:
        """Whether a constant is added to the function."""
        return self.chooses_alpha if self.fit_intercept is None else bool(self.fit_intercept)

    @property
    def default_criterion(self) -> str:
        """The criterion that chooses alpha, and the kernel, if none is given."""
        kernel = self._kernel()
        return "loo" if isinstance(kernel, str) or all(h.fixed for h in kernel.hyperparameters) else "reml"

    def _kernel(self) -> Kernel | str:
        kernel = super()._kernel()
        if isinstance(kernel, str) or not (leaves_open(self.kernel) and self.chooses_alpha):
            return kernel
        return with_sizes_of_terms(kernel)

    def _options_of(self, criterion: object) -> dict[str, Any]:
        return {"sigma": self.sigma} if needs(criterion, "sigma") else {}

    def _alphas_given(self, targets: int) -> Vector:
        """Return the given regularization of each target."""
        return regularizations(1.0 if self.alpha is None else self.alpha, targets)

    def _chosen(
        self, given: TrainingSet, unit: float, automatic: bool, approximation: Approximation | None
    ) -> tuple[TrainingSet, Vector]:
        """Choose alpha and the kernel; return the data with that kernel, and one alpha for each target."""
        require_squares(given.targets)
        name = self.default_criterion if self.criterion is None else self.criterion
        count = given.targets.shape[1]
        if isinstance(name, str):
            require_name(name, (*searched(), *along_path()))
        require_sigma(name, self.sigma)
        resolved = given.resolved()
        fixed = isinstance(resolved.kernel, str) or resolved.kernel.n_dims == 0
        row = TABLE[name] if isinstance(name, str) else None
        has_copies = row is not None and row.name == "gcv" and given.with_copies_once() is not given
        along = fixed and approximation is None and row is not None and not row.differs_on_path and not has_copies
        if row and row.for_path and (not row.for_search or along):
            if not automatic:
                raise ValueError(
                    f'alpha: expected "auto", since the criterion {name!r} chooses nothing else, got {self.alpha!r}'
                )
            path, rule = self._path(resolved, None), with_free_scale(row.name)
            alpha = max(path.best(rule), resolved.least / unit)
            self.path_, self._path_of = path, (resolved, path.alphas)
            self.criterion_value_ = float(getattr(path.at(alpha), TABLE[rule].curve)[0])
            return resolved, np.full(count, alpha)
        criterion = criterion_named(name, self._options_of(name))
        alphas = np.zeros(0) if automatic else self._alphas_given(count)
        if np.ptp(alphas) > 0 if len(alphas) else False:
            raise ValueError('alpha: expected one number or "auto", since the kernel is chosen for all targets together')
        kernel, points = given.kernel_and_points()
        if isinstance(criterion, UnbiasedRisk) and given.weights is not None and is_number(criterion.sigma):
            root = np.sqrt(np.where(given.weights > 0, given.weights, 1.0))
            criterion = replace(criterion, sigma=criterion.sigma / root)  # sigma belongs to a point of weight one
        # A criterion that depends on the scale of y needs a kernel with an amplitude, which is divided out of alpha below.
        known = kernel if isinstance(resolved.kernel, str) else resolved.kernel
        scaled = automatic and criterion.sees_scale and Layout(known).amplitudes() is None
        with watched(self, self.verbose, self.max_evaluations) as tell:
            selection = choose(
                criterion,
                kernel,
                points,
                np.asarray(given.targets, dtype=np.float64),
                noise=0.0 if automatic else float(alphas[0]) * unit,
                finds_noise=automatic,
                finds_amplitude=scaled,
                jitter=resolved.least if automatic and resolved.least else None,
                trend="constant" if self.has_intercept else None,
                sample_weight=given.weights,
                groups=given.groups if criterion.takes_groups else given.told,
                names=given.names,
                random_state=self.random_state,
                approximation=approximation,
                budget=Budget(self.max_evaluations, np.inf, tell),
            )
        self.selection_ = selection
        require_few_if_interrupted(selection.interrupt, len(given.targets))
        self.criterion_value_ = selection.value
        strength = (selection.noise if automatic else float(alphas[0]) * unit) + selection.jitter
        strength /= selection.amplitude
        chosen: Any = "precomputed" if isinstance(given.kernel, str) else selection.kernel
        return replace(given, kernel=chosen), np.full(count, strength / unit)

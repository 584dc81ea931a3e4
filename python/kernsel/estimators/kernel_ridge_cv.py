"""Kernel ridge regression for many regularizations at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._base.renamed import RenamedAttribute
from kernsel._data.allowed import FLAG
from kernsel._data.rows import is_of_rows
from kernsel._data.training import TrainingSet
from kernsel._search.checks import LandmarksCheck
from kernsel._search.short_scales import with_short_scales
from kernsel._solve.evaluate import require_takes_groups
from kernsel._solve.path import RegularizationPath
from kernsel.approximations import Nystrom, approximation_given
from kernsel.criteria import GroupsOut
from kernsel.criteria.base import Given
from kernsel.criteria.leave_out import groups
from kernsel.criteria.names import along_path, criterion_named, require_name, require_sigma, with_free_scale
from kernsel.criteria.table import TABLE
from kernsel.estimators.fitted import LeftOut
from kernsel.estimators.kernel_machine import ALLOWED, KernelMachine
from kernsel.estimators.outliers import OUTLIERS
from kernsel.estimators.path_of_rows import PathOfRows, path_of_rows
from kernsel.estimators.ridge_explained import EXPLAINED
from kernsel.estimators.ridge_outliers import outliers_given, outliers_of_ridge, without
from kernsel.estimators.rows_everywhere import take_columns
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data
from kernsel.kernels.objects import Points

__all__ = ["KernelRidgeCV"]


# The data with a kernel, the path, the path of each target, and the chosen alphas with their values.
_Fit: TypeAlias = tuple[TrainingSet, RegularizationPath, list[RegularizationPath], list[tuple[float, float]]]


class KernelRidgeCV(KernelMachine):
    """Kernel ridge regression with the best of many alphas, by a closed-form criterion, from one eigendecomposition.

    Minimizes the objective of :class:`KernelRidge` for all `alphas` at once, in about 9 n^3 operations; the leave-one-out
    errors of hundreds of alphas take two products of n x n matrices more. No model is refitted for cross-validation. The
    hyperparameters of the kernel are not searched for; its "auto" parameters are set from the data. Length scales that are
    "auto" follow the spread of each column; if the targets vary faster, one or two sets of shorter ones are tried as well, with
    a decomposition each, and `kernel_` is the kernel for which the criterion is best.

    This estimator is for known kernels: it gives all criteria for all alphas at once (`path_`), and with `alpha_per_target` an
    alpha for each of many targets at hardly more cost. ``KernelRidge(alpha="auto")`` also chooses the hyperparameters of the
    kernel, by a search with a Cholesky factorization for each evaluation of one criterion.

    It takes memory for three n x n matrices. For many points, ``approximation=Nystrom()`` has all alphas from one m x m
    decomposition, with m landmarks: two passes over the rows of about 2 n m^2 operations, and nothing of the size n x m. It is
    for data with much noise; ``KernelRidge(alpha="auto", criterion="loo")`` chooses alpha by nearest neighbours.

    Parameters
    ----------
    kernel : Kernel, str, callable or None
        As in :class:`KernelRidge`.
    alphas : array-like of shape (l,), optional
        The candidates, positive. By default 200 over 14 decades, up to 100 times the largest eigenvalue of the kernel matrix.
    criterion : str or GroupsOut
        A rule of :meth:`kernsel.RegularizationPath.best`. Likelihoods are evaluated for the best common scale of kernel and
        noise, since this model has no scale. Rules that minimize or maximize a curve choose among `alphas`; "discrepancy",
        "lcurve" and "quasi-optimality" choose between them as well. "kfold", "kfold_log_density" and
        :class:`kernsel.criteria.GroupsOut` are k-fold cross-validation, in closed form.
    alpha_per_target : bool
        Choose one alpha for each target.
    outliers : "auto", array-like of int or None
        As in :class:`KernelRidge`: "auto" looks for targets that are grossly wrong if there is one target, no weights, no
        precomputed matrix, and a criterion that is minimized or maximized. It takes a Cholesky factorization, and another
        decomposition or more only if residuals are suspect.
    approximation : Nystrom or None
        Landmarks in the place of all points, see :class:`kernsel.Nystrom`. Equal rows are left out together, but folds and
        groups are refused, and outliers are not looked for. Likelihoods are evaluated with the term of the bound, if it is to
        be used.
    gamma, degree, coef0, kernel_params, fit_intercept, alpha_scale, sigma
        As in :class:`KernelRidge`.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
        The chosen alpha; an array with `alpha_per_target`.
    criterion_value_ : float or ndarray of shape (n_targets,)
        The value of the criterion at `alpha_`.
    path_ : RegularizationPath, or list of n_targets of them with `alpha_per_target`
        All criteria for all alphas, and the eigenvalues of the kernel matrix, without the outliers.
    outliers_ : ndarray of int
        The rows that were found to be outliers, whose weight is zero.
    dual_coef_, intercept_, X_fit_, kernel_, left_out_together_, copies_, n_features_in_, feature_names_in_
        As in :class:`KernelRidge`. With landmarks, X_fit_ are these, dual_coef_ their coefficients,
        and left_out_together_ is empty.
    loo_residuals_, leverage_, effective_dof_, norm_
        As in :class:`KernelRidge`; with landmarks only `norm_`.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 60).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(60)
    >>> model = ks.KernelRidgeCV("rbf", alphas=np.logspace(-8, 3, 200), criterion="gcv").fit(X, y)
    >>> model.path_.gcv.shape, bool(model.criterion_value_ == model.path_.gcv.min())
    ((200,), True)
    """

    best_score_ = RenamedAttribute("criterion_value_")
    _allowed: ClassVar = ALLOWED | {"alpha_per_target": FLAG, "outliers": OUTLIERS}

    def __init__(
        self,
        kernel: Kernel | str | Callable[..., Any] | None = None,
        *,
        alphas: ArrayLike | None = None,
        criterion: str | GroupsOut = "loo",
        alpha_per_target: bool = False,
        outliers: Literal["auto"] | ArrayLike | None = "auto",
        approximation: Nystrom | None = None,
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
        self.outliers = outliers
        self.approximation = approximation
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.alpha_scale = alpha_scale
        self.sigma = sigma

    def fit(
        self,
        X: Points,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | float | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Decompose the kernel matrix, choose alpha, and compute the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) if the kernel is precomputed; or n objects, for a kernel on objects
            With :class:`kernsel.Nystrom` also rows that are read in blocks: a source (:func:`kernsel.row_source`), the path of
            a Parquet or .npy file, a dataset of pyarrow, or a collection of Dask, like y and the weights. Some rows, drawn at
            random, choose landmarks and what is "auto" in the kernel. All rows are then read twice where they are, for
            `path_`, which chooses alpha; they are left out one by one, also where they are equal.
        y : array-like of shape (n,) or (n, n_targets); or the name of a column of a file or dataset, or None for a source
        sample_weight : float or array-like of shape (n,), optional
            Not negative. A weight of zero leaves the point out.
        groups : array-like of shape (n,), optional
            A label for each point: "loo" leaves the points of a group out together, and folds keep groups whole. By default
            equal rows are left out together; for "gcv" copies count as one row.

        Returns
        -------
        self : KernelRidgeCV
        """
        if is_of_rows(X):
            self._take_rows(path_of_rows(self, X, y, sample_weight, groups))
            return self
        all_rows = self._with_rows_once(self._training_set(X, y, sample_weight).with_groups(groups), self.criterion)
        self._require_landmarks_allow(all_rows)
        given, path, paths, chosen = found = self._best_of_candidates(all_rows)
        self.outliers_ = self._outliers(all_rows, found, weighted=sample_weight is not None)
        if len(self.outliers_):
            all_rows = without(np.union1d(self.outliers_, self.copies_), all_rows)
            given, path, paths, chosen = self._best_of_candidates(all_rows)
        for name in ("_path_of", *EXPLAINED):
            self.__dict__.pop(name, None)
        self.path_ = paths if self.alpha_per_target else path
        if self.approximation is None:
            self._path_of = given, path.alphas
            self.X_fit_, coefficients, intercepts = given.X, *self._coefficients(given, paths, chosen)
            coefficients = coefficients.astype(given.y.dtype, copy=False)
        else:
            self.X_fit_, coefficients, intercepts = self._coefficients_of_landmarks(path, paths, chosen)
        alphas, scores = (np.array(values) for values in zip(*chosen, strict=True))
        self.alpha_ = alphas if self.alpha_per_target else float(alphas[0])
        self.criterion_value_ = scores if self.alpha_per_target else float(scores[0])
        self.kernel_ = given.kernel
        alone = np.arange(0)
        self.left_out_together_ = given.left_out_together if self.approximation is None else alone
        self.dual_coef_ = coefficients.reshape(-1, *given.y.shape[1:])
        self.intercept_ = (intercepts if given.y.ndim == 2 else float(intercepts[0])) if self.fit_intercept else 0.0
        return self

    def _take_rows(self, found: PathOfRows) -> None:
        """Choose alpha along the path of rows that were read in blocks, and set the fitted attributes."""
        path = found.path
        paths = path.of_each_target() if self.alpha_per_target else [path]
        chosen = [self._best(one, None) for one in paths]
        take_columns(self, found.some)
        for name in ("_path_of", *EXPLAINED):
            self.__dict__.pop(name, None)
        self.path_, self.kernel_ = (paths if self.alpha_per_target else path), found.some.kernel_
        self.left_out_together_, self.outliers_, self.copies_ = (np.zeros(0, dtype=np.intp) for _ in range(3))
        self._take_landmarks(path, paths, chosen, found.one_output)
        LandmarksCheck(found.missing / float(np.min(self.alpha_))).warn(len(self.X_fit_))

    def _take_landmarks(
        self, path: RegularizationPath, paths: list[RegularizationPath], chosen: list[tuple[float, float]], one_output: bool
    ) -> None:
        """Set alpha, the value of the criterion, and the coefficients of landmarks."""
        self.X_fit_, coefficients, intercepts = self._coefficients_of_landmarks(path, paths, chosen)
        alphas, scores = (np.array(values) for values in zip(*chosen, strict=True))
        self.alpha_ = alphas if self.alpha_per_target else float(alphas[0])
        self.criterion_value_ = scores if self.alpha_per_target else float(scores[0])
        self.dual_coef_ = coefficients[:, 0] if one_output else coefficients
        self.intercept_ = (float(intercepts[0]) if one_output else intercepts) if self.fit_intercept else 0.0

    def _coefficients(
        self, given: TrainingSet, paths: list[RegularizationPath], chosen: list[tuple[float, float]]
    ) -> tuple[Matrix, Vector]:
        """Return the coefficients of all points, and the intercept of each target."""
        unit = self._unit(given)
        root = np.ones(len(given.y)) if given.weights is None else given.weights
        K = given.matrix() if self.fit_intercept else None
        coefficients = np.zeros(given.targets.shape)
        intercepts = np.zeros(given.targets.shape[1])
        for k, (one, (alpha, _)) in enumerate(zip(paths, chosen, strict=True)):
            mine: Any = slice(k, k + 1) if self.alpha_per_target else slice(None)
            c = one.dual_coef(alpha).reshape(len(given.targets[given.used]), -1)
            coefficients[given.used, mine] = c
            if K is not None:  # y - K c - lambda c / w equals the intercept at every point
                rest = given.targets[given.used, mine] - K @ c - alpha * unit * c / root[given.used][:, None]
                intercepts[mine] = rest.mean(axis=0)
        return coefficients, intercepts

    def _coefficients_of_landmarks(
        self, path: RegularizationPath, paths: list[RegularizationPath], chosen: list[tuple[float, float]]
    ) -> tuple[Matrix, Matrix, Vector]:
        """Return the landmarks, their coefficients, and the intercept of each target."""
        assert path.landmarks is not None
        found = [one.landmark_coef(alpha) for one, (alpha, _) in zip(paths, chosen, strict=True)]
        coefficients, of_trend = (np.hstack(parts) for parts in zip(*found, strict=True))
        return path.landmarks, coefficients, of_trend.sum(axis=0)

    def _require_landmarks_allow(self, given: TrainingSet) -> None:
        """Raise if landmarks cannot do what is asked for."""
        if self.approximation is None:
            return
        if not isinstance(self.approximation, Nystrom):
            raise TypeError(f"approximation: expected None or kernsel.Nystrom(), got {self.approximation!r}")
        if isinstance(given.kernel, str):
            raise ValueError("approximation: expected None, since the kernel matrix is given and landmarks need the kernel")
        approximation_given(self.approximation, given.kernel, given.X.shape[1])
        if given.told is not None:
            raise ValueError("groups: expected None with approximation=Nystrom(), which leaves out equal rows together only")
        if isinstance(self.criterion, GroupsOut) or (self.criterion in TABLE and TABLE[self.criterion].kind is GroupsOut):
            raise ValueError(
                f'criterion: expected one without folds with approximation=Nystrom(), such as "loo", got {self.criterion!r}'
            )

    def _path(self, given: TrainingSet, alphas: Any) -> RegularizationPath:
        if self.approximation is None:
            return super()._path(given, alphas)
        assert isinstance(given.kernel, Kernel)
        n = len(given.targets[given.used])
        if n < 2:
            raise ValueError(f"alpha: there is nothing to choose it by, got n_samples = {n} of positive weight")
        return RegularizationPath(
            given.kernel,
            np.asarray(given.targets[given.used], dtype=np.float64),
            X=given.X[given.used],
            alphas=alphas,
            sigma=self.sigma,
            trend="constant" if self.has_intercept else None,
            sample_weight=given.weights_used,
            alpha_scale=self.alpha_scale,
            groups=given.together,
            approximation=self.approximation,
        )

    def left_out(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> LeftOut:
        """Return the leave-one-out predictions of one target; y must be given.

        See :class:`kernsel.estimators.fitted.HasLeftOut`. Not with landmarks, see `path_.loo` for the mean squared error.
        """
        if self.path_by_landmarks() is not None:
            raise ValueError("approximation: points left out are not predicted with landmarks; path_.loo has their mean error")
        return super().left_out(X, y, output)

    def path_by_landmarks(self) -> RegularizationPath | None:
        """Return the path of all targets if the fit is by landmarks."""
        known = self.__dict__.get("path_")  # a path that is computed when it is asked for is of all points
        first = known[0] if isinstance(known, list) else known
        return None if first is None or not first.by_landmarks else first.of_all_targets()

    def _outliers(self, given: TrainingSet, found: _Fit, *, weighted: bool) -> Indices:
        """Return the rows that are outliers, if they are to be looked for."""
        plain = given.targets.shape[1] == 1 and not weighted and not isinstance(given.kernel, str)
        if self.outliers is None or not (plain and self._compares()):
            return np.zeros(0, dtype=np.intp)
        if not isinstance(self.outliers, str):
            return outliers_given(self.outliers, given, self.copies_)
        if self.approximation is not None:
            return np.zeros(0, dtype=np.intp)

        def chosen(fit: _Fit) -> tuple[TrainingSet, float]:
            with_kernel, _, _, of_targets = fit
            return with_kernel, of_targets[0][0] * self._unit(with_kernel)

        def choose(some: TrainingSet) -> tuple[TrainingSet, float]:
            return chosen(self._best_of_candidates(some))

        outliers, _ = outliers_of_ridge(given, chosen(found), choose, intercept=self.has_intercept)
        return np.setdiff1d(outliers, self.copies_)

    def _best_of_candidates(self, given: TrainingSet) -> _Fit:
        """Return the fit with the kernel for which the criterion is best, see `_candidates`."""
        return max((self._along(one) for one in self._candidates(given)), key=lambda found: self._merit(*found))

    def _compares(self) -> bool:
        """Whether the criterion is one whose values tell which kernel is better."""
        name = self.criterion
        return not isinstance(name, str) or (name in TABLE and bool(TABLE[with_free_scale(name)].for_search))

    def _candidates(self, given: TrainingSet) -> Iterator[TrainingSet]:
        """Yield the data with each kernel that is tried: some length scales in place of "auto", if a rule compares them."""
        if isinstance(given.kernel, str) or not self._compares():
            yield given.resolved()
            return
        used, X = given.used, given.X.astype(np.float64, copy=False)
        data = Data(X[used], given.targets[used].astype(np.float64, copy=False), given.weights_used, given.names)
        resolved = given.resolved()
        yield resolved
        for kernel in with_short_scales(given.kernel, data)[1:]:
            yield replace(given, kernel=kernel)

    def _along(self, given: TrainingSet) -> _Fit:
        """Return the data, the path and those of each target, and the alpha that is chosen for each with its value."""
        folds = self._folds(given)
        path = self._path(given, self._grid(given, self._unit(given)))
        paths = path.of_each_target() if self.alpha_per_target else [path]
        return given, path, paths, [self._best(one, folds) for one in self._paths_to_choose_by(given, path, paths)]

    def _unit(self, given: TrainingSet) -> float:
        """Return the number that alpha is multiplied by, see the parameter `alpha_scale`."""
        return given.total_weight if self.alpha_scale == "n" else 1.0

    def _merit(self, given: TrainingSet, path: RegularizationPath, paths: object, chosen: list[tuple[float, float]]) -> float:
        """Return how good a kernel is, larger is better: the value of the criterion, of targets in their own units."""
        del path, paths
        values = np.array([value for _, value in chosen])
        if np.isnan(values).any():
            return -np.inf
        if self._larger_is_better():
            return float(values.sum())
        squares = np.mean(given.targets[given.used].astype(np.float64) ** 2, axis=0) if len(values) > 1 else np.ones(1)
        return -float(np.sum(values / np.where(squares > 0, squares, 1.0)))

    def _larger_is_better(self) -> bool:
        if isinstance(self.criterion, GroupsOut):
            return self.criterion.larger_is_better
        return bool(TABLE[with_free_scale(self.criterion)].larger_is_better)

    def _paths_to_choose_by(
        self, given: TrainingSet, path: RegularizationPath, paths: list[RegularizationPath]
    ) -> list[RegularizationPath]:
        """Return the paths whose criterion chooses alpha: those of `path_`, or for "gcv" of data with copies once."""
        once = given.with_copies_once() if self.criterion == "gcv" else given
        if once is given:
            return paths
        chosen_by = self._path(once, path.alphas)
        return chosen_by.of_each_target() if self.alpha_per_target else [chosen_by]

    def _folds(self, given: TrainingSet) -> tuple[NDArray[np.intp], bool] | None:
        """Return the group of each point of positive weight and whether the criterion is a log density; None without groups."""
        of_groups = tuple(name for name, row in TABLE.items() if row.kind is GroupsOut)
        if (isinstance(self.criterion, str) and self.criterion in of_groups) or isinstance(self.criterion, GroupsOut):
            criterion = criterion_named(self.criterion, {})
            assert isinstance(criterion, GroupsOut)
            X = np.asarray(given.X, dtype=np.float64)
            used = np.arange(len(X)) if isinstance(given.used, slice) else given.used
            data = Given(X, np.asarray(given.y, dtype=np.float64), used, given.groups)
            if self.fit_intercept:
                criterion.require_trend(np.ones((len(used), 1)), data)
            return groups(criterion.folds, data)[0], bool(criterion.log_density)
        require_name(self.criterion, (*along_path(), *of_groups), or_else=", or kernsel.criteria.GroupsOut")
        require_sigma(self.criterion, self.sigma)
        kind = TABLE[self.criterion].kind
        if kind is not None:
            require_takes_groups(kind, given.told)
        return None

    def _grid(self, given: TrainingSet, unit: float) -> Vector | None:
        """Return the alphas; None for the default of the path."""
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
        row = TABLE[with_free_scale(str(self.criterion))]
        if not row.for_search:  # "discrepancy", "lcurve" and "quasi-optimality" also choose between the alphas of the grid
            alpha = path.best(row.name)
            return alpha, float(getattr(path.at(alpha, leave_out=False), row.curve)[0])
        values = getattr(path, row.curve)
        at = int(np.nanargmax(values) if row.larger_is_better else np.nanargmin(values))
        return float(path.alphas[at]), float(values[at])

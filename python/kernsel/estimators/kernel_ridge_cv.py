"""Kernel ridge regression for many regularizations at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel._base.annotations import Vector
from kernsel._base.renamed import RenamedAttribute
from kernsel._data.allowed import FLAG
from kernsel._data.training import TrainingSet
from kernsel._solve.evaluate import require_takes_groups
from kernsel._solve.path import RegularizationPath
from kernsel.criteria import GroupsOut
from kernsel.criteria.base import Given
from kernsel.criteria.leave_out import groups
from kernsel.criteria.names import along_path, criterion_named, require_name, require_sigma, with_free_scale
from kernsel.criteria.table import TABLE
from kernsel.estimators.kernel_machine import ALLOWED, KernelMachine
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points

__all__ = ["KernelRidgeCV"]


class KernelRidgeCV(KernelMachine):
    """Kernel ridge regression with the best of many alphas, by a closed-form criterion, from one eigendecomposition.

    Minimizes the objective of :class:`KernelRidge` for all `alphas` at once, in about 9 n^3 operations; the leave-one-out
    errors of hundreds of alphas take two products of n x n matrices more. No model is refitted for cross-validation. The
    hyperparameters of the kernel are not chosen; its "auto" parameters are set from the data.

    This estimator is for known kernels: it gives all criteria for all alphas at once (`path_`), and with `alpha_per_target` an
    alpha for each of many targets at hardly more cost. ``KernelRidge(alpha="auto")`` also chooses the hyperparameters of the
    kernel, by a search with a Cholesky factorization for each evaluation of one criterion.

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
    gamma, degree, coef0, kernel_params, fit_intercept, alpha_scale, sigma
        As in :class:`KernelRidge`.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
        The chosen alpha; an array with `alpha_per_target`.
    criterion_value_ : float or ndarray of shape (n_targets,)
        The value of the criterion at `alpha_`.
    path_ : RegularizationPath, or list of n_targets of them with `alpha_per_target`
        All criteria for all alphas, and the eigenvalues of the kernel matrix.
    dual_coef_, intercept_, X_fit_, kernel_, left_out_together_, copies_, n_features_in_, feature_names_in_
        As in :class:`KernelRidge`.

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
    _allowed: ClassVar = ALLOWED | {"alpha_per_target": FLAG}

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

    def fit(
        self,
        X: Points,
        y: ArrayLike,
        sample_weight: ArrayLike | float | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Decompose the kernel matrix, choose alpha, and compute the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) if the kernel is precomputed; or n objects, for a kernel on objects
        y : array-like of shape (n,) or (n, n_targets)
        sample_weight : float or array-like of shape (n,), optional
            Not negative. A weight of zero leaves the point out.
        groups : array-like of shape (n,), optional
            A label for each point: "loo" leaves the points of a group out together, and folds keep groups whole. By default
            equal rows are left out together; for "gcv" copies count as one row.

        Returns
        -------
        self : KernelRidgeCV
        """
        given = self._training_set(X, y, sample_weight).with_groups(groups)
        given = self._with_rows_once(given, self.criterion).resolved()
        folds = self._folds(given)
        unit = given.total_weight if self.alpha_scale == "n" else 1.0
        path = self._path(given, self._grid(given, unit))
        paths = path.of_each_target() if self.alpha_per_target else [path]
        chosen = [self._best(one, folds) for one in self._paths_to_choose_by(given, path, paths)]
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
        self.path_, self._path_of = (paths if self.alpha_per_target else path), (given, path.alphas)
        alphas, scores = (np.array(values) for values in zip(*chosen, strict=True))
        self.alpha_ = alphas if self.alpha_per_target else float(alphas[0])
        self.criterion_value_ = scores if self.alpha_per_target else float(scores[0])
        self.kernel_ = given.kernel
        self.X_fit_ = given.X
        self.left_out_together_ = given.left_out_together
        self.dual_coef_ = coefficients.astype(given.y.dtype, copy=False).reshape(given.y.shape)
        self.intercept_ = (intercepts if given.y.ndim == 2 else float(intercepts[0])) if self.fit_intercept else 0.0
        return self

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
            return alpha, float(getattr(path.at(alpha), row.curve)[0])
        values = getattr(path, row.curve)
        at = int(np.nanargmax(values) if row.larger_is_better else np.nanargmin(values))
        return float(path.alphas[at]), float(values[at])

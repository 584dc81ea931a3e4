"""Support vector classification of two or more classes, one class against another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted, column_or_1d

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.allowed import FLAG, number, one_of, require
from kernsel._data.points import in_parts, new_points
from kernsel._data.training import dense, training_set
from kernsel.estimators.classification.parameters import labels_of
from kernsel.estimators.fitted import Prediction, ShownData
from kernsel.estimators.support.machine import ALLOWED, SupportMachine, coefficients_of_columns, sum_over_vectors
from kernsel.estimators.support.vectors import SupportSolution, SupportVectors
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points

__all__ = ["SVC"]

_ALLOWED = ALLOWED | {
    "C": number("positive"),
    "fit_intercept": FLAG,
    "break_ties": FLAG,
    "decision_function_shape": one_of("ovr", "ovo"),
}


class SVC(ClassifierMixin, SupportMachine):  # type: ignore[misc]
    """Support vector classification.

    For two classes with labels y = -1 and 1, finds the function f = b + sum_i a_i k(., x_i) that minimizes ::

        |f - b|^2 / 2 + C sum_i v_i w_i max(1 - y_i f(x_i), 0)

    where v are the weights of the classes, and w those of the points. Points on the right side of the margin, y f > 1, have
    a_i = 0 exactly; predictions use only the others, the support vectors. The fit solves the dual problem, min a'Ka/2 - a'y for
    0 <= y_i a_i <= C v_i w_i (and sum a_i = 0 with an intercept), by the solver of :class:`kernsel.SVR`, up to a duality gap
    that is reported. Of more than two classes, each is separated from each other one, and the class that most of these
    functions prefer is predicted. The cost of a function is that of `SVR` for the points of its two classes.

    It has scikit-learn's parameters and attributes, but for `probability`: the decision function of a machine with this loss
    says little about probabilities, and folds that scale it say it late. :class:`kernsel.GaussianProcessClassifier` has
    probabilities; scikit-learn's ``CalibratedClassifierCV(SVC())`` makes some of these decisions.

    Parameters
    ----------
    kernel : Kernel, str, callable or None
        As in :class:`kernsel.SVR`: None and "auto" are ``RBF("auto")``, with length scales from the spread of each column;
        scikit-learn's names are used with `gamma`, `degree` and `coef0`; with "precomputed", X is the kernel matrix; a function
        is called with two sets of points.
    C : float
        The weight of the errors.
    class_weight : dict, "balanced" or None
        The factors v of C for the classes, by label; others have 1. "balanced" is n / (n_classes n_c) for n_c points.
    decision_function_shape : {"ovr", "ovo"}
        What `decision_function` returns of more than two classes: the votes for each class, with ties broken by the sizes
        of functions ("ovr"), or the function of each pair of classes ("ovo").
    break_ties : bool
        Whether classes with equal numbers of votes are told apart by "ovr" instead of by their order. Only with "ovr".
    fit_intercept : bool
        False leaves out b, and with it the condition that the coefficients sum to zero.
    degree, coef0 : float
        The parameters of "poly" and "sigmoid".
    gamma : float, "scale" or "auto"
        The parameter gamma of a kernel given by name. "scale" is 1 / (d var(X)), "auto" is 1 / d.
    kernel_params : dict, optional
        Keyword arguments for a kernel that is a function.
    tol : float
        The duality gap at which a fit stops, relative to the objective.
    shrinking : bool
        Whether to leave out temporarily the points whose coefficients stay at zero or at a bound.
    cache_size : float
        The memory for rows of the kernel matrix, in megabytes; at least 128 rows are kept.
    verbose : bool
        Print a line about each function.
    max_iter : int
        The largest number of steps for each function, each of two coefficients; -1 for no limit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_ : ndarray of shape (n_SV,)
        The indices of the support vectors of all functions, in the order of their classes.
    support_vectors_ : ndarray or sparse array of shape (n_SV, d)
        The support vectors; empty if the kernel is precomputed. If X is sparse, `support_vectors_`, `dual_coef_` and `coef_`
        are sparse as well.
    n_support_ : ndarray of shape (n_classes,)
        The number of support vectors of each class.
    dual_coef_ : ndarray or sparse array of shape (n_classes - 1, n_SV)
        The coefficients of each support vector in the functions of its class against each of the others, in their order.
    intercept_ : ndarray of shape (n_pairs,)
        The pairs of classes are (0, 1), (0, 2), ..., (1, 2), ...: n_classes (n_classes - 1) / 2 of them. For two classes, a
        function above zero means the second; for more, the first of the pair.
    coef_ : ndarray of shape (n_pairs, d)
        The coefficients of the columns, if the kernel is linear.
    class_weight_ : ndarray of shape (n_classes,)
        The weights of the classes.
    objective_, duality_gap_ : ndarray of shape (n_pairs,)
        The objective of each function, and an upper bound of its difference from the minimum.
    n_iter_ : ndarray of shape (n_pairs,)
        The number of steps.
    fit_status_ : int
        0 if all duality gaps have reached `tol`, 1 if not.
    kernel_ : Kernel or "precomputed"
        The kernel in use, with its "auto" parameters set.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If X has column names.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> inside = np.where((X**2).sum(axis=1) < 1, "in", "out")
    >>> svc = ks.SVC(C=10.0).fit(X, inside)
    >>> svc.predict([[0.1, -0.3], [2.0, 1.0]])
    array(['in', 'out'], dtype='<U3')
    >>> svc.score(X, inside) > 0.95, len(svc.support_) < 60
    (True, True)
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[..., Any] | None = None,
        *,
        C: float = 1.0,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        fit_intercept: bool = True,
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
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.fit_intercept = fit_intercept
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.tol = tol
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(self, X: Points, y: ArrayLike, sample_weight: ArrayLike | float | None = None) -> Self:
        """Compute the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) if the kernel is precomputed; or n objects, for a kernel on objects
        y : array-like of shape (n,)
            Labels of two or more classes, numbers or text.
        sample_weight : float or array-like of shape (n,), optional
            The factors w of C for each point, not negative. A weight of zero leaves the point out.

        Returns
        -------
        self : SVC
        """
        require(self, _ALLOWED)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError('break_ties: expected False with decision_function_shape="ovo", got True')
        given = training_set(
            self, self._kernel_or_name(), X, y, sample_weight, named=self._named, accept_sparse=("csr",), labels=True
        )
        classes, codes = labels_of(given.y)
        weights = np.ones(len(codes)) if given.weights is None else given.weights
        for label, total in zip(classes, np.bincount(codes, weights), strict=True):
            if not total > 0:
                raise ValueError(f"sample_weight: expected a positive weight in each class, got none in {label!r}")
        self.class_weight_ = compute_class_weight(self.class_weight, classes=classes, y=given.y)
        bounds = self._bounds(codes, weights)
        given = replace(given, y=codes.astype(np.float64)).resolved()
        kernel, points = given.kernel_and_points()
        self.kernel_ = given.kernel if isinstance(given.kernel, str) else kernel
        self.classes_ = classes
        found = [self._separate(kernel, points, codes, bounds, pair) for pair in _pairs(len(classes))]
        self._keep(given.original, codes, found)
        self._warn([solution for solution, _ in found], kernel, points)
        return self

    def _bounds(self, codes: Indices, weights: Vector) -> Vector:
        """Return the bound of the coefficient of each point."""
        with np.errstate(over="ignore"):
            bounds = np.asarray(self.C * self.class_weight_[codes] * weights)
        if not np.isfinite(bounds).all():
            raise ValueError("C: times the weights, it is too large")
        if (self.class_weight_ <= 0).any():
            raise ValueError(f"class_weight: expected positive weights, got {self.class_weight_.tolist()}")
        return bounds

    def _separate(
        self, kernel: Kernel, points: Matrix, codes: Indices, bounds: Vector, pair: tuple[int, int]
    ) -> tuple[SupportSolution, Indices]:
        """Return the function that is positive for the first class of a pair, and the points that it was made of."""
        rows = np.flatnonzero(((codes == pair[0]) | (codes == pair[1])) & (bounds > 0))
        y = np.where(codes[rows] == pair[0], 1.0, -1.0)
        solver = SupportVectors(kernel, points if len(rows) == len(points) else points[rows], self.cache_size)
        lower, upper = np.minimum(y * bounds[rows], 0.0), np.maximum(y * bounds[rows], 0.0)
        found = solver.between(y, lower, upper, fit_intercept=self.fit_intercept, **self._solver_options())
        if self.verbose:
            print(f"SVC: {self.classes_[pair[0]]} against {self.classes_[pair[1]]}: {found.told(len(rows))}")
        return found, rows

    def _keep(self, X: Any, codes: Indices, found: list[tuple[SupportSolution, Indices]]) -> None:
        """Set the attributes of the solutions; those with a column for each support vector are sparse if X is."""
        count = len(self.classes_)
        table = np.zeros((len(codes), len(found)))
        for column, (solution, rows) in enumerate(found):
            table[rows, column] = solution.a
        sign = -1.0 if count == 2 else 1.0  # two classes have one function, which is positive for the second
        used = np.flatnonzero(table.any(axis=1))
        self.support_ = used[np.argsort(codes[used], kind="stable")].astype(np.int32)
        self.n_support_ = np.bincount(codes[used], minlength=count).astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if isinstance(self.kernel_, str) else X[self.support_]
        self.dual_coef_: Any = self.by_classes(sign * table[self.support_])
        if sparse.issparse(X):
            self.dual_coef_ = type(X)(self.dual_coef_)
        solutions = [solution for solution, _ in found]
        self.intercept_ = np.array([sign * one.intercept for one in solutions])
        self.objective_ = np.array([one.objective for one in solutions])
        self.duality_gap_ = np.array([one.gap for one in solutions])
        self.n_iter_ = np.array([one.iterations for one in solutions], dtype=np.int64)
        self.fit_status_ = int(not all(one.converged for one in solutions))
        self.shape_fit_ = X.shape

    def of_pairs(self) -> Matrix:
        """Return the coefficients of the support vectors in the function of each pair of classes, shape (n_SV, n_pairs)."""
        table, count = dense(self.dual_coef_), len(self.classes_)
        ends = np.append(0, np.cumsum(self.n_support_))
        found = np.zeros((len(self.support_), count * (count - 1) // 2))
        for column, (first, second) in enumerate(_pairs(count)):
            for own, row in ((first, second - 1), (second, first)):
                found[ends[own] : ends[own + 1], column] = table[row, ends[own] : ends[own + 1]]
        return found

    def by_classes(self, pairs: Matrix) -> Matrix:
        """Return what `dual_coef_` has of the coefficients that `of_pairs` returns, shape (n_classes - 1, n_SV)."""
        ends = np.append(0, np.cumsum(self.n_support_))
        found = np.zeros((len(self.classes_) - 1, len(pairs)))
        for column, (first, second) in enumerate(_pairs(len(self.classes_))):
            for own, row in ((first, second - 1), (second, first)):
                found[row, ends[own] : ends[own + 1]] = pairs[ends[own] : ends[own + 1], column]
        return found

    def _functions(self, X: Points) -> Matrix:
        """Return the function of each pair of classes, shape (m, n_pairs)."""
        check_is_fitted(self)
        if (parts := in_parts(self.kernel_, X)) is not None:
            return np.concatenate([self._functions(part) for part in parts])
        X = dense(new_points(self, self.kernel_, X, dtype=np.float64, accept_sparse="csr"))
        return np.asarray(sum_over_vectors(self, X, self.of_pairs()) + self.intercept_)

    def decision_function(self, X: Points) -> NDArray[np.float64]:
        """Return the function of two classes, or `decision_function_shape` of more.

        The cost is that of O(m n_SV) kernel evaluations.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n) if the kernel is precomputed

        Returns
        -------
        decisions : ndarray of shape (m,), (m, n_classes) or (m, n_pairs)
            Of two classes, positive for the second.
        """
        functions = self._functions(X)
        if len(self.classes_) == 2:
            return functions[:, 0]
        return functions if self.decision_function_shape == "ovo" else self._votes(functions, with_sizes=True)

    def predict(self, X: Points) -> NDArray[Any]:
        """Return the class of each point.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n) if the kernel is precomputed

        Returns
        -------
        y : ndarray of shape (m,)
        """
        functions = self._functions(X)
        if len(self.classes_) == 2:
            return np.asarray(self.classes_[(functions[:, 0] > 0).astype(np.intp)])
        return np.asarray(self.classes_[self._votes(functions, with_sizes=self.break_ties).argmax(axis=1)])

    def _votes(self, functions: Matrix, *, with_sizes: bool) -> Matrix:
        """Return the number of votes for each class, and by less than 1/2 more or less the sizes of its functions."""
        votes, sizes = np.zeros((2, len(functions), len(self.classes_)))
        for column, (first, second) in enumerate(_pairs(len(self.classes_))):
            value = functions[:, column]
            votes[:, first] += value >= 0
            votes[:, second] += value < 0
            sizes[:, first] += value
            sizes[:, second] -= value
        return votes + sizes / (3 * (np.abs(sizes) + 1)) if with_sizes else votes

    def shown_data(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> ShownData:
        """Return the training data, which must be given, with the labels 0 and 1 of two classes, see `FittedModel`."""
        labels = None if y is None else (column_or_1d(y) == self.classes_[-1]).astype(np.float64)
        return super().shown_data(X, labels, output)

    def prediction(self, X: Points, *, level: float | None = None, noisy: bool = False, output: int = 0) -> Prediction:
        """Return the decision function of two classes, see `FittedModel`."""
        del level, noisy, output
        if len(self.classes_) > 2:
            raise ValueError(f"model: expected an SVC of two classes, which has one function, got {len(self.classes_)} classes")
        return Prediction(self.decision_function(X), mean_name="decision function", boundary=0.0)

    @property
    def coef_(self) -> Any:
        """The coefficients of the columns in each function, shape (n_pairs, d), if the kernel is linear; a read-only array."""
        check_is_fitted(self)
        return coefficients_of_columns(self, self.of_pairs())


def _pairs(count: int) -> Iterator[tuple[int, int]]:
    return combinations(range(count), 2)

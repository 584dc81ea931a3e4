"""One-class support vector machines: the region that most points of a distribution are in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin

from kernsel._base.annotations import Vector
from kernsel._data.allowed import Allowed, is_number, require
from kernsel._data.training import training_set
from kernsel.estimators.fitted import Prediction
from kernsel.estimators.support.machine import ALLOWED, FunctionMachine, require_some_weight
from kernsel.estimators.support.vectors import SupportSolution, SupportVectors
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points

__all__ = ["OneClassSVM"]

_FEW = 4000  # the number of points up to which there is no search for a start
_SHARE = 0.1  # the share of the points, drawn at random, that a start is found from
_ALLOWED = ALLOWED | {"nu": Allowed("a number above 0, up to 1", lambda value: is_number(value) and 0 < value <= 1)}


class OneClassSVM(OutlierMixin, FunctionMachine):  # type: ignore[misc]
    """Detection of outliers by the support of a distribution.

    Finds the function f = sum_i a_i k(., x_i) and the level rho that minimize ::

        |f|^2 / 2 - nu n rho + sum_i w_i max(rho - f(x_i), 0)

    where n is the sum of the weights w. A share of at most nu of the points is outside of the region f >= rho, and a share of
    at least nu are support vectors, with a_i > 0. The fit solves the dual problem, min a'Ka/2 for 0 <= a_i <= w_i and
    sum a_i = nu n, by the solver of :class:`kernsel.SVR`, up to a duality gap that is reported. Parameters, attributes and the
    scale of f are scikit-learn's.

    Parameters
    ----------
    kernel : Kernel, str, callable or None
        As in :class:`kernsel.SVR`: None and "auto" are ``RBF("auto")``, with length scales from the spread of each column;
        scikit-learn's names are used with `gamma`, `degree` and `coef0`; with "precomputed", X is the kernel matrix; a function
        is called with two sets of points.
    nu : float
        The share of the points that may be outside, above 0 and up to 1.
    degree, coef0 : float
        The parameters of "poly" and "sigmoid".
    gamma : float, "scale" or "auto"
        The parameter gamma of a kernel given by name. "scale" is 1 / (d var(X)), "auto" is 1 / d.
    kernel_params : dict, optional
        Keyword arguments for a kernel that is a function.
    tol : float
        The duality gap at which the fit stops, relative to the size of the objective.
    shrinking : bool
        Whether to leave out temporarily the points whose coefficients stay at zero or at a bound.
    cache_size : float
        The memory for rows of the kernel matrix, in megabytes; at least 128 rows are kept.
    verbose : bool
        Print a line about the solution.
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
        The coefficients a of the support vectors.
    intercept_ : ndarray of shape (1,)
        -rho.
    offset_ : float
        rho, the level of f.
    coef_ : ndarray of shape (1, d)
        The coefficients of the columns, if the kernel is linear.
    n_support_ : ndarray of shape (1,)
        The number of support vectors.
    objective_, duality_gap_ : float
        The objective, and an upper bound of its difference from the minimum.
    n_iter_ : int
        The number of steps.
    fit_status_ : int
        0 if the duality gap has reached `tol`, 1 if not.
    kernel_ : Kernel or "precomputed"
        The kernel in use, with its "auto" parameters set.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        If X has column names.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> model = ks.OneClassSVM(nu=0.1).fit(X)
    >>> model.predict([[0.0, 0.0], [4.0, 4.0]])
    array([ 1, -1])
    >>> bool(np.mean(model.predict(X) < 0) < 0.11)
    True
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[..., Any] | None = None,
        *,
        nu: float = 0.5,
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
        self.nu = nu
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.tol = tol
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(self, X: Points, y: object = None, sample_weight: ArrayLike | float | None = None) -> Self:
        """Compute the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) if the kernel is precomputed; or n objects, for a kernel on objects
        y : None
            Not used.
        sample_weight : float or array-like of shape (n,), optional
            The weights w, not negative. A weight of zero leaves the point out.

        Returns
        -------
        self : OneClassSVM
        """
        del y
        require(self, _ALLOWED)
        require_some_weight(sample_weight)
        given = training_set(
            self,
            self._kernel_or_name(),
            X,
            None,
            sample_weight,
            named=self._named,
            accept_sparse=("csr",),
            targets=False,
        ).resolved()
        kernel, points = given.kernel_and_points()
        weights = np.ones(len(points)) if given.weights is None else given.weights
        found = self._solve(kernel, points, weights)
        self.kernel_ = given.kernel if isinstance(given.kernel, str) else kernel
        self._keep(given.original, found)
        self.offset_ = -float(found.intercept)
        self._warn([found], kernel, points)
        if self.verbose:
            print(f"OneClassSVM: {found.told(len(points))}")
        return self

    def _solve(self, kernel: Kernel, points: Vector, weights: Vector) -> SupportSolution:
        """Solve the problem; of many points, from where the function of some of them is low."""
        n, start = len(points), None
        if n > _FEW:
            used = np.flatnonzero(weights)
            some = np.sort(np.random.default_rng(0).permutation(used)[: max(int(_SHARE * n), 1)])
            part = self._solve_from(kernel, points[some], weights[some], None)
            support = np.flatnonzero(part.a)
            level = kernel.matmul(points, points[some[support]], part.a[support])
            start = np.zeros(n)
            inwards = np.argsort(level, kind="stable")
            filled = np.cumsum(weights[inwards])
            start[inwards] = np.clip(self.nu * filled[-1] - filled + weights[inwards], 0.0, weights[inwards])
        return self._solve_from(kernel, points, weights, start)

    def _solve_from(self, kernel: Kernel, points: Vector, weights: Vector, start: Vector | None) -> SupportSolution:
        zeros, total = np.zeros(len(points)), self.nu * float(weights.sum())
        solver = SupportVectors(kernel, points, self.cache_size)
        return solver.between(zeros, zeros, weights, total=total, start=start, **self._solver_options())

    def decision_function(self, X: Points) -> NDArray[np.float64]:
        """Return f(X) - rho, which is negative outside of the region, in O(m n_SV) kernel evaluations.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n) if the kernel is precomputed

        Returns
        -------
        decisions : ndarray of shape (m,)
        """
        return self._function(X)

    def score_samples(self, X: Points) -> NDArray[np.float64]:
        """Return f(X).

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n) if the kernel is precomputed

        Returns
        -------
        scores : ndarray of shape (m,)
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X: Points) -> NDArray[np.intp]:
        """Return 1 for each point within the region, and -1 for each outside.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n) if the kernel is precomputed

        Returns
        -------
        y : ndarray of int of shape (m,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def prediction(self, X: Points, *, level: float | None = None, noisy: bool = False, output: int = 0) -> Prediction:
        """Return the decision function, see `FittedModel`."""
        del level, noisy, output
        return Prediction(self.decision_function(X), mean_name="decision function", boundary=0.0)

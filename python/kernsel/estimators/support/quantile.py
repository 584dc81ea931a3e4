"""Kernel regression of a quantile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from kernsel._base.annotations import Vector
from kernsel._data.allowed import Allowed, is_number
from kernsel.estimators.support.penalized import PENALIZED, PenalizedMachine
from kernsel.estimators.support.vectors import SupportSolution, SupportVectors
from kernsel.kernels import Kernel

__all__ = ["KernelQuantileRegressor"]


class KernelQuantileRegressor(PenalizedMachine):
    """Kernel regression of a quantile: the function that a share of the targets is below.

    Finds the function f = b + sum_i a_i k(., x_i) that minimizes ::

        sum_i w_i L(y_i - f(x_i)) + alpha |f - b|^2 / 2,    L(r) = q max(r, 0) + (1 - q) max(-r, 0)

    for the quantile q; 1/2 is the median. With an intercept, a share of at most q of the targets is below f, and at most 1 - q
    above it. The fit solves the dual problem, min a'Ka/2 - a'y for -(1 - q) w_i <= alpha a_i <= q w_i (and sum a_i = 0 with
    an intercept), by the solver of :class:`kernsel.SVR`, up to a duality gap that is reported. Each quantile is a fit of its
    own, so that two of them may cross where there are few points.

    Parameters
    ----------
    kernel : Kernel, str, callable or None
        As in :class:`kernsel.SVR`: None and "auto" are ``RBF("auto")``, with length scales from the spread of each column;
        scikit-learn's names are used with `gamma`, `degree` and `coef0`; with "precomputed", X is the kernel matrix; a function
        is called with two sets of points.
    alpha : float
        The weight of the norm.
    quantile : float
        The share q, between 0 and 1.
    fit_intercept : bool
        False leaves out b, and with it the condition that the coefficients sum to zero.
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
        Print a line about the solution.
    max_iter : int
        The largest number of steps, each of two coefficients; -1 for no limit.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        The indices of the points whose coefficients are not zero: all of them.
    support_vectors_ : ndarray or sparse array of shape (n_SV, d)
        These points; empty if the kernel is precomputed. If X is sparse, `support_vectors_`, `dual_coef_` and `coef_` are
        sparse as well.
    dual_coef_ : ndarray or sparse array of shape (1, n_SV)
        Their coefficients a.
    intercept_ : ndarray of shape (1,)
    coef_ : ndarray of shape (1, d)
        The coefficients of the columns, if the kernel is linear.
    n_support_ : ndarray of shape (1,)
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
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, (400, 1))
    >>> y = np.sin(X[:, 0]) + (0.1 + 0.1 * X[:, 0]) * rng.standard_normal(400)
    >>> high = ks.KernelQuantileRegressor(ks.kernels.RBF(2.0), quantile=0.9, alpha=0.1).fit(X, y)
    >>> round(float(np.mean(y <= high.predict(X))), 1)
    0.9
    """

    _allowed: ClassVar[dict[str, Allowed]] = PENALIZED | {
        "quantile": Allowed("a number between 0 and 1", lambda value: is_number(value) and 0 < value < 1)
    }

    def __init__(
        self,
        kernel: Kernel | str | Callable[..., Any] | None = None,
        *,
        alpha: float = 1.0,
        quantile: float = 0.5,
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
        self.alpha = alpha
        self.quantile = quantile
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

    def _solve(self, kernel: Kernel, points: Vector, y: Vector, C: Vector) -> SupportSolution:
        solver = SupportVectors(kernel, points, self.cache_size)
        return solver.between(y, (self.quantile - 1.0) * C, self.quantile * C, **self._options())

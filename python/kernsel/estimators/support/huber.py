"""Kernel regression by Huber's loss, which few gross errors among the targets hardly move."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from kernsel._base.annotations import Vector
from kernsel._data.allowed import Allowed, number
from kernsel.estimators.support.penalized import PENALIZED, PenalizedMachine
from kernsel.estimators.support.vectors import SupportSolution, SupportVectors
from kernsel.kernels import Kernel

__all__ = ["KernelHuberRegressor"]


class KernelHuberRegressor(PenalizedMachine):
    """Kernel regression by Huber's loss: squares of small errors, sizes of large ones.

    Finds the function f = b + sum_i a_i k(., x_i) that minimizes ::

        sum_i w_i L(y_i - f(x_i)) + alpha |f - b|^2 / 2,    L(r) = r^2 / 2 up to |r| = delta, delta |r| - delta^2 / 2 beyond

    With a large `delta` this is :class:`kernsel.KernelRidge` with the same `alpha`. Errors beyond `delta` pull at f by no more
    than those of size delta: a_i = w_i r_i / alpha, with |a_i| <= w_i delta / alpha. The fit solves the dual problem,
    min a'(K + alpha / W) a / 2 - a'y with these bounds (and sum a_i = 0 with an intercept), by the solver of
    :class:`kernsel.SVR`, up to a duality gap that is reported. Most coefficients are not zero, and a fit takes about as
    long as one of `KernelRidge`, or a few times that.

    Parameters
    ----------
    kernel : Kernel, str, callable or None
        As in :class:`kernsel.SVR`: None and "auto" are ``RBF("auto")``, with length scales from the spread of each column;
        scikit-learn's names are used with `gamma`, `degree` and `coef0`; with "precomputed", X is the kernel matrix; a function
        is called with two sets of points.
    alpha : float
        The weight of the norm.
    delta : float
        The size of an error from which on its cost is linear, in the unit of y: 1.345 standard deviations of the noise lose 5 %
        of the precision that squares have if the noise is normal.
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
        The indices of the points whose coefficients are not zero: all that f does not go through.
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
    >>> X = np.linspace(0, 6, 80).reshape(-1, 1)
    >>> f = np.sin(X[:, 0])
    >>> y = f + 0.1 * rng.standard_normal(80)
    >>> y[::10] += 5.0
    >>> huber = ks.KernelHuberRegressor(ks.kernels.RBF(1.0), alpha=0.1, delta=0.15).fit(X, y)
    >>> ridge = ks.KernelRidge(ks.kernels.RBF(1.0), alpha=0.1, fit_intercept=True).fit(X, y)
    >>> [bool(np.abs(model.predict(X) - f).max() < 0.3) for model in (huber, ridge)]
    [True, False]
    """

    _allowed: ClassVar[dict[str, Allowed]] = PENALIZED | {"delta": number("positive")}

    def __init__(
        self,
        kernel: Kernel | str | Callable[..., Any] | None = None,
        *,
        alpha: float = 1.0,
        delta: float = 1.0,
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
        self.delta = delta
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
        # Huber's loss is the least s^2 / 2 + delta |r - s|, and s = a / C is noise of variance 1 / C (support.hpp).
        with np.errstate(divide="ignore", over="ignore"):
            noise = np.where(C > 0, 1.0 / C, 0.0)
        if not np.isfinite(noise).all():
            raise ValueError(f"alpha: {self.alpha!r} is too large for these weights")
        solver = SupportVectors(kernel, points, self.cache_size, noise)
        return solver.between(y, -self.delta * C, self.delta * C, **self._options())

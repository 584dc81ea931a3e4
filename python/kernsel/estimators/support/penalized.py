"""What kernel regressions by losses other than the square share: the weight alpha of the norm, and the fit."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from kernsel._base.annotations import Vector
from kernsel._data.allowed import FLAG, Allowed, number, require
from kernsel._data.training import training_set
from kernsel.estimators.fitted import ShownData
from kernsel.estimators.support.machine import ALLOWED, FunctionMachine, require_some_weight
from kernsel.estimators.support.vectors import SupportSolution
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points

__all__ = ["PENALIZED", "PenalizedMachine"]

# The allowed values of the parameters that these regressions share.
PENALIZED = ALLOWED | {"alpha": number("positive"), "fit_intercept": FLAG}


class PenalizedMachine(RegressorMixin, FunctionMachine):  # type: ignore[misc]
    """Base class of the regressions that minimize sum_i w_i loss(y_i - f(x_i)) + alpha |f - b|^2 / 2."""

    alpha: float
    fit_intercept: bool
    verbose: bool
    _allowed: ClassVar[dict[str, Allowed]]

    def fit(self, X: Points, y: ArrayLike, sample_weight: ArrayLike | float | None = None) -> Self:
        """Compute the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) if the kernel is precomputed; or n objects, for a kernel on objects
        y : array-like of shape (n,)
        sample_weight : float or array-like of shape (n,), optional
            The weights w of the losses, not negative. A weight of zero leaves the point out.

        Returns
        -------
        self : estimator
        """
        require(self, self._allowed)
        require_some_weight(sample_weight)
        given = training_set(
            self,
            self._kernel_or_name(),
            X,
            y,
            sample_weight,
            named=self._named,
            accept_sparse=("csr",),
            multi_output=False,
        ).resolved()
        kernel, points = given.kernel_and_points()
        weights = np.ones(len(points)) if given.weights is None else given.weights
        with np.errstate(over="ignore"):
            C = weights / self.alpha
        if not np.isfinite(C).all():
            raise ValueError(f"alpha: {self.alpha!r} is too small for these weights")
        found = self._solve(kernel, points, given.y, C)
        self.kernel_ = given.kernel if isinstance(given.kernel, str) else kernel
        self._keep(given.original, found)
        self.objective_, self.duality_gap_ = self.alpha * found.objective, self.alpha * found.gap
        self._warn([found], kernel, points)
        if self.verbose:
            print(f"{type(self).__name__}: {found.told(len(points))}")
        return self

    @abstractmethod
    def _solve(self, kernel: Kernel, points: Vector, y: Vector, C: Vector) -> SupportSolution:
        """Return the minimum of |f - b|^2 / 2 + sum_i C_i loss(y_i - f(x_i))."""

    def _options(self) -> dict[str, Any]:
        """Return the options of `SupportVectors.between`."""
        return {"fit_intercept": self.fit_intercept, **self._solver_options()}

    def shown_data(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> ShownData:
        """Return the training data, which must be given; nearly all are support vectors, which tells nothing."""
        return replace(super().shown_data(X, y, output), support=np.zeros(0, dtype=np.intp))

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

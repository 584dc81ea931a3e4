"""The posterior of a Gaussian process that is known by values, slopes and averages."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.functionals import TrendOfFunctionals
from kernsel._data.trend import Trend
from kernsel._solve.posterior import Posterior
from kernsel.kernels import Functionals, Kernel

__all__ = ["FunctionalPosterior"]


class FunctionalPosterior(Posterior):
    """A Gaussian process conditioned on functionals: values first, then slopes and averages.

    As a :class:`Posterior` its points are rows of functionals, and its kernel is that of functionals. Predictions take points,
    or rows of functionals (`mean_of`, `variance_of` and `covariance_of`), so that slopes and averages are predicted, too.

    Attributes
    ----------
    n_values : int
        How many of the rows are values, which are the training points of the model.
    slope_noise : ndarray of shape (d,)
        The noise variance of the slopes along each column that was found; nan where none was.
    average_noise : float
        That of averages.
    """

    n_values: int
    slope_noise: Vector
    average_noise: float

    def __init__(
        self,
        kernel: Kernel,
        rows: Matrix,
        y: Matrix,
        noise: Vector,
        trend: Trend,
        n_values: int,
        found: tuple[Vector, float],
    ) -> None:
        of_rows = None if trend is None else TrendOfFunctionals(trend)
        super().__init__(Functionals(kernel), rows, y, noise, of_rows)
        self.n_values = n_values
        self.slope_noise, self.average_noise = found

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "n_values": self.n_values, "found": (self.slope_noise, self.average_noise)}

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self.n_values = state["n_values"]
        self.slope_noise, self.average_noise = state["found"]

    @property
    def kernel_of_points(self) -> Kernel:
        """The kernel of the process."""
        assert isinstance(self.kernel, Functionals)
        return self.kernel.kernel

    @property
    def trend_of_points(self) -> Trend:
        """The trend of the process: None, "constant", "linear" or "quadratic"."""
        return self.trend.trend if isinstance(self.trend, TrendOfFunctionals) else None

    @property
    def points(self) -> Matrix:
        """The points of the values, shape (n_values, d)."""
        return np.asarray(self.X[: self.n_values, : self.X.shape[1] // 2])

    def mean_of(self, rows: Matrix) -> Vector:
        """Return the mean of functionals, shape (m, outputs)."""
        return super().mean(rows)

    def variance_of(self, rows: Matrix) -> Vector:
        """Return the variance of functionals, shape (m,)."""
        return super().variance(rows)

    def covariance_of(self, rows: Matrix) -> Matrix:
        """Return the joint covariance of functionals, shape (m, m)."""
        return super().covariance(rows)

    def mean(self, Z: Vector) -> Vector:
        return self.mean_of(Functionals.values(Z))

    def variance(self, Z: Vector) -> Vector:
        return self.variance_of(Functionals.values(Z))

    def covariance(self, Z: Vector) -> Vector:
        return self.covariance_of(Functionals.values(Z))

    def mean_gradient(self, Z: Vector) -> Vector:
        return self.mean_of(Functionals.slopes(Z)).reshape(*Z.shape, self.y.shape[1])

    def variance_gradient(self, Z: Vector) -> Vector:
        """Return the derivatives of the variance, d Var f(z) / dz_j = 2 Cov(f(z), df/dz_j)."""
        found = np.empty(Z.shape)
        for i, z in enumerate(Z):
            rows = np.vstack([Functionals.values(z[None]), Functionals.slopes(z[None])])
            found[i] = 2 * self.covariance_of(rows)[0, 1:]
        return found

    def mean_of_term(self, term: Kernel) -> Vector:
        """Return the part of the mean at the training points that is due to a term of the kernel, shape (n_values, outputs)."""
        return Functionals(term).matmul(self.X[: self.n_values], self.X, self.weights)

    def leave_one_out(self, groups: Indices | None = None) -> tuple[Vector, Vector, Vector]:
        """Return what `Posterior.leave_one_out` does, of the values: each is predicted from all others, slopes included."""
        residuals, variances, leverages = super().leave_one_out(groups)
        return residuals[: self.n_values], variances[: self.n_values], leverages[: self.n_values]

"""Active learning: points that tell most of the whole function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Matrix, Vector
from kernsel.design.acquisition import Acquisition, require_number
from kernsel.estimators.gaussian_process import GaussianProcessRegressor

__all__ = ["Variance", "VarianceReduction", "noise_of_next"]


class Variance(Acquisition):
    """The variance of the function at a point: active learning takes the point of which least is known. O(n^2) for each.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Fitted to one output with normal noise.
    maximize : bool
        Without a meaning here; every acquisition has it.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.array([[0.0], [1.0], [2.5], [4.0]])
    >>> gp = ks.GaussianProcessRegressor(ks.kernels.RBF(1.0), alpha=1e-8, optimizer=None).fit(X, np.sin(X[:, 0]))
    >>> ks.design.propose(gp, [[0.0, 4.0]], acquisition="variance").round(1)
    array([[3.3]])
    """

    def evaluate(self, Z: Matrix, gradient: bool) -> tuple[Vector, Matrix | None]:
        """Return the values and, if `gradient`, their derivatives in the points."""
        variance = self.surrogate.variance(Z)
        return variance, self.surrogate.variance_gradient(Z, variance) if gradient else None


class VarianceReduction(Acquisition):
    """The fall of the variance of the function by an observation at a point, as a mean over reference points r.

    ::

        mean_r cov(x, r)^2 / (var(x) + noise)

    The covariance is the posterior's, so that this is exact for hyperparameters that stay. O(n^2 + n r) for each point.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Fitted to one output with normal noise, not approximated.
    points : array-like of shape (r, d)
        Where the function matters, such as a few hundred points of :func:`first_points`.
    maximize : bool
        Without a meaning here; every acquisition has it.
    noise : float, optional
        The noise variance of the observation; that of the model by default.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.array([[0.0], [1.0], [2.5], [4.0]])
    >>> gp = ks.GaussianProcessRegressor(ks.kernels.RBF(1.0), alpha=1e-8, optimizer=None).fit(X, np.sin(X[:, 0]))
    >>> R = ks.design.first_points([[0.0, 4.0]], 256)
    >>> less = ks.design.VarianceReduction(gp, R)([[3.3]])
    >>> again = gp.predict(R, return_std=True)[1] ** 2 - gp.update([[3.3]], [0.0]).predict(R, return_std=True)[1] ** 2
    >>> bool(np.isclose(less[0], again.mean(), rtol=1e-4))
    True
    """

    def __init__(
        self, model: GaussianProcessRegressor, points: ArrayLike, *, maximize: bool = False, noise: float | None = None
    ) -> None:
        super().__init__(model, maximize=maximize)
        self._noise = noise_of_next(self, noise)
        self._with = self.surrogate.covariance_with(self.surrogate.points(points))

    def evaluate(self, Z: Matrix, gradient: bool) -> tuple[Vector, Matrix | None]:
        """Return the values and, if `gradient`, their derivatives in the points."""
        variance = self.surrogate.variance(Z)
        total = variance + self._noise
        found = self._with.at(Z)
        value = np.mean(found**2, axis=1) / total
        if not gradient:
            return value, None
        slopes = self._with.pull(Z, 2 * found / (found.shape[1] * total[:, None]))
        return value, slopes - (value / total)[:, None] * self.surrogate.variance_gradient(Z, variance)


def noise_of_next(acquisition: Acquisition, noise: Any) -> float:
    """Return the noise variance of the next observation: the given one, or that of the model."""
    return acquisition.surrogate.noise if noise is None else require_number("noise", noise, 0.0)

"""The upper confidence bound."""

from __future__ import annotations

import numpy as np

from kernsel._base.annotations import Vector
from kernsel.design.acquisition import OfMoments, require_number
from kernsel.estimators.gaussian_process import GaussianProcessRegressor

__all__ = ["UpperConfidenceBound"]


class UpperConfidenceBound(OfMoments):
    """The value that the function may well have at a point, mean + kappa s, if y is maximized; otherwise -mean + kappa s.

    O(n^2) for each point.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Fitted to one output with normal noise.
    maximize : bool
        Whether large values of y are good, or small ones.
    kappa : float
        How many standard deviations are hoped for: more look further away from the data.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.array([[0.0], [1.0], [2.5], [4.0]])
    >>> gp = ks.GaussianProcessRegressor(ks.kernels.RBF(1.0), alpha=1e-8, optimizer=None).fit(X, np.sin(X[:, 0]))
    >>> mean, std = gp.predict([[1.6]], return_std=True)
    >>> bool(np.isclose(ks.design.UpperConfidenceBound(gp, maximize=True, kappa=3.0)([[1.6]]), mean + 3 * std)[0])
    True
    """

    is_positive = False

    def __init__(self, model: GaussianProcessRegressor, *, maximize: bool = False, kappa: float = 2.0) -> None:
        super().__init__(model, maximize=maximize)
        self._kappa = require_number("kappa", kappa, 0.0)

    def of_moments(self, mean: Vector, std: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the values, and their derivatives in the mean and in the standard deviation."""
        return mean + self._kappa * std, np.ones_like(mean), np.full_like(mean, self._kappa)

"""Acquisition functions of the improvement upon the best value so far."""

from __future__ import annotations

import numpy as np
from scipy import special

from kernsel._base.annotations import Vector
from kernsel.design.acquisition import OfMoments, best_of, require_number
from kernsel.design.normal import density, log_excess
from kernsel.estimators.gaussian_process import GaussianProcessRegressor

__all__ = ["ExpectedImprovement", "LogExpectedImprovement", "ProbabilityOfImprovement"]


class _Improvement(OfMoments):
    def __init__(
        self, model: GaussianProcessRegressor, *, maximize: bool = False, best: float | None = None, margin: float = 0.0
    ) -> None:
        super().__init__(model, maximize=maximize)
        self._target = best_of(self.surrogate, best) + require_number("margin", margin, 0.0)


class LogExpectedImprovement(_Improvement):
    """The logarithm of the expected improvement upon the best value so far.

    ::

        log E max(f(x) - best, 0) = log s + log h(u),    u = (mean - best) / s,    h(u) = phi(u) + u Phi(u)

    for the mean and standard deviation s of f(x), if y is maximized. It has the maximum of the expected improvement, and can be
    climbed from anywhere: far from it the improvement itself is zero to rounding, and so are its derivatives (Ament et al.,
    2023). O(n^2) for each point.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Fitted to one output with normal noise.
    maximize : bool
        Whether large values of y are good, or small ones.
    best : float, optional
        The value of y to improve upon; by default the best of the posterior means at the data, which with noise is not the
        luckiest observation.
    margin : float
        By how much it has to be improved upon, in the unit of y.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.array([[0.0], [1.0], [2.5], [4.0]])
    >>> gp = ks.GaussianProcessRegressor(ks.kernels.RBF(1.0), alpha=1e-8, optimizer=None).fit(X, np.sin(X[:, 0]))
    >>> values, slopes = ks.design.LogExpectedImprovement(gp, maximize=True).value_and_gradient([[1.6], [3.5]])
    >>> values.round(2), slopes.shape
    (array([ -1.42, -13.6 ]), (2, 1))
    """

    is_logarithm = True

    def of_moments(self, mean: Vector, std: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the values, and their derivatives in the mean and in the standard deviation."""
        u = (mean - self._target) / std
        value, probability, at = log_excess(u)
        return np.log(std) + value, probability / std, at / std


class ExpectedImprovement(_Improvement):
    """The expected improvement upon the best value so far.

    ::

        E max(f(x) - best, 0) = s h(u),    u = (mean - best) / s,    h(u) = phi(u) + u Phi(u)

    for the mean and standard deviation s of f(x), if y is maximized. O(n^2) for each point.

    Parameters
    ----------
    model, maximize, best, margin
        As in :class:`LogExpectedImprovement`.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.array([[0.0], [1.0], [2.5], [4.0]])
    >>> gp = ks.GaussianProcessRegressor(ks.kernels.RBF(1.0), alpha=1e-8, optimizer=None).fit(X, np.sin(X[:, 0]))
    >>> ks.design.ExpectedImprovement(gp, maximize=True)([[1.6]]).round(3)
    array([0.242])
    """

    def of_moments(self, mean: Vector, std: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the values, and their derivatives in the mean and in the standard deviation."""
        u = (mean - self._target) / std
        return std * np.exp(log_excess(u)[0]), special.ndtr(u), density(u)


class ProbabilityOfImprovement(_Improvement):
    """The probability of an improvement, P(f(x) > best) = Phi((mean - best) / s), if y is maximized. O(n^2) for each point.

    Without a margin it prefers tiny improvements next to the best point.

    Parameters
    ----------
    model, maximize, best, margin
        As in :class:`LogExpectedImprovement`.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.array([[0.0], [1.0], [2.5], [4.0]])
    >>> gp = ks.GaussianProcessRegressor(ks.kernels.RBF(1.0), alpha=1e-8, optimizer=None).fit(X, np.sin(X[:, 0]))
    >>> ks.design.ProbabilityOfImprovement(gp, maximize=True, margin=0.1)([[1.6]]).round(3)
    array([0.648])
    """

    def of_moments(self, mean: Vector, std: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the values, and their derivatives in the mean and in the standard deviation."""
        u = (mean - self._target) / std
        at = density(u) / std
        return special.ndtr(u), at, -u * at

"""What all acquisition functions have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.allowed import is_number
from kernsel.design.surrogate import Surrogate
from kernsel.estimators.gaussian_process import GaussianProcessRegressor

__all__ = ["Acquisition", "OfMoments", "best_of", "require_number"]


class Acquisition:
    """What an evaluation at a point is worth, given a fitted process; larger is better.

    It is of the data that the process has when it is made: after `fit` or `update`, make another one. One's own is a subclass
    with `evaluate`, and may be given to :func:`propose`.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Fitted to one output with normal noise. A WhiteKernel in its kernel counts as part of the function: give the noise by
        `noise` or `alpha`, or leave it to "auto".
    maximize : bool
        Whether large values of y are good, or small ones.

    Attributes
    ----------
    is_logarithm : bool
        Whether the values are logarithms of what a point is worth.
    is_positive : bool
        Whether the values, if they are no logarithms, are never negative. These can be multiplied by the probability that
        constraints hold.
    """

    is_logarithm = False
    is_positive = True

    def __init__(self, model: GaussianProcessRegressor, *, maximize: bool = False) -> None:
        self.surrogate = Surrogate(model, maximize)

    def __call__(self, X: ArrayLike) -> Vector:
        """Return the values at points X of shape (m, d), shape (m,)."""
        return self.evaluate(self.surrogate.points(X), False)[0]

    def value_and_gradient(self, X: ArrayLike) -> tuple[Vector, Matrix]:
        """Return the values at points X of shape (m, d), shape (m,), and their derivatives in the points, (m, d)."""
        value, slopes = self.evaluate(self.surrogate.points(X), True)
        if slopes is None:
            raise TypeError(f"{type(self).__name__}.evaluate returned no derivatives, which were asked for")
        return value, slopes

    def evaluate(self, Z: Matrix, gradient: bool) -> tuple[Vector, Matrix | None]:
        """Return the values at checked points and, if `gradient`, their derivatives in the points."""
        raise NotImplementedError


class OfMoments(Acquisition):
    """An acquisition function of the mean and the standard deviation at a point. The mean is larger where it is better."""

    def of_moments(self, mean: Vector, std: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the values, and their derivatives in the mean and in the standard deviation."""
        raise NotImplementedError

    def evaluate(self, Z: Matrix, gradient: bool) -> tuple[Vector, Matrix | None]:
        """Return the values and, if `gradient`, their derivatives in the points."""
        surrogate = self.surrogate
        variance = surrogate.variance(Z)
        std = np.sqrt(variance)
        value, in_mean, in_std = self.of_moments(surrogate.mean(Z), std)
        if not gradient:
            return value, None
        of_std = surrogate.variance_gradient(Z, variance) * (in_std / (2 * std))[:, None]
        return value, in_mean[:, None] * surrogate.mean_gradient(Z) + of_std


def require_number(name: str, value: Any, least: float = -np.inf) -> float:
    """Return a finite number that is at least `least`."""
    if not is_number(value) or not np.isfinite(value) or value < least:
        allowed = "a finite number" if least == -np.inf else f"a number from {least:g} on"
        raise ValueError(f"{name}: expected {allowed}, got {value!r}")
    return float(value)


def best_of(surrogate: Surrogate, best: float | None) -> float:
    """Return the value to improve upon, larger if better: the given one, or the best of the means at the data."""
    return surrogate.best if best is None else surrogate.in_its_sign(require_number("best", best))

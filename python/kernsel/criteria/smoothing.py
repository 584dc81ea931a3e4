"""Criteria of the matrix that takes targets to fitted values: generalized cross-validation and the unbiased risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel.criteria.base import Criterion, Given

__all__ = ["GeneralizedCrossValidation", "UnbiasedRisk"]


@dataclass(frozen=True)
class GeneralizedCrossValidation(Criterion):
    """Generalized cross-validation, n c'Uc / tr(U P)^2, U the noise divided by its mean; n c'c / tr(P)^2 if all have the same.

    Leave-one-out with the leverage of all points put at its mean: the same under rotations of y, and defined by dof alone;
    residuals count in units of their noise. Gradient: W = -sym(P g c') - P G P, with g = 2 n U c / t^2, G = -2 n c'Uc / t^3 U,
    t = tr U P. 2 n^3 operations. Chooses lambda well from about n = 50 on; with correlated noise it takes
    noise for signal. Needs noise: without it there is nothing to cross-validate.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.5])
    >>> round(ks.evaluate("gcv", RBF(1.0), X, y, noise=0.1).value, 4)
    0.385
    """

    leaves_points_out: ClassVar[bool] = True

    def core(self, given: Given) -> _core.Criterion:
        """Return the same for the C++ core."""
        del given
        return _core.generalized_cross_validation()

    def without_scale(self) -> Criterion | None:
        """Return itself: it does not see a common factor of kernel and noise."""
        return self


@dataclass(frozen=True)
class UnbiasedRisk(Criterion):
    """An unbiased estimate of sum_i (f(x_i) - fit_i)^2, |N c|^2 + 2 tr(S A) - tr S, A = I - N P, S = diag(sigma^2).

    Also known as Mallows' C_p, UPRE or SURE. Gradient: g = 2 N^2 c, G = -2 S N. 2 n^3 operations. Better than
    cross-validation where the noise is known, and misled where it is not what `sigma` says.

    Parameters
    ----------
    sigma : float or array-like of shape (n,)
        The standard deviation of the noise, which need not be that of the model.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.5])
    >>> round(ks.evaluate("risk", RBF(1.0), X, y, noise=0.1, sigma=0.3).value, 4)
    0.2133
    """

    sigma: float | ArrayLike | None = None

    def core(self, given: Given) -> _core.Criterion:
        """Return the same for the C++ core."""
        if self.sigma is None:
            raise ValueError("sigma: the unbiased risk needs the standard deviation of the noise")
        n = len(given.y)
        values = np.asarray(self.sigma, dtype=np.float64)
        if values.shape not in ((), (n,)) or not np.isfinite(values).all() or (values < 0).any():
            raise ValueError(
                f"sigma: expected a number that is not negative, or one for each of {n} points, got {self.sigma!r}"
            )
        return _core.unbiased_risk((np.broadcast_to(values, (n,))[given.used] ** 2).tolist())

    def without_scale(self) -> Criterion | None:
        """Return itself: it does not see a common factor of kernel and noise."""
        return self

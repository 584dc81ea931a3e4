"""Criteria of the matrix that maps targets to fitted values: generalized cross-validation and the unbiased risk."""

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
    """Generalized cross-validation: n c'Uc / tr(U P)^2, where U is the noise N divided by its mean.

    It is n c'c / tr(P)^2 if all points have the same noise. It equals leave-one-out with each leverage replaced by the mean of
    all, and with residuals in units of their noise; it does not change under rotations of y. The gradient is tr(W dK~) with
    W = -sym(P g c') - P G P, g = 2 n U c / t^2, G = -2 n c'Uc / t^3 U, t = tr U P, in 2 n^3 operations. It chooses lambda well
    from about n = 50 on; if the noise is correlated, it fits the noise. It is not defined without noise.

    It leaves no points out, and takes the noise of all rows for independent, which that of copies is not: searches give it one
    row in place of rows of equal inputs and targets, with the sum of their weights. It cannot leave out groups.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.5])
    >>> round(ks.evaluate("gcv", RBF(1.0), X, y, noise=0.1).value, 4)
    0.385
    """

    leaves_points_out: ClassVar[bool] = True
    counts_copies_once: ClassVar[bool] = True
    takes_groups: ClassVar[bool] = False

    def core(self, given: Given) -> _core.Criterion:
        """Return the criterion as an object of the C++ core."""
        del given
        return _core.generalized_cross_validation()

    def without_scale(self) -> Criterion | None:
        """Return itself, which does not depend on a common factor of kernel and noise."""
        return self


@dataclass(frozen=True)
class UnbiasedRisk(Criterion):
    """An unbiased estimate of the error sum_i (f(x_i) - fit_i)^2: |N c|^2 + 2 tr(S A) - tr S.

    A = I - N P is the matrix that maps targets to fitted values, and S = diag(sigma^2). Also known as Mallows' C_p, UPRE or
    SURE. The gradient has the form of :class:`GeneralizedCrossValidation` with g = 2 N^2 c and G = -2 S N, in 2 n^3 operations.
    It is better than cross-validation if `sigma` is the standard deviation of the noise, and wrong if it is not.

    Parameters
    ----------
    sigma : float or array-like of shape (n,)
        The standard deviation of the noise, which may differ from the noise of the model.

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
        """Return the criterion as an object of the C++ core."""
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

"""The knowledge gradient over finitely many points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.design.acquisition import Acquisition
from kernsel.design.normal import density
from kernsel.design.variance import noise_of_next
from kernsel.estimators.gaussian_process import GaussianProcessRegressor

__all__ = ["KnowledgeGradient"]


class KnowledgeGradient(Acquisition):
    """The expected rise of the largest mean, over finitely many points, by an observation at a point.

    ::

        E max_j (mean_j + b_j Z) - max_j mean_j,    b_j = cov(x, x_j) / sqrt(var(x) + noise),    Z ~ N(0, 1)

    if y is maximized. The first maximum is over the data, `points` and x itself, the second over the data and `points`. An
    observation counts for what it tells of other points, too, which matters with noise. The expectation is exact: the maximum
    of lines is an upper envelope (Frazier et al., 2009). O(n (n + r)) for each point.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Fitted to one output with normal noise, not approximated.
    points : array-like of shape (r, d), optional
        Points whose means count besides those of the data, up to some hundred.
    maximize : bool
        Whether large values of y are good, or small ones.
    noise : float, optional
        The noise variance of the observation; that of the model by default.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.array([[0.0], [1.0], [2.5], [4.0]])
    >>> gp = ks.GaussianProcessRegressor(ks.kernels.RBF(1.0), alpha=0.01, optimizer=None).fit(X, np.sin(X[:, 0]))
    >>> ks.design.KnowledgeGradient(gp, maximize=True)([[1.0], [1.6]]).round(3)
    array([0.   , 0.232])
    """

    def __init__(
        self,
        model: GaussianProcessRegressor,
        points: ArrayLike | None = None,
        *,
        maximize: bool = False,
        noise: float | None = None,
    ) -> None:
        super().__init__(model, maximize=maximize)
        surrogate = self.surrogate
        self._noise = noise_of_next(self, noise)
        at = surrogate.posterior.X if points is None else np.vstack([surrogate.posterior.X, surrogate.points(points)])
        self._with = surrogate.covariance_with(at)
        self._means = surrogate.mean(at)

    def evaluate(self, Z: Matrix, gradient: bool) -> tuple[Vector, Matrix | None]:
        """Return the values and, if `gradient`, their derivatives in the points."""
        surrogate = self.surrogate
        variance = surrogate.variance(Z)
        std = np.sqrt(variance + self._noise)
        # Lines of the data and points, and in the last column of x.
        means = np.column_stack([np.broadcast_to(self._means, (len(Z), len(self._means))), surrogate.mean(Z)])
        slopes = np.column_stack([self._with.at(Z), variance]) / std[:, None]
        best = float(self._means.max())
        value, in_means, in_slopes = np.empty(len(Z)), np.zeros_like(means), np.zeros_like(slopes)
        for i in range(len(Z)):
            lines, breaks = upper_envelope(means[i], slopes[i])
            value[i], in_means[i, lines], in_slopes[i, lines] = expected_maximum(
                means[i, lines] - best, slopes[i, lines], breaks
            )
        if not gradient:
            return value, None
        in_variance = in_slopes[:, -1] / std - np.sum(in_slopes * slopes, axis=1) / (2 * std**2)
        found = self._with.pull(Z, in_slopes[:, :-1] / std[:, None])
        found += in_variance[:, None] * surrogate.variance_gradient(Z, variance) + in_means[:, -1:] * surrogate.mean_gradient(Z)
        return value, found


def upper_envelope(a: Vector, b: Vector) -> tuple[Indices, Vector]:
    """Return which lines a + b z are the largest somewhere, by ascending slope, and where each hands over to the next one."""
    order = np.lexsort((a, b))
    lines: list[int] = []
    breaks: list[float] = []  # where each line begins to be the largest
    for i in order:
        begin = -np.inf
        while lines:
            last = lines[-1]
            # Of two lines of the same slope, the later one is not below.
            begin = (a[last] - a[i]) / (b[i] - b[last]) if b[i] > b[last] else -np.inf
            if begin > breaks[-1]:
                break
            lines.pop()
            breaks.pop()
            begin = -np.inf
        lines.append(int(i))
        breaks.append(begin)
    return np.array(lines, dtype=np.intp), np.array(breaks[1:])


def expected_maximum(a: Vector, b: Vector, breaks: Vector) -> tuple[float, Vector, Vector]:
    """Return E max_j (a_j + b_j Z) for Z ~ N(0, 1) from an upper envelope, and its derivatives in a and in b.

    It is max a_j plus the sum over breaks c of (b_(j+1) - b_j) h(-|c|) with h(u) = phi(u) + u Phi(u), without cancellation.
    """
    density_at = np.concatenate([[0.0], density(breaks), [0.0]])
    below = np.concatenate([[0.0], special.ndtr(breaks), [1.0]])
    far = -np.abs(breaks)
    tails = np.diff(b) * (density(far) + far * special.ndtr(far))
    top = a[np.searchsorted(breaks, 0.0)]  # the largest line at Z = 0
    return float(top + tails.sum()), np.diff(below), -np.diff(density_at)

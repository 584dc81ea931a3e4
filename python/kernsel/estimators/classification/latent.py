"""Predictions of the latent process from draws of its posterior."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kernsel._base.annotations import Vector
from kernsel._data.points import blocks
from kernsel.estimators.classification.links import Link
from kernsel.kernels import Kernel
from kernsel.linalg.cholesky import Cholesky, cholesky
from kernsel.linalg.jitter import least_jitter, with_jitter

__all__ = ["SampledLatent", "average_probability", "safe_factor"]

_STEP = 0.05  # between nodes of interpolation, in widths of a link that is averaged over a Gaussian


class SampledLatent:
    """The latent process given labels, by draws f_s of its values at the points X.

    Given a draw, the value at z is Gaussian with mean k(z, X) K^-1 f_s and the variance k(z, z) - k(z, X) K^-1 k(X, z).
    Predictions average over all draws. Points are processed in blocks that take less memory than the draws.
    """

    def __init__(self, kernel: Kernel, X: Vector, factor: Cholesky, draws: Vector) -> None:
        self.kernel = kernel
        self.X = X
        self.factor = factor  # the factor of K
        self.draws = draws.reshape(-1, draws.shape[-1])
        self.coefficients: Vector = factor.solve(self.draws.mean(axis=0))

    def mean(self, Z: Vector) -> Vector:
        """Return the mean at points Z, shape (m,)."""
        return np.asarray(self.kernel.matmul(Z, self.X, self.coefficients))

    def _parts(self, Z: Vector) -> Iterator[tuple[slice, Vector, Vector]]:
        """Yield blocks of points, with the means given each draw, shape (draws, m), and the variances given a draw, (m,)."""
        prior = np.asarray(self.kernel.diag(Z))
        for block in blocks(max(2 * len(self.X), len(self.draws)), len(Z)):
            cross = np.asarray(self.kernel(self.X, Z[block]))
            rest = np.maximum(prior[block] - self.factor.inverse_quadratic(cross), 0.0)
            yield block, self.draws @ self.factor.solve(cross), rest

    def variance(self, Z: Vector) -> Vector:
        """Return the variance at points Z, shape (m,)."""
        variance = np.empty(len(Z))
        for block, means, rest in self._parts(Z):
            variance[block] = rest + means.var(axis=0)
        return variance

    def probability(self, Z: Vector, link: Link) -> Vector:
        """Return the probability of the label 1 at points Z, averaged over all draws, shape (m,)."""
        probability = np.empty(len(Z))
        for block, means, rest in self._parts(Z):
            probability[block] = average_probability(means, rest, link)
        return probability


def average_probability(means: Vector, variance: Vector, link: Link) -> Vector:
    """Return the probability of the label 1 averaged over draws, shape (m,), with an error below 1e-7.

    At each point the probability is a smooth function of the mean given a draw. It is computed at equidistant nodes and
    interpolated by cubics, so that the average is a weighted sum over the nodes, for any number of draws.

    Parameters
    ----------
    means : ndarray of shape (draws, m)
        The means given each draw.
    variance : ndarray of shape (m,)
        The variance given a draw, the same for all draws.
    link : Link

    Returns
    -------
    probability : ndarray of shape (m,)
    """
    draws, m = means.shape
    step = _STEP * np.sqrt(1 + variance)
    lowest = means.min(axis=0)
    place = (means - lowest) / step
    nodes = int(place.max(initial=0.0)) + 4
    if nodes >= draws:
        each = link.probability(means.ravel(), np.tile(variance, draws))
        return np.asarray(each.reshape(draws, m).mean(axis=0))
    cell = place.astype(np.intp)
    place -= cell
    cell += nodes * np.arange(m)
    powers = np.ones_like(place)
    sums = []  # the sums of powers 0 to 3 of the positions within each cell
    for _ in range(4):
        sums.append(np.bincount(cell.ravel(), powers.ravel(), m * nodes).reshape(m, nodes))
        powers *= place
    one, t, tt, ttt = sums
    shares = np.zeros((m, nodes))  # the weight of each node; a cell adds to the weights of four nodes
    for k, of_cell in enumerate(
        ((3 * tt - 2 * t - ttt) / 6, (ttt - 2 * tt - t + 2 * one) / 2, (tt + 2 * t - ttt) / 2, (ttt - t) / 6)
    ):
        shares[:, k:] += of_cell[:, : nodes - k]
    at = lowest[:, None] + step[:, None] * np.arange(-1, nodes - 1)
    probability = link.probability(at.ravel(), np.repeat(variance, nodes))
    return np.asarray(np.clip(np.sum(shares * probability.reshape(m, nodes), axis=1) / draws, 0.0, 1.0))


def safe_factor(K: Vector) -> Cholesky:
    """Return the factor of a positive semidefinite matrix, with as much on its diagonal as rounding needs."""
    least = least_jitter(len(K), float(np.mean(np.diag(K))))
    return with_jitter(least, lambda jitter: cholesky(K + np.diag(np.full(len(K), jitter))))[0]

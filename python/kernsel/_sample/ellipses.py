"""Elliptical slice sampling: draws of the posterior of normal variables, whatever the likelihood."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel.linalg.cholesky import cholesky

__all__ = ["CENTRED", "Chains", "Ellipses", "draw_along"]

CENTRED = 8  # steps along ellipses of the approximate posterior for each draw; each takes fewer trials than one of the prior
_AHEAD = 500_000  # the most entries of directions drawn at once, by one matrix product for many steps
_HERE = 1e-15  # the angle below which a step ends at its starting point

Sites = tuple[Vector, Vector]  # the precisions, and the shifts: exp(shift_i f_i - precision_i f_i^2 / 2)


class Ellipses:
    """A Gaussian N(mean, G G'), along whose ellipses the posterior is sampled.

    Sites exp(shift_i f_i - precision_i f_i^2 / 2) times the prior N(0, F F') are a Gaussian of covariance
    F (I + F' diag(precision) F)^-1 F'. The posterior is that Gaussian times the ratio prod_i p(y_i | f_i) / site_i(f_i). Slice
    sampling of the ratio along an ellipse of the Gaussian is a valid step for any sites. Without sites, the Gaussian is the
    prior.

    With a trend f = H beta + g, where g is N(0, F F') and nothing is known of beta, the Gaussian exists only with sites. Its
    covariance is C + R (H' diag(precision) R)^-1 R', where C is the one without trend, and R = (I - C diag(precision)) H.
    """

    def __init__(self, F: Matrix, sites: Sites | None, H: Matrix | None = None) -> None:
        self.G: Matrix
        self.mean: Vector
        if sites is None:
            self.precision, self.shift = np.zeros((2, len(F)))
            self.G, self.mean = F, np.zeros(len(F))
            return
        self.precision, self.shift = sites
        A = F.T @ (self.precision[:, None] * F)
        A.flat[:: len(A) + 1] += 1.0
        self.G = np.ascontiguousarray(cholesky(A).solve_lower(F.T).T)
        if H is not None and H.shape[1]:
            R = H - self.G @ (self.G.T @ (self.precision[:, None] * H))
            M = H.T @ (self.precision[:, None] * R)
            self.G = np.hstack([self.G, cholesky((M + M.T) / 2).solve_lower(R.T).T])
        self.mean = self.G @ (self.G.T @ self.shift)

    def directions(self, steps: int, chains: int, rng: np.random.Generator) -> Matrix:
        """Return independent draws of N(0, G G'), shape (steps, chains, n)."""
        n, rank = self.G.shape
        return np.asarray(rng.standard_normal((steps * chains, rank)) @ self.G.T).reshape(steps, chains, n)

    def sites(self, f: Matrix) -> Vector:
        """Return the logarithm of the product of all sites, for each row of f."""
        return np.asarray(np.sum((self.shift - 0.5 * self.precision * f) * f, axis=-1))


class Chains:
    """Several Markov chains that advance together: their current latent values, and the log likelihoods of these.

    Parameters
    ----------
    f : ndarray of shape (chains, n)
        Where the chains begin.
    log_likelihood : callable
        Returns the log likelihood of each row of latent values.
    rng : numpy.random.Generator
    """

    def __init__(self, f: Matrix, log_likelihood: Callable[[Matrix], Vector], rng: np.random.Generator) -> None:
        self.f, self.log_likelihood, self.rng = f, log_likelihood, rng
        self.level = log_likelihood(f)

    def step(self, ellipses: Ellipses, direction: Matrix) -> None:
        """Move each chain along an ellipse through its point to a point whose density ratio is above a random level.

        The angle is drawn from a bracket that shrinks towards the current point until such a point is found.
        """
        rng, count = self.rng, len(self.f)
        away = self.f - ellipses.mean
        threshold = self.level - ellipses.sites(self.f) - rng.standard_exponential(count)
        angle = rng.uniform(0.0, 2 * np.pi, count)
        low, high = angle - 2 * np.pi, angle.copy()
        left = np.arange(count)
        while left.size:
            turn = angle[left, None]
            f = ellipses.mean + np.cos(turn) * away[left] + np.sin(turn) * direction[left]
            level = self.log_likelihood(f)
            taken = (level - ellipses.sites(f) >= threshold[left]) | (np.abs(angle[left]) < _HERE)
            self.f[left[taken]], self.level[left[taken]] = f[taken], level[taken]
            left = left[~taken]
            ahead = angle[left] > 0
            high[left[ahead]] = angle[left[ahead]]
            low[left[~ahead]] = angle[left[~ahead]]
            angle[left] = rng.uniform(low[left], high[left])


def draw_along(
    kinds: list[tuple[Ellipses, int]], chains: Chains, n_draws: int, n_burn: int, rng: np.random.Generator
) -> Matrix:
    """Return draws of the latent values, shape (chains, n_draws, n), after `n_burn` of each chain that are discarded.

    Parameters
    ----------
    kinds : list of (Ellipses, int)
        For each draw, so many steps along these ellipses.
    chains : Chains
    n_draws, n_burn : int
    rng : numpy.random.Generator
    """
    count, n = chains.f.shape
    draws = np.empty((count, n_draws, n))
    ahead = max(_AHEAD // (count * n), 1)
    for begin in range(-n_burn, n_draws, ahead):
        steps = min(ahead, n_draws - begin)
        directions = [ellipses.directions(steps * times, count, rng) for ellipses, times in kinds]
        for k in range(steps):
            for (ellipses, times), drawn in zip(kinds, directions, strict=True):
                for direction in drawn[k * times : (k + 1) * times]:
                    chains.step(ellipses, direction)
            if begin + k >= 0:
                draws[:, begin + k] = chains.f
    return draws

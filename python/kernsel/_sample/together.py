"""Draws of hyperparameters together with the latent values of a Gaussian process, by slices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel._sample.ellipses import Chains, Ellipses
from kernsel.linalg.cholesky import Cholesky, cholesky

__all__ = ["Joint", "LatentModel", "sample_together"]

_MOST_HALVINGS = 60  # of a slice; it has then shrunk to where the chain is, up to rounding
_DIRECTIONS = 2  # in which hyperparameters move for each draw, given either kind of surrogate data
_WEAK = 1e8  # times the variances of the data: surrogate data that say nothing
_CENTRED = 3  # steps of these along ellipses of their approximate posterior
_WIDTH = 10.0  # of the first bracket of a slice, in standard deviations of a normal approximation, which may be too narrow


@dataclass(frozen=True)
class LatentModel:
    """Latent values with the prior N(0, K(x)), and a likelihood that may depend on x.

    Attributes
    ----------
    factor : callable
        Returns the Cholesky factor of K(x); it may raise LinAlgError.
    log_prior : callable
        Returns the log density of x, -inf where it is zero.
    log_likelihood : callable
        Returns for x and latent values of shape (k, n) the log likelihood of each row.
    """

    factor: Callable[[Vector], Cholesky]
    log_prior: Callable[[Vector], float]
    log_likelihood: Callable[[Vector, Matrix], Vector]


@dataclass(frozen=True)
class Joint:
    """Draws of hyperparameters x, shape (chains, draws, p), and of the latent values, (chains, draws, n)."""

    x: Matrix
    f: Matrix


class _Place:
    """Hyperparameters, and what follows from them for surrogate data g = f + N(0, S).

    Given g, f is normal of mean m = K (K + S)^-1 g and covariance G G' with G = F (I + F' S^-1 F)^-T/2, where K = F F'.
    """

    def __init__(self, x: Vector, model: LatentModel, S: Vector) -> None:
        self.x, self.S = x, S
        self.log_prior = model.log_prior(x)
        if not np.isfinite(self.log_prior):
            raise np.linalg.LinAlgError("no such hyperparameters")
        self.factor = model.factor(x)
        self.F = self.factor.lower()
        A = self.F.T @ (self.F / S[:, None])
        A.flat[:: len(A) + 1] += 1.0
        self.A = cholesky(A)
        self.L = self.A.lower()

    def mean(self, g: Vector) -> Vector:
        return np.asarray(self.F @ self.A.solve(self.F.T @ (g / self.S)))

    def whitened(self, f: Vector, g: Vector) -> Vector:
        """Return eta with f = m + G eta."""
        return np.asarray(self.L.T @ self.factor.solve_lower(f - self.mean(g)))

    def coloured(self, eta: Vector, g: Vector) -> Vector:
        """Return f = m + G eta."""
        return np.asarray(self.mean(g) + self.F @ np.linalg.solve(self.L.T, eta))

    def log_density(self, g: Vector) -> float:
        """Return the log density of x and of the surrogate data given x."""
        fits = float(g @ ((g - self.mean(g)) / self.S))
        return self.log_prior - 0.5 * fits - float(np.sum(np.log(np.diag(self.L))))


def sample_together(
    model: LatentModel,
    start: Vector,
    covariance: Matrix,
    sites: tuple[Vector, Vector],
    *,
    n_draws: int,
    n_burn: int,
    n_chains: int,
    rng: np.random.Generator,
) -> Joint:
    """Draw hyperparameters and latent values from their joint posterior.

    Latent values that the data determine hold the hyperparameters fast. Each update of x is therefore given surrogate data
    g = f + noise, of the precision of the data, and the residuals of f in the coordinates in which they are standard normal
    given x and g: f moves with x, to where x expects it. Where the data say little, such as labels of large latent values, f
    moves farther without them: half of the updates are given surrogate data of hardly any precision. Both are slice sampling,
    which takes no tuning.

    Parameters
    ----------
    model : LatentModel
    start : ndarray of shape (p,)
    covariance : ndarray of shape (p, p)
        Of a normal approximation of the posterior of x; it determines lengths of slices only.
    sites : pair of ndarrays of shape (n,)
        The precisions and shifts of a normal approximation of the likelihood, see :class:`kernsel._sample.ellipses.Ellipses`.
    n_draws, n_burn, n_chains : int
    rng : numpy.random.Generator

    Returns
    -------
    joint : Joint
        Each draw takes some n^3 operations for each of about three trials along four random directions.

    References
    ----------
    I. Murray, R. P. Adams (2010). Slice sampling covariance hyperparameters of latent Gaussian models. Advances in Neural
    Information Processing Systems 23.
    """
    precision = sites[0]
    S = 1.0 / np.maximum(precision, 1e-6 * max(float(precision.max(initial=0.0)), 1e-12))
    root: Matrix = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
    xs, fs = np.empty((n_chains, n_draws, len(start))), np.empty((n_chains, n_draws, len(S)))
    for chain, stream in enumerate(rng.spawn(n_chains)):
        place = _first(model, start, root, S, stream)
        ellipses = Ellipses(place.F, sites)
        f = ellipses.mean + ellipses.directions(1, 1, stream)[0, 0]
        for draw in range(-n_burn, n_draws):
            place, f = _step_of_latent(model, place, f, sites, stream)
            for scale in (1.0, _WEAK):
                place = _Place(place.x, model, scale * S)
                for _ in range(_DIRECTIONS):
                    place, f = _step_of_x(model, place, f, root, stream)
            if draw >= 0:
                xs[chain, draw], fs[chain, draw] = place.x, f
    return Joint(xs, fs)


def _first(model: LatentModel, start: Vector, root: Matrix, S: Vector, rng: np.random.Generator) -> _Place:
    """Return where a chain begins: near the start, if the posterior has a density there."""
    for spread in (1.5, 0.75, 0.25):
        try:
            return _Place(start + spread * (root @ rng.standard_normal(len(start))), model, S)
        except np.linalg.LinAlgError:
            continue
    return _Place(start, model, S)


def _step_of_latent(
    model: LatentModel, place: _Place, f: Vector, sites: tuple[Vector, Vector], rng: np.random.Generator
) -> tuple[_Place, Vector]:
    """Move the latent values along ellipses of their prior, and of their approximate posterior."""
    chains = Chains(f[None].copy(), lambda values: model.log_likelihood(place.x, values), rng)
    for ellipses, times in ((Ellipses(place.F, None), 1), (Ellipses(place.F, sites), _CENTRED)):
        for direction in ellipses.directions(times, 1, rng):
            chains.step(ellipses, direction)
    return place, chains.f[0]


def _step_of_x(model: LatentModel, place: _Place, f: Vector, root: Matrix, rng: np.random.Generator) -> tuple[_Place, Vector]:
    """Move the hyperparameters along a random direction, within a slice of their density given surrogate data."""
    g = f + np.sqrt(place.S) * rng.standard_normal(len(f))
    eta = place.whitened(f, g)
    threshold = place.log_density(g) + float(model.log_likelihood(place.x, f[None])[0]) - rng.standard_exponential()
    direction = root @ rng.standard_normal(len(place.x))
    low = -_WIDTH * rng.random()
    high = low + _WIDTH
    for _ in range(_MOST_HALVINGS):
        at = rng.uniform(low, high)
        try:
            there = _Place(place.x + at * direction, model, place.S)
        except np.linalg.LinAlgError:
            there = None
        if there is not None:
            moved = there.coloured(eta, g)
            if there.log_density(g) + float(model.log_likelihood(there.x, moved[None])[0]) >= threshold:
                return there, moved
        low, high = (at, high) if at < 0 else (low, at)
    return place, f

"""Samples of the latent values of a binary Gaussian process classifier, with convergence diagnostics."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft, special, stats

from kernsel._base.annotations import Vector
from kernsel._base.errors import NotMixedWarning
from kernsel.linalg.cholesky import cholesky

__all__ = ["Likelihood", "Samples", "effective_sample_size", "r_hat", "sample_latent"]

MIXED = 1.05  # the largest R-hat for which chains count as mixed
CENTRED = 8  # steps along ellipses of the approximate posterior for each draw; each takes fewer trials than one of the prior
_AHEAD = 500_000  # the most entries of directions drawn at once, by one matrix product for many steps
_COLUMNS = 2_000_000  # the most entries of draws for which diagnostics are computed at once
_HERE = 1e-15  # the angle below which a step ends at its starting point


class Likelihood(Protocol):
    """A likelihood of labels y = +-1."""

    def log_density(self, s: Vector, /) -> Vector:
        """Return log p(y | f) for each margin s = y f."""


@dataclass(frozen=True)
class Samples:
    """The result of :func:`sample_latent`.

    Attributes
    ----------
    f : ndarray of shape (chains, draws, n)
        The draws of the latent values.
    effective_sample_size : ndarray of shape (n,)
        For each latent value, the number of independent draws whose mean is as accurate.
    r_hat : ndarray of shape (n,)
        The rank-normalized split R-hat of each latent value, close to 1 if all halves of chains have the same distribution.
    """

    f: Vector
    effective_sample_size: Vector
    r_hat: Vector


class _Ellipses:
    """A Gaussian N(mean, G G'), along whose ellipses the posterior is sampled.

    Sites exp(shift_i f_i - precision_i f_i^2 / 2) times the prior N(0, F F') are a Gaussian of covariance
    F (I + F' diag(precision) F)^-1 F'. The posterior is that Gaussian times the ratio prod_i p(y_i | f_i) / site_i(f_i). Slice
    sampling of the ratio along an ellipse of the Gaussian is a valid step for any sites. Without sites, the Gaussian is the
    prior.
    """

    def __init__(self, F: Vector, sites: tuple[Vector, Vector] | None) -> None:
        if sites is None:
            self.precision, self.shift = np.zeros((2, len(F)))
            self.G, self.mean = F, np.zeros(len(F))
            return
        self.precision, self.shift = sites
        A = F.T @ (self.precision[:, None] * F)
        A.flat[:: len(A) + 1] += 1.0
        self.G = np.ascontiguousarray(cholesky(A).solve_lower(F.T).T)
        self.mean = self.G @ (self.G.T @ self.shift)

    def directions(self, steps: int, chains: int, rng: np.random.Generator) -> Vector:
        """Return independent draws of N(0, G G'), shape (steps, chains, n)."""
        n, rank = self.G.shape
        return np.asarray(rng.standard_normal((steps * chains, rank)) @ self.G.T).reshape(steps, chains, n)

    def sites(self, f: Vector) -> Vector:
        """Return the logarithm of the product of all sites, for each row of f."""
        return np.asarray(np.sum((self.shift - 0.5 * self.precision * f) * f, axis=-1))


class _Chains:
    """Several Markov chains that advance together: their current latent values, and the log likelihoods of these."""

    def __init__(self, f: Vector, y: Vector, link: Likelihood, rng: np.random.Generator) -> None:
        self.f, self.y, self.link, self.rng = f, y, link, rng
        self.level = self.log_likelihood(f)

    def log_likelihood(self, f: Vector) -> Vector:
        return np.asarray(np.sum(self.link.log_density(self.y * f), axis=-1), dtype=np.float64)

    def step(self, ellipses: _Ellipses, direction: Vector) -> None:
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


def sample_latent(
    K_factor: ArrayLike,
    y: ArrayLike,
    link: Likelihood,
    *,
    n_samples: int = 1000,
    n_burn: int = 200,
    n_chains: int = 4,
    rng: np.random.Generator,
    sites: tuple[ArrayLike, ArrayLike] | None = None,
) -> Samples:
    """Draw from p(f | y), proportional to N(f; 0, K) prod_i p(y_i | f_i), by elliptical slice sampling.

    f = F v with K = F F', where v is standard normal a priori, so that any positive semidefinite K is possible. Steps along
    ellipses of the prior need no tuning, but are short if the data are informative. With `sites`, a Gaussian approximation of
    the likelihood, each draw takes one such step, which reaches tails that the approximation lacks, and eight steps along
    ellipses of the approximate posterior, which are long where the approximation is good. The samples are from the exact
    posterior for any sites. Sites of expectation propagation are best: for large amplitudes they gave 2 to 4 times the
    effective sample size of those of Laplace's approximation.

    Parameters
    ----------
    K_factor : array-like of shape (n, rank)
        The factor F.
    y : array-like of shape (n,)
        The labels, -1 or 1.
    link : object with ``log_density(s)``
        A likelihood; the method returns log p(y | f) of margins s = y f, elementwise.
    n_samples : int
        The number of draws that each chain keeps, at least 4.
    n_burn : int
        The number of draws before them that are discarded.
    n_chains : int
        The number of chains.
    rng : numpy.random.Generator
        The only source of randomness: the same state gives the same draws.
    sites : pair of array-likes of shape (n,), optional
        The precisions, not negative, and the shifts of sites exp(shift_i f_i - precision_i f_i^2 / 2). Those of Laplace's
        approximation with the mode f^ are W = -d^2 log p / df^2 and W f^ + d log p / df.

    Returns
    -------
    samples : Samples
        A step of a chain takes O(n rank); with `sites`, the preparation takes O(n rank^2).

    Warns
    -----
    NotMixedWarning
        If R-hat is above 1.05 for any latent value.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import log_ndtr
    >>> from kernsel.estimators.classification.sampling import sample_latent
    >>> class Probit:
    ...     def log_density(self, s):
    ...         return log_ndtr(s)
    >>> samples = sample_latent([[1.0]], [1.0], Probit(), n_samples=5000, rng=np.random.default_rng(0))
    >>> print(f"{samples.f.mean():.1f}")  # exactly 1 / pi^(1/2) = 0.56
    0.6
    """
    F, labels = _checked(K_factor, y)
    for name, value, least in (("n_samples", n_samples, 4), ("n_burn", n_burn, 0), ("n_chains", n_chains, 1)):
        if value < least:
            raise ValueError(f"{name}: expected at least {least}, got {value}")
    kinds = [(_Ellipses(F, None), 1)]
    if sites is not None:
        kinds.append((_Ellipses(F, _checked_sites(sites, len(labels))), CENTRED))
    closest = kinds[-1][0]
    start = closest.mean + closest.directions(1, n_chains, rng)[0]
    chains = _Chains(start, labels, link, rng)
    if not np.isfinite(chains.level).all():
        raise ValueError(f"link: expected finite log densities, got {chains.level.min()} at a draw of the prior")
    draws = np.empty((n_chains, n_samples, len(labels)))
    ahead = max(_AHEAD // (n_chains * len(labels)), 1)
    for begin in range(-n_burn, n_samples, ahead):
        steps = min(ahead, n_samples - begin)
        directions = [ellipses.directions(steps * times, n_chains, rng) for ellipses, times in kinds]
        for k in range(steps):
            for (ellipses, times), drawn in zip(kinds, directions, strict=True):
                for direction in drawn[k * times : (k + 1) * times]:
                    chains.step(ellipses, direction)
            if begin + k >= 0:
                draws[:, begin + k] = chains.f
    samples = Samples(draws, effective_sample_size(draws), r_hat(draws))
    if samples.r_hat.max(initial=1.0) > MIXED:
        warnings.warn(
            f"the chains have not mixed: R-hat is up to {samples.r_hat.max():.3g}, and above {MIXED} for "
            f"{np.sum(samples.r_hat > MIXED)} of {len(labels)} latent values; more n_burn or n_samples may help",
            NotMixedWarning,
            stacklevel=2,
        )
    return samples


def _checked(K_factor: ArrayLike, y: ArrayLike) -> tuple[Vector, Vector]:
    F, labels = np.asarray(K_factor, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if F.ndim != 2 or not F.size or not np.isfinite(F).all():
        raise ValueError(f"K_factor: expected a matrix of finite numbers, got shape {F.shape}")
    if labels.shape != (len(F),) or not (np.abs(labels) == 1).all():
        raise ValueError(f"y: expected -1 or 1 for each of {len(F)} points, got {y!r}")
    return F, labels


def _checked_sites(sites: tuple[ArrayLike, ArrayLike], n: int) -> tuple[Vector, Vector]:
    precision, shift = (np.asarray(values, dtype=np.float64) for values in sites)
    for name, values in (("precisions", precision), ("shifts", shift)):
        if values.shape != (n,) or not np.isfinite(values).all():
            raise ValueError(f"sites: expected {name} that are finite, one for each of {n} points, got shape {values.shape}")
    if (precision < 0).any():
        raise ValueError(f"sites: expected precisions that are not negative, got {precision.min():g}")
    return precision, shift


def effective_sample_size(draws: ArrayLike) -> Vector:
    """Return the number of independent draws whose mean would be as accurate.

    It is the number of draws divided by -1 + 2 sum_k (rho_2k + rho_2k+1), where rho_t are the autocorrelations of all chains,
    each split in halves. The sum is Geyer's initial monotone sequence: pairs up to the first negative one, made nonincreasing.

    Parameters
    ----------
    draws : array-like of shape (chains, draws, ...)
        At least four draws.

    Returns
    -------
    size : ndarray of shape (...)
        It exceeds the number of draws if they are anticorrelated, at most by a factor of the decimal logarithm of that number.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.estimators.classification.sampling import effective_sample_size
    >>> independent = np.random.default_rng(0).standard_normal((4, 1000))
    >>> bool(3000 < effective_sample_size(independent) < 5000)
    True
    >>> bool(effective_sample_size(np.repeat(independent, 10, axis=1)) < 5000)
    True
    """
    return _by_columns(_size_of_halves, draws)


def r_hat(draws: ArrayLike) -> Vector:
    """Return the rank-normalized split R-hat: the ratio of the spread of all chains together to that of their halves.

    It is the larger of two R-hats: that of the normalized ranks of the values, which shows chains at different places, and that
    of the ranks of their distances from the median, which shows chains of different widths. It is 1 if there is no difference.

    Parameters
    ----------
    draws : array-like of shape (chains, draws, ...)
        At least four draws.

    Returns
    -------
    r_hat : ndarray of shape (...)

    References
    ----------
    A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Buerkner (2021). Rank-normalization, folding, and localization: an
    improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16, 667-718.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.estimators.classification.sampling import r_hat
    >>> same = np.random.default_rng(0).standard_normal((4, 1000))
    >>> bool(r_hat(same) < 1.01), bool(r_hat(same + np.arange(4)[:, None]) > 1.5)
    (True, True)
    """
    return _by_columns(_r_hat_of_halves, draws)


def _by_columns(figure: Callable[[Vector], Vector], draws: ArrayLike) -> Vector:
    """Apply a diagnostic to each column of draws, (chains, draws, n) -> (n,), with chains split in halves, in blocks."""
    values = np.asarray(draws, dtype=np.float64)
    if values.ndim < 2 or values.shape[1] < 4:
        raise ValueError(f"draws: expected shape (chains, at least 4 draws, ...), got {values.shape}")
    chains, count, *rest = values.shape
    columns = values.reshape(chains, count, -1)
    size = max(_COLUMNS // (chains * count), 1)
    parts = [
        figure(np.concatenate([part[:, : count // 2], part[:, count - count // 2 :]]))
        for part in (columns[..., begin : begin + size] for begin in range(0, columns.shape[2], size))
    ]
    return np.asarray(np.concatenate(parts)).reshape(rest) if parts else np.empty(rest)


def _spread(halves: Vector) -> tuple[Vector, Vector]:
    """Return the mean variance within chains, and the estimate of the total variance that includes that between chains."""
    count = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    return within, within * (count - 1) / count + halves.mean(axis=1).var(axis=0, ddof=1)


def _size_of_halves(halves: Vector) -> Vector:
    chains, count, _ = halves.shape
    within, total = _spread(halves)
    centred = halves - halves.mean(axis=1, keepdims=True)
    padded = fft.next_fast_len(2 * count, real=True)
    power = np.abs(fft.rfft(centred, padded, axis=1)) ** 2
    together = fft.irfft(power.mean(axis=0), padded, axis=0)[:count] / (count - 1)
    moves = total > 0
    rho = 1.0 - (within - together) / np.where(moves, total, 1.0)
    rho[0] = 1.0
    pairs = rho[0 : count - 1 : 2] + rho[1:count:2]
    pairs = np.minimum.accumulate(pairs, axis=0)  # negative after the first negative one, so that the rest is left out below
    time = -1.0 + 2.0 * np.sum(np.maximum(pairs, 0.0), axis=0)
    draws = chains * count
    return np.where(moves, draws / np.maximum(time, 1.0 / np.log10(max(draws, 10))), float(draws))


def _r_hat_of_halves(halves: Vector) -> Vector:
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.maximum(_r_hat_of_ranks(halves), _r_hat_of_ranks(folded))


def _r_hat_of_ranks(halves: Vector) -> Vector:
    chains, count, columns = halves.shape
    ranks = stats.rankdata(halves.reshape(chains * count, columns), axis=0).reshape(halves.shape)
    within, total = _spread(special.ndtri((ranks - 0.375) / (chains * count + 0.25)))
    return np.where(
        total > 0,
        np.sqrt(np.divide(total, within, out=np.full(columns, np.inf), where=within > 0)),
        1.0,
    )

"""Whether draws of Markov chains can be trusted: R-hat and effective sample sizes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft, special, stats
from sklearn.exceptions import ConvergenceWarning

from kernsel._base.annotations import Vector

__all__ = ["NotMixedWarning", "effective_sample_size", "r_hat"]

_COLUMNS = 2_000_000  # the most entries of draws for which diagnostics are computed at once


class NotMixedWarning(ConvergenceWarning):  # type: ignore[misc]
    """Markov chains have not mixed: their draws may not represent the distribution that they are drawn from."""


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
    >>> from kernsel._sample.diagnostics import effective_sample_size
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
    >>> from kernsel._sample.diagnostics import r_hat
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

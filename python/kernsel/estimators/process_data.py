"""Checks of the data of a Gaussian process, and of their noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Vector
from kernsel._data.rows import is_of_rows
from kernsel._search import explained
from kernsel.kernels import Kernel

__all__ = ["of_observations", "require_function", "require_no_weights", "require_variances"]


def require_no_weights(X: object, likelihood: object, noise: object, sample_weight: object) -> None:
    """Raise if noise variances or weights are given to a fit of observations with a likelihood, or of rows read in blocks."""
    given = [name for name, value in (("noise", noise), ("sample_weight", sample_weight)) if value is not None]
    if given and likelihood is not None:
        raise ValueError(
            f"{given[0]}: expected None with likelihood={likelihood!r}, whose observations have no noise variance to "
            "divide; weights that multiply log densities are of kernsel.evaluate(..., likelihood=, sample_weight=)"
        )
    if given and is_of_rows(X):
        raise ValueError(
            f"{given[0]}: expected None for rows that are read in blocks; give arrays, or kernsel.KernelRidge, which takes the "
            "weights of such rows"
        )


def of_observations(noise: ArrayLike, alpha: ArrayLike) -> float:
    """Return the noise variance of a new observation, noise + alpha; raise if it differs between the training points."""
    for name, values in (("noise", noise), ("alpha", alpha)):
        if np.ptp(values) > 0:
            raise ValueError(f"noisy: {name} differs from point to point, so that the noise of other points is not known")
    return float(np.ravel(noise)[0] + np.ravel(alpha)[0])


def require_variances(y: Vector, H: Vector) -> None:
    """Raise if some outputs, but not all, are explained by the trend H alone, so that their variances cannot be estimated."""
    without = explained(y, H)
    if without.any() and not without.all():
        named = ", ".join(str(k) for k in np.flatnonzero(without)[:10])
        raise ValueError(f'scale: "each" finds no variance for target {named}, which is constant, or all trend')


def require_function(kernel: Callable[[], Kernel], X: Vector, y: Vector, noise: Vector | None = None) -> None:
    """Raise if equal points without noise have different values, for which the likelihood is zero.

    Parameters
    ----------
    kernel : callable
        Returns the kernel; called only if equal points have different values.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n, n_targets)
    noise : ndarray of shape (k,), optional
        The noise variances of the first k points; zero for all others.
    """
    if len(np.unique(X @ np.sqrt(np.arange(2.0, X.shape[1] + 2)))) == len(X):  # equal points have equal products
        return
    _, first, group = np.unique(X, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(X):
        return
    twin = first[np.ravel(group)]
    spread = np.abs(y - y.mean(axis=0)).max(axis=0)
    off = (np.abs(y - y[twin]) > 1e-7 * spread).any(axis=1)
    if not off.any():
        return
    total = np.asarray(kernel().on_points(X)[0].build().noise(X)).copy()
    if noise is not None:
        total[: len(noise)] += noise
    pairs = [(int(twin[i]), int(i)) for i in np.flatnonzero(off & (total <= 0))]
    if pairs:
        i, j = pairs[0]
        named = ", ".join(f"{a} and {b}" for a, b in pairs[:5]) + (", ..." if len(pairs) > 5 else "")
        raise ValueError(
            f"y: points {named} are equal, but their values differ (by {np.abs(y[i] - y[j]).max():.3g} for the first), "
            'which a process without noise does not allow; give a noise, such as noise="auto", or a WhiteKernel'
        )

"""What a Gaussian process asks of its data, and of the noise that they have."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Vector
from kernsel._search import explained
from kernsel.kernels import Kernel

__all__ = ["needs_no_conversion", "of_observations", "require_function", "require_variances", "variances"]


def variances(name: str, value: ArrayLike | None, n: int | None) -> Vector:
    """Return variances: one number, or one for each of n points, of any number of them if None."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f'{name}: expected numbers or "auto", got {value!r}') from None
    if value is None or np.isnan(numbers).any() or not np.isfinite(numbers).all() or (numbers < 0).any():
        raise ValueError(f"{name}: expected finite numbers that are not negative, got {value!r}")
    if numbers.shape == (1,):
        numbers = numbers[0]
    if numbers.ndim and (numbers.ndim > 1 or (n is not None and len(numbers) != n)):
        raise ValueError(
            f"{name} must be a scalar or an array with same number of entries as y. (shape {numbers.shape} for {n} points)"
        )
    return np.asarray(numbers)


def of_observations(noise: ArrayLike, alpha: ArrayLike) -> float:
    """Return the variance of the noise of an observation, if that is the same everywhere."""
    for name, values in (("noise", noise), ("alpha", alpha)):
        if np.ptp(values) > 0:
            raise ValueError(f"noisy: {name} differs from point to point, so that the noise of other points is not known")
    return float(np.ravel(noise)[0] + np.ravel(alpha)[0])


def require_variances(y: Vector, H: Vector) -> None:
    """Raise if some of the outputs have no variance to be estimated; if none has, there is nothing to choose."""
    without = explained(y, H)
    if without.any() and not without.all():
        named = ", ".join(str(k) for k in np.flatnonzero(without)[:10])
        raise ValueError(f'scale: "each" finds no variance for target {named}, which is constant, or all trend')


def needs_no_conversion(X: object, y: object) -> bool:
    """Tell whether X and y are arrays that scikit-learn's validation would return as they are."""
    if type(X) is not np.ndarray or type(y) is not np.ndarray or not X.dtype == y.dtype == np.float64:
        return False
    if X.ndim != 2 or y.ndim not in (1, 2) or len(X) != len(y) or not X.size or not y.size:
        return False
    return bool(np.isfinite(X).all() and np.isfinite(y).all())


def require_function(kernel: Callable[[], Kernel], X: Vector, y: Vector, noise: Vector | None = None) -> None:
    """Raise if, without noise, equal points have different values: the likelihood of that is zero.

    Parameters
    ----------
    kernel : callable
        Returns the kernel, if there are equal points.
    noise : ndarray, optional
        Of the first points; none by default.
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

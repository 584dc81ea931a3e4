"""Checks of the numbers on the diagonal of the kernel matrix: noise variances, regularizations, weights of points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_sample_weight

from kernsel._base.annotations import Matrix, Vector

__all__ = ["point_weights", "regularizations", "variances"]


def variances(name: str, value: object, n: int | None) -> Vector:
    """Return variances as an array: one number, or one for each point.

    Parameters
    ----------
    name : str
        The name of the argument, for errors.
    value : object
        The argument.
    n : int or None
        The number of points; None accepts an array of any length.

    Returns
    -------
    variances : ndarray of shape () or (n,)
    """
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f'{name}: expected numbers or "auto", got {value!r}') from None
    bad = ~(np.isfinite(numbers) & (numbers >= 0))
    if numbers.ndim == 1 and len(numbers) > 1 and bad.any():
        first = int(bad.argmax())
        raise ValueError(f"{name}: expected finite numbers that are not negative, got {numbers[first]} at entry {first}")
    if value is None or bad.any():
        raise ValueError(f"{name}: expected finite numbers that are not negative, got {value!r}")
    if numbers.shape == (1,):
        numbers = numbers[0]
    if numbers.ndim and (numbers.ndim > 1 or (n is not None and len(numbers) != n)):
        raise ValueError(
            f"{name} must be a scalar or an array with same number of entries as y. (shape {numbers.shape} for {n} points)"
        )
    return np.asarray(numbers)


def regularizations(value: object, targets: int) -> Vector:
    """Return one regularization for each target, for an argument `alpha` that is not "auto".

    Parameters
    ----------
    value : object
        A number, or one for each target.
    targets : int

    Returns
    -------
    alphas : ndarray of shape (targets,)
    """
    try:
        alphas = np.asarray(value)
        alphas = np.asarray(alphas.astype(np.float64, casting="same_kind" if alphas.dtype != object else "unsafe"))
    except (TypeError, ValueError):
        alphas = np.zeros(0, dtype=bool)
    if alphas.dtype == bool or value is None or isinstance(value, bool | str):
        raise TypeError(f'alpha: expected a number, one for each target, or "auto", got {value!r}')
    if not (np.isfinite(alphas).all() and (alphas >= 0).all()):
        raise ValueError(f"alpha: expected finite numbers that are not negative, got {value!r}")
    if alphas.shape not in ((), (1,), (targets,)):
        raise ValueError(f"alpha: expected one number or {targets}, one for each target, got shape {alphas.shape}")
    return np.broadcast_to(alphas, (targets,))


def point_weights(sample_weight: ArrayLike | float | None, X: Matrix) -> Vector | None:
    """Return one weight for each point; None stays None.

    Parameters
    ----------
    sample_weight : None, float or array-like of shape (n,)
    X : ndarray of n rows

    Returns
    -------
    weights : ndarray of shape (n,) or None
    """
    if sample_weight is None:
        return None
    weights = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if (weights < 0).any():
        raise ValueError(f"sample_weight: expected weights that are not negative, got {weights.min():g}")
    if not weights.any():
        raise ValueError("sample_weight: all weights are zero, which leaves nothing to fit")
    return weights

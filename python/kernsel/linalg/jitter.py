"""What is added to the diagonal of a matrix that is positive definite but for rounding: the policy of the C++ core.

That is what rounding makes of n x n entries, 4 n^(1/2) eps times the diagonal; and where that is not enough, ten times as much,
up to five times over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from kernsel import _core

__all__ = ["least_jitter", "with_jitter"]

T = TypeVar("T")


def least_jitter(n: int, size: float) -> float:
    """Return the least jitter of n points, for a diagonal of this size."""
    return _core.least_jitter(n) * size


def with_jitter(jitter: float, attempt: Callable[[float], T]) -> tuple[T, float]:
    """Return what a function makes of the first jitter for which it raises no LinAlgError, and this jitter.

    Parameters
    ----------
    jitter : float
        To begin with. Of none, there is not more.
    attempt : callable

    Raises
    ------
    LinAlgError
        The last one, if no jitter is enough.
    """
    for _ in range(_core.most_raises if jitter > 0 else 0):
        try:
            return attempt(jitter), jitter
        except np.linalg.LinAlgError:
            jitter *= 10
    return attempt(jitter), jitter

"""Exceptions of kernsel. Each derives from the built-in one that a caller would expect."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

__all__ = ["NotMixedWarning", "NotPositiveDefiniteError", "NotPositiveSemidefiniteWarning"]


class NotPositiveDefiniteError(np.linalg.LinAlgError):
    """A matrix that had to be positive definite is not.

    Attributes
    ----------
    pivot : int
        The first row whose pivot is not positive: the leading rows up to it are positive definite.
    value : float
        That pivot, what is left of the diagonal entry after the rows before it are accounted for.
    """

    def __init__(self, pivot: int, value: float) -> None:
        self.pivot = pivot
        self.value = value
        super().__init__(
            f"the matrix is not positive definite: the pivot of row {pivot} is {value:.4g}. "
            "Add to the diagonal (alpha, noise, or a jitter of a few n * eps * the largest entry), "
            "and look for duplicated points: the rows before this one determine it to rounding."
        )

    def __reduce__(self) -> tuple[type, tuple[int, float]]:
        return type(self), (self.pivot, self.value)


class NotPositiveSemidefiniteWarning(UserWarning):
    """A function of two points that is offered as a kernel, and is none."""


class NotMixedWarning(ConvergenceWarning):  # type: ignore[misc]
    """Chains of random draws that do not agree with each other: they may not show what they are drawn from."""

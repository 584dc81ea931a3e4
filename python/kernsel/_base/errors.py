"""Exceptions of kernsel. Each derives from the built-in one that a caller would expect."""

from __future__ import annotations

import numpy as np

__all__ = ["ArgumentError", "NotPositiveDefiniteError", "NotPositiveSemidefiniteWarning"]


class ArgumentError(TypeError, ValueError):
    """An argument that cannot be interpreted, because of its type or its value."""


class NotPositiveDefiniteError(np.linalg.LinAlgError):
    """A matrix that had to be positive definite is not.

    Attributes
    ----------
    pivot : int
        The first row whose pivot is not positive; the leading submatrix of the rows before it is positive definite.
    value : float
        The pivot: the diagonal entry of this row's Schur complement.
    """

    def __init__(self, pivot: int, value: float) -> None:
        self.pivot = pivot
        self.value = value
        super().__init__(
            f"the matrix is not positive definite: the pivot of row {pivot} is {value:.4g}. "
            "Add to the diagonal (alpha, noise, or a jitter of a few n * eps * the largest entry), "
            "and look for duplicated points: other rows determine this one to rounding."
        )

    def __reduce__(self) -> tuple[type, tuple[int, float]]:
        return type(self), (self.pivot, self.value)


class NotPositiveSemidefiniteWarning(UserWarning):
    """A kernel function is not positive semidefinite."""

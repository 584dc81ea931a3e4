"""What an evaluation of a criterion for rows that are read in blocks has found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel.criteria import Criterion
from kernsel.criteria.base import Given

__all__ = ["ByBlocks", "core_criterion"]


@dataclass(frozen=True)
class ByBlocks:
    """A criterion by landmarks, for all rows.

    Attributes
    ----------
    value : float
        Without the prior of hyperparameters.
    gradient : ndarray of shape (p,) or None
        The derivatives in the parameters of the kernel, as the core has them.
    noise_gradient : float or None
        The derivative in a variance that is added to that of all rows.
    beta : ndarray of shape (q, outputs)
    scale, effective_dof : float
    sums : NystromSums
        Of all rows.
    """

    value: float
    gradient: Vector | None
    noise_gradient: float | None
    beta: Matrix
    scale: float
    effective_dof: float
    sums: _core.NystromSums


def core_criterion(criterion: Criterion, rows: int, y: Matrix | None) -> _core.Criterion:
    """Return a criterion of the core for so many rows, of which no two are equal; without targets, one that sees no rows."""
    numbers = np.arange(rows if y is not None else min(rows, 2))
    return criterion.core(Given(numbers[:, None].astype(np.float64), np.zeros(len(numbers)) if y is None else y, numbers))

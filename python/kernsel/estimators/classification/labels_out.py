"""Labels that are left out, as a criterion by which a kernel is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kernsel import _core
from kernsel._base.annotations import Indices
from kernsel._data.together import numbered
from kernsel.criteria import Criterion
from kernsel.criteria.base import Given

__all__ = ["LabelsOut"]


@dataclass(frozen=True, eq=False)
class LabelsOut(Criterion):
    """The sum of the log probabilities of all labels, each predicted from all other points, or from all other groups.

    Each row counts as an independent label: it is predicted from equal rows, too.

    Attributes
    ----------
    groups : ndarray of int of shape (n,) or None
        The group with which each point is left out; None if each is left out alone.
    """

    groups: Indices | None = None
    larger_is_better: ClassVar[bool] = True
    leaves_points_out: ClassVar[bool] = True

    def core(self, given: Given) -> _core.Criterion:
        """Return the criterion as an object of the C++ core."""
        if self.groups is None:
            return _core.left_out_density(True)
        numbers, count = numbered(self.groups[given.used])
        return _core.left_out_density(True, numbers.tolist(), count)

    def of_observations(self, given: Given, *, has_trend: bool) -> _core.Criterion:
        """Return the same: it is defined for labels only."""
        del has_trend
        return self.core(given)

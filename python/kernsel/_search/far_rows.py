"""Rows that are far from what the others predict, as a search reports them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernsel._base.annotations import Indices, Vector

__all__ = ["FarRows"]

_NAMED = 5  # rows that are named


@dataclass(frozen=True)
class FarRows:
    """Rows that are far from what the others predict, farther than normal noise has it.

    Attributes
    ----------
    rows : ndarray of int
        The farthest first.
    sizes : ndarray
        Their left-out residuals in standard deviations.
    count_little : bool
        Whether they were found to be outliers, which hardly count in the fit. Otherwise they count like all others.
    """

    rows: Indices
    sizes: Vector
    count_little: bool

    def said(self, numbers: Sequence[int] | Indices | None = None) -> str:
        """Return a remark on them.

        Parameters
        ----------
        numbers : sequence of int, optional
            The numbers by which the user knows the rows. Without them, rows are counted from 0 on.
        """
        order = self.rows if numbers is None else np.asarray(numbers)[self.rows]
        named = ", ".join(f"{row} ({size:+.1f})" for row, size in zip(order[:_NAMED], self.sizes, strict=False))
        named += ", ..." if len(order) > _NAMED else ""
        subject = f"row {named} is an outlier" if len(order) == 1 else f"{len(order)} rows are outliers, {named}"
        if self.count_little:
            return (
                f"{subject}: so many standard deviations from what the others predict. They hardly count in the fit; check "
                "them. outliers=None lets them count."
            )
        subject = f"row {named} is" if len(order) == 1 else f"{len(order)} rows, {named}, are"
        return (
            f"{subject} farther from what the others predict than normal noise has it, in standard deviations. Check them: "
            'outliers=[...] with the numbers of wrong ones keeps them from counting; likelihood="student_t" depends less on '
            "them."
        )

"""Errors with heavy tails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kernsel import _core
from kernsel.likelihoods.built_in import BuiltIn
from kernsel.likelihoods.parameter import Bounds, Number

__all__ = ["StudentT"]


@dataclass(frozen=True, repr=False)
class StudentT(BuiltIn):
    """Errors of Student's distribution: y = f + scale t, for data with outliers.

    An observation far from f hardly pulls it: log p falls like the logarithm of the distance. It is not concave, and Laplace's
    approximation takes the expected information, (df + 1) / ((df + 3) scale^2). The variance of y is infinite for df <= 2.

    Parameters
    ----------
    scale : float or "auto"
    df : float or "auto"
        The degrees of freedom, above 1: the fewer, the heavier the tails. From 30 on errors are nearly normal. Those that are
        found are 2.1 at least, unless `df_bounds` say otherwise, so that y has a variance.
    scale_bounds, df_bounds : pair of floats, "auto" or "fixed"

    Examples
    --------
    >>> from kernsel.likelihoods import StudentT
    >>> first, _, _ = StudentT(scale=1.0, df=4.0).derivatives(y=[1.0, 10.0, 100.0], f=0.0)
    >>> first.round(3)
    array([1.   , 0.481, 0.05 ])
    """

    scale: Number = "auto"
    df: Number = "auto"
    scale_bounds: Bounds = "auto"
    df_bounds: Bounds = "auto"
    standard: ClassVar[dict[str, float]] = {"scale": 1.0, "df": 4.0}

    def __post_init__(self) -> None:
        super().__post_init__()
        least = self.df if isinstance(self.df_bounds, str) else min(self.df_bounds)
        for value in (self.df, least):
            if not isinstance(value, str) and not value > 1:
                raise ValueError(f"df: expected more than 1 degree of freedom, since otherwise there is no mean, got {value!r}")

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.student_t(*numbers)

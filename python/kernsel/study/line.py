"""A line of a study: one kernel, with the hyperparameters that are best by one criterion."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

__all__ = ["MANY", "NEIGHBORS", "Line"]

MANY, NEIGHBORS = 5000, 100  # scores of fits to more rows are by so many neighbours


@dataclass(frozen=True)
class Line:
    """One kernel, with the hyperparameters that are best by one criterion.

    Attributes
    ----------
    kernel, fitted : str
        The kernel that was tried, and the same with its fitted hyperparameters; empty if it could not be fitted.
    value : float
        The value of the criterion; nan if the kernel could not be fitted.
    loo_rmse, loo_log_density, coverage : float
        The root mean squared leave-one-out error, the mean log leave-one-out density, and the share of points within their 95 %
        leave-one-out intervals, whatever the criterion. Rows of equal inputs, or of one group, are left out together.
    noise : float
        The variance of the noise.
    parameters, evaluations : int
        The number of hyperparameters that were optimized, and of evaluations of the criterion.
    seconds : float
    problem : str
        The reason why the kernel could not be fitted; empty if it could.
    ended : str
        The reason why the search ended, see :class:`kernsel._search.Selection`.
    weight : float
        The weight in the mixture, if kernels are combined; otherwise nan.
    as_good : bool
        Whether the kernel is about as good as the best, see :func:`kernsel.select`.
    """

    kernel: str
    fitted: str
    value: float
    loo_rmse: float
    loo_log_density: float
    coverage: float
    noise: float
    parameters: int
    evaluations: int
    seconds: float
    problem: str
    ended: str
    weight: float = nan
    as_good: bool = False

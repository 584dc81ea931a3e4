"""A line of a study: one kernel, at its best by one criterion."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Line"]


@dataclass(frozen=True)
class Line:
    """One kernel, at its best by one criterion.

    Attributes
    ----------
    kernel, fitted : str
        As it was tried, and with the hyperparameters that were found; that is empty if it could not be fitted.
    value : float
        Of the criterion; nan if the kernel could not be fitted.
    loo_rmse, loo_log_density, coverage : float
        The root mean square of the errors of points left out, the mean of the logarithms of their predictive densities, and
        the share of them within the 95 % intervals that the others give: the same three for all criteria.
    noise : float
        A variance.
    parameters, evaluations : int
        How many numbers were found, and how many evaluations of the criterion that took.
    seconds : float
    problem : str
        Why the kernel could not be fitted; empty if it could.
    ended : str
        Why the search ended, see :class:`kernsel.selection.Selection`.
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

"""Criteria: how well a kernel, a noise and a trend fit data.

Throughout, K~ = k(X, X) + N, N = diag(noise), P = K~^-1, or with a trend H of q columns, P = K~^-1 - K~^-1 H (H'K~^-1 H)^-1
H'K~^-1; c = P y. In a fit without point i its residual is r_i = c_i / P_ii, and the variance of that v_i = 1 / P_ii: no fit
is ever repeated.

Which one? Likelihoods are sharpest if the model is right. Leave-one-out criteria ask for predictions only, forgive a wrong
model more, and vary more between samples. GCV is the cheapest of these for a path of lambda. Criteria of squared or
absolute errors do not see a common factor of kernel and noise: fix it, or choose it by another.

A criterion is given by name (``CRITERIA``), or as an object of one of these classes.
"""

from typing import TYPE_CHECKING

from kernsel._base.renamed import CRITERION_CLASSES, refuse_name_in_module
from kernsel._core import Workspace
from kernsel.criteria.base import Criterion
from kernsel.criteria.leave_out import GroupsOut, LeaveOneOut
from kernsel.criteria.likelihoods import Likelihood, MaximumAPosteriori
from kernsel.criteria.names import listing, searched
from kernsel.criteria.smoothing import GeneralizedCrossValidation, UnbiasedRisk

__all__ = [
    "CRITERIA",
    "Criterion",
    "GeneralizedCrossValidation",
    "GroupsOut",
    "LeaveOneOut",
    "Likelihood",
    "MaximumAPosteriori",
    "UnbiasedRisk",
    "Workspace",
]

CRITERIA = searched()
__doc__ = f"{__doc__}\nTheir formulas, and those of the rules that choose only lambda along a path::\n\n{listing()}\n"

if not TYPE_CHECKING:  # a type checker that saw this function would take any name for one of this module

    def __getattr__(name: str) -> object:
        refuse_name_in_module(__name__, name, CRITERION_CLASSES)

"""Criteria: measures of how well a kernel, a noise and a trend fit data.

Notation: K~ = k(X, X) + N with N = diag(noise). P = K~^-1, or with a trend H of q columns,
P = K~^-1 - K~^-1 H (H'K~^-1 H)^-1 H'K~^-1. The coefficients are c = P y. The leave-one-out residual of point i is
r_i = c_i / P_ii, and its variance is v_i = 1 / P_ii, so that no model is fitted again.

Likelihoods are the most precise criteria if the model is right. Leave-one-out criteria measure predictions only; they are more
robust against a wrong model, and vary more between samples. GCV is the cheapest of these for a path of lambda. Criteria of
squared or absolute errors do not depend on a common factor of kernel and noise, which must be fixed, or chosen by another
criterion.

A criterion is given by name (``CRITERIA``), or as an object of one of these classes.
"""

from typing import TYPE_CHECKING

from kernsel._base.renamed import CRITERION_CLASSES, refuse_name_in_module
from kernsel._core import Workspace
from kernsel.criteria.base import Criterion
from kernsel.criteria.leave_out import GroupsOut, HoldOut, LeaveOneOut
from kernsel.criteria.likelihoods import Evidence, Likelihood, MaximumAPosteriori
from kernsel.criteria.names import listing, searched
from kernsel.criteria.smoothing import GeneralizedCrossValidation, UnbiasedRisk

__all__ = [
    "CRITERIA",
    "Criterion",
    "Evidence",
    "GeneralizedCrossValidation",
    "GroupsOut",
    "HoldOut",
    "LeaveOneOut",
    "Likelihood",
    "MaximumAPosteriori",
    "UnbiasedRisk",
    "Workspace",
]

CRITERIA = searched()
__doc__ = f"{__doc__}\nTheir formulas, and those of the rules that choose only lambda along a path::\n\n{listing()}\n"

if not TYPE_CHECKING:  # hidden from type checkers, which would otherwise accept any name in this module

    def __getattr__(name: str) -> object:
        refuse_name_in_module(__name__, name, CRITERION_CLASSES)

"""The table of criteria: one row for each name, with its formula in words, labels, and the class that implements it.

Estimators, searches, paths, plots, reports and the command line read this table. A new criterion is a class with its formula
(or a loss of leave-one-out residuals and variances, for :class:`kernsel.criteria.LeaveOneOut`), and a row here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kernsel.criteria.base import Criterion
from kernsel.criteria.leave_out import GroupsOut, HoldOut, LeaveOneOut
from kernsel.criteria.likelihoods import Evidence, Likelihood, MaximumAPosteriori
from kernsel.criteria.smoothing import GeneralizedCrossValidation, UnbiasedRisk

__all__ = ["TABLE", "Row"]


@dataclass(frozen=True)
class Row:
    """The description of one criterion.

    Attributes
    ----------
    name : str
    formula : str
        The formula in one line, in the notation of :mod:`kernsel.criteria`.
    short : str
        A name of a word or two, for legends.
    label : str
        The name of its values, for axes and tables.
    sentence : str
        The quantity that the criterion compares, in words without mathematics, for the command line.
    larger_is_better : bool or None
        None if neither large nor small values are better, as for the discrepancy principle, where the residual must equal the
        noise.
    kind : subclass of Criterion, or None
        The class that :func:`kernsel.evaluate` and searches over kernels use. None for a rule that chooses only lambda, along
        a path.
    fixed : dict
        Arguments of `kind` that follow from the name and cannot be given as options.
    defaults : dict
        Arguments of `kind` whose default values depend on the name, and that can be given as options.
    needs : tuple of str
        The requirements besides the data: "sigma" (the standard deviation of the noise), "folds" or "prior".
    curve : str
        The attribute of :class:`kernsel.RegularizationPath` with the values for all lambda; empty if there is none.
    differs_on_path : bool
        Whether the values of `curve` differ from those of `kind`, so that they must not be compared with each other. Their
        minimum is the same if all weights are equal.
    """

    name: str
    formula: str
    short: str
    label: str
    sentence: str
    larger_is_better: bool | None
    kind: type[Criterion] | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    curve: str = ""
    differs_on_path: bool = False

    @property
    def for_search(self) -> bool:
        """Whether the criterion can choose kernels."""
        return self.kind is not None

    @property
    def for_path(self) -> bool:
        """Whether the criterion can choose lambda along a regularization path."""
        return bool(self.curve)

    @property
    def for_tables(self) -> bool:
        """Whether the command line offers the criterion: those that need sigma are left out, since tables do not have it."""
        return self.for_search and "sigma" not in self.needs

    @property
    def leaves_out(self) -> bool:
        """Whether the criterion is an error or a density of points that are left out."""
        return self.kind is not None and self.kind.leaves_points_out

    @property
    def is_likelihood(self) -> bool:
        """Whether the criterion is a likelihood of all points together."""
        return self.kind is not None and issubclass(self.kind, Likelihood)


_LOG_DETERMINANTS = "1/2 log det K~ - 1/2 log det H'K~^-1 H + 1/2 log det H'H"
_ROWS = (
    Row(
        "lml",
        "-1/2 y'c - 1/2 log det K~ - n/2 log 2 pi",
        "likelihood",
        "log marginal likelihood",
        "the likelihood",
        larger_is_better=True,
        kind=Likelihood,
        fixed={"restricted": False, "scale": "known"},
        curve="log_likelihood",
    ),
    Row(
        "profiled_lml",
        "-n/2 log(y'c / n) - 1/2 log det K~ - n/2 (1 + log 2 pi)",
        "likelihood",
        "log marginal likelihood at the best scale",
        "the likelihood, its scale profiled out",
        larger_is_better=True,
        kind=Likelihood,
        fixed={"restricted": False},
        defaults={"scale": "shared"},
        curve="profiled_log_likelihood",
    ),
    Row(
        "reml",
        f"-1/2 y'c - {_LOG_DETERMINANTS} - (n-q)/2 log 2 pi",
        "restricted likelihood",
        "restricted log likelihood",
        "the restricted likelihood",
        larger_is_better=True,
        kind=Likelihood,
        fixed={"restricted": True, "scale": "known"},
        curve="restricted_log_likelihood",
    ),
    Row(
        "profiled_reml",
        f"-(n-q)/2 log(y'c / (n-q)) - {_LOG_DETERMINANTS} - (n-q)/2 (1 + log 2 pi)",
        "restricted likelihood",
        "restricted log likelihood at the best scale",
        "the restricted likelihood, its scale profiled out",
        larger_is_better=True,
        kind=Likelihood,
        fixed={"restricted": True},
        defaults={"scale": "shared"},
        curve="profiled_restricted_log_likelihood",
    ),
    Row(
        "map",
        "-1/2 y'c - 1/2 log det K~ - n/2 log 2 pi + log p(hyperparameters)",
        "posterior",
        "log posterior density",
        "the likelihood times the priors",
        larger_is_better=True,
        kind=MaximumAPosteriori,
        fixed={"restricted": False, "scale": "known"},
        needs=("prior",),
    ),
    Row(
        "evidence",
        "log of the integral of exp(reml) p(hyperparameters), by Laplace's approximation",
        "evidence",
        "log evidence",
        "the probability of the data, hyperparameters integrated out",
        larger_is_better=True,
        kind=Evidence,
        fixed={"restricted": True, "scale": "known"},
    ),
    Row(
        "loo",
        "mean of r_i^2",
        "leave-one-out",
        "mean squared leave-one-out error",
        "squared errors of rows left out",
        larger_is_better=False,
        kind=LeaveOneOut,
        fixed={"loss": "squared", "profiled": False},
        curve="loo",
    ),
    Row(
        "loo_log_density",
        "sum of log N(r_i; 0, v_i)",
        "leave-one-out density",
        "leave-one-out log density",
        "log densities of rows left out",
        larger_is_better=True,
        kind=LeaveOneOut,
        fixed={"loss": "log_density", "profiled": False},
    ),
    Row(
        "profiled_loo_log_density",
        "sum of log N(r_i; 0, s v_i), s the mean of r_i^2 / v_i",
        "leave-one-out density",
        "leave-one-out log density at the best scale",
        "log densities of rows left out, the scale profiled out",
        larger_is_better=True,
        kind=LeaveOneOut,
        fixed={"loss": "log_density", "profiled": True},
    ),
    Row(
        "loo_crps",
        "mean of v_i^(1/2) (z_i (2 Phi(z_i) - 1) + 2 phi(z_i) - pi^(-1/2)), z_i = r_i / v_i^(1/2)",
        "leave-one-out CRPS",
        "leave-one-out CRPS",
        "the continuous ranked probability score of rows left out",
        larger_is_better=False,
        kind=LeaveOneOut,
        fixed={"loss": "crps", "profiled": False},
    ),
    Row(
        "loo_absolute",
        "mean of (r_i^2 + d^2)^(1/2), d = smoothing std(y)",
        "leave-one-out, absolute",
        "mean absolute leave-one-out error",
        "absolute errors of rows left out",
        larger_is_better=False,
        kind=LeaveOneOut,
        fixed={"loss": "absolute", "profiled": False},
    ),
    Row(
        "gcv",
        "n c'Uc / tr(U P)^2, U the noise divided by its mean",
        "GCV",
        "generalized cross-validation",
        "generalized cross-validation",
        larger_is_better=False,
        kind=GeneralizedCrossValidation,
        curve="gcv",
    ),
    Row(
        "risk",
        "|N c|^2 + 2 tr(S A) - tr S, A = I - N P, S = diag(sigma^2)",
        "unbiased risk",
        "unbiased risk estimate",
        "an unbiased estimate of the error of the fit, for noise of known size",
        larger_is_better=False,
        kind=UnbiasedRisk,
        needs=("sigma",),
        curve="risk",
        differs_on_path=True,  # on a path it is the mean over points, with weighted errors
    ),
    Row(
        "kfold",
        "mean of r_i^2, r_I = P_II^-1 c_I for each group I",
        "folds",
        "mean squared error of k-fold cross-validation",
        "squared errors of folds left out",
        larger_is_better=False,
        kind=GroupsOut,
        fixed={"log_density": False},
        needs=("folds",),
    ),
    Row(
        "kfold_log_density",
        "sum over groups I of log N(P_II^-1 c_I; 0, P_II^-1)",
        "density of folds",
        "log density of k-fold cross-validation",
        "log densities of folds left out",
        larger_is_better=True,
        kind=GroupsOut,
        fixed={"log_density": True},
        needs=("folds",),
    ),
    Row(
        "holdout",
        "mean of r_i^2 over the test points T, r_T = P_TT^-1 c_T",
        "hold-out",
        "mean squared error of held-out points",
        "squared errors of some rows held out",
        larger_is_better=False,
        kind=HoldOut,
    ),
    Row(
        "discrepancy",
        "|w^(1/2) (y - f)| = tau n^(1/2) sigma",
        "discrepancy",
        "norm of the residual",
        "a residual as large as the noise",
        larger_is_better=None,
        needs=("sigma",),
        curve="residual_norm",
    ),
    Row(
        "lcurve",
        "curvature of log |f| over log |w^(1/2) (y - f)|",
        "L-curve corner",
        "curvature of the L-curve",
        "the corner of the curve of the function's norm over the residual's",
        larger_is_better=True,
        curve="curvature",
    ),
    Row(
        "quasi-optimality",
        "|lambda df/dlambda|",
        "quasi-optimality",
        "change of the function with log lambda",
        "where the function changes least with lambda",
        larger_is_better=False,
        curve="quasi_optimality",
    ),
)
TABLE: dict[str, Row] = {row.name: row for row in _ROWS}

"""The derivatives of a criterion that leaves out folds in the sums of the rows that are not left out.

With the features phi_i of a row, those of the trend included, the fit without a fold has B = sum phi phi' / N + [I 0; 0 0] and
b = sum phi y' / N, and its coefficients are alpha = B^-1 b. To first order, a criterion depends on the sums of these rows as

    J = -tr(slopes b) + tr(slopes B solution') + tr(moments B)

does, so that all folds together are one such form: what is of rank one is stacked, and `moments` are added up. In the basis of
the features the core pulls such a form back through rows, as if they had further targets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel._solve.landmark_stage import Stage, Totals

__all__ = ["FoldAdjoint", "JointDensity", "OtherFolds", "features_basis", "joint_density", "of_left_out_rows"]

_NO_TOTALS = Totals([], 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class FoldAdjoint:
    """The form above: `slopes` and `solution`, shape (outputs, m + q), and `moments`, a symmetric matrix or None for zeros."""

    slopes: Matrix
    solution: Matrix
    moments: Matrix | None

    def stage(self, basis: Stage, part: str, missing: Vector | None = None) -> Stage:
        """Return the stage that pulls it back through rows, each of which has a target for each row of `slopes`."""
        assert basis.sums is not None
        none = np.zeros(0)
        sums = _core.NystromSums(1, basis.sums.moments, self.solution, np.zeros(len(self.solution)), basis.sums.trend, 0.0, 0.0)
        moments = none if self.moments is None else self.moments
        partial_sums = _core.NystromPartialSums(self.slopes, moments, none if missing is None else missing, none)
        return replace(basis, sums=sums, totals=_NO_TOTALS, partial_sums=partial_sums, part=part)


class OtherFolds:
    """The forms of all folds, added up."""

    def __init__(self, of: dict[int, FoldAdjoint]) -> None:
        self._of = of
        moments = [adjoint.moments for adjoint in of.values() if adjoint.moments is not None]
        self._moments: Matrix | None = np.sum(moments, axis=0) if moments else None

    def total(self) -> FoldAdjoint:
        """Return that of all folds: the matrix of the landmarks is in B of each."""
        return self._joined(list(self._of.values()), self._moments)

    def without(self, fold: int) -> FoldAdjoint:
        """Return that of all folds but one, for the rows of that one."""
        own = self._of[fold].moments
        moments = None if self._moments is None or own is None else self._moments - own
        return self._joined([adjoint for other, adjoint in self._of.items() if other != fold], moments)

    @staticmethod
    def _joined(parts: list[FoldAdjoint], moments: Matrix | None) -> FoldAdjoint:
        return FoldAdjoint(np.vstack([part.slopes for part in parts]), np.vstack([part.solution for part in parts]), moments)


class JointDensity(NamedTuple):
    """The joint log density of the rows of a fold; its derivatives in the sums of the others, and in their own."""

    value: float
    of_others: FoldAdjoint
    of_own: FoldAdjoint


def features_basis(stage: Stage, outputs: int) -> Stage:
    """Return a stage in whose basis rows are their features: what the core solves with its sums is the identity."""
    functions, m = stage.functions(stage.landmarks).shape[1], len(stage.landmarks)
    moments = np.diag(np.repeat([0.0, 1.0], [m, functions]))
    sums = _core.NystromSums(1, moments, np.zeros((outputs, m + functions)), np.zeros(outputs), np.eye(functions), 0.0, 0.0)
    return replace(stage, sums=sums, totals=_NO_TOTALS, part="features")


def of_left_out_rows(others: _core.NystromSums, partials: _core.NystromPartialSums) -> FoldAdjoint:
    """Return the form, from the derivatives rho and nu in the residuals and variances of the rows of a fold.

    `partials` has sum phi rho' and -sum nu phi phi', in the basis of the features.
    """
    B, b = _normal_equations(others)
    factor, slopes, moments = cho_factor(B, lower=True), np.zeros(b.T.shape), None
    if len(partials.products):
        slopes = cho_solve(factor, partials.products.reshape(slopes.shape).T).T
    if len(partials.moments):
        half = cho_solve(factor, partials.moments.reshape(B.shape))
        moments = cho_solve(factor, half.T)
    return FoldAdjoint(slopes, cho_solve(factor, b).T, moments)


def joint_density(others: _core.NystromSums, own: _core.NystromSums) -> JointDensity:
    """Return the joint log density of the rows of a fold, whose covariances given the others are D + Phi B^-1 Phi'.

    With D = N + e in the place of the noise N, `own` has G = Phi'D^-1 Phi, h = Phi'D^-1 y, y'D^-1 y and log det D. Then ::

        log det (D + Phi B^-1 Phi') = log det D + log det(B + G) - log det B
        r'(D + Phi B^-1 Phi')^-1 r = r'D^-1 r - v'(B + G)^-1 v,    r = y - Phi alpha,    v = h - G alpha
    """
    B, b = _normal_equations(others)
    G, h = own.moments.reshape(B.shape), own.products.reshape(b.T.shape).T
    outputs = b.shape[1]
    before, after = cho_factor(B, lower=True), cho_factor(B + G, lower=True)
    alpha = cho_solve(before, b)
    v = h - G @ alpha
    gamma = alpha + cho_solve(after, v)  # the coefficients that all rows have
    log_det = own.log_noise + 2 * float(np.sum(np.log(np.diag(after[0]) / np.diag(before[0]))))
    square = float(np.sum(own.squares) - np.sum(alpha * (h + v)) - np.sum(v * (gamma - alpha)))
    value = -0.5 * (outputs * (own.rows * np.log(2 * np.pi) + log_det) + square)
    inverse_after, inverse_before = (cho_solve(factor, np.eye(len(B))) for factor in (after, before))
    return JointDensity(
        value,
        FoldAdjoint((alpha - gamma).T, 0.5 * (alpha + gamma).T, -0.5 * outputs * (inverse_after - inverse_before)),
        FoldAdjoint(-gamma.T, 0.5 * gamma.T, -0.5 * outputs * inverse_after),
    )


def _normal_equations(sums: _core.NystromSums) -> tuple[Matrix, Matrix]:
    """Return B and b, shape (m + q, outputs)."""
    outputs, functions = len(sums.squares), round(len(sums.trend) ** 0.5)
    b = sums.products.reshape(outputs, -1).T
    return sums.moments.reshape(len(b), -1) + np.diag(np.repeat([1.0, 0.0], [len(b) - functions, functions])), b

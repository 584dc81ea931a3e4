"""A criterion by nearest neighbours, as far as its evaluation has come, and what a pass computes of a part of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.together import first_of_equal, numbered
from kernsel._data.trend import Trend, trend_matrix
from kernsel._solve.dask_worker import raise_if_cancelled
from kernsel._solve.landmark_stage import Pulled
from kernsel._solve.near_parts import Part
from kernsel.approximations import Vecchia
from kernsel.kernels import Kernel

__all__ = [
    "InSample",
    "InSampleSlopes",
    "LeftOutRows",
    "NearStage",
    "PulledParts",
    "in_sample_of",
    "left_out_of",
    "pulled_in_sample_of",
    "pulled_left_out_of",
]


class InSampleSlopes(NamedTuple):
    """The derivatives of a likelihood: J changes as the sum of products_jk y_j'P y_k, and as log_det log det K~.

    Attributes
    ----------
    products : ndarray of shape (outputs + q, outputs + q)
        Symmetric; y_j are the columns of [y H].
    log_det : float
    """

    products: Matrix
    log_det: float


class PulledParts(Pulled):
    """Derivatives, and the information of the likelihood in the same unknowns, for a known scale, if it was asked for."""

    def __init__(self, theta: Vector | None = None, noise: float = 0.0, information: Matrix | None = None) -> None:
        super().__init__(theta, noise)
        self.information = information

    def add(self, other: Pulled) -> None:
        """Add those of other rows."""
        super().add(other)
        more = getattr(other, "information", None)
        if more is not None:
            self.information = more if self.information is None else self.information + more


class Targets(NamedTuple):
    """What the core takes for targets and for the functions of a trend, for all rows of a part."""

    y: Matrix
    H: Matrix


@dataclass(frozen=True)
class NearStage:
    """All that the next pass over parts needs, besides these.

    Attributes
    ----------
    kernel : Kernel
    approximation : Vecchia
    trend : str, callable or None
    basis : ndarray of shape (q, q)
        By which the trend's functions are multiplied, so that they are orthonormal in a sample of the rows.
    noise : float
        A variance that is added to those of all rows.
    name : str
        Of the evaluation, different from that of all others.
    information : bool
        Whether derivatives come with the information.
    slopes : InSampleSlopes, optional
    """

    kernel: Kernel
    approximation: Vecchia
    trend: Trend
    basis: Matrix
    noise: float
    name: str
    information: bool = False
    slopes: InSampleSlopes | None = None

    def functions(self, X: Matrix) -> Matrix:
        """Return the functions of the trend at points, times the basis."""
        return np.ascontiguousarray(trend_matrix(self.trend, X, check=False) @ self.basis)

    def noise_of(self, part: Part) -> Vector:
        """Return the variances of the noise of all rows of a part."""
        noise = self.noise + (0.0 if part.rows.noise is None else part.rows.noise)
        noise = noise if part.rows.weights is None else noise / part.rows.weights
        return np.ascontiguousarray(np.broadcast_to(noise, len(part.rows)), dtype=np.float64)

    def shown(self, part: Part, criterion: _core.Criterion, targets: Targets) -> _core.Evaluation:
        """Evaluate a criterion of the core that sums over the own rows of a part."""
        raise_if_cancelled()
        numbers = self.approximation.core(part.own.tolist(), ordered=True, features=part.features)
        rows, noise, workspace = part.rows, self.noise_of(part), part.workspace
        part.shown = ""
        found = _core.evaluate(
            criterion, self.kernel.build(), rows.X, targets.y, noise, targets.H, rows.weights, False, workspace, numbers, False
        )
        part.shown = self.name
        return found

    def pulled(self, part: Part, criterion: _core.Criterion, targets: Targets, outputs: int) -> PulledParts:
        """Differentiate a criterion that sees the same sets as the last one shown, which is shown again if they are lost."""
        if part.shown != self.name:
            self.shown(part, criterion, targets)
        raise_if_cancelled()
        rows, weights = part.rows, part.rows.weights
        unknown = np.ones(len(rows)) if weights is None else 1 / weights
        found = _core.differentiate(
            criterion,
            rows.X,
            targets.y,
            self.noise_of(part),
            targets.H,
            weights,
            part.workspace,
            unknown if self.information else None,
        )
        noise, information = found["noise_gradient"], found["information"]
        if information is not None:  # of as many outputs as there are targets
            information = information * (outputs / targets.y.shape[1])
        return PulledParts(found["gradient"], float(np.sum(noise * unknown)), information)


class InSample:
    """Sums over rows that likelihoods depend on.

    Attributes
    ----------
    rows, uncertain : int
        The number of rows, and of those that may have nearer neighbours than those that were found.
    products : ndarray of shape (outputs + q, outputs + q)
        [y H]'P [y H].
    log_det : float
        log det K~.
    functions : ndarray of shape (q, q)
        H'H.
    """

    def __init__(
        self,
        rows: int = 0,
        uncertain: int = 0,
        products: Matrix | None = None,
        log_det: float = 0.0,
        functions: Matrix | None = None,
    ) -> None:
        self.rows = rows
        self.uncertain = uncertain
        self.products = products
        self.log_det = log_det
        self.functions = functions

    def add(self, other: InSample) -> None:
        """Add the sums over other rows."""
        self.rows += other.rows
        self.uncertain += other.uncertain
        self.log_det += other.log_det
        if other.products is not None and other.functions is not None:
            self.products = other.products if self.products is None else self.products + other.products
            self.functions = other.functions if self.functions is None else self.functions + other.functions


class LeftOutRows(NamedTuple):
    """The residuals and variances of the own rows of a part, each left out, with all rows that equal it.

    Attributes
    ----------
    y, residual : ndarray of shape (n, outputs)
    variance, noise : ndarray of shape (n,)
    weights : ndarray of shape (n,) or None
    beta : ndarray of shape (q, outputs), or None without rows
        The coefficients of the trend, the same for all parts.
    uncertain : int
    """

    y: Matrix
    residual: Matrix
    variance: Vector
    noise: Vector
    weights: Vector | None
    beta: Matrix | None
    uncertain: int


def in_sample_of(stage: NearStage, part: Part) -> InSample:
    """Return the sums of a likelihood."""
    if not len(part.own):
        return InSample()
    targets = _targets_and_functions(stage, part)
    found = stage.shown(part, _core.linear([0.0] * targets.y.shape[1], 0.0, None, None), targets)
    own = targets.y[part.own, part.rows.y.shape[1] :]
    return InSample(len(own), part.uncertain(False), part.workspace.products(), found["log_det"], own.T @ own)


def pulled_in_sample_of(stage: NearStage, part: Part) -> PulledParts:
    """Return what a part adds to the gradient of a likelihood."""
    if not len(part.own):
        return PulledParts()
    assert stage.slopes is not None
    targets = _targets_and_functions(stage, part)
    criterion = _core.linear([0.0] * targets.y.shape[1], stage.slopes.log_det, None, None, products=stage.slopes.products)
    return stage.pulled(part, criterion, targets, part.rows.y.shape[1])


def left_out_of(stage: NearStage, part: Part) -> LeftOutRows:
    """Return residuals and variances of the own rows."""
    own, seen = part.own, list[tuple[Vector, Vector]]()
    of_rows = part.rows.part(own)
    if not len(own):
        return LeftOutRows(of_rows.y, of_rows.y, np.zeros(0), np.zeros(0), of_rows.weights, None, 0)

    def loss(residuals: Vector, variances: Vector) -> tuple[Vector, Vector, Vector]:
        seen.append((residuals.copy(), variances.copy()))
        return residuals, np.ones_like(residuals), np.zeros_like(variances)

    criterion = _core.leave_out("", 0.0, loss, False, False, *_together(part))
    found = stage.shown(part, criterion, Targets(part.rows.y, stage.functions(part.rows.X)))
    residual = np.column_stack([residuals for residuals, _ in seen])
    beta = np.asarray(found["beta"])
    return LeftOutRows(of_rows.y, residual, seen[0][1], np.asarray(found["noise"]), of_rows.weights, beta, part.uncertain(True))


def pulled_left_out_of(stage: NearStage, part: Part, slopes: tuple[Matrix, Vector | None]) -> PulledParts:
    """Return what a part adds to the gradient of a criterion with given derivatives in residuals and variances."""
    if not len(part.own):
        return PulledParts()
    criterion = _core.linear([], 0.0, *slopes, *_together(part))
    targets = Targets(part.rows.y, stage.functions(part.rows.X))
    return stage.pulled(part, criterion, targets, part.rows.y.shape[1])


def _targets_and_functions(stage: NearStage, part: Part) -> Targets:
    """Return [y H] for targets, and no trend: that of a likelihood is estimated from sums over all parts."""
    return Targets(np.hstack([part.rows.y, stage.functions(part.rows.X)]), np.zeros((len(part.rows), 0)))


def _together(part: Part) -> tuple[list[int], int] | tuple[()]:
    """Return the numbers of the groups of equal rows, and how many groups there are; nothing if all rows differ."""
    equal: Indices | None = first_of_equal(part.rows.X)
    if equal is None:
        return ()
    numbers, count = numbered(equal)
    return numbers.tolist(), count

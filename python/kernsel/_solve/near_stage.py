"""A criterion by nearest neighbours, as far as its evaluation has come, and what a pass computes of a part of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

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
    "in_sample_of",
    "left_out_of",
    "pulled_in_sample_of",
    "pulled_left_out_of",
]


class InSampleSlopes(NamedTuple):
    """The derivatives of a likelihood: J changes as the sum of squares_k z_k'P z_k + log_det log det K~, z = [y H] combination.

    Attributes
    ----------
    combination : ndarray of shape (outputs + q, k)
    squares : list of k floats
    log_det : float
    """

    combination: Matrix
    squares: list[float]
    log_det: float


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
    slopes : InSampleSlopes, optional
    """

    kernel: Kernel
    approximation: Vecchia
    trend: Trend
    basis: Matrix
    noise: float
    slopes: InSampleSlopes | None = None

    def functions(self, X: Matrix) -> Matrix:
        """Return the functions of the trend at points, times the basis."""
        return np.ascontiguousarray(trend_matrix(self.trend, X, check=False) @ self.basis)

    def noise_of(self, part: Part) -> Vector:
        """Return the variances of the noise of all rows of a part."""
        noise = self.noise + (0.0 if part.rows.noise is None else part.rows.noise)
        noise = noise if part.rows.weights is None else noise / part.rows.weights
        return np.ascontiguousarray(np.broadcast_to(noise, len(part.rows)), dtype=np.float64)

    def evaluated(self, part: Part, criterion: _core.Criterion, y: Matrix, H: Matrix, gradient: bool) -> _core.Evaluation:
        """Evaluate a criterion of the core that sums over the own rows of a part."""
        raise_if_cancelled()
        numbers = self.approximation.core(part.own.tolist(), ordered=True, features=part.features)
        weights = part.rows.weights
        rows, noise = part.rows, self.noise_of(part)
        return _core.evaluate(
            criterion, self.kernel.build(), rows.X, y, noise, H, weights, gradient, part.workspace, numbers, False
        )


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
    H = stage.functions(part.rows.X)
    both = np.hstack([part.rows.y, H])
    criterion = _core.linear([0.0] * both.shape[1], 0.0, None, None)
    found = stage.evaluated(part, criterion, both, np.zeros((len(both), 0)), False)
    own = H[part.own]
    return InSample(len(own), part.uncertain(False), part.workspace.products(), found["log_det"], own.T @ own)


def pulled_in_sample_of(stage: NearStage, part: Part) -> Pulled:
    """Return what a part adds to the gradient of a likelihood."""
    if not len(part.own):
        return Pulled()
    assert stage.slopes is not None
    combination, squares, log_det = stage.slopes
    both = np.ascontiguousarray(np.hstack([part.rows.y, stage.functions(part.rows.X)]) @ combination)
    criterion = _core.linear(squares, log_det, None, None)
    return _pulled(part, stage.evaluated(part, criterion, both, np.zeros((len(both), 0)), True))


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
    found = stage.evaluated(part, criterion, part.rows.y, stage.functions(part.rows.X), False)
    residual = np.column_stack([residuals for residuals, _ in seen])
    beta = np.asarray(found["beta"])
    return LeftOutRows(of_rows.y, residual, seen[0][1], np.asarray(found["noise"]), of_rows.weights, beta, part.uncertain(True))


def pulled_left_out_of(stage: NearStage, part: Part, slopes: tuple[Matrix, Vector | None]) -> Pulled:
    """Return what a part adds to the gradient of a criterion with given derivatives in residuals and variances."""
    if not len(part.own):
        return Pulled()
    criterion = _core.linear([], 0.0, *slopes, *_together(part))
    return _pulled(part, stage.evaluated(part, criterion, part.rows.y, stage.functions(part.rows.X), True))


def _pulled(part: Part, found: _core.Evaluation) -> Pulled:
    noise: Any = found["noise_gradient"]
    weights = part.rows.weights
    return Pulled(np.asarray(found["gradient"]), float(np.sum(noise if weights is None else noise / weights)))


def _together(part: Part) -> tuple[list[int], int] | tuple[()]:
    """Return the numbers of the groups of equal rows, and how many groups there are; nothing if all rows differ."""
    equal: Indices | None = first_of_equal(part.rows.X)
    if equal is None:
        return ()
    numbers, count = numbered(equal)
    return numbers.tolist(), count

"""What each pass over rows computes of a block, where the joint densities of folds are asked for.

The rows of a fold, given the others, have the covariances D + Phi B^-1 Phi' with D = N + e, so that everything follows from
sums of their features with D in the place of the noise N; see :func:`kernsel._solve.fold_adjoints.joint_density`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel._data.rows import RowBlock
from kernsel._solve.fold_stage import FoldsOfBlock, FoldSums, parts, pulled
from kernsel._solve.landmark_stage import Pulled, Slopes, Stage, noise_of, pieces, solved

__all__ = ["DensityPulled", "DensityStages", "DensitySums", "density_pulled_of", "density_sums_of"]


class DensitySums:
    """The sums of the first pass, for the rows of each fold: with the noise N, and with D in its place."""

    def __init__(self) -> None:
        self.sums, self.own = FoldSums(), FoldSums()

    def add(self, other: DensitySums) -> None:
        """Add those of other rows."""
        self.sums.add(other.sums)
        self.own.add(other.own)


@dataclass(frozen=True)
class DensityStages:
    """What the second pass pulls back, for each fold.

    Attributes
    ----------
    basis : Stage
        In the basis of the features.
    own, others : dict of int to Stage
        The derivatives of the density of a fold in its own sums, and of those of the other folds in the sums of its rows.
    log_det, square : float
        The derivatives in log det D, and in y'D^-1 y.
    """

    basis: Stage
    own: dict[int, Stage]
    others: dict[int, Stage]
    log_det: float
    square: float


class DensityPulled:
    """The gradient, and the sum of dJ/de_i f_i f_i' for the landmarks."""

    def __init__(self) -> None:
        self.pulled, self.partial_sums = Pulled(), _core.NystromPartialSums()

    def add(self, other: DensityPulled) -> None:
        """Add those of other rows."""
        self.pulled.add(other.pulled)
        self.partial_sums.add(other.partial_sums)


def density_sums_of(basis: Stage, block: RowBlock, folds: FoldsOfBlock) -> DensitySums:
    """Return the sums of the first pass."""
    blocks, found = solved(basis), DensitySums()
    for fold, _, rows in parts(block, folds):
        sums, own = found.sums.of[fold], found.own.of[fold] = _core.NystromSums(), _core.NystromSums()
        for _, (X, y, noise, trend) in pieces(basis, rows):
            missing = _missing(blocks, X, y, noise, trend)
            sums.add(blocks.add(X, y, noise, trend))
            own.add(blocks.add(X, y, noise + missing, trend))
    return found


def density_pulled_of(stages: DensityStages, block: RowBlock, folds: FoldsOfBlock) -> DensityPulled:
    """Return what rows add to the gradient: by the density of their own fold, and by those of the others."""
    found, basis = DensityPulled(), solved(stages.basis)
    parameters = len(stages.basis.kernel.build().theta)
    for fold, _, rows in parts(block, folds):
        own, others = solved(stages.own[fold]), solved(stages.others[fold])
        all_noise = noise_of(stages.basis, rows)
        for part, (X, y, noise, trend) in pieces(stages.basis, rows):
            missing = _missing(basis, X, y, noise, trend)
            D = all_noise[part] + missing
            of_D = stages.log_det / D - stages.square * np.sum(y**2, axis=1) / D**2
            theta, of_D = own.pull(X, y, noise + missing, trend, *Slopes(noise=of_D), parameters)
            found.pulled.add(pulled(theta, of_D, rows, part))
            found.partial_sums.add(basis.add_partials(X, y, noise, trend, None, None, of_D))
            of_others = np.tile(y, (1, len(stages.others) - 1))
            theta, of_noise = others.pull(X, of_others, noise, trend, *Slopes(missing=of_D), parameters)
            found.pulled.add(pulled(theta, of_noise, rows, part))
    return found


def _missing(basis: _core.NystromBlocks, X: Matrix, y: Matrix, noise: Vector, trend: Matrix) -> Vector:
    """Return e_i = k(x_i, x_i) - |f_i|^2."""
    missing = basis.show(X, y, noise, trend, False, True)[2]
    assert missing is not None
    return missing

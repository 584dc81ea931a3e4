"""What each pass over rows computes of a block, where folds are left out of a fit by landmarks.

The fit without a fold has the sums of all rows less those of the fold. With its solution alpha, the residuals of the rows that
are left out are r_i = y_i - d_i'alpha, and their variances v_i = N_i + e_i + t_i't_i; see `kernsel._solve.landmark_stage`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.rows import RowBlock
from kernsel._solve.fold_adjoints import features_basis
from kernsel._solve.landmark_stage import Pulled, Slopes, Stage, Totals, noise_of, pieces, solved, some_rows, with_weight

__all__ = [
    "FoldPartials",
    "FoldStage",
    "FoldSums",
    "FoldsOfBlock",
    "LeftOutRows",
    "fold_partials_of",
    "fold_sums_of",
    "folds_by_values",
    "left_out_of",
    "length_of",
    "parts",
    "pulled",
    "pulled_by_others",
]

# The fold of each row of a block; or the number of folds, in which rows are by their values.
FoldsOfBlock: TypeAlias = "int | Indices"

_ODD = np.uint64(0x9E3779B97F4A7C15)  # a factor whose products have bits of all bits of the other one


@dataclass(frozen=True)
class FoldStage:
    """All that the next pass over rows needs, besides the rows.

    Attributes
    ----------
    stage : Stage
        Without sums.
    others : dict of int to NystromSums
        The sums of the rows that are not in a fold, for each fold.
    """

    stage: Stage
    others: dict[int, _core.NystromSums]

    def without(self, fold: int, *, differentiates: bool = False) -> Stage:
        """Return the stage of the fit without a fold."""
        totals = Totals([], 0.0, 0.0, 0.0) if differentiates else None  # such a criterion depends on single rows alone
        return replace(self.stage, sums=self.others[fold], totals=totals, part=f"without {fold}")


class FoldSums:
    """The sums of the first pass, for the rows of each fold."""

    def __init__(self) -> None:
        self.of: dict[int, _core.NystromSums] = {}

    def add(self, other: FoldSums) -> None:
        """Add those of other rows."""
        for fold, sums in other.of.items():
            self.of.setdefault(fold, _core.NystromSums()).add(sums)

    def total(self) -> _core.NystromSums:
        """Return the sums of all rows."""
        sums = _core.NystromSums()
        for fold in sorted(self.of):
            sums.add(self.of[fold])
        return sums


class FoldPartials:
    """The sums of the third pass for the rows of each fold, of features, and what these rows themselves add to the gradient."""

    def __init__(self) -> None:
        self.of: dict[int, _core.NystromPartialSums] = {}
        self.pulled = Pulled()

    def add(self, other: FoldPartials) -> None:
        """Add those of other rows."""
        for fold, sums in other.of.items():
            self.of.setdefault(fold, _core.NystromPartialSums()).add(sums)
        self.pulled.add(other.pulled)


class LeftOutRows(NamedTuple):
    """What the second pass shows of rows with a weight: y, the residuals and variances without their fold, and the weights."""

    y: Matrix
    residual: Matrix
    variance: Vector | None
    weights: Vector | None


def folds_by_values(X: Matrix, count: int) -> Indices:
    """Return a fold for each row that depends on its values alone, so that equal rows are in the same fold.

    Examples
    --------
    >>> import numpy as np
    >>> folds = folds_by_values(np.arange(3000.0)[:, None] % 1500, 3)
    >>> bool((folds[:1500] == folds[1500:]).all()), bool(np.bincount(folds).min() > 900)
    (True, True)
    """
    bits = np.ascontiguousarray(X + 0.0).view(np.uint64)  # -0.0 + 0.0 = 0.0
    mixed = np.full(len(X), _ODD)
    for column in bits.T:
        mixed = (mixed ^ column) * _ODD
        mixed ^= mixed >> np.uint64(32)
    mixed = mixed * _ODD
    return ((mixed >> np.uint64(33)) % np.uint64(count)).astype(np.intp)


def length_of(nothing: object, block: RowBlock) -> int:
    """Return the number of rows."""
    del nothing
    return len(block)


def fold_sums_of(stage: Stage, block: RowBlock, folds: FoldsOfBlock) -> FoldSums:
    """Return the sums of the first pass."""
    blocks, found = solved(stage), FoldSums()
    for fold, _, rows in parts(block, folds):
        found.of[fold] = _core.NystromSums()
        for _, piece in pieces(stage, rows):
            found.of[fold].add(blocks.add(*piece))
    return found


def left_out_of(stage: FoldStage, block: RowBlock, folds: FoldsOfBlock, variances: bool) -> LeftOutRows:
    """Return what the second pass shows, and with `variances` also these."""
    used = with_weight(block)
    assert used.y is not None
    residual, variance = np.zeros(used.y.shape), np.zeros(len(used)) if variances else None
    for fold, at, rows in parts(block, folds):
        without = stage.without(fold)
        blocks, noise = solved(without), noise_of(without, rows)
        for part, (X, y, _, trend) in pieces(without, rows):
            mean, of_function = blocks.predict(X, trend, y.shape[1], variances)
            residual[at[part]] = y - mean
            if variance is not None:
                variance[at[part]] = of_function + noise[part]
    return LeftOutRows(used.y, residual, variance, used.weights)


def fold_partials_of(
    stage: FoldStage, block: RowBlock, folds: FoldsOfBlock, of_residual: Matrix | None, of_variance: Vector | None
) -> FoldPartials:
    """Return the sums of the third pass, from the derivatives of the criterion in what the second one has shown.

    To the fit without its fold, a row is a new one with c_i = r_i / N_i and P_ii = (1 - t_i't_i / N_i) / N_i, in which the
    core differentiates: r_i = N_i c_i and v_i = 2 N_i - N_i^2 P_ii + e_i.
    """
    assert block.y is not None
    found = FoldPartials()
    parameters = len(stage.stage.kernel.build().theta)
    for fold, at, rows in parts(block, folds):
        without = stage.without(fold, differentiates=True)
        blocks, basis = solved(without), solved(features_basis(stage.stage, block.y.shape[1]))
        all_noise, sums = noise_of(without, rows), _core.NystromPartialSums()
        for part, piece in pieces(without, rows):
            noise = all_noise[part]
            c, precision, _ = blocks.show(*piece, of_variance is not None, False)
            slopes, of_noise = Slopes(), np.zeros(len(noise))
            if of_residual is not None:
                rho = of_residual[at[part]]
                slopes, of_noise = slopes._replace(c=rho * noise[:, None]), of_noise + np.sum(rho * c, axis=1)
            if of_variance is not None:
                nu = of_variance[at[part]]
                slopes = slopes._replace(precision=-nu * noise**2, missing=nu)
                of_noise = of_noise + 2 * nu * (1 - noise * precision)
            sums.add(basis.add_partials(*piece, slopes.c, slopes.precision, slopes.missing))
            theta, in_noise = blocks.pull(*piece, *slopes._replace(noise=of_noise), parameters)
            found.pulled.add(pulled(theta, in_noise, rows, part))
        found.of[fold] = sums
    return found


def pulled_by_others(of_folds: dict[int, Stage], block: RowBlock, folds: FoldsOfBlock) -> Pulled:
    """Return what rows add to the gradient as those from which the other folds are predicted, by the stages for each fold."""
    total = Pulled()
    for fold, _, rows in parts(block, folds):
        stage = of_folds[fold]
        blocks, parameters = solved(stage), len(stage.kernel.build().theta)
        for part, (X, y, noise, trend) in pieces(stage, rows):
            of_others = np.tile(y, (1, len(of_folds) - 1))  # the targets once for each other fold
            total.add(pulled(*blocks.pull(X, of_others, noise, trend, *Slopes(), parameters), rows, part))
    return total


def pulled(theta: Vector, noise: Vector, rows: RowBlock, part: slice) -> Pulled:
    """Return the derivatives, of which the second are those in the noise of some of the rows."""
    return Pulled(theta, float(np.sum(noise if rows.weights is None else noise / rows.weights[part])))


def _labelled(block: RowBlock, folds: FoldsOfBlock) -> tuple[RowBlock, Indices]:
    """Return the rows of a block that have a weight, and the fold of each."""
    labels = folds_by_values(block.X, folds) if isinstance(folds, int) else folds
    if block.weights is not None:
        labels = labels[block.weights > 0]
    return with_weight(block), labels


def parts(block: RowBlock, folds: FoldsOfBlock) -> Iterator[tuple[int, Indices, RowBlock]]:
    """Yield each fold of which a block has rows with a weight: the fold, the places of its rows among these, and the rows."""
    block, labels = _labelled(block, folds)
    for fold in np.unique(labels).tolist():
        at = np.flatnonzero(labels == fold)
        yield fold, at, some_rows(block, at)

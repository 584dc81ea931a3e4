"""Criteria that leave out folds of rows that are read in blocks: by the sums of all rows less those of a fold.

One pass sums the rows of each fold. The next one predicts each row without its fold, two numbers a row, to which the criterion
is applied where the passes end. With the gradient, its derivatives in them go back for a pass of sums and a last one, in which
each row adds to the gradient of all folds but its own at once. Joint densities of folds follow from the first pass, and their
gradient from one more. The sums take (m + q)^2 numbers for each fold, and what is solved with them some seven times as many.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import repeat
from numbers import Integral

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.folds import labels_of_folds
from kernsel._data.rows.partitions import is_of_dask
from kernsel._data.together import numbered
from kernsel._solve.fold_adjoints import OtherFolds, features_basis, joint_density, of_left_out_rows
from kernsel._solve.fold_densities import DensityPulled, DensityStages, DensitySums, density_pulled_of, density_sums_of
from kernsel._solve.fold_stage import (
    FoldsOfBlock,
    FoldStage,
    FoldSums,
    fold_partials_of,
    fold_sums_of,
    left_out_of,
    length_of,
    pulled_by_others,
)
from kernsel._solve.found_by_blocks import ByBlocks, core_criterion
from kernsel._solve.landmark_stage import Pulled, Stage, forget, solved
from kernsel._solve.passes import Passes
from kernsel.criteria import Criterion, GroupsOut, LeaveOneOut

__all__ = ["evaluate_folds", "folds_of_blocks"]

_MOST = 100  # folds, each of which has its own sums
_ROUNDING_OF_TREND = 1e-13  # of the squares of a function of the trend that all rows have: what others have if they have none


def folds_of_blocks(criterion: Criterion, groups: object, passes: Passes) -> Iterable[FoldsOfBlock] | None:
    """Return the folds of the rows of each block, if a criterion leaves out any; None if it does not.

    A number of folds is one by the values of rows, without any pass. For labels and splitters one pass counts the rows.
    """
    if isinstance(criterion, GroupsOut):
        if isinstance(criterion.folds, Integral) and groups is None:
            count = int(criterion.folds)
            if not 2 <= count <= _MOST:
                raise ValueError(f"folds: expected a number from 2 to {_MOST} for rows in blocks, got {count}")
            return repeat(count)
    elif groups is None or not isinstance(criterion, LeaveOneOut):
        return None
    lengths = passes.listed("lengths", length_of, None)
    n = sum(lengths)
    told = None if groups is None else _labels("groups", groups, n)
    if isinstance(criterion, GroupsOut):
        folds = _labels("folds", criterion.folds, n) if is_of_dask(criterion.folds) else criterion.folds
        labels = labels_of_folds(folds, np.arange(float(n))[:, None], np.zeros(n), told)
    else:
        assert told is not None
        labels = told
    count = int(labels.max()) + 1
    if not 2 <= count <= _MOST:
        raise ValueError(
            f"groups: {count} of them are to be left out; expected from 2 to {_MOST} for rows that are read in blocks, each of "
            "which takes sums of its own"
        )
    ends = np.cumsum(lengths)
    return [labels[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def _labels(name: str, labels: object, n: int) -> Indices:
    """Return labels of rows as numbers from 0 on."""
    array = np.asarray(labels.compute() if is_of_dask(labels) else labels)  # type: ignore[attr-defined]
    if array.shape != (n,):
        raise ValueError(f"{name}: expected one label for each of {n} rows, got shape {array.shape}")
    return numbered(array)[0]


def evaluate_folds(
    criterion: Criterion, folds: Iterable[FoldsOfBlock], stage: Stage, passes: Passes, *, gradient: bool
) -> ByBlocks:
    """Evaluate a criterion that leaves out folds, from a stage at which nothing but the landmarks is known."""
    folds = folds if isinstance(folds, repeat) else list(folds)
    if isinstance(criterion, GroupsOut) and criterion.log_density:
        return _evaluate_densities(folds, stage, passes, gradient=gradient)
    one_by_one = LeaveOneOut() if isinstance(criterion, GroupsOut) else criterion  # of the residuals that folds have left
    sums: FoldSums = passes.summed("sums", fold_sums_of, stage, folds)
    total = sums.total()
    variances = core_criterion(one_by_one, total.rows, None).request["variances"]
    of_folds = FoldStage(stage, _sums_of_others(sums, total))
    parts = passes.listed("rows", left_out_of, of_folds, folds, repeat(variances))
    y, residual = (np.concatenate(values) for values in list(zip(*parts, strict=True))[:2])
    variance = np.concatenate([part.variance for part in parts]) if variances else None
    weighted = any(part.weights is not None for part in parts)
    blocks = solved(replace(stage, sums=total))
    fit = {
        "squares": blocks.squares.tolist(),
        "log_det": blocks.log_det,
        "log_det_trend": blocks.log_det_trend,
        "missing": 0.0,
        "trend": round(len(total.trend) ** 0.5),
        "c": None,
        "precision": None,
        "noise": None,
        "weights": np.concatenate([part.weights for part in parts]) if weighted else None,
        "residual": residual,
        "variance": variance,
    }
    found = _core.apply(core_criterion(one_by_one, total.rows, y), total.rows, fit)
    evaluation = ByBlocks(found["value"], None, None, _trend_coefficients(stage, blocks), found["scale"], float("nan"), total)
    if not gradient:
        return evaluation
    ends = np.cumsum([len(part.y) for part in parts]).tolist()
    slices = [slice(end - len(part.y), end) for end, part in zip(ends, parts, strict=True)]
    back = [[None if found[name] is None else found[name][rows] for rows in slices] for name in ("residual", "variance")]
    partials = passes.summed("derivatives", fold_partials_of, of_folds, folds, *back)
    basis = features_basis(stage, len(total.squares))
    adjoints = OtherFolds({fold: of_left_out_rows(of_folds.others[fold], partials.of[fold]) for fold in of_folds.others})
    passes.everywhere(forget, stage.token)  # the fits without a fold, which nothing needs any more
    of_others = {fold: adjoints.without(fold).stage(basis, f"others than {fold}") for fold in of_folds.others}
    pulled = passes.summed("gradient", pulled_by_others, of_others, folds)
    pulled.add(partials.pulled)
    all_partials = _core.NystromPartialSums()
    for fold in sorted(partials.of):
        all_partials.add(partials.of[fold])
    theta = _with_landmarks(pulled, adjoints.total().stage(basis, "landmarks", all_partials.missing))
    return replace(evaluation, gradient=theta * found["unit"], noise_gradient=pulled.noise * found["unit"])


def _evaluate_densities(folds: Iterable[FoldsOfBlock], stage: Stage, passes: Passes, *, gradient: bool) -> ByBlocks:
    """Evaluate the sum of the joint log densities of folds."""
    basis = features_basis(stage, 1)
    sums: DensitySums = passes.summed("sums", density_sums_of, basis, folds)
    total = sums.sums.total()
    others = _sums_of_others(sums.sums, total)
    densities = {fold: joint_density(others[fold], sums.own.of[fold]) for fold in others}
    beta = _trend_coefficients(stage, solved(replace(stage, sums=total)))
    evaluation = ByBlocks(sum(of.value for of in densities.values()), None, None, beta, 1.0, float("nan"), total)
    if not gradient:
        return evaluation
    adjoints = OtherFolds({fold: of.of_others for fold, of in densities.items()})
    stages = DensityStages(
        basis,
        {fold: of.of_own.stage(basis, f"own {fold}") for fold, of in densities.items()},
        {fold: adjoints.without(fold).stage(basis, f"others than {fold}") for fold in densities},
        log_det=-0.5 * len(total.squares),
        square=-0.5,
    )
    found: DensityPulled = passes.summed("gradient", density_pulled_of, stages, folds)
    theta = _with_landmarks(found.pulled, adjoints.total().stage(basis, "landmarks", found.partial_sums.missing))
    return replace(evaluation, gradient=theta, noise_gradient=found.pulled.noise)


def _trend_coefficients(stage: Stage, blocks: _core.NystromBlocks) -> Matrix:
    functions = stage.functions(stage.landmarks).shape[1]
    return np.asarray(blocks.trend_coefficients).reshape(len(blocks.squares), functions).T


def _with_landmarks(pulled: Pulled, stage: Stage) -> Vector:
    """Return the derivatives in the hyperparameters, those by the kernel matrix of the landmarks included."""
    assert pulled.theta is not None
    return pulled.theta + solved(stage).pull_landmarks(len(pulled.theta))


def _sums_of_others(sums: FoldSums, total: _core.NystromSums) -> dict[int, _core.NystromSums]:
    """Return the sums of the rows that are not in a fold, for each fold that has rows."""
    if len(sums.of) < 2:
        raise ValueError("folds: all rows are in one fold, and without it nothing is left to learn from")
    functions = round(len(total.trend) ** 0.5)
    of_trend = slice(None, None, functions + 1)
    others: dict[int, _core.NystromSums] = {}
    for fold in sorted(sums.of):
        others[fold] = _core.NystromSums()
        others[fold].add(total)
        others[fold].subtract(sums.of[fold])
        if functions and not (others[fold].trend[of_trend] > _ROUNDING_OF_TREND * total.trend[of_trend]).all():
            raise ValueError("folds: a group cannot be left out: without it the trend is not determined")
    return others

"""Criteria by landmarks for rows that are read in blocks, on this machine or on many: sums come back, and no rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat
from typing import Any
from uuid import uuid4

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Matrix
from kernsel._data.rows import RowSource
from kernsel._data.rows.partitions import PartitionRows
from kernsel._data.trend import Trend
from kernsel._solve.dask_passes import DaskPasses
from kernsel._solve.drawn_rows import draw_rows
from kernsel._solve.folds_by_blocks import evaluate_folds, folds_of_blocks
from kernsel._solve.found_by_blocks import ByBlocks, core_criterion
from kernsel._solve.landmark_stage import (
    Pulled,
    Shown,
    Slopes,
    Stage,
    Totals,
    forget,
    partial_sums_of,
    pulled_of,
    shown_of,
    solved,
    sums_of,
)
from kernsel._solve.passes import LocalPasses, Passes
from kernsel.approximations import Nystrom
from kernsel.criteria import Criterion
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data

__all__ = ["evaluate_by_blocks", "kernel_and_landmarks", "passes_over"]

_ROWS_PER_LANDMARK = 20  # from which landmarks are chosen, as by the core
_ROWS_OF_LANDMARKS = 20_000  # at least


def passes_over(source: RowSource) -> Passes:
    """Return the passes over a source: where Dask computes its collections, or here."""
    return DaskPasses(source) if isinstance(source, PartitionRows) else LocalPasses(source)


def kernel_and_landmarks(passes: Passes, kernel: Kernel, approximation: Nystrom) -> tuple[Kernel, Matrix]:
    """Return a kernel with its "auto" parameters set, and landmarks, by a random part of the rows if it takes one."""
    given = approximation.given
    if given is not None and not kernel.is_automatic():
        return kernel.ready(given, None)[0], given
    most = max(_ROWS_PER_LANDMARK * approximation.count, _ROWS_OF_LANDMARKS)
    drawn = draw_rows(passes, most, approximation.random_state)
    assert drawn.X is not None
    kernel = kernel.ready(drawn.X, None)[0]
    if kernel.is_automatic():
        kernel = kernel.resolve(Data(drawn.X, drawn.y, drawn.weights))
    if given is not None:
        return kernel, given
    return kernel, np.asarray(_core.choose_landmarks(kernel.build(), drawn.X, approximation.core()))


def evaluate_by_blocks(
    criterion: Criterion,
    kernel: Kernel,
    landmarks: Matrix,
    passes: Passes,
    *,
    noise: float = 0.0,
    trend: Trend = None,
    bound: bool = True,
    gradient: bool = False,
    groups: object = None,
) -> ByBlocks:
    """Evaluate a criterion by landmarks, in one to four passes over blocks of rows.

    The first pass sums (m + q)^2 numbers, m being the number of landmarks and q that of the trend's functions. Likelihoods need
    no more for their value, and one more pass for the gradient. For criteria that see single rows, the second pass returns
    c_i, P_ii and e_i, three numbers a row, to which the criterion is applied here; its derivatives in them go back, for a pass
    of sums and a pass for the gradient. Equal rows are left out one by one.

    Folds and groups that are left out take as many passes, see :mod:`kernsel._solve.folds_by_blocks`.

    Parameters
    ----------
    criterion : Criterion
        One that leaves out nothing, single rows or folds.
    kernel : Kernel
        Without "auto" parameters.
    landmarks : ndarray of shape (m, d)
    passes : Passes
    noise : float
        A variance that is added to those of the rows.
    trend : str, callable or None
    bound : bool
        Whether likelihoods are the lower bound, see :class:`kernsel.Nystrom`.
    gradient : bool
    groups : array-like of shape (n,) or collection of Dask, optional
        A label for each row: leave-one-out criteria leave out all rows of a group together, and folds keep groups whole.

    Returns
    -------
    evaluation : ByBlocks

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel._data.rows import row_source
    >>> from kernsel._solve.passes import LocalPasses
    >>> from kernsel.criteria.names import criterion_named
    >>> X, Z = np.linspace(0, 6, 50)[:, None], np.linspace(0, 6, 10)[:, None]
    >>> source, kernel = row_source(X, np.sin(X[:, 0]), block=20), ks.kernels.RBF(1.0)
    >>> by_blocks = evaluate_by_blocks(criterion_named("lml", {}), kernel, Z, LocalPasses(source), noise=0.1)
    >>> at_once = ks.evaluate("lml", kernel, X, np.sin(X[:, 0]), noise=0.1, approximation=ks.Nystrom(Z))
    >>> bool(np.isclose(by_blocks.value, at_once.value, rtol=1e-12))
    True
    """
    stage = Stage(uuid4().hex, kernel, np.ascontiguousarray(landmarks, dtype=np.float64), trend, float(noise))
    folds = folds_of_blocks(criterion, groups, passes)
    try:
        if folds is not None:
            return evaluate_folds(criterion, folds, stage, passes, gradient=gradient)
        return _in_passes(criterion, stage, passes, bound=bound, gradient=gradient)
    finally:
        passes.everywhere(forget, stage.token)


def _in_passes(criterion: Criterion, stage: Stage, passes: Passes, *, bound: bool, gradient: bool) -> ByBlocks:
    """Evaluate a criterion from a stage at which nothing but the landmarks is known."""
    sums = passes.summed("sums", sums_of, stage)
    stage = replace(stage, sums=sums)
    blocks = solved(stage)
    request = core_criterion(criterion, sums.rows, None).request
    sees_rows = request["coefficients"] or request["diagonal"] or request["left_out"]
    shown: list[Shown] = []
    if sees_rows:
        missing = request["left_out"] and request["variances"]
        shown = passes.listed("rows", shown_of, stage, repeat(missing))
    fit = _fit(blocks, sums, shown, bound)
    found = _core.apply(core_criterion(criterion, sums.rows, fit["y"] if sees_rows else None), sums.rows, fit)
    functions = stage.functions(stage.landmarks).shape[1]
    beta = np.asarray(blocks.trend_coefficients).reshape(len(blocks.squares), functions).T
    dof = float(np.sum(1.0 - fit["noise"] * fit["precision"])) if sees_rows else float("nan")
    evaluation = ByBlocks(found["value"], None, None, beta, found["scale"], dof, sums)
    if not gradient:
        return evaluation
    totals = Totals(found["squares"].tolist(), found["log_det"], found["log_det_trend"], found["missing"] if bound else 0.0)
    of_blocks = _split(_slopes(found, fit), [len(part.c) for part in shown]) if sees_rows else None
    stage = replace(stage, totals=totals)
    partial_sums = _core.NystromPartialSums()
    if of_blocks is not None:
        partial_sums = passes.summed("derivatives", partial_sums_of, stage, of_blocks)
    stage = replace(stage, partial_sums=partial_sums)
    blocks = solved(stage)
    pulled: Pulled = passes.summed("gradient", pulled_of, stage, of_blocks or repeat(None))
    assert pulled.theta is not None
    theta = (pulled.theta + blocks.pull_landmarks(len(pulled.theta))) * found["unit"]
    return replace(evaluation, gradient=theta, noise_gradient=pulled.noise * found["unit"])


def _fit(blocks: _core.NystromBlocks, sums: _core.NystromSums, shown: list[Shown], bound: bool) -> dict[str, Any]:
    """Return the quantities of a fit that a criterion may depend on; those of rows are None if no row was shown."""
    fit: dict[str, Any] = {
        "squares": blocks.squares.tolist(),
        "log_det": blocks.log_det,
        "log_det_trend": blocks.log_det_trend,
        "missing": sums.missing if bound else 0.0,
        "trend": round(len(sums.trend) ** 0.5),
    }
    columns: list[Any] = list(zip(*shown, strict=True)) or [[None]] * len(Shown._fields)
    for name, parts in zip(Shown._fields, columns, strict=True):
        fit[name] = None if parts[0] is None else np.concatenate(parts)
    fit["residual"] = fit["variance"] = None
    if shown:
        fit["residual"] = fit["c"] / fit["precision"][:, None]
        fit["variance"] = None if fit["lost"] is None else 1.0 / fit["precision"] + fit["lost"]
    return fit


def _slopes(found: dict[str, Any], fit: dict[str, Any]) -> Slopes:
    """Return the derivatives in c, P_ii, e_i and N_i, those in r_i = c_i / P_ii and s_i^2 = 1 / P_ii + e_i included."""
    c, precision, of_residual, of_variance = found["c"], found["precision"], found["residual"], found["variance"]
    if of_residual is not None:
        P = fit["precision"]
        c = (0.0 if c is None else c) + of_residual / P[:, None]
        precision = (0.0 if precision is None else precision) - np.sum(of_residual * fit["c"], axis=1) / P**2
        if of_variance is not None:
            precision = precision - of_variance / P**2
    return Slopes(c, precision, of_variance, found["noise"])


def _split(slopes: Slopes, lengths: list[int]) -> list[Slopes]:
    """Return those of each block."""
    ends = np.cumsum(lengths)
    return [slopes.part(slice(end - length, end)) for end, length in zip(ends, lengths, strict=True)]

"""The regularization path by landmarks of rows that are read in blocks: a pass of sums, and one of leave-one-out errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel._data.rows import RowBlock
from kernsel._data.trend import Trend
from kernsel._solve.landmark_stage import Stage, forget, pieces, solved, with_weight
from kernsel._solve.passes import Passes
from kernsel._solve.path import RegularizationPath
from kernsel.kernels import Kernel

__all__ = ["path_by_blocks"]


@dataclass(frozen=True)
class _PathStage:
    """All that the next pass over rows needs, besides the rows.

    Attributes
    ----------
    stage : Stage
        Without sums; the noise of each row is 1 / w.
    of_trend : ndarray of shape (q, outputs)
        The coefficients of what is subtracted from the targets.
    path : RegularizationPath of the core, optional
        Of all rows, after the first pass.
    alphas : list of float
        Those whose errors the second pass sums.
    """

    stage: Stage
    of_trend: Matrix
    path: _core.RegularizationPath | None = None
    alphas: tuple[float, ...] = ()

    def rest(self, block: RowBlock) -> RowBlock:
        """Return the rows with a weight, with targets less a trend: sums of squares of a large mean would cancel."""
        block = with_weight(block)
        assert block.y is not None
        return replace(block, y=block.y - self.stage.functions(block.X) @ self.of_trend)


class _Sums:
    """The sums of the first pass, and those of the weights and of their inverses."""

    def __init__(self) -> None:
        self.of_rows = _core.NystromSums()
        self.weights = 0.0
        self.inverse_weights = 0.0

    def add(self, other: _Sums) -> None:
        """Add those of other rows."""
        self.of_rows.add(other.of_rows)
        self.weights += other.weights
        self.inverse_weights += other.inverse_weights


class _Errors:
    """The sums of squared leave-one-out residuals, (outputs, alphas)."""

    def __init__(self) -> None:
        self.squares: Matrix | None = None

    def add(self, other: _Errors) -> None:
        """Add those of other rows."""
        if other.squares is not None:
            self.squares = other.squares if self.squares is None else self.squares + other.squares


def path_by_blocks(
    passes: Passes,
    kernel: Kernel,
    landmarks: Matrix,
    *,
    trend: Trend,
    of_trend: Matrix,
    alphas: ArrayLike | None,
    sigma: float | None,
    mean_of_errors: bool,
    bound: bool,
) -> tuple[RegularizationPath, float]:
    """Return the path of all rows, and what landmarks miss of the function, the mean of w e_i / alpha for alpha = 1.

    Rows are left out one by one, and the path knows leave-one-out errors at its alphas.

    Parameters
    ----------
    passes : Passes
    kernel : Kernel
        Without "auto" parameters.
    landmarks : ndarray of shape (m, d)
    trend : str, callable or None
    of_trend : ndarray of shape (q, outputs)
        About the coefficients of the trend; they change rounding errors only.
    alphas, sigma
        As in :class:`kernsel.RegularizationPath`.
    mean_of_errors : bool
        Whether lambda is multiplied by the sum of the weights.
    bound : bool
        Whether likelihoods are the lower bound, see :class:`kernsel.Nystrom`.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel._data.rows import row_source
    >>> from kernsel._solve.passes import LocalPasses
    >>> X, Z = np.linspace(0, 6, 50)[:, None], np.linspace(0, 6, 10)[:, None]
    >>> passes, of_trend = LocalPasses(row_source(X, np.sin(X[:, 0]), block=20)), np.zeros((0, 1))
    >>> more = {"alphas": [0.1, 1.0], "sigma": None, "mean_of_errors": False, "bound": True}
    >>> path, missing = path_by_blocks(passes, ks.kernels.RBF(1.0), Z, trend=None, of_trend=of_trend, **more)
    >>> whole = ks.RegularizationPath(
    ...     ks.kernels.RBF(1.0), np.sin(X[:, 0]), X=X, alphas=[0.1, 1.0], approximation=ks.Nystrom(Z)
    ... )
    >>> bool(np.allclose(path.loo, whole.loo, rtol=1e-10))
    True
    """
    rows = Stage(uuid4().hex, kernel, np.ascontiguousarray(landmarks, dtype=np.float64), trend, 1.0)
    stage = _PathStage(rows, of_trend)
    try:
        sums = passes.summed("sums", _sums_of, stage)
        path = _core.path_of_sums(
            solved(rows), sums.of_rows, sums.weights, sums.inverse_weights, sigma or 0.0, mean_of_errors, bound
        )
        state = np.asarray(path.__reduce__()[1][0])
        grid = path.default_alphas() if alphas is None else np.atleast_1d(np.asarray(alphas, dtype=np.float64))
        stored: dict[str, Vector] = {"state": state, "alphas": grid, "of_trend": of_trend}
        RegularizationPath.restored(stored, landmarks, sigma)  # raises for alphas that are none, before the second pass
        errors = passes.summed("errors", _errors_of, replace(stage, path=path, alphas=tuple(grid.tolist())))
    finally:
        passes.everywhere(forget, rows.token)
    assert errors.squares is not None
    missing = sums.of_rows.missing / sums.of_rows.rows / (sums.weights if mean_of_errors else 1.0)
    return RegularizationPath.restored(stored | {"errors": errors.squares / sums.weights}, landmarks, sigma), missing


def _sums_of(stage: _PathStage, block: RowBlock) -> _Sums:
    blocks, block, sums = solved(stage.stage), stage.rest(block), _Sums()
    for _, piece in pieces(stage.stage, block):
        sums.of_rows.add(blocks.add(*piece))
    weights = np.ones(len(block)) if block.weights is None else block.weights
    sums.weights, sums.inverse_weights = float(weights.sum()), float((1.0 / weights).sum())
    return sums


def _errors_of(stage: _PathStage, block: RowBlock) -> _Errors:
    blocks, errors, block = solved(stage.stage), _Errors(), stage.rest(block)
    assert stage.path is not None
    for at, (X, y, _, trend) in pieces(stage.stage, block):
        weights = None if block.weights is None else block.weights[at]
        part = _Errors()
        part.squares = _core.left_out_of_block(stage.path, blocks, X, y, trend, weights, list(stage.alphas))
        errors.add(part)
    return errors

"""One evaluation by landmarks, as far as it has come, and what each of its passes computes of a block of rows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.rows import RowBlock
from kernsel._data.trend import Trend, trend_matrix
from kernsel._solve.dask_worker import raise_if_cancelled
from kernsel.kernels import Kernel

__all__ = [
    "Pulled",
    "Shown",
    "Slopes",
    "Stage",
    "Totals",
    "forget",
    "noise_of",
    "partial_sums_of",
    "pieces",
    "pulled_of",
    "shown_of",
    "solved",
    "some_rows",
    "sums_of",
    "with_weight",
]

_OPERATIONS = 2e10  # of a piece of rows, some tenths of a second: between two pieces, a task looks whether it is still wanted
_HELD = 2  # evaluations whose matrices a process holds at the same time


class Totals(NamedTuple):
    """The derivatives of a criterion in sums over all rows."""

    squares: list[float]
    log_det: float
    log_det_trend: float
    missing: float


@dataclass(frozen=True)
class Stage:
    """All that the next pass over rows needs, besides the rows.

    What is computed from it, some matrices of m x m numbers, is computed once in each process and not sent: it takes about m^3
    operations.

    Attributes
    ----------
    token : str
        A name of the evaluation that no other one has.
    kernel : Kernel
    landmarks : ndarray of shape (m, d)
    trend : str, callable or None
    noise : float
        A variance that is added to those of all rows.
    sums : NystromSums, optional
        Those of the first pass, after it.
    totals : Totals, optional
    partial_sums : NystromPartialSums, optional
        Those of the third pass, after it.
    part : str, optional
        A name of what is left out or pulled back, where an evaluation has several fits. Their rows are then differentiated
        before the third pass has ended, and no sums over all of them are.
    """

    token: str
    kernel: Kernel
    landmarks: Matrix
    trend: Trend
    noise: float
    sums: _core.NystromSums | None = None
    totals: Totals | None = None
    partial_sums: _core.NystromPartialSums | None = None
    part: str | None = None

    @property
    def reached(self) -> int:
        """How many of sums, totals and partial sums are known."""
        return sum(known is not None for known in (self.sums, self.totals, self.partial_sums))

    def functions(self, X: Matrix) -> Matrix:
        """Return the functions of the trend at points."""
        return np.ascontiguousarray(trend_matrix(self.trend, X, check=False))


class Slopes(NamedTuple):
    """The derivatives of a criterion in what the second pass shows of the rows of a block; None for zeros."""

    c: Matrix | None = None
    precision: Vector | None = None
    missing: Vector | None = None
    noise: Vector | None = None

    def part(self, rows: slice) -> Slopes:
        """Return those of some rows."""
        return Slopes(*(None if values is None else values[rows] for values in self))


class Shown(NamedTuple):
    """What the second pass shows of rows with a weight: y, c_i, P_ii, e_i, the noise N_i, and the weights."""

    y: Matrix
    c: Matrix
    precision: Vector
    lost: Vector | None
    noise: Vector
    weights: Vector | None


class Pulled:
    """The derivatives in the hyperparameters, and in a variance that is added to that of all rows."""

    def __init__(self, theta: Vector | None = None, noise: float = 0.0) -> None:
        self.theta = theta
        self.noise = noise

    def add(self, other: Pulled) -> None:
        """Add those of other rows."""
        if other.theta is not None:
            self.theta = other.theta if self.theta is None else self.theta + other.theta
        self.noise += other.noise


class _Held:
    """What a process has computed for an evaluation."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.blocks: _core.NystromBlocks | None = None
        self.reached = 0


_held: OrderedDict[str, dict[str | None, _Held]] = OrderedDict()  # by evaluation, and by the parts of it
_lock = Lock()


def solved(stage: Stage) -> _core.NystromBlocks:
    """Return what a stage knows as an object of the core; each process computes it once.

    A later stage changes the object of an earlier one. Tasks that still use it are not disturbed, since no pass reads what
    follows from the sums of later ones.
    """
    with _lock:
        held = _held.setdefault(stage.token, {}).setdefault(stage.part, _Held())
        _held.move_to_end(stage.token)
        while len(_held) > _HELD:
            _held.popitem(last=False)
    with held.lock:
        if held.blocks is None:
            count = stage.functions(stage.landmarks).shape[1]
            held.blocks = _core.NystromBlocks.begin(stage.kernel.build(), stage.landmarks, count)
        if held.reached < 1 <= stage.reached:
            assert stage.sums is not None
            held.blocks.solve(stage.sums)
        if held.reached < 2 <= stage.reached:
            assert stage.totals is not None
            held.blocks.set_totals(*stage.totals)
            if stage.part is not None:
                held.blocks.solve_partials(_core.NystromPartialSums())
        if held.reached < 3 <= stage.reached:
            assert stage.partial_sums is not None
            held.blocks.solve_partials(stage.partial_sums)
        held.reached = max(held.reached, stage.reached)
        return held.blocks


def forget(token: str) -> None:
    """Release the memory of what this process has computed for an evaluation."""
    with _lock:
        _held.pop(token, None)


def sums_of(stage: Stage, block: RowBlock) -> _core.NystromSums:
    """Return the sums of the first pass."""
    blocks, sums = solved(stage), _core.NystromSums()
    for _, rows in pieces(stage, block):
        sums.add(blocks.add(*rows))
    return sums


def shown_of(stage: Stage, block: RowBlock, missing: bool) -> Shown:
    """Return what the second pass shows, and with `missing` also e_i."""
    blocks, block = solved(stage), with_weight(block)
    assert block.y is not None
    found = [blocks.show(*rows, True, missing) for _, rows in pieces(stage, block)]
    return Shown(
        block.y,
        np.concatenate([np.zeros((0, block.y.shape[1])), *(c for c, _, _ in found)]),
        np.concatenate([np.zeros(0), *(precision for _, precision, _ in found)]),
        np.concatenate([np.zeros(0), *(e for _, _, e in found)]) if missing else None,
        noise_of(stage, block),
        block.weights,
    )


def partial_sums_of(stage: Stage, block: RowBlock, slopes: Slopes) -> _core.NystromPartialSums:
    """Return the sums of the third pass."""
    blocks, sums = solved(stage), _core.NystromPartialSums()
    for at, rows in pieces(stage, block):
        of_rows = slopes.part(at)
        sums.add(blocks.add_partials(*rows, of_rows.c, of_rows.precision, of_rows.missing))
    return sums


def pulled_of(stage: Stage, block: RowBlock, slopes: Slopes | None) -> Pulled:
    """Return what rows add to the gradient."""
    blocks, block, total = solved(stage), with_weight(block), Pulled()
    parameters = len(stage.kernel.build().theta)
    for at, rows in pieces(stage, block):
        theta, noise = blocks.pull(*rows, *(slopes or Slopes()).part(at), parameters)
        total.add(Pulled(theta, float(np.sum(noise if block.weights is None else noise / block.weights[at]))))
    return total


def noise_of(stage: Stage, block: RowBlock) -> Vector:
    """Return the noise of each row, that of the kernel included."""
    noise = stage.noise + (0.0 if block.noise is None else block.noise)
    noise = np.broadcast_to(noise / (1.0 if block.weights is None else block.weights), len(block))
    white = np.asarray(stage.kernel.build().noise(block.X)) if len(block) else np.zeros(0)
    return np.asarray(noise + white)


def some_rows(block: RowBlock, rows: Indices) -> RowBlock:
    """Return some rows of a block."""
    y, noise, weights = (None if values is None else values[rows] for values in (block.y, block.noise, block.weights))
    return RowBlock(block.X[rows], y, noise, weights, block.first, block.place)


def with_weight(block: RowBlock) -> RowBlock:
    """Return a block without its rows of weight zero."""
    if block.weights is None or (block.weights > 0).all():
        return block
    return some_rows(block, np.flatnonzero(block.weights > 0))


def pieces(stage: Stage, block: RowBlock) -> Iterator[tuple[slice, tuple[Matrix, Matrix, Vector, Matrix]]]:
    """Yield the rows of a block that have a weight, some at a time: X, y, the noise and the trend."""
    block = with_weight(block)
    count = int(np.clip(_OPERATIONS / len(stage.landmarks) ** 2, 256, 65536))
    assert block.y is not None
    for first in range(0, len(block), count):
        raise_if_cancelled()
        at = slice(first, first + count)
        noise = np.array([stage.noise])  # one for all rows, or one for each
        if block.noise is not None:
            noise = noise + block.noise[at]
        if block.weights is not None:
            noise = noise / block.weights[at]
        yield at, (block.X[at], block.y[at], noise, stage.functions(block.X[at]))

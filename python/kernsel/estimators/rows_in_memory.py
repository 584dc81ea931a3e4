"""Rows that are read in blocks, brought to this machine for models that keep all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernsel._base.memory import require_memory
from kernsel._data.rows import RowBlock, row_source
from kernsel._solve.by_blocks import passes_over

__all__ = ["rows_in_memory"]

_COPIES = 6  # of the rows, for the fit by neighbours that follows


def rows_in_memory(X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Any, Any]:
    """Return all rows as arrays, X as a frame of pandas if its columns have names: X, y, and the weights or None.

    Raises
    ------
    MemoryError
        If a fit by neighbours to so many rows does not fit into the memory of this machine.
    """
    source = row_source(X, y, sample_weight=sample_weight)
    with passes_over(source) as passes:
        count = source.n_rows or sum(passes.listed("lengths", _length, None))
        require_memory(
            8 * _COPIES * count * (source.n_columns + source.n_outputs + 1),
            f"predictions from the nearest of {count} rows, which this machine keeps, need",
            "; approximation=kernsel.Nystrom() keeps no rows",
        )
        blocks = passes.listed("all rows", _whole, None)
    points: Any = np.concatenate([block.X for block in blocks])
    if source.names is not None:
        import pandas as pd

        points = pd.DataFrame(points, columns=source.names)
    targets = np.concatenate([block.y for block in blocks if block.y is not None])
    weights = [block.weights for block in blocks if block.weights is not None]
    one = source.n_outputs == 1 and getattr(y, "ndim", 1) == 1
    return points, targets[:, 0] if one else targets, np.concatenate(weights) if weights else None


def _length(_: None, block: RowBlock) -> int:
    return len(block)


def _whole(_: None, block: RowBlock) -> RowBlock:
    return block

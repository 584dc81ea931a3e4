"""Predictions at points of a collection of Dask, which are computed where the partitions are, when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernsel._base.annotations import Matrix

__all__ = ["lazily"]


def lazily(model: Any, X: Any, predict: Callable[..., Any], outputs: int, parts: int = 1) -> Any:
    """Return what a function of a fitted model and of points returns for a collection, as arrays of Dask.

    Parameters
    ----------
    model : estimator
        It goes to each worker once.
    X : dask.array.Array of shape (n, d), or dask.dataframe.DataFrame
    predict : callable
        predict(model, points) returns one array of shape (k,) or (k, outputs) for k points, or a tuple of `parts` of them.
    outputs : int
        0 stands for arrays of one dimension.
    parts : int

    Returns
    -------
    arrays : dask.array.Array, or a tuple of `parts` of them
    """
    import dask.array as da
    from dask import delayed

    if X.ndim != 2 or X.shape[1] != model.n_features_in_:
        raise ValueError(f"X: expected {model.n_features_in_} columns, got shape {X.shape}")
    lengths = [np.nan] * X.npartitions
    if hasattr(X, "chunks"):
        X = X.rechunk({1: -1})
        lengths = list(X.chunks[0])
    width = max(outputs, 1)
    one = delayed(_side_by_side, name="kernsel-predict", traverse=False, pure=False)
    sent = delayed(model, traverse=False, pure=False)
    blocks = [one(predict, sent, block, parts * width) for block in np.ravel(np.asarray(X.to_delayed(), dtype=object))]
    arrays = [
        da.from_delayed(block, (length, parts * width), np.float64) for block, length in zip(blocks, lengths, strict=True)
    ]
    whole = da.concatenate(arrays, axis=0)
    found = tuple(whole[:, k * width : (k + 1) * width] if outputs else whole[:, k] for k in range(parts))
    return found if parts > 1 else found[0]


def _side_by_side(predict: Callable[..., Any], model: Any, block: Any, width: int) -> Matrix:
    if not len(block):
        return np.zeros((0, width))
    found = predict(model, block)
    parts = found if isinstance(found, tuple) else (found,)
    return np.hstack([np.reshape(part, (len(block), -1)) for part in parts])

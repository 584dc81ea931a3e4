"""Folds: from what a user says to indices of points."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing

__all__ = ["Splits", "joined", "number_of_points", "of_rows", "splits_by", "splitter_for", "tests_as_labels"]

Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]
Argument = Literal["inner", "outer", "folds"]


def number_of_points(X: Any) -> int:
    """Return how many rows an array, a table, a sparse matrix or a list has."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def splitter_for(argument: Argument, how: Any, estimator: Any, y: Any, groups: Any, seed: int | None) -> Any:
    """Return what has a method `split`: for numbers as scikit-learn would, but no group is torn apart."""
    if isinstance(how, Integral) and not isinstance(how, bool):
        if how < 2:
            raise ValueError(f"{argument}: expected two folds at least, got {how}")
        stratified = isinstance(check_cv(int(how), y, classifier=is_classifier(estimator)), StratifiedKFold)
        if groups is None:
            kind = StratifiedKFold if stratified else KFold
        else:
            kind = StratifiedGroupKFold if stratified else GroupKFold
        return kind(int(how)) if seed is None else kind(int(how), shuffle=True, random_state=seed)
    if hasattr(how, "split") and not isinstance(how, str):
        return how
    if argument == "outer" and isinstance(how, Iterable) and not isinstance(how, str):
        return check_cv(how)
    also = {"outer": " or pairs of indices", "inner": "; pairs of indices would not fit every outer fold", "folds": ""}[
        argument
    ]
    raise TypeError(f"{argument}: expected a number of folds, a splitter{also}, got {how!r}")


def splits_by(argument: Argument, splitter: Any, X: Any, y: Any, groups: Any, **metadata: Any) -> Splits:
    """Return all pairs of indices, checked: in no fold is a point learned and left out."""
    where = argument if argument != "inner" else f"inner: in the {number_of_points(X)} training points of an outer fold"
    if groups is not None:
        metadata = metadata | {"groups": groups}
    try:
        splits = [(_indices(train), _indices(test)) for train, test in splitter.split(X, y, **metadata)]
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    if not splits:
        raise ValueError(f"{where}: expected at least one fold, got none")
    for i, (train, test) in enumerate(splits, 1):
        if not len(train) or not len(test):
            raise ValueError(f"{where}: fold {i} has {len(train)} points to learn from and leaves {len(test)} out")
        used, n = np.concatenate([train, test]), number_of_points(X)
        if used.min() < 0 or used.max() >= n:
            raise ValueError(f"{where}: fold {i} has indices from {used.min()} to {used.max()}, expected 0 to {n - 1}")
        if len(both := np.intersect1d(train, test)):
            raise ValueError(f"{where}: fold {i} learns from points that it leaves out, {both[:5].tolist()}")
    return splits


def _indices(part: Any) -> NDArray[np.intp]:
    part = np.asarray(part)
    return np.flatnonzero(part) if part.dtype == bool else part.astype(np.intp)


def tests_as_labels(splits: Splits, n: int) -> NDArray[np.intp] | None:
    """Return the number of the fold that leaves each point out; None unless each point is left out once."""
    left_out = np.concatenate([test for _, test in splits])
    if not np.array_equal(np.sort(left_out), np.arange(n)):
        return None
    labels = np.empty(n, dtype=np.intp)
    labels[left_out] = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
    return labels


def joined(splits: Splits, parts: list[Any], n: int) -> NDArray[Any] | None:
    """Return what was computed of the points left out, in the order of the points; None unless each is left out once."""
    if tests_as_labels(splits, n) is None or any(part is None for part in parts):
        return None
    values = np.concatenate([np.asarray(part) for part in parts])
    return values[np.argsort(np.concatenate([test for _, test in splits]))]


def of_rows(params: dict[str, Any], chosen: NDArray[np.intp], n: int) -> dict[str, Any]:
    """Return parameters with, of those that have an entry for each of n points, the entries of some."""

    def is_per_point(value: Any) -> bool:
        shape = getattr(value, "shape", None)
        return isinstance(value, list | tuple) and len(value) == n if shape is None else len(shape) > 0 and shape[0] == n

    return {name: _safe_indexing(value, chosen) if is_per_point(value) else value for name, value in params.items()}

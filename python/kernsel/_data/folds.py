"""Folds of cross-validation: from the argument of a user to the indices of the training and test points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.model_selection import BaseCrossValidator, GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing

from kernsel._base.annotations import Indices
from kernsel.kernels.objects import Points

__all__ = ["How", "Splits", "joined", "number_of_points", "of_rows", "splits_by", "splitter_for", "tests_as_labels"]

Splits = list[tuple[Indices, Indices]]  # the indices of the training points and of the test points of each fold
Argument = Literal["inner", "outer", "folds"]
# A number of folds, a splitter, or pairs of indices of training and test points.
How: TypeAlias = int | BaseCrossValidator | Iterable[tuple[Sequence[int], Sequence[int]]]


def number_of_points(X: Any) -> int:
    """Return the number of rows of an array, a table, a sparse matrix or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def splitter_for(
    argument: Argument,
    how: object,
    estimator: BaseEstimator | None,
    y: ArrayLike | None,
    groups: ArrayLike | None,
    seed: int | None,
) -> BaseCrossValidator:
    """Return a splitter; a number of folds stands for scikit-learn's default one, which keeps groups whole if there are any."""
    if isinstance(how, Integral) and not isinstance(how, bool):
        if int(how) < 2:
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
    alternatives = {"outer": " or pairs of indices", "inner": "; pairs of indices would not fit every outer fold", "folds": ""}[
        argument
    ]
    raise TypeError(f"{argument}: expected a number of folds, a splitter{alternatives}, got {how!r}")


def splits_by(
    argument: Argument,
    splitter: BaseCrossValidator,
    X: Points,
    y: ArrayLike | None,
    groups: ArrayLike | None,
    **metadata: object,
) -> Splits:
    """Return the indices of training and test points of each fold; raise if a fold has a point in both."""
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
        indices, n = np.concatenate([train, test]), number_of_points(X)
        if indices.min() < 0 or indices.max() >= n:
            raise ValueError(f"{where}: fold {i} has indices from {indices.min()} to {indices.max()}, expected 0 to {n - 1}")
        if len(common := np.intersect1d(train, test)):
            raise ValueError(f"{where}: fold {i} learns from points that it leaves out, {common[:5].tolist()}")
    return splits


def _indices(part: ArrayLike) -> Indices:
    """Return indices as an array; a boolean mask is converted to indices."""
    array = np.asarray(part)
    return np.flatnonzero(array) if array.dtype == bool else array.astype(np.intp)


def tests_as_labels(splits: Splits, n: int) -> Indices | None:
    """Return for each point the index of the fold that leaves it out; None unless each point is left out once."""
    left_out = np.concatenate([test for _, test in splits])
    if not np.array_equal(np.sort(left_out), np.arange(n)):
        return None
    labels = np.empty(n, dtype=np.intp)
    labels[left_out] = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
    return labels


def joined(splits: Splits, parts: Sequence[ArrayLike | None], n: int) -> NDArray[np.generic] | None:
    """Join the values at the test points of all folds, in the order of the points; None unless each is left out once."""
    if tests_as_labels(splits, n) is None or any(part is None for part in parts):
        return None
    values = np.concatenate([np.asarray(part) for part in parts])
    return values[np.argsort(np.concatenate([test for _, test in splits]))]


def of_rows(params: Mapping[str, object], rows: Indices, n: int) -> dict[str, object]:
    """Return parameters for some points: of a parameter with one entry for each of n points, the entries of `rows`."""

    def is_per_point(value: object) -> bool:
        shape = getattr(value, "shape", None)
        return isinstance(value, list | tuple) and len(value) == n if shape is None else len(shape) > 0 and shape[0] == n

    return {name: _safe_indexing(value, rows) if is_per_point(value) else value for name, value in params.items()}

"""Folds of cross-validation: from the argument of a user to the indices of the training and test points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel._base.annotations import Indices, Matrix
from kernsel._data.together import first_of_equal, numbered
from kernsel.kernels.objects import Points

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.model_selection import BaseCrossValidator

__all__ = [
    "How",
    "Splits",
    "folds_of_rows",
    "is_splits",
    "joined",
    "labels_of_folds",
    "number_of_points",
    "of_rows",
    "splits_by",
    "splits_of_folds",
    "splitter_for",
    "tests_as_labels",
]

Splits = list[tuple[Indices, Indices]]  # the indices of the training points and of the test points of each fold
Argument = Literal["inner", "outer", "folds"]
# A number of folds, a splitter, or pairs of indices of training and test points.
How: TypeAlias = "int | BaseCrossValidator | Iterable[tuple[Sequence[int], Sequence[int]]]"


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
    from sklearn.base import is_classifier
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv

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


def is_splits(folds: object) -> bool:
    """Tell whether an argument is a list of splits: pairs of the indices of training and of test points.

    Examples
    --------
    >>> is_splits([([0, 1], [2]), ([2], [0, 1])]), is_splits([0, 0, 1])
    (True, False)
    """
    if not isinstance(folds, list | tuple):
        return False
    return bool(folds) and all(isinstance(one, list | tuple) and len(one) == 2 and np.ndim(one[0]) == 1 for one in folds)


def folds_of_rows(folds: Any, rows: Indices | slice, n: int) -> Any:
    """Return folds for some of n points: labels and lists of splits are of all of them; numbers and splitters are not."""
    if is_splits(folds):
        from sklearn.model_selection import check_cv

        place = np.full(n, -1, dtype=np.intp)
        kept = np.arange(n)[rows]
        place[kept] = np.arange(len(kept))
        splits = splits_by("folds", check_cv(folds), place, None, None)
        parts = [tuple(place[part][place[part] >= 0] for part in split) for split in splits]
        return [split for split in parts if len(split[1])]  # a fold that leaves nothing out says nothing
    if hasattr(folds, "split") or np.ndim(folds) != 1:
        return folds
    if len(folds) != n:
        raise ValueError(f"folds: expected one label for each of {n} points, got {len(folds)} of them")
    return np.asarray(folds)[rows]


def _as_splitter(folds: object) -> object:
    """Return a splitter in place of a list of splits; raise for an iterator over splits, which is at its end after one use."""
    if isinstance(folds, Iterator):
        raise ValueError(f"folds: splits are used several times; give list(...) of them in place of a {type(folds).__name__}")
    if not is_splits(folds):
        return folds
    from sklearn.model_selection import check_cv

    return check_cv(folds)


def _said(splitter: Any) -> str:
    return "the list of splits" if hasattr(splitter, "cv") and is_splits(splitter.cv) else str(splitter)


def labels_of_folds(folds: object, X: Matrix, y: ArrayLike, groups: Indices | None = None) -> Indices:
    """Return the number of the fold of each point, for closed forms, in which a fold is left out and all other points are kept.

    Parameters
    ----------
    folds : int, array-like of shape (n,), splitter of scikit-learn, or list of splits
        A number of random folds, the same in each call; a label for each point; a splitter that leaves out each point once, and
        whose training sets have all other points; or a list of its splits, pairs of indices. Groups stay whole in folds that
        are made from a number. Without groups, equal rows are in the same fold, that of the first one, unless labels tell
        otherwise.
    X : ndarray of shape (n, d)
    y : array-like of shape (n,) or (n, m)
    groups : ndarray of int of shape (n,), optional
        The groups, which splitters receive.

    Returns
    -------
    labels : ndarray of int of shape (n,)
        From 0 on.
    """
    n = len(X)
    folds = _as_splitter(folds)
    first = first_of_equal(X) if groups is None else None
    if isinstance(folds, Integral) and not isinstance(folds, bool):
        labels = _labels_of_number(int(folds), n, first if groups is None else groups)
    elif hasattr(folds, "split") and not isinstance(folds, str):
        labels = _labels_of_splitter(folds, X, y, groups)
        if first is not None:
            labels = labels[first]
    else:
        labels = np.asarray(folds)
        if labels.shape != (n,):
            raise ValueError(
                f"folds: expected a number, a splitter, a list of splits, or one label for each of {n} points, "
                f"got {folds!r:.200}"
            )
    numbers, count = numbered(labels)
    if count < 2:
        raise ValueError("folds: expected two groups at least: one of them must be left to learn from")
    return numbers


def _labels_of_number(folds: int, n: int, together: Indices | None) -> Indices:
    """Return the folds of n points, in random order; points that are left out together are in the same fold."""
    if not 2 <= folds <= n:
        raise ValueError(f"folds: expected a number from 2 to {n}, the number of points, got {folds!r}")
    units, count = (np.arange(n), n) if together is None else numbered(together)
    if count < 2:
        return np.zeros(n, dtype=np.intp)
    from sklearn.model_selection import KFold

    of_units = np.empty(count, dtype=np.intp)
    for fold, (_, test) in enumerate(KFold(min(folds, count), shuffle=True, random_state=0).split(of_units)):
        of_units[test] = fold
    return of_units[units]


def _labels_of_splitter(splitter: Any, X: Matrix, y: ArrayLike, groups: Indices | None) -> Indices:
    """Return the fold of each point; raise unless each is left out once, and all others are then kept."""
    n, cure = len(X), "closed forms need each point to be left out once; kernsel.nested_cv takes any splitter"
    splits = splits_by("folds", splitter, X, y, groups)
    times = np.bincount(np.concatenate([test for _, test in splits]), minlength=n)
    if (times != 1).any():
        point = int(np.argmax(times != 1))
        often = f"{times[point]} times" if times[point] else "never"
        raise ValueError(f"folds: {_said(splitter)} leaves out point {point} {often}; {cure}")
    for number, (train, test) in enumerate(splits, 1):
        if len(train) + len(test) < n:
            raise ValueError(
                f"folds: fold {number} of {_said(splitter)} leaves out {len(test)} of {n} points, but learns from {len(train)} "
                "only; closed forms keep all others; kernsel.nested_cv takes any splitter"
            )
    labels = tests_as_labels(splits, n)
    assert labels is not None
    return labels


def splits_of_folds(folds: object, X: Matrix, y: ArrayLike, groups: Indices | None = None) -> Splits:
    """Return the training and test points of folds, for models that are fitted again for each.

    The folds are those of :func:`labels_of_folds`. A splitter may also leave out points several times or never, or learn from
    some of the others; then no fold learns from rows that equal one that it leaves out.
    """
    folds = _as_splitter(folds)
    try:
        labels = labels_of_folds(folds, X, y, groups)
    except ValueError:
        if not hasattr(folds, "split") or isinstance(folds, str):
            raise
        return _without_equal(splits_by("folds", folds, X, y, groups), first_of_equal(X) if groups is None else None)
    return [(np.flatnonzero(labels != fold), np.flatnonzero(labels == fold)) for fold in range(int(labels.max()) + 1)]


def _without_equal(splits: Splits, first: Indices | None) -> Splits:
    """Remove the training points that equal a test point of their fold."""
    if first is None:
        return splits
    kept = [(train[~np.isin(first[train], first[test])], test) for train, test in splits]
    for number, (train, _) in enumerate(kept, 1):
        if not len(train):
            raise ValueError(f"folds: all points that fold {number} learns from equal one that it leaves out")
    return kept


def joined(splits: Splits, parts: Sequence[ArrayLike | None], n: int) -> NDArray[np.generic] | None:
    """Join the values at the test points of all folds, in the order of the points; None unless each is left out once."""
    if tests_as_labels(splits, n) is None or any(part is None for part in parts):
        return None
    values = np.concatenate([np.asarray(part) for part in parts])
    return values[np.argsort(np.concatenate([test for _, test in splits]))]


def of_rows(params: Mapping[str, object], rows: Indices, n: int) -> dict[str, object]:
    """Return parameters for some points: of a parameter with one entry for each of n points, the entries of `rows`."""
    from sklearn.utils import _safe_indexing

    def is_per_point(value: object) -> bool:
        shape = getattr(value, "shape", None)
        return isinstance(value, list | tuple) and len(value) == n if shape is None else len(shape) > 0 and shape[0] == n

    return {name: _safe_indexing(value, rows) if is_per_point(value) else value for name, value in params.items()}

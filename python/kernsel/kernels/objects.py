"""Points that are not vectors: each object has a number, and kernels of objects look it up.

What kernels and estimators compute with is an array, as always: columns of numbers as they are, and a column of the numbers of
objects for each part of the points that is made of objects.
"""

from __future__ import annotations

import threading
import weakref
from bisect import bisect
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

__all__ = ["Mixed", "ObjectSet", "Places", "Points", "Pool", "Reading", "are_numbers", "numbered"]

Matrix = NDArray[np.float64]

# What a set of objects keeps: so many results, for a kernel of many terms has a table for each, and so many bytes of them.
_KEPT = 16
_MOST_BYTES = 2**31


# Which objects of a set: one after the other, or any.
Places = slice | NDArray[np.intp]


class Mixed:
    """Points that have several parts, each with a name: an array of numbers, or a sequence of objects.

    Kernels name the part that they are for: ``RBF("auto").on(["X"]) + Spectrum(3).on(["s"])``. Estimators and
    scikit-learn's tools for model selection take it where they take an array.

    Parameters
    ----------
    **parts : array-like of shape (n,) or (n, d), or sequence of n objects
        Arrays of numbers are columns; anything else is a sequence of objects.

    Examples
    --------
    >>> from kernsel.structured import Mixed
    >>> points = Mixed(X=[[1.0], [2.0], [3.0]], s=["AC", "CA", "AA"])
    >>> points.shape
    (3, 2)
    >>> points[[2, 0]].parts["s"]
    ['AA', 'AC']
    """

    def __init__(self, **parts: Any) -> None:
        if not parts:
            raise ValueError("Mixed: expected at least one part, such as Mixed(X=array, s=strings)")
        self.parts: dict[str | None, Any] = {name: _part(name, given) for name, given in parts.items()}
        lengths = {name: len(part) for name, part in self.parts.items()}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{name} has {n}" for name, n in lengths.items())
            raise ValueError(f"Mixed: expected parts of the same number of points, but {said}")

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points, and of parts."""
        return len(self), len(self.parts)

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))

    def __getitem__(self, rows: Any) -> Mixed:
        if isinstance(rows, tuple):  # as for arrays, [rows, ...]
            rows = rows[0]
        index = np.atleast_1d(np.arange(len(self))[rows])
        chosen: Mixed = object.__new__(Mixed)
        chosen.parts = {
            name: part[index] if isinstance(part, np.ndarray) else [part[i] for i in index] for name, part in self.parts.items()
        }
        return chosen

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Raise, where an array is expected."""
        raise TypeError(f"X: expected an array, got {self!r}: of the estimators of kernsel, with a kernel that names its parts")

    def __repr__(self) -> str:
        said = ", ".join(
            f"{name}: {part.shape[1]} columns" if isinstance(part, np.ndarray) else f"{name}: objects"
            for name, part in self.parts.items()
        )
        return f"<Mixed: {len(self)} points of {said}>"


def _part(name: str, given: Any) -> Any:
    """Return columns of numbers, or a list of objects."""
    if isinstance(given, str | bytes | Mapping | Set) or not hasattr(given, "__len__"):
        raise TypeError(f"Mixed: {name}: expected an array or a sequence of objects, got {given!r:.80}")
    kind = getattr(getattr(given, "dtype", None), "kind", None)
    if kind is None and len(given) and not isinstance(given[0] if isinstance(given, Sequence) else None, str | bytes):
        try:
            kind = np.asarray(given).dtype.kind
        except ValueError:  # objects of several lengths
            kind = "O"
    if kind is not None and kind in "fiub" and np.ndim(given) in (1, 2):
        return np.asarray(given, dtype=np.float64).reshape(len(given), -1)
    return list(given)


# The points of kernels and estimators: an array, a data frame, objects, or several of these.
Points = ArrayLike | Sequence[Any] | Mixed


class ObjectSet:
    """Objects, with what kernels have made of them: encodings, embeddings and tables of kernel values."""

    def __init__(self, objects: Sequence[Any], start: int) -> None:
        self.objects = objects
        self.start = start
        self._made: OrderedDict[Any, tuple[Any, Any]] = OrderedDict()

    def __len__(self) -> int:
        return len(self.objects)

    def made(self, kind: Any, values: Any, make: Callable[[], Any]) -> Any:
        """Return what `make` returns: what was made of this kind last, if that was for the same values."""
        known = self._made.get(kind)
        if known is None or known[0] != values:
            self._made.pop(kind, None)  # its memory may be needed
            self._made[kind] = known = (values, make())
            while len(self._made) > 1 and (len(self._made) > _KEPT or self._bytes() > _MOST_BYTES):
                self._made.popitem(last=False)
        self._made.move_to_end(kind)
        return known[1]

    def _bytes(self) -> int:
        return sum(_bytes_of(made) for _, made in self._made.values())

    def forget(self, kind: Any) -> None:
        """Give up what was made of this kind."""
        self._made.pop(kind, None)

    def __getstate__(self) -> dict[str, Any]:
        return {"objects": self.objects, "start": self.start, "_made": OrderedDict()}


def _bytes_of(made: Any) -> int:
    """Return how many bytes the arrays of a result take: it may be one, or have some, as tables with derivatives have."""
    if isinstance(made, tuple):
        return sum(_bytes_of(one) for one in made)
    if isinstance(made, list):
        return sum(one.nbytes for one in made) if made and isinstance(made[0], np.ndarray) else 0
    return int(made.nbytes) if isinstance(made, np.ndarray) else 0


class Pool:
    """The objects of one part of the points: those to learn from are kept, others as long as somebody has their numbers."""

    def __init__(self) -> None:
        self._sets: tuple[ObjectSet, ...] = ()  # in the order of their numbers; never changed, but replaced
        self._kept: frozenset[int] = frozenset()
        self._wanted: tuple[tuple[ObjectSet, ObjectSet], ...] = ()
        self._next = 0
        self.lock = threading.RLock()

    def add(self, objects: Sequence[Any], *, keep: bool) -> ObjectSet:
        """Give numbers to objects."""
        with self.lock:
            added = ObjectSet(objects, self._next)
            self._next += max(len(objects), 1)
            self._sets += (added,)
            self._wanted += tuple((added, one) for one in self._sets if one is added or one.start in self._kept)
            if keep:
                self._kept |= {added.start}
            else:
                self._wanted = tuple(pair for pair in self._wanted if pair != (added, added))
            return added

    def forget(self, start: int) -> None:
        """Give up the objects whose numbers begin there."""
        with self.lock:
            self._sets = tuple(one for one in self._sets if one.start != start)
            self._wanted = tuple(pair for pair in self._wanted if pair[0].start != start)

    def wanted(self) -> tuple[tuple[ObjectSet, ObjectSet], ...]:
        """Return the pairs of sets that kernels will be evaluated on: better in one go than block by block."""
        return self._wanted

    def kept(self) -> list[ObjectSet]:
        """Return the sets to learn from."""
        return [one for one in self._sets if one.start in self._kept]

    def runs(self, numbers: NDArray[Any]) -> list[tuple[ObjectSet, Places, Places]]:
        """Return each set of objects that numbers are of, with which of them are, and the places of their objects."""
        sets = self._sets
        numbers = np.ravel(numbers)
        if not len(numbers):
            return []
        whole = numbers.astype(np.intp)
        low, high = int(whole.min()), int(whole.max())
        starts = [one.start for one in sets]
        first = bisect(starts, low) - 1
        known = first >= 0 and bool((whole == numbers).all())
        if known and high < starts[first] + len(sets[first]):  # all of one set
            return [(sets[first], slice(None), _as_slice(whole - starts[first]))]
        which = np.searchsorted(starts, whole, side="right") - 1
        runs: list[tuple[ObjectSet, Places, Places]] = []
        for w in np.unique(which):
            rows = np.flatnonzero(which == w)
            places = whole[rows] - starts[w]
            known = known and int(places.max()) < len(sets[w])
            runs.append((sets[w], rows, places))
        if not known:
            raise ValueError("X: expected the objects that the kernel is of, got numbers")
        return runs

    def __getstate__(self) -> dict[str, Any]:
        kept = tuple(self.kept())
        wanted = tuple(pair for pair in self._wanted if pair[0] in kept)
        return {"_sets": kept, "_kept": self._kept, "_wanted": wanted, "_next": self._next}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.lock = threading.RLock()

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # objects are never changed


def _as_slice(places: NDArray[np.intp]) -> Places:
    """Return places that follow each other as a slice."""
    begin, count = int(places[0]), len(places)
    if int(places[-1]) != begin + count - 1 or not (np.diff(places) == 1).all():
        return places
    return slice(begin, begin + count)


class Reading:
    """How points with objects become an array of numbers, and which columns are what.

    Made from the points to learn from; :meth:`numbers` reads others likewise.
    """

    def __init__(self, X: Any) -> None:
        parts = _parts_of(X)
        self.names: list[str | None] = []  # of the part of each column
        self.pools: list[Pool | None] = []  # None for a column of numbers
        for name, part in parts.items():
            count = part.shape[1] if isinstance(part, np.ndarray) else 1
            self.names += [name] * count
            self.pools += [None] * count if isinstance(part, np.ndarray) else [Pool()]
        self.first = self._numbers(parts, keep=True)
        self.whole = self

    def numbers(self, X: Any, *, keep: bool = False) -> Matrix:
        """Return the array for other points; their objects are known as long as it lives, or forever."""
        parts = _parts_of(X)
        names = list(dict.fromkeys(self.names))
        if list(parts) != names:
            missing = [str(name) for name in names if name not in parts]
            if missing or None in parts:
                raise ValueError(f"X: expected the parts {', '.join(map(str, names))}, got {', '.join(map(str, parts))}")
            parts = {name: parts[name] for name in names}
        for name, part in parts.items():
            columns = self.names.count(name)
            if isinstance(part, np.ndarray) != (self.pools[self.names.index(name)] is None):
                wanted = "objects" if isinstance(part, np.ndarray) else "numbers"
                raise ValueError(f"X: expected {wanted} in the part {name!r}, as there were in fit")
            if isinstance(part, np.ndarray) and part.shape[1] != columns:
                raise ValueError(f"X: expected {columns} columns in the part {name!r}, got {part.shape[1]}")
        return self._numbers(parts, keep=keep)

    def _numbers(self, parts: dict[str | None, Any], *, keep: bool) -> Matrix:
        columns, added = [], []
        for name, part in parts.items():
            if isinstance(part, np.ndarray):
                if not np.isfinite(part).all():
                    raise ValueError(f"X: expected finite numbers in the part {name!r}")
                columns.append(part)
                continue
            pool = self.pools[self.names.index(name)]
            assert pool is not None
            objects = pool.add(part, keep=keep)
            added.append((pool, objects.start))
            columns.append(np.arange(objects.start, objects.start + len(part), dtype=np.float64)[:, None])
        numbers = np.ascontiguousarray(np.hstack(columns))
        if not keep:
            for pool, start in added:
                weakref.finalize(numbers, pool.forget, start)
        return numbers

    def __len__(self) -> int:
        return len(self.first)

    def only(self, columns: Sequence[int]) -> Reading:
        """Return the same for kernels of some columns."""
        other: Reading = object.__new__(Reading)
        other.names = [self.names[i] for i in columns]
        other.pools = [self.pools[i] for i in columns]
        other.first = self.first[:, list(columns)]
        other.whole = self.whole
        return other

    def columns_of(self, names: Sequence[str]) -> list[int]:
        """Return the columns of the parts of these names."""
        missing = [name for name in names if name not in self.names]
        if missing:
            known = ", ".join(str(name) for name in dict.fromkeys(self.names) if name is not None) or "none"
            raise ValueError(f"columns: {', '.join(missing)} not among the parts of the points: {known}")
        return [i for name in names for i, of in enumerate(self.names) if of == name]


def _parts_of(X: Any) -> dict[str | None, Any]:
    """Return the parts of points by name; of a plain sequence of objects, one without a name."""
    if isinstance(X, Mixed):
        return {**X.parts}
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        table: dict[str | None, Any] = {}
        for i, name in enumerate(X.columns):
            table[str(name)] = _part(str(name), X.iloc[:, i].to_numpy())
        return table
    if isinstance(X, str | bytes | Mapping | Set) or not hasattr(X, "__len__") or issparse(X):
        raise TypeError(f"X: expected a list of objects, or kernsel.structured.Mixed, got {X!r:.80}")
    if not len(X):
        raise ValueError("X: expected at least one object, got none")
    return {None: list(X)}


def numbered(kernel: Any, X: Any, Z: Any) -> tuple[Any, Any, Any]:
    """Return the kernel bound to the objects of X, unless it is bound already, and points as arrays of numbers."""
    reading: Reading | None = kernel.reading()
    if reading is None:
        reading = Reading(X)
        kernel, X = kernel.bound_to(reading), reading.first
    elif not are_numbers(X):
        X = reading.numbers(X)
    if Z is not None and not are_numbers(Z):
        Z = reading.numbers(Z)
    return kernel, X, Z


def are_numbers(X: Any) -> bool:
    """Tell whether these are points that were read before."""
    return isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.ndim == 2

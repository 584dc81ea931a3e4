"""Points that are not vectors: each object gets a number, by which kernels of objects look it up.

Kernels and estimators compute with an array also where points are objects: its columns are the columns of numbers that the
points have, and for each part of the points that consists of objects one column with the numbers of these objects. A part that
kernels of levels are functions of has a column of codes of its levels.
"""

from __future__ import annotations

import threading
import weakref
from bisect import bisect
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Indices, Matrix
from kernsel._base.frames import column_names, columns_of, declared_levels
from kernsel.kernels.levels import Categories, Levels

if TYPE_CHECKING:
    from kernsel.kernels.base import Kernel

__all__ = ["Mixed", "ObjectSet", "Places", "Points", "Pool", "Reading", "are_numbers", "needs_reading", "numbered"]

T = TypeVar("T")

# The most results, and bytes of results, that a set of objects caches. A kernel with many terms caches a table for each term.
_MOST_RESULTS = 16
_MOST_BYTES = 2**31

# Indices of objects in a set: a slice where they are consecutive, which spares a copy of what is indexed.
Places = slice | Indices

# One part of points: columns of numbers, shape (n, d), or n objects.
Part = Matrix | list[object]


class Mixed:
    """Points that have several parts, each with a name: an array of numbers, or a sequence of objects.

    Kernels name the part that they are functions of: ``RBF("auto").on(["X"]) + Spectrum(3).on(["s"])``. Estimators and
    scikit-learn's tools for model selection take such points where they take an array.

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

    def __init__(self, **parts: ArrayLike | Sequence[object]) -> None:
        if not parts:
            raise ValueError("Mixed: expected at least one part, such as Mixed(X=array, s=strings)")
        self.parts: dict[str | None, Part] = {name: _part(name, values) for name, values in parts.items()}
        lengths = {name: len(part) for name, part in self.parts.items()}
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{name} has {n}" for name, n in lengths.items())
            raise ValueError(f"Mixed: expected parts of the same number of points, but {counts}")

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points, and of parts."""
        return len(self), len(self.parts)

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))

    def __getitem__(self, rows: Any) -> Mixed:
        if isinstance(rows, tuple):  # [rows, ...], as arrays are indexed
            rows = rows[0]
        index = np.atleast_1d(np.arange(len(self))[rows])
        chosen: Mixed = object.__new__(Mixed)
        chosen.parts = {
            name: part[index] if isinstance(part, np.ndarray) else [part[i] for i in index] for name, part in self.parts.items()
        }
        return chosen

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NoReturn:
        """Raise an error that says how to use these points, in place of NumPy's."""
        raise TypeError(f"X: expected an array, got {self!r}: of the estimators of kernsel, with a kernel that names its parts")

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{name}: {part.shape[1]} columns" if isinstance(part, np.ndarray) else f"{name}: objects"
            for name, part in self.parts.items()
        )
        return f"<Mixed: {len(self)} points of {parts}>"


def _part(name: str, values: Any) -> Part:
    """Return an array with a column for each coordinate if the part is numeric, or a list of objects."""
    if isinstance(values, str | bytes | Mapping | Set) or not hasattr(values, "__len__"):
        raise TypeError(f"Mixed: {name}: expected an array or a sequence of objects, got {values!r:.80}")
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    if kind is None and len(values) and not isinstance(values[0] if isinstance(values, Sequence) else None, str | bytes):
        try:
            kind = np.asarray(values).dtype.kind
        except ValueError:  # objects of several lengths
            kind = "O"
    if kind is not None and kind in "fiub" and np.ndim(values) in (1, 2):
        return np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    return list(values)


# The points that kernels and estimators take: an array, a data frame, a sequence of objects, or several of these.
Points = ArrayLike | Sequence[Any] | Mixed


class ObjectSet:
    """Objects that are numbered consecutively, with a cache of what kernels computed of them.

    The cache has encodings, embeddings and tables of kernel values.
    """

    def __init__(self, objects: Sequence[object], start: int) -> None:
        self.objects = objects
        self.start = start  # the number of the first object
        self._results: OrderedDict[Hashable, tuple[Hashable, Any]] = OrderedDict()  # by kind: what it depends on, the result

    def __len__(self) -> int:
        return len(self.objects)

    def made(self, kind: Hashable, values: Hashable, make: Callable[[], T]) -> T:
        """Return the cached result of a kind if it was computed for equal values of the parameters; or else call `make`."""
        entry = self._results.get(kind)
        if entry is None or entry[0] != values:
            self._results.pop(kind, None)  # `make` may need its memory
            self._results[kind] = entry = (values, make())
            while len(self._results) > 1 and (len(self._results) > _MOST_RESULTS or self._bytes() > _MOST_BYTES):
                self._results.popitem(last=False)
        self._results.move_to_end(kind)
        result: T = entry[1]
        return result

    def _bytes(self) -> int:
        return sum(_bytes_of(result) for _, result in self._results.values())

    def forget(self, kind: Hashable) -> None:
        """Remove the result of a kind from the cache."""
        self._results.pop(kind, None)

    def __getstate__(self) -> dict[str, object]:
        return {"objects": self.objects, "start": self.start, "_results": OrderedDict()}


def _bytes_of(result: object) -> int:
    """Return the number of bytes of a result: of an array, or of the arrays in a list or a tuple."""
    if isinstance(result, tuple):
        return sum(_bytes_of(part) for part in result)
    if isinstance(result, list):
        return sum(part.nbytes for part in result) if result and isinstance(result[0], np.ndarray) else 0
    return int(result.nbytes) if isinstance(result, np.ndarray) else 0


class Pool:
    """The sets of numbered objects of one part of the points.

    Training objects are kept. Others are removed with the last array that has their numbers.
    """

    def __init__(self) -> None:
        self._sets: tuple[ObjectSet, ...] = ()  # ascending in their numbers; replaced as a whole, for threads that read them
        self._kept: frozenset[int] = frozenset()  # the first numbers of training sets
        self._wanted: tuple[tuple[ObjectSet, ObjectSet], ...] = ()
        self._next = 0
        self.lock = threading.RLock()

    def add(self, objects: Sequence[object], *, keep: bool) -> ObjectSet:
        """Give numbers to objects; keep them if they are training objects."""
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
        """Remove the set of objects whose first number is `start`."""
        with self.lock:
            self._sets = tuple(one for one in self._sets if one.start != start)
            self._wanted = tuple(pair for pair in self._wanted if pair[0].start != start)

    def wanted(self) -> tuple[tuple[ObjectSet, ObjectSet], ...]:
        """Return the pairs of sets that kernels will be evaluated on: in whole tables, which is faster than in blocks."""
        return self._wanted

    def kept(self) -> list[ObjectSet]:
        """Return the sets of training objects."""
        return [one for one in self._sets if one.start in self._kept]

    def runs(self, numbers: Matrix) -> list[tuple[ObjectSet, Places, Places]]:
        """Return each set that the numbers refer to, with the indices of its numbers and of the objects in the set."""
        sets = self._sets
        numbers = np.ravel(numbers)
        if not len(numbers):
            return []
        integers = numbers.astype(np.intp)
        low, high = int(integers.min()), int(integers.max())
        starts = [one.start for one in sets]
        first = bisect(starts, low) - 1
        valid = first >= 0 and bool((integers == numbers).all())
        if valid and high < starts[first] + len(sets[first]):  # all numbers are of one set
            return [(sets[first], slice(None), _as_slice(integers - starts[first]))]
        set_indices = np.searchsorted(starts, integers, side="right") - 1
        runs: list[tuple[ObjectSet, Places, Places]] = []
        for i in np.unique(set_indices):
            rows = np.flatnonzero(set_indices == i)
            places = integers[rows] - starts[i]
            valid = valid and int(places.max()) < len(sets[i])
            runs.append((sets[i], rows, places))
        if not valid:
            raise ValueError("X: expected the objects that the kernel is of, got numbers")
        return runs

    def __getstate__(self) -> dict[str, object]:
        kept = tuple(self.kept())
        wanted = tuple(pair for pair in self._wanted if pair[0] in kept)
        return {"_sets": kept, "_kept": self._kept, "_wanted": wanted, "_next": self._next}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.lock = threading.RLock()

    def __deepcopy__(self, memo: object) -> Self:
        return self  # copies of a kernel share the objects, which never change


def _as_slice(places: Indices) -> Places:
    """Return consecutive places as a slice."""
    begin, count = int(places[0]), len(places)
    if int(places[-1]) != begin + count - 1 or not (np.diff(places) == 1).all():
        return places
    return slice(begin, begin + count)


class Reading:
    """The map from points with objects to arrays of numbers, and the meaning of each column of these.

    It is made from the training points; :meth:`numbers` applies it to other points.

    Parameters
    ----------
    X : data frame, Mixed, or sequence of objects
    levels : mapping of str to sequence, optional
        The parts that have levels, each with these in their order, or None if they are those of the points.
    """

    def __init__(self, X: Points, levels: Mapping[str | None, Sequence[Any] | None] | None = None) -> None:
        parts = _parts_of(X)
        self.names: list[str | None] = []  # for each column, the name of the part that it is from
        # For each column, the pool of its objects, or its levels; None for a column of numbers.
        self.pools: list[Pool | Levels | None] = []
        for name, part in parts.items():
            count = part.shape[1] if isinstance(part, np.ndarray) else 1
            self.names += [name] * count
            if levels is not None and name in levels and count == 1:
                self.pools += [Levels.of(_values_of(part), levels[name], str(name))]
            else:
                self.pools += [None] * count if isinstance(part, np.ndarray) else [Pool()]
        self.first = self._numbers(parts, keep=True)  # the array of the training points
        self.places = list(range(len(self.names)))  # of the columns among all of `whole`
        self._all: Reading | None = None  # of a selection of columns, the reading of all columns

    @property
    def whole(self) -> Reading:
        """The reading of all columns."""
        return self if self._all is None else self._all

    @classmethod
    def of(cls, kernels: Sequence[Kernel], X: Points) -> Reading:
        """Return the reading of the training points of some kernels."""
        levels: dict[str | None, Sequence[Any] | None] = {}
        for one in kernels:
            for name, told in one.levels_of(_names_of(X)).items():
                if told is not None and levels.get(name) not in (None, told):
                    raise ValueError(
                        f"levels: expected the same for all kernels of {name!r}, got {levels[name]!r} and {told!r}"
                    )
                levels[name] = told if told is not None else levels.get(name)
        return cls(X, levels)

    def numbers(self, X: Points, *, keep: bool = False) -> Matrix:
        """Return the array for other points; their objects are kept as long as this array, or forever if `keep`."""
        parts = _parts_of(X)
        names = list(dict.fromkeys(self.names))
        if list(parts) != names:
            missing = [str(name) for name in names if name not in parts]
            if missing or None in parts:
                raise ValueError(f"X: expected the parts {', '.join(map(str, names))}, got {', '.join(map(str, parts))}")
            parts = {name: parts[name] for name in names}
        for name, part in parts.items():
            columns, pool = self.names.count(name), self.pools[self.names.index(name)]
            if isinstance(pool, Levels):
                continue  # any values
            if isinstance(part, np.ndarray) != (pool is None):
                kind = "objects" if isinstance(part, np.ndarray) else "numbers"
                raise ValueError(f"X: expected {kind} in the part {name!r}, as there were in fit")
            if isinstance(part, np.ndarray) and part.shape[1] != columns:
                raise ValueError(f"X: expected {columns} columns in the part {name!r}, got {part.shape[1]}")
        return self._numbers(parts, keep=keep)

    def _numbers(self, parts: dict[str | None, Part], *, keep: bool) -> Matrix:
        columns, added = [], []
        for name, part in parts.items():
            levels = self.pools[self.names.index(name)]
            if isinstance(levels, Levels):
                columns.append(levels.codes(_values_of(part), str(name))[:, None])
                continue
            if isinstance(part, np.ndarray):
                if not np.isfinite(part).all():
                    raise ValueError(f"X: expected finite numbers in the part {name!r}")
                columns.append(part)
                continue
            pool = self.pools[self.names.index(name)]
            assert isinstance(pool, Pool)
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
        """Return the reading restricted to some columns, for a kernel of these."""
        other: Reading = object.__new__(Reading)
        other.names = [self.names[i] for i in columns]
        other.pools = [self.pools[i] for i in columns]
        other.first = self.first[:, list(columns)]
        other.places = [self.places[i] for i in columns]
        other._all = self.whole
        return other

    def columns_of(self, names: Sequence[str]) -> list[int]:
        """Return the columns of the parts of these names."""
        missing = [name for name in names if name not in self.names]
        if missing:
            parts = ", ".join(str(name) for name in dict.fromkeys(self.names) if name is not None) or "none"
            raise ValueError(f"columns: {', '.join(missing)} not among the parts of the points: {parts}")
        return [i for name in names for i, part in enumerate(self.names) if part == name]


def _names_of(X: Any) -> list[str | None]:
    """Return the names of the parts of points."""
    if isinstance(X, Mixed):
        return list(X.parts)
    names = _column_names(X)
    return [None] if names is None else [*names]


def _column_names(X: Any) -> list[str] | None:
    """Return the names of the columns of a data frame that is not lazy, which would compute them."""
    return column_names(X) if hasattr(X, "__len__") else None


def _parts_of(X: Any) -> dict[str | None, Part]:
    """Return the parts of points by name; a sequence of objects is one part, whose name is None."""
    from scipy.sparse import issparse

    if isinstance(X, Mixed):
        return {**X.parts}
    if (columns := columns_of(X)) is not None:
        declared = declared_levels(X)
        return {
            name: Categories(values, *declared[name]) if name in declared else _part(name, values)
            for name, values in columns.items()
        }
    if isinstance(X, str | bytes | Mapping | Set) or not hasattr(X, "__len__") or issparse(X):
        raise TypeError(
            f"X: expected a list of objects, a data frame that is not lazy, or kernsel.structured.Mixed, got {X!r:.80}"
        )
    if not len(X):
        raise ValueError("X: expected at least one object, got none")
    return {None: list(X)}


def _values_of(part: Part) -> Sequence[Any]:
    """Return the values of a part of one column."""
    return np.ravel(part).tolist() if isinstance(part, np.ndarray) else part


def needs_reading(kernel: Kernel, X: object) -> bool:
    """Tell whether points have to be read: they are objects, or a frame that has columns of levels for the kernel."""
    if kernel.for_objects() or isinstance(X, Mixed | Reading):
        return True
    names = _column_names(X)
    return names is not None and bool(kernel.levels_of([*names]))


def numbered(kernel: Kernel, X: Points, Z: Points | None) -> tuple[Kernel, Matrix, Matrix | None]:
    """Return the kernel bound to the objects of X, unless it is bound already, and the points as arrays of numbers."""
    reading = kernel.reading()
    if reading is None:
        reading = Reading.of([kernel], X)
        kernel, X = kernel.bound_to(reading), reading.first
    elif not are_numbers(X):
        X = reading.numbers(X)
    if Z is not None and not are_numbers(Z):
        Z = reading.numbers(Z)
    for points in (X, Z):
        if points is not None:
            kernel.require_known(points)
    return kernel, X, Z


def are_numbers(X: object) -> TypeGuard[Matrix]:
    """Tell whether points are an array that a `Reading` has made, or could have made."""
    return isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.ndim == 2

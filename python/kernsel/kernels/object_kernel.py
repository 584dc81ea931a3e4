"""The base classes of kernels of objects, whose values are in tables that are computed once, or are products of embeddings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from inspect import signature
from itertools import product
from numbers import Integral
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.kernels.base import Kernel
from kernsel.kernels.hyperparameter import Parameter, plain
from kernsel.kernels.objects import ObjectSet, Places, Pool, Reading

__all__ = ["ObjectEmbedding", "ObjectKernel"]

Encoded = TypeVar("Encoded")  # an object as its kernel computes with it, such as a checked graph

# The values of a kernel, and for each hyperparameter their derivatives in its entry of `theta`.
Table = tuple[Matrix, list[Matrix]]


class ObjectKernel(Kernel, Generic[Encoded]):
    """A kernel of objects, whose subclasses check objects and compute tables of values.

    A kernel that is bound has a pool of objects, and is then a function of the numbers of these objects.
    """

    requires_vector_input = False
    # The integer parameters, each with its least value. If one is a list of integers, `kernsel.select` chooses among them.
    _whole: ClassVar[dict[str, int]] = {}

    _has_slopes: ClassVar[bool] = True  # do tables have derivatives? Otherwise the kernel has the method _pull_objects.

    _pool: Pool | None = None
    _source: Reading | None = None
    _learnt: object = None

    @abstractmethod
    def _encode(self, objects: Sequence[object]) -> Sequence[Encoded]:
        """Return objects as the other methods take them; raise if this is no kernel of such objects."""

    @abstractmethod
    def _table(self, X: Sequence[Encoded], Z: Sequence[Encoded] | None, derivative: bool) -> Table:
        """Return k(X, Z), or k(X, X) if Z is None, with the derivatives if `derivative`."""

    @abstractmethod
    def _diagonal_of(self, X: Sequence[Encoded]) -> Vector:
        """Return k(x, x) for all x."""

    def _learn(self, X: Sequence[Encoded]) -> object:
        """Return what the kernel takes from the training objects; the bound kernel has it as `_learnt`."""
        del X
        return None

    def _check_whole(self) -> None:
        """Raise if an integer parameter is neither an integer in its range nor a list of such."""
        for name, least in self._whole.items():
            for value in self.choices_of(name):
                if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                    raise ValueError(
                        f"{name}: expected a whole number from {least} on, or a list of some to choose from, "
                        f"got {getattr(self, name)!r}"
                    )

    def choices_of(self, name: str) -> list[Any]:
        """Return the values of an integer parameter to choose from; one value, if it is no list."""
        value = plain(getattr(self, name))
        if isinstance(value, list | tuple | range) and not len(value):
            raise ValueError(f"{name}: expected at least one value, got {value!r}")
        return list(value) if isinstance(value, list | tuple | range) else [value]

    def alternatives(self) -> list[Kernel]:
        combinations = product(*(self.choices_of(name) for name in self._whole))
        return [self.replaced(**dict(zip(self._whole, values, strict=True))) for values in combinations]

    def for_objects(self) -> bool:
        return True

    def reading(self) -> Reading | None:
        return self._source

    def bound_to(self, reading: Reading) -> Kernel:
        parameters = {name: self.choices_of(name) for name in self._whole}
        for name, choices in parameters.items():
            if len(choices) > 1:
                raise ValueError(
                    f"{name}: expected one number to compute with, got {getattr(self, name)!r}; "
                    "kernsel.select chooses one of several"
                )
        pool = reading.pools[0]
        if len(reading.pools) != 1 or not isinstance(pool, Pool):
            names = [name for name, pool in zip(reading.names, reading.pools, strict=True) if isinstance(pool, Pool)]
            cure = f"say which: .on([{names[0]!r}])" if names else "expected objects, got columns of numbers"
            raise ValueError(f"kernel: {self} takes one part of the points, of objects; {cure}")
        first = pool.kept()[0]
        bound = self.replaced(_pool=pool, _source=reading.whole, **{name: choices[0] for name, choices in parameters.items()})
        with pool.lock:
            learn = partial(bound._learn, bound._encoded(first))
            bound._learnt = first.made(("learnt", bound._kind()), bound._made_with(), learn)
        return bound

    def _encoded(self, objects: ObjectSet) -> Sequence[Encoded]:
        """Return all objects of a set, encoded; from its cache, if they have been encoded before."""
        return objects.made(("encoded", type(self), _key(self._read_with())), (), lambda: self._encode(objects.objects))

    def _some(self, objects: ObjectSet, at: Places) -> Sequence[Encoded]:
        """Return the objects of a set at some places, encoded."""
        encoded = self._encoded(objects)
        return encoded[at] if isinstance(at, slice) else [encoded[k] for k in at]

    def encoded_points(self, X: Matrix) -> list[Encoded]:
        """Return the objects of points, which are numbers of objects in the pool of a bound kernel, encoded."""
        assert self._pool is not None
        return [one for objects, _, i in self._pool.runs(X) for one in self._some(objects, i)]

    def _read_with(self) -> tuple[object, ...]:
        """Return the parameters that the encoding of objects depends on."""
        return ()

    def _kind(self) -> tuple[Hashable, ...]:
        """Return the key of this kernel's tables in the cache of a set of objects.

        Kernels that differ in hyperparameters only have one key: during a search, the last table replaces the one before.
        """
        if any(not h.fixed for h, _ in self.own()):
            return type(self), *(getattr(self, name) for name in self._whole)
        return type(self), self._made_with()

    def _made_with(self) -> tuple[Hashable, ...]:
        """Return all parameters that values of the kernel depend on, hyperparameters included."""
        options = [getattr(self, name) for name in signature(type(self)).parameters if not name.endswith("_bounds")]
        return tuple(_key(value) for value in options)

    def _pull_objects(self, X: Sequence[Encoded], Z: Sequence[Encoded], W: Matrix) -> Vector:
        """Return the gradient of sum_ij W_ij k(x_i, z_j), for kernels without tables of derivatives."""
        raise NotImplementedError

    def build(self) -> _core.Kernel:
        if self._pool is None:
            raise ValueError(f"kernel: {self} is of objects, and the points are numbers")
        values = ObjectValues(self, self._pool)
        kept = self._pool.kept()
        for x, z in self._pool.wanted():  # with derivatives for pairs of training objects only
            values.table(x, z, derivative=values.free and self._has_slopes and x in kept)
        theta = [float(v) for h, value in self.own() for v in h.on_scale(h.numbers(value))]
        return _core.function(values.block, values.pull, theta, f"{id(self)}", values.diagonal)


class ObjectValues(Generic[Encoded]):
    """The functions that the C++ core calls: values of a kernel of objects, and their derivatives, block by block."""

    def __init__(self, kernel: ObjectKernel[Encoded], pool: Pool) -> None:
        self.kernel = kernel
        self.pool = pool
        own = list(kernel.own())
        self.count = sum(h.n_elements for h, _ in own)
        self.free = any(not h.fixed for h, _ in own)
        self.kind, self.made_with = kernel._kind(), kernel._made_with()
        self._tables: dict[tuple[int, int], Table] = {}

    def table(self, x: ObjectSet, z: ObjectSet, *, derivative: bool) -> Table:
        """Return k(x, z) for all objects of two sets; the set with the larger numbers caches it for other kernels."""
        cached = self._tables.get((x.start, z.start))
        if cached is not None and (cached[1] or not derivative):
            return cached
        if x.start < z.start:
            values, slopes = self.table(z, x, derivative=derivative)
            table = values.T, [slope.T for slope in slopes]
        else:
            with self.pool.lock:
                table = self._made(x, z, derivative=derivative)
        self._tables[x.start, z.start] = table
        return table

    def _made(self, x: ObjectSet, z: ObjectSet, *, derivative: bool) -> Table:
        kind = ("table", self.kind, z.start)

        def make() -> Table:
            return self.kernel._table(self.kernel._encoded(x), None if x is z else self.kernel._encoded(z), derivative)

        table = x.made(kind, self.made_with, make)
        if derivative and not table[1]:
            x.forget(kind)
            table = x.made(kind, self.made_with, make)
        if x is z:  # so that both ways to compute k(x, x) agree to the last bit
            np.fill_diagonal(table[0], self._diagonal(x))
        return table

    def block(self, X: Matrix, Z: Matrix) -> Matrix:
        """Return k(X, Z) for the numbers of objects."""
        of_x, of_z = self.pool.runs(X), self.pool.runs(Z)
        if len(of_x) == len(of_z) == 1:  # almost always
            (x, _, i), (z, _, j) = of_x[0], of_z[0]
            return self.table(x, z, derivative=False)[0][_index(i, j)]
        values = np.empty((len(X), len(Z)))
        for x, rows, i in of_x:
            for z, columns, j in of_z:
                values[_index(rows, columns)] = self.table(x, z, derivative=False)[0][_index(i, j)]
        return values

    def diagonal(self, X: Matrix) -> Vector:
        """Return k(x, x) for the numbers of objects."""
        values = np.empty(len(X))
        for x, rows, i in self.pool.runs(X):
            with self.pool.lock:
                values[rows] = self._diagonal(x)[i]
        return values

    def _diagonal(self, x: ObjectSet) -> Vector:
        def make() -> Vector:
            return self.kernel._diagonal_of(self.kernel._encoded(x))

        return x.made(("diagonal", self.kind), self.made_with, make)

    def pull(self, X: Matrix, Z: Matrix, W: Matrix) -> list[float]:
        """Return the gradient of sum_ij W_ij k(x_i, z_j)."""
        total = np.zeros(self.count)
        if self.free:
            for x, rows, i in self.pool.runs(X):
                for z, columns, j in self.pool.runs(Z):
                    total += self._pull(x, i, z, j, W[_index(rows, columns)])
        return total.tolist()

    def _pull(self, x: ObjectSet, i: Places, z: ObjectSet, j: Places, W: Matrix) -> Vector:
        if not self.kernel._has_slopes:
            return self.kernel._pull_objects(self.kernel._some(x, i), self.kernel._some(z, j), W)
        slopes = self.table(x, z, derivative=True)[1]
        return np.array([float(np.vdot(W, slope[_index(i, j)])) for slope in slopes])


def _index(i: Places, j: Places) -> tuple[Places, Places] | tuple[Indices, ...]:
    """Return the index of the block of rows i and columns j."""
    return (i, j) if isinstance(i, slice) or isinstance(j, slice) else np.ix_(i, j)


class ObjectEmbedding(ObjectKernel[Encoded]):
    """A kernel of objects that is the inner product of their features, to which kernels of vectors apply, too."""

    @abstractmethod
    def _embed(self, X: Sequence[Encoded]) -> Matrix:
        """Return the features, shape (n, m)."""

    def _table(self, X: Sequence[Encoded], Z: Sequence[Encoded] | None, derivative: bool) -> Table:
        raise NotImplementedError("an embedding has rows, and no tables")

    def _diagonal_of(self, X: Sequence[Encoded]) -> Vector:
        raise NotImplementedError("an embedding has rows, and no tables")

    def _rows(self, X: Matrix) -> Matrix:
        """Return the features for the numbers of objects."""
        assert self._pool is not None
        result = np.empty((len(X), self._width()))
        for x, rows, i in self._pool.runs(X):
            with self._pool.lock:
                result[rows] = x.made(("rows", self._kind()), self._made_with(), partial(self._embedded, x))[i]
        return result

    def _embedded(self, x: ObjectSet) -> Matrix:
        return self._embed(self._encoded(x))

    @abstractmethod
    def _width(self) -> int:
        """Return the number of features, of a bound kernel."""

    def build(self) -> _core.Kernel:
        return self.kernel_of_rows(_core.polynomial(0.0, 1, []))

    def kernel_of_rows(self, kernel: _core.Kernel) -> _core.Kernel:
        """Return the kernel of objects that is a given kernel of vectors, evaluated at the features."""
        if self._pool is None:
            raise ValueError(f"kernel: {self} is of objects, and the points are numbers")
        return _core.transform(kernel, self._width(), self._rows, None)


def _key(value: Any) -> Hashable:
    """Return a hashable key of a parameter: equal keys mean equal parameters."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, _key(value.tolist()) if value.dtype.hasobject else value.tobytes()
    if isinstance(value, list | tuple):
        return tuple(_key(item) for item in value)
    if isinstance(value, Mapping):
        return tuple((_key(name), _key(item)) for name, item in value.items())
    # Kernels are equal if their expressions are; other objects, such as distributions, are equal to themselves only.
    return repr(value) if isinstance(value, Kernel | Parameter) or not isinstance(value, Hashable) else value

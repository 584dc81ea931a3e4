"""The description of a model: values that are written as JSON and arrays, and checked one by one when they are read."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import fields as attributes
from dataclasses import is_dataclass
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from kernsel import criteria, features, likelihoods, structured
from kernsel._base.annotations import Indices, Matrix
from kernsel._base.errors import NotPositiveSemidefiniteWarning
from kernsel._base.renamed import CRITERION_CLASSES
from kernsel.approximations import Nystrom, Vecchia
from kernsel.criteria import Criterion
from kernsel.criteria.names import criterion_named, name_of, searched
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.kernels import Kernel, Precomputed
from kernsel.kernels.algebra import Operation, as_kernel
from kernsel.kernels.convert import is_of_sklearn
from kernsel.kernels.object_kernel import ObjectKernel
from kernsel.kernels.objects import Reading
from kernsel.kernels.written import kernel_with_arrays
from kernsel.likelihoods import HeteroscedasticGaussian, Likelihood
from kernsel.likelihoods.built_in import BuiltIn
from kernsel.saving.container import Container, Stored, plain_json

__all__ = ["Fields", "Writing"]

LONGEST_KERNEL = 1_000_000  # characters; parsing a text takes fifty times its length in memory
MOST_CLASSES = 10_000  # of ordinal observations
_CRITERIA: dict[str, Any] = {name: kind for name in criteria.__all__ if is_dataclass(kind := getattr(criteria, name))}
_CRITERIA_READ = _CRITERIA | {old: _CRITERIA[new] for old, new in CRITERION_CLASSES.items()}
_FEATURES: dict[str, type[BaseEstimator]] = {name: getattr(features, name) for name in features.__all__}
_LIKELIHOODS: dict[str, Any] = {
    name: kind
    for name in likelihoods.__all__
    if issubclass(kind := getattr(likelihoods, name), BuiltIn | HeteroscedasticGaussian)
}
_NUMBERS_OF_VECCHIA = {entry.name for entry in attributes(Vecchia)}  # files of older versions have no "inducing"
_OF_OBJECTS: dict[str, type[Kernel]] = {
    name: value
    for name in structured.__all__
    if isinstance(value := getattr(structured, name), type) and issubclass(value, ObjectKernel)
}
_FLOATS = {"nan": np.nan, "inf": inf, "-inf": -inf}


class Writing:
    """A JSON object of the description that is being written, with its arrays, whose names begin with that of the object.

    Parameters
    ----------
    arrays : dict
        The dictionary to which arrays are added.
    prefix : str
        The beginning of the names of its arrays.
    """

    def __init__(self, arrays: dict[str, Stored], prefix: str = "") -> None:
        self.json: dict[str, object] = {}
        self.arrays = arrays
        self.prefix = prefix

    def part(self, name: str) -> Writing:
        """Begin an object within this one."""
        part = Writing(self.arrays, f"{self.prefix}{name}.")
        self.json[name] = part.json
        return part

    def parts(self, name: str, count: int) -> list[Writing]:
        """Begin a list of objects."""
        parts = [Writing(self.arrays, f"{self.prefix}{name}.{i}.") for i in range(count)]
        self.json[name] = [part.json for part in parts]
        return parts

    def array(self, name: str, values: ArrayLike) -> None:
        """Store an array of numbers."""
        array = np.asarray(values)
        if array.dtype.kind in "iu":
            array = array.astype(np.int64)
        if array.dtype not in (np.float64, np.float32, np.int64, np.bool_):
            raise _unwritable(f"{self.prefix}{name}", values)
        self.arrays[f"{self.prefix}{name}"] = array

    def kernel(self, name: str, kernel: object) -> None:
        """Store a kernel as the text that defines it; matrices in it are stored as arrays."""
        self.json[name] = self._kernel(name, kernel)

    def _kernel(self, name: str, kernel: object) -> str:
        matrices: dict[str, Matrix] = {}
        try:
            ours = as_kernel(kernel)
            text = repr(_with_names(ours, matrices)) if ours is not None else ""
            exact = 0 < len(text) <= LONGEST_KERNEL and _kernel_of(text, matrices) == ours
        except (TypeError, ValueError, RecursionError):
            exact = False
        if not exact:
            raise _unwritable(f"{self.prefix}{name}", kernel)
        for matrix, values in matrices.items():
            self.array(f"{name}.{matrix}", values)
        return text

    def predictor(self, kernel: Kernel | None) -> None:
        """Store the kernel as JSON for programs in C++; None if these cannot predict with the model."""
        text = None if kernel is None else kernel.build().json
        self.json["core_kernel"] = None if text is None else plain_json(text, "core_kernel")

    def value(self, name: str, value: object) -> None:
        """Store a number, text, None, lists of these, an array, kernel, criterion, likelihood, features or a process."""
        self.json[name] = self._encoded(name, value)

    def values(self, owner: object, *names: str) -> None:
        """Store the attributes of an object that have these names."""
        for name in names:
            self.value(name, getattr(owner, name))

    def _encoded(self, name: str, value: object) -> object:
        if value is None or isinstance(value, str | bool):
            return str(value) if isinstance(value, str) else value
        if isinstance(value, np.bool_):
            return bool(value)
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, Real):
            number = float(value)
            return number if isfinite(number) else {"number": repr(number)}
        if isinstance(value, list | tuple):
            return [self._encoded(f"{name}.{i}", item) for i, item in enumerate(value)]
        if isinstance(value, dict):
            pairs = list(value.items())
            return {"mapping": self._encoded(name, pairs)}
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            self.array(name, value)
            return {"array": f"{self.prefix}{name}"}
        if isinstance(value, np.ndarray) and value.ndim == 1 and all(isinstance(item, str) for item in value):
            return value.tolist()
        if isinstance(value, Kernel) or is_of_sklearn(value):
            return {"kernel": self._kernel(name, value)}
        if type(value).__name__ in _CRITERIA and isinstance(value, Criterion):
            options = {entry.name: getattr(value, entry.name) for entry in attributes(value)}  # type: ignore[arg-type]
            known = name_of(value)
            if known in searched() and any(map(callable, options.values())):
                return {"named_criterion": known}  # a criterion whose loss is a function of kernsel
            encoded = {key: self._encoded(f"{name}.{key}", item) for key, item in options.items()}
            return {"criterion": type(value).__name__, "options": encoded}
        if type(value) in _LIKELIHOODS.values():
            options = {entry.name: getattr(value, entry.name) for entry in attributes(type(value))}  # type: ignore[arg-type]
            encoded = {key: self._encoded(f"{name}.{key}", item) for key, item in options.items()}
            return {"likelihood": type(value).__name__, "options": encoded}
        if isinstance(value, BaseEstimator) and type(value) in _FEATURES.values():
            options = {key: self._encoded(f"{name}.{key}", item) for key, item in value.get_params(deep=False).items()}
            return {"features": type(value).__name__, "options": options}
        if isinstance(value, Vecchia):
            return {"vecchia": {entry.name: int(getattr(value, entry.name)) for entry in attributes(Vecchia)}}
        if isinstance(value, Nystrom):
            options = {
                entry.name: self._encoded(f"{name}.{entry.name}", getattr(value, entry.name)) for entry in attributes(Nystrom)
            }
            return {"nystrom": options}
        if type(value) is GaussianProcessRegressor:
            options = {key: self._encoded(f"{name}.{key}", item) for key, item in value.get_params(deep=False).items()}
            return {"process": options}
        raise _unwritable(f"{self.prefix}{name}", value)


class Fields:
    """A JSON object of the description that is being read.

    Each field is read once, with a check of its type. Kernels on named columns find these among `column_names`, and kernels of
    objects are bound to `reading`, if there is one. As a context manager, it raises for fields that have not been read.
    """

    def __init__(
        self,
        json: object,
        container: Container,
        prefix: str = "",
        column_names: Sequence[str] = (),
        reading: Reading | None = None,
    ) -> None:
        if not isinstance(json, dict):
            raise ValueError(f"{prefix.rstrip('.') or 'model'}: expected an object")
        self.json = dict(json)
        self.container = container
        self.prefix = prefix
        self.column_names = list(column_names)
        self.reading = reading

    def has(self, name: str) -> bool:
        """Tell whether there is a field, or an array, of this name."""
        return name in self.json or f"{self.prefix}{name}" in self.container.tensors

    def take(self, name: str) -> object:
        """Return a field without a check."""
        if name not in self.json:
            raise ValueError(f"{self.prefix}{name} is missing")
        return self.json.pop(name)

    def part(self, name: str) -> Fields:
        """Return an object within this one."""
        return Fields(self.take(name), self.container, f"{self.prefix}{name}.", self.column_names, self.reading)

    def parts(self, name: str, most: int) -> list[Fields]:
        """Return a list of objects."""
        items = self.take(name)
        if not isinstance(items, list) or len(items) > most:
            raise self._wrong(name, f"a list of at most {most} objects", items)
        prefixes = [f"{self.prefix}{name}.{i}." for i in range(len(items))]
        more = self.column_names, self.reading
        return [Fields(item, self.container, prefix, *more) for item, prefix in zip(items, prefixes, strict=True)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None and self.json:
            raise ValueError(f"{self.prefix}{next(iter(self.json))!s:.60} is not known in a model of this kind")

    def text(self, name: str, among: Sequence[str] | None = None) -> str:
        """Return a text, which must be one of `among` if these are given."""
        value = self.take(name)
        if not isinstance(value, str) or (among is not None and value not in among):
            raise self._wrong(name, "a text" if among is None else f"one of {', '.join(among)}", value)
        return value

    def texts(self, name: str, count: int | None = None) -> list[str]:
        """Return a list of texts, which must have `count` items if that is given."""
        value = self.take(name)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value) or count not in (None, len(value)):
            raise self._wrong(name, "texts" if count is None else f"{count} texts", value)
        return value

    def flag(self, name: str) -> bool:
        """Return True or False."""
        value = self.take(name)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false", value)
        return value

    def whole(self, name: str, least: int = 0) -> int:
        """Return a whole number that is at least `least`."""
        value = self.take(name)
        if type(value) is not int or not least <= value < 2**63:
            raise self._wrong(name, f"a whole number from {least} on", value)
        return value

    def number(self, name: str, least: float = -inf, *, finite: bool = True) -> float:
        """Return a number that is at least `least`; infinity and nan are allowed only if `finite` is False."""
        given = self.take(name)
        value = self._decoded(name, given)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(name, "a number", given)
        try:
            value = float(value)
        except OverflowError:
            raise self._wrong(name, "a number", given) from None
        if (finite and not isfinite(value)) or value < least:
            raise self._wrong(name, "a finite number" + ("" if least == -inf else f" from {least:g} on"), given)
        return value

    def rows(self, name: str, n: int) -> Indices:
        """Return the sorted numbers of some of n rows; none if there is no such array, as in files of version 0.1.0."""
        if not self.has(name):
            return np.zeros(0, dtype=np.intp)
        rows = self.array(name, None, dtype=np.int64)
        if (np.diff(rows, prepend=-1, append=n) < 1).any():
            raise ValueError(f"{self.prefix}{name}: expected different numbers from 0 to {n - 1}, sorted, got {rows[:5]}")
        return rows.astype(np.intp)

    def array(
        self,
        name: str,
        *shape: int | None,
        dtype: type[np.generic] | tuple[type[np.generic], ...] = np.float64,
        least: float = -inf,
        finite: bool = True,
    ) -> NDArray[Any]:
        """Return an array of a shape, in which None stands for any size, and of a dtype, or one of several."""
        known = f"{self.prefix}{name}"
        if known not in self.container.tensors:
            raise ValueError(f"{known}: this array is missing")
        _, found, _ = self.container.tensors[known]
        if len(found) != len(shape) or any(want is not None and want != has for want, has in zip(shape, found, strict=True)):
            wanted = ", ".join("any" if size is None else str(size) for size in shape)
            raise ValueError(f"{known}: expected an array of shape ({wanted}), got {found}")
        values = self.container.array(known)
        kinds = dtype if isinstance(dtype, tuple) else (dtype,)
        if values.dtype not in kinds:
            raise ValueError(f"{known}: expected {' or '.join(np.dtype(kind).name for kind in kinds)}, got {values.dtype}")
        if finite and not np.isfinite(values).all():
            raise ValueError(f"{known}: expected finite numbers")
        if (values < least).any():
            raise ValueError(f"{known}: expected numbers from {least:g} on")
        return values

    def kernel(self, name: str) -> Kernel:
        """Return a kernel."""
        value = self.take(name)
        if not isinstance(value, str) or len(value) > LONGEST_KERNEL:
            raise self._wrong(name, f"a text of at most {LONGEST_KERNEL} characters", value)
        within = f"{self.prefix}{name}."
        matrices = {
            known.removeprefix(within): self.container.array(known)
            for known in self.container.tensors
            if known.startswith(within)
        }
        try:
            kernel = _with_arrays(_kernel_of(value, matrices))
            if self.reading is not None:
                return kernel.bound_to(self.reading)
            return kernel.on_table(self.column_names) if self.column_names else kernel
        except (TypeError, ValueError, RecursionError, OverflowError) as error:
            raise ValueError(f"{self.prefix}{name}: {error}") from None

    def likelihood(self, name: str) -> Likelihood:
        """Return a likelihood."""
        value = self.value(name)
        if not isinstance(value, Likelihood):
            raise self._wrong(name, "a likelihood", value)
        return value

    def value(self, name: str) -> Any:
        """Return the value that :meth:`Writing.value` has stored."""
        return self._decoded(name, self.take(name))

    def _decoded(self, name: str, value: object) -> object:
        if isinstance(value, list):
            return [self._decoded(f"{name}.{i}", item) for i, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        match value:
            case {"number": str(text), **rest} if text in _FLOATS and not rest:
                return _FLOATS[text]
            case {"mapping": list(items), **rest} if not rest:
                pairs = [item for item in items if isinstance(item, list) and len(item) == 2]
                if len(pairs) == len(items) and all(isinstance(key, str | int | float) for key, _ in pairs):
                    return {key: self._decoded(f"{name}.{i}.1", item) for i, (key, item) in enumerate(pairs)}
            case {"array": str(other), **rest} if other.startswith(f"{self.prefix}{name}") and not rest:
                if other in self.container.tensors:
                    return self.container.array(other)
            case {"kernel": text, **rest} if not rest:
                return Fields({name: text}, self.container, self.prefix).kernel(name)
            case {"criterion": str(kind), "options": dict(options), **rest} if kind in _CRITERIA_READ and not rest:
                decoded = {key: self._decoded(f"{name}.{key}", item) for key, item in options.items()}
                if set(decoded) == {entry.name for entry in attributes(_CRITERIA_READ[kind])}:
                    return _CRITERIA_READ[kind](**decoded)
            case {"named_criterion": str(known), **rest} if known in searched() and not rest:
                return criterion_named(known, {})
            case {"likelihood": str(kind), "options": dict(options), **rest} if kind in _LIKELIHOODS and not rest:
                decoded = {key: self._decoded(f"{name}.{key}", item) for key, item in options.items()}
                if set(decoded) == {entry.name for entry in attributes(_LIKELIHOODS[kind])}:
                    return _likelihood(_LIKELIHOODS[kind], decoded)
            case {"features": str(kind), "options": dict(options), **rest} if kind in _FEATURES and not rest:
                decoded = {key: self._decoded(f"{name}.{key}", item) for key, item in options.items()}
                if kind == "Polynomial":
                    decoded = {"kernel": None} | decoded  # not in files of version 0.1.0
                if set(decoded) == set(_FEATURES[kind]().get_params()):
                    return _FEATURES[kind](**decoded)
            case {"vecchia": dict(numbers), **rest} if not rest and {*numbers, "inducing"} == _NUMBERS_OF_VECCHIA:
                if all(isinstance(number, int) for number in numbers.values()):
                    return Vecchia(**numbers)
            case {"nystrom": dict(options), **rest} if not rest:
                decoded = {key: self._decoded(f"{name}.{key}", item) for key, item in options.items()}
                if set(decoded) == {entry.name for entry in attributes(Nystrom)}:
                    return Nystrom(**decoded)  # type: ignore[arg-type]
            case {"process": dict(options), **rest} if not rest:
                decoded = {key: self._decoded(f"{name}.{key}", item) for key, item in options.items()}
                decoded = {"likelihood": None, "inference": "auto", "mean": None} | decoded  # not in files of version 0.1.0
                if set(decoded) == set(GaussianProcessRegressor().get_params()):
                    return GaussianProcessRegressor().set_params(**decoded)
        raise self._wrong(name, "a value", value)

    def _wrong(self, name: str, wanted: str, got: object) -> ValueError:
        return ValueError(f"{self.prefix}{name}: expected {wanted}, got {got!r:.60}")


def _with_names(kernel: Kernel, matrices: dict[str, Matrix]) -> Kernel:
    """Return a kernel to be written, in which matrices of `Precomputed` are replaced by names; add them to `matrices`."""
    if isinstance(kernel, Precomputed):
        name = f"matrix{len(matrices)}"
        matrices[name] = np.asarray(kernel.K, dtype=np.float64)
        return kernel.replaced(K=_Name(name))
    return kernel.map_parts(lambda part: _with_names(part, matrices)) if isinstance(kernel, Operation) else kernel


class _Name(str):
    """A text whose repr has no quotation marks."""

    __slots__ = ()
    __repr__ = str.__str__


def _kernel_of(text: str, matrices: dict[str, Matrix]) -> Kernel:
    """Return the kernel of a text, without the warning for indefinite kernels, which was raised when it was made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPositiveSemidefiniteWarning)
        return kernel_with_arrays(text, matrices, _OF_OBJECTS)


def _with_arrays(kernel: Kernel) -> Kernel:
    """Return a kernel with lists in its hyperparameters converted to arrays, as in a fitted kernel."""
    values = [np.asarray(value, dtype=np.float64) if np.ndim(value) else value for _, value in kernel.own()]
    return kernel.with_values(iter(values)) if values else kernel


def _likelihood(kind: Any, options: dict[str, object]) -> object:
    """Return a likelihood; raise for options that no constructor checks since they only cost memory."""
    classes = options.get("n_classes", 2)
    if not isinstance(classes, int) or classes > MOST_CLASSES:
        raise ValueError(f"n_classes: expected a whole number up to {MOST_CLASSES}, got {classes!r:.60}")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in options.items()})


def _unwritable(name: str, value: object) -> TypeError:
    return TypeError(
        f"{name}: {value!r:.200} cannot be written to a file that is read without running code; "
        "use pickle or joblib for this model"
    )

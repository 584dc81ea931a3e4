"""Hyperparameters: numbers that a selection may change, with their bounds, priors and ties."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Vector
from kernsel.kernels.priors import Prior

__all__ = ["Bounds", "Hyperparameter", "Parameter", "numbers", "plain"]

# A lower and an upper bound of a hyperparameter, or one pair for each of its numbers; "fixed"; or "auto", read off the data.
Bounds = tuple[float, float] | ArrayLike | str
LOG_BOUNDS = (1e-5, 1e5)  # stand for "auto" until the data are known; scikit-learn's defaults
PLAIN_BOUNDS = (-1e5, 1e5)  # the same, of numbers that may be negative
_MOST_REPEATS = 50  # of a prefix, in names that are put together at once


class Parameter:
    """The value of a hyperparameter, with its bounds, a prior, and a name by which it is tied to others.

    Kernels take one in place of the number itself.

    Parameters
    ----------
    value : float, array-like or "auto"
    bounds : pair of floats, array-like of shape (m, 2), "fixed", "auto" or None
        None stands for the argument ``<name>_bounds`` of the kernel.
    prior : Prior, optional
        The prior density of each number: see :mod:`kernsel.kernels.priors`.
    name : str, optional
        Hyperparameters of one name are tied: they have the same value, bounds and prior, and one entry in `theta`. "auto" is
        resolved for the first of them, and the others follow.
    log : bool, optional
        For parameters of a :class:`~kernsel.kernels.FunctionKernel`: False for a parameter that may be negative.

    Examples
    --------
    >>> from kernsel.kernels import RBF, Linear, Parameter
    >>> from kernsel.kernels.priors import LogNormal
    >>> length = Parameter(2.0, prior=LogNormal(0.0, 1.0), name="length")
    >>> k = RBF(length).on([0]) + RBF(length).on([1])
    >>> k.n_dims
    1
    >>> k.clone_with_theta([0.0]).k2.kernel.length_scale
    Parameter(1.0, prior=LogNormal(0.0, 1.0), name='length')
    """

    def __init__(
        self,
        value: ArrayLike,
        bounds: Bounds | None = None,
        prior: Prior | None = None,
        name: str | None = None,
        log: bool | None = None,
    ) -> None:
        if isinstance(value, Parameter):
            raise TypeError(f"value: expected a number, got {value!r}")
        if prior is not None and not isinstance(prior, Prior):
            raise TypeError(f"prior: expected one of kernsel.kernels.priors, got {prior!r}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name: expected a text, got {name!r}")
        self.value = value
        self.bounds = bounds
        self.prior = prior
        self.name = name
        self.log = log

    def replaced(self, value: ArrayLike, bounds: Bounds | None = None) -> Parameter:
        """Return the same with another value, and with other bounds if given."""
        return Parameter(value, self.bounds if bounds is None else bounds, self.prior, self.name, self.log)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parameter):
            return NotImplemented
        same = all(np.array_equal(getattr(self, key), getattr(other, key)) for key in ("value", "bounds"))
        return same and (self.prior, self.name, self.log) == (other.prior, other.name, other.log)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        arguments = [repr(plain(self.value))]
        arguments += [
            f"{key}={plain(getattr(self, key))!r}"
            for key in ("bounds", "prior", "name", "log")
            if getattr(self, key) is not None
        ]
        return f"Parameter({', '.join(arguments)})"


@dataclass(frozen=True)
class Hyperparameter:
    """The name, size, bounds, scale and prior of a hyperparameter; the first five attributes are scikit-learn's.

    Attributes
    ----------
    name : str
    value_type : "numeric"
    bounds : ndarray of shape (n_elements, 2) or "fixed"
    n_elements : int
    fixed : bool
    log : bool
        Whether `theta` has its logarithm; False for numbers that may be negative.
    prior : Prior or None
    tie : str or None
        The name that it shares with the hyperparameters it is tied to.
    """

    name: str
    value_type: Literal["numeric"] = field(default="numeric", init=False)
    bounds: Any  # given as `Bounds`, kept as an array or "fixed"
    n_elements: int = 1
    log: bool = True
    prior: Prior | None = None
    tie: str | None = None

    def __post_init__(self) -> None:
        bounds = self.bounds
        if isinstance(bounds, str):
            if bounds == "auto":
                bounds = LOG_BOUNDS if self.log else PLAIN_BOUNDS
            else:
                return
        limits = np.atleast_2d(np.asarray(bounds, dtype=np.float64))
        if len(limits) not in (1, self.n_elements):
            raise ValueError(
                f"{self.name}_bounds: expected one pair of bounds, or {self.n_elements}, one for each number, got {len(limits)}"
            )
        object.__setattr__(self, "bounds", np.repeat(limits, self.n_elements, axis=0) if len(limits) == 1 else limits)

    @property
    def fixed(self) -> bool:
        """True if it is left out of `theta`."""
        return isinstance(self.bounds, str)

    def on_scale(self, values: Vector) -> Vector:
        """Return numbers on the scale of `theta`: their logarithms, if `log`."""
        return np.log(values) if self.log else values

    def numbers(self, value: ArrayLike) -> Vector:
        """Return a value as a vector of numbers; raise if they are not finite, or not positive where they have to be."""
        try:
            return np.ravel(numbers(value, "", positive=self.log))
        except (TypeError, ValueError):
            return np.ravel(numbers(value, self.name, positive=self.log))  # raises with the name, which may be long to build

    def renamed(self, name: str) -> Hyperparameter:
        """Return the same under another name."""
        other = object.__new__(Hyperparameter)  # without __post_init__: the bounds have been checked
        other.__dict__.update(self.__dict__, name=name)
        other.__dict__.pop("_prefix", None)
        return other

    def prefixed(self, prefix: str, times: int, part: str) -> Hyperparameter:
        """Return the same under the longer name ``prefix * times + part + name``.

        A long name is put together when it is asked for: the names of a sum of n kernels have n^2 characters in all.
        """
        if times < _MOST_REPEATS and "name" in self.__dict__:
            return self.renamed(prefix * times + part + self.name)
        other = object.__new__(Hyperparameter)
        other.__dict__.update(self.__dict__, _prefix=(prefix, times, part, self))
        other.__dict__.pop("name", None)
        return other

    def __getattr__(self, attribute: str) -> str:
        if attribute != "name" or "_prefix" not in self.__dict__:
            raise AttributeError(attribute)
        pieces, at = [], self
        while "_prefix" in at.__dict__:
            prefix, times, part, at = at.__dict__["_prefix"]
            pieces.append(prefix * times + part)
        return "".join([*pieces, at.name])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hyperparameter):
            return NotImplemented
        mine, theirs = ((h.name, h.n_elements, h.log, h.prior, h.tie) for h in (self, other))
        return mine == theirs and np.array_equal(self.bounds, other.bounds)

    __hash__ = None  # type: ignore[assignment]


def plain(value: object) -> Any:
    """Return a value with all NumPy arrays and numbers in it as lists and Python numbers."""
    if isinstance(value, list | tuple):
        return type(value)(plain(item) for item in value)
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def numbers(value: object, name: str, *, positive: bool = True) -> Vector:
    """Return `value` as an array of finite numbers, which are positive if `positive`; errors name it `name`."""
    if isinstance(value, Parameter):
        value = value.value
    if isinstance(value, str) and value == "auto":
        raise ValueError(
            f'{name}: "auto" is set when an estimator is fitted, or by the method for_data(X, y); '
            "give a number to evaluate the kernel"
        )
    what = "positive" if positive else "finite"
    try:
        array = np.asarray(value, dtype=np.float64)
    except OverflowError:  # an int beyond the range of float
        raise ValueError(f"{name}: expected {'positive, ' if positive else ''}finite numbers, got {value!r:.60}") from None
    except (TypeError, ValueError):
        several = isinstance(value, list | tuple) and any(isinstance(one, str) and one == "auto" for one in value)
        hint = '; "auto" alone stands for one for each column' if several else ""
        raise TypeError(f"{name}: expected {what} numbers, got {value!r}{hint}") from None
    if not np.isfinite(array).all() or (positive and not (array > 0).all()):
        raise ValueError(f"{name}: expected {'positive, ' if positive else ''}finite numbers, got {value!r}")
    return array

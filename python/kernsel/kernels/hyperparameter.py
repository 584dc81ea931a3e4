"""Hyperparameters: numbers that a selection may change, with their bounds, priors and ties."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel.kernels.priors import Prior

__all__ = ["Bounds", "Hyperparameter", "Parameter", "numbers", "plain"]

# Limits for a hyperparameter, "fixed", or "auto": from the data, when they are known.
Bounds = tuple[float, float] | ArrayLike | str
LOG_BOUNDS = (1e-5, 1e5)  # scikit-learn's, while the data are not known
PLAIN_BOUNDS = (-1e5, 1e5)
_MANY = 50  # times that a long name repeats its prefix


class Parameter:
    """A value for a hyperparameter that says more: its bounds, a prior, a name by which it is tied to others.

    Can stand wherever a kernel takes a number for a hyperparameter.

    Parameters
    ----------
    value : float, array-like or "auto"
    bounds : pair of floats, array-like of shape (m, 2), "fixed", "auto" or None
        None leaves them to the argument of the kernel, ``<name>_bounds``.
    prior : Prior, optional
        Of each number: see :mod:`kernsel.kernels.priors`.
    name : str, optional
        Hyperparameters of one name are one: they have the same value, bounds and prior, and one entry in `theta`. What is
        "auto" is set for the first of them, and so for all.
    log : bool, optional
        For parameters of a :class:`~kernsel.kernels.FunctionKernel`: False for one that may be negative.

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
        value: Any,
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

    def replaced(self, value: Any, bounds: Bounds | None = None) -> Parameter:
        """Return the same with another value, and with other bounds if given."""
        return Parameter(value, self.bounds if bounds is None else bounds, self.prior, self.name, self.log)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parameter):
            return NotImplemented
        same = all(np.array_equal(getattr(self, key), getattr(other, key)) for key in ("value", "bounds"))
        return same and (self.prior, self.name, self.log) == (other.prior, other.name, other.log)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        said = [repr(plain(self.value))]
        said += [
            f"{key}={plain(getattr(self, key))!r}"
            for key in ("bounds", "prior", "name", "log")
            if getattr(self, key) is not None
        ]
        return f"Parameter({', '.join(said)})"


@dataclass(frozen=True)
class Hyperparameter:
    """What is known of a hyperparameter besides its value; the first five attributes are those of scikit-learn.

    Attributes
    ----------
    name : str
    value_type : "numeric"
    bounds : ndarray of shape (n_elements, 2) or "fixed"
    n_elements : int
    fixed : bool
    log : bool
        Is `theta` its logarithm? Not for numbers that may be negative.
    prior : Prior or None
    tie : str or None
        The name that it shares with others.
    """

    name: str
    value_type: Literal["numeric"] = field(default="numeric", init=False)
    bounds: Any
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

    def on_scale(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return numbers as `theta` has them."""
        return np.log(values) if self.log else values

    def numbers(self, value: Any) -> NDArray[np.float64]:
        """Return the numbers of a value, checked, in one dimension."""
        try:
            return np.ravel(numbers(value, "", positive=self.log))
        except (TypeError, ValueError):
            return np.ravel(numbers(value, self.name, positive=self.log))  # raises, and says whose they are

    def renamed(self, name: str) -> Hyperparameter:
        """Return the same under another name."""
        other = object.__new__(Hyperparameter)  # its bounds have been checked
        other.__dict__.update(self.__dict__, name=name)
        other.__dict__.pop("_prefix", None)
        return other

    def within(self, prefix: str, times: int, part: str) -> Hyperparameter:
        """Return the same under a longer name: the prefix, repeated, and the part, before its own.

        A long name is put together when it is asked for: those of a sum of n kernels have n^2 characters in all.
        """
        if times < _MANY and "name" in self.__dict__:
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


def plain(value: Any) -> Any:
    """Return arrays and NumPy numbers as lists and Python numbers, inside of lists and tuples too."""
    if isinstance(value, list | tuple):
        return type(value)(plain(item) for item in value)
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def numbers(value: Any, name: str, *, positive: bool = True) -> NDArray[np.float64]:
    """Return `value` as finite numbers, all positive if wanted."""
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
    except OverflowError:  # of whole numbers
        raise ValueError(f"{name}: expected {'positive, ' if positive else ''}finite numbers, got {value!r:.60}") from None
    except (TypeError, ValueError):
        several = isinstance(value, list | tuple) and any(isinstance(one, str) and one == "auto" for one in value)
        hint = '; "auto" alone stands for one for each column' if several else ""
        raise TypeError(f"{name}: expected {what} numbers, got {value!r}{hint}") from None
    if not np.isfinite(array).all() or (positive and not (array > 0).all()):
        raise ValueError(f"{name}: expected {'positive, ' if positive else ''}finite numbers, got {value!r}")
    return array

"""Kernels of columns that are warped, each by an increasing function that is learned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel.kernels.algebra import Operation
from kernsel.kernels.automatic import Data
from kernsel.kernels.base import Kernel
from kernsel.kernels.hyperparameter import Bounds, Hyperparameter, Parameter, numbers
from kernsel.kernels.leaf import Leaf, value_of

__all__ = ["WarpedInputs"]

_BEYOND = 0.05  # of the range of a column, by which limits that are read off the data go beyond it
_BOUNDS = (0.2, 5.0)  # of the shapes
_MARGIN = 0.01  # of the range between the limits, as in the core: straight lines continue w from there


class WarpedInputs(Operation):
    """A kernel of warped columns, k(w(x), w(z)), for functions that change fast in one place and slowly in another.

    Each column is warped by Kumaraswamy's distribution function of its place between two limits ::

        w(x) = lower + (upper - lower) (1 - (1 - u^a)^b),    u = (x - lower) / (upper - lower)

    whose shapes a and b are hyperparameters. With a = b = 1 nothing changes; a < 1 stretches the beginning of the range, so
    that the function may change faster there, b < 1 its end; a and b above 1 stretch the middle. Within a hundredth of the
    limits and beyond, straight lines continue w.

    Parameters
    ----------
    kernel : Kernel
    a, b : float, array-like of shape (d,), or "auto"
        One for all columns, or one for each. "auto" begins at 1 for each column.
    a_bounds, b_bounds : pair of floats, array-like of shape (d, 2), "fixed" or "auto"
        "auto" is from 0.2 to 5.
    lower, upper : float, array-like of shape (d,), or "auto"
        The limits, which are not searched for. "auto" is the range of the data, and 5 % of it beyond.

    References
    ----------
    Snoek, Swersky, Zemel and Adams, "Input warping for Bayesian optimization of non-stationary functions", ICML 2014.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF, WarpedInputs
    >>> WarpedInputs(RBF(1.0), a=0.5, b=1.0, lower=0.0, upper=1.0).warp([[0.04], [0.25], [1.0]]).round(3)
    array([[0.2],
           [0.5],
           [1. ]])
    >>> X = np.linspace(0, 1, 40).reshape(-1, 1)
    >>> y = np.sin(30 * X[:, 0] ** 0.3)  # which changes faster and faster towards 0
    >>> gp = ks.GaussianProcessRegressor(2.0 * WarpedInputs(RBF("auto")), alpha=1e-8).fit(X, y)
    >>> bool(gp.kernel_.k2.a[0] < 0.8)
    True
    """

    _parts = ("kernel",)
    _of_numbers = True

    def __init__(
        self,
        kernel: Kernel,
        a: float | ArrayLike | Parameter = "auto",
        b: float | ArrayLike | Parameter = "auto",
        a_bounds: Bounds = "auto",
        b_bounds: Bounds = "auto",
        lower: float | ArrayLike = "auto",
        upper: float | ArrayLike = "auto",
    ) -> None:
        self.kernel = kernel
        self.a = a
        self.b = b
        self.a_bounds = a_bounds
        self.b_bounds = b_bounds
        self.lower = lower
        self.upper = upper
        self._check()

    def _check(self) -> None:
        super()._check()
        self._shapes()  # raises where the shapes or their bounds are wrong
        limits = [self._limit(name) for name in ("lower", "upper")]
        if all(limit is not None for limit in limits) and not (np.subtract(*limits[::-1]) > 0).all():  # type: ignore[arg-type]
            raise ValueError(f"lower, upper: expected lower < upper, got {self.lower!r} and {self.upper!r}")

    def _limit(self, name: str) -> Vector | None:
        """Return the limits of the columns, or of all of them; None if they are to be read off the data."""
        value = getattr(self, name)
        if isinstance(value, str) and value == "auto":
            return None
        limits = np.atleast_1d(numbers(value, name, positive=False))
        if limits.ndim > 1 or not limits.size:
            raise ValueError(f"{name}: expected one number or one for each column, got {value!r}")
        return limits

    def _shapes(self) -> _Shapes:
        """Return the shapes as a kernel that has no other hyperparameters."""
        return _Shapes(self.a, self.b, self.a_bounds, self.b_bounds)

    def own(self) -> Iterator[tuple[Hyperparameter, ArrayLike]]:
        yield from self._shapes().own()
        yield from super().own()

    def _count_of_itself(self) -> int:
        return sum(h.n_elements for h, _ in self._shapes().own())

    def with_values(self, values: Iterator[ArrayLike]) -> Self:
        shapes = self._shapes().with_values(iter([next(values), next(values)]))
        return super().with_values(values).replaced(a=shapes.a, b=shapes.b)

    def is_automatic(self) -> bool:
        return "auto" in map(str, (self.lower, self.upper)) or self._shapes().is_automatic() or super().is_automatic()

    def resolve(self, data: Data) -> Kernel:
        shapes = self._shapes().resolve(data)
        low, high = data.X.min(axis=0), data.X.max(axis=0)
        width = np.where(high > low, high - low, 1.0)
        limits = {
            name: value if (value := self._limit(name)) is not None else automatic
            for name, automatic in (("lower", low - _BEYOND * width), ("upper", high + _BEYOND * width))
        }
        return self.replaced(
            kernel=self.kernel.resolve(data),
            **{name: getattr(shapes, name) for name in ("a", "b", "a_bounds", "b_bounds")},
            **limits,
        )

    def build(self) -> _core.Kernel:
        shapes, limits = self._shapes(), self._limits()
        return _core.warped_inputs(
            self.kernel.build(), shapes.numbers("a"), shapes.numbers("b"), *(limit.tolist() for limit in limits)
        )

    def _limits(self) -> tuple[Vector, Vector]:
        """Return the lower and the upper limits; raise if they are to be read off data."""
        limits = [np.atleast_1d(numbers(getattr(self, name), name, positive=False)) for name in ("lower", "upper")]
        lower, upper = np.broadcast_arrays(*limits)
        return lower, upper

    def warp(self, X: ArrayLike) -> Matrix:
        """Return w(X), shape (n, d)."""
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2:
            raise ValueError(f"X: expected shape (n, d), got {points.shape}")
        shapes, lower, upper = self._shapes(), *self._limits()
        a, b = np.asarray(shapes.numbers("a")), np.asarray(shapes.numbers("b"))
        place = (points - lower) / np.subtract(upper, lower)
        u = np.clip(place, _MARGIN, 1 - _MARGIN)
        slope = a * b * u ** (a - 1) * (1 - u**a) ** (b - 1)
        return np.asarray(lower + np.subtract(upper, lower) * (1 - (1 - u**a) ** b + slope * (place - u)))


class _Shapes(Leaf):
    """The hyperparameters of :class:`WarpedInputs`."""

    _hyper: ClassVar = {"a": "ratio", "b": "ratio"}
    _by_column = ("a", "b")

    def __init__(self, a: Any, b: Any, a_bounds: Bounds, b_bounds: Bounds) -> None:
        self.a, self.b, self.a_bounds, self.b_bounds = a, b, a_bounds, b_bounds
        self._check()

    def resolve(self, data: Data) -> Self:
        changed: dict[str, object] = {}
        for name in self._hyper:
            argument, bounds = getattr(self, name), self.bounds_of(name)
            value = value_of(argument)
            if isinstance(value, str):
                value = np.ones(data.X.shape[1])
            if isinstance(bounds, str) and bounds == "auto":
                bounds = _BOUNDS
            data.note("ratio", int(np.size(value)))
            if isinstance(argument, Parameter):
                changed[name] = data.ties.get(argument.name or "", argument.replaced(value, bounds))
                if argument.name is not None:
                    data.ties[argument.name] = changed[name]  # type: ignore[assignment]
            else:
                changed |= {name: value, f"{name}_bounds": bounds}
        return self.replaced(**changed)

    def build(self) -> _core.Kernel:
        raise NotImplementedError("the shapes are no kernel")

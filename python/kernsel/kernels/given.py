"""Kernels that the user gives: as a matrix, or as a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Matrix, PairFunction
from kernsel.kernels.base import Kernel
from kernsel.kernels.hyperparameter import Bounds, Hyperparameter, Parameter, numbers
from kernsel.kernels.leaf import Leaf, check_bounds, value_of

__all__ = ["FunctionKernel", "Precomputed"]


class Precomputed(Leaf):
    """The kernel of a given matrix: points are indices of rows, k(i, j) = K_ij.

    To select among, weigh or combine kernel matrices that come from elsewhere. Points have one column, of indices;
    :meth:`~kernsel.kernels.Kernel.on` takes it from points with more columns.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric, which is checked, and positive semidefinite, which is not. Kept, not copied, if it is float64: do not change
        it, nor let it be the `out` of a computation with this kernel.

    Examples
    --------
    >>> from kernsel.kernels import Precomputed
    >>> (2.0 * Precomputed([[1.0, 0.5], [0.5, 1.0]]))([[1], [0]])
    array([[2., 1.],
           [1., 2.]])
    """

    _hyper: ClassVar = {}

    def __init__(self, K: ArrayLike) -> None:
        self.K = K
        self._check()

    def _check(self) -> None:
        try:
            K = np.asarray(self.K, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"K: expected a matrix of numbers, got {self.K!r}") from None
        if K.ndim != 2 or K.shape[0] != K.shape[1] or not len(K):
            raise ValueError(f"K: expected a square matrix, got shape {K.shape}")
        if not np.isfinite(K).all():
            raise ValueError("K: expected finite numbers")
        if not np.array_equal(K, K.T):
            i, j = np.unravel_index(np.argmax(np.abs(K - K.T)), K.shape)
            raise ValueError(
                f"K: expected a symmetric matrix, got {K[i, j]} at ({i}, {j}) and {K[j, i]} at ({j}, {i}); "
                "(K + K.T) / 2 is symmetric to the last bit"
            )

    def build(self) -> _core.Kernel:
        return _core.precomputed(self.K)


class FunctionKernel(Kernel):
    """A kernel written in Python.

    The function is called with blocks of points, of about a hundred each, and the matrix is made of what it returns.

    Parameters
    ----------
    function : callable
        ``function(X, Z, **parameters)`` returns k(X, Z), shape (n, m), for X of shape (n, d) and Z of shape (m, d). It must be
        symmetric in X and Z, and positive semidefinite.
    parameters : dict of str to float or Parameter, optional
        Its hyperparameters; positive, unless they are ``Parameter(..., log=False)``.
    gradient : callable, optional
        ``gradient(X, Z, **parameters)`` returns the derivatives of k(X, Z) in each parameter, as a dict of arrays of
        shape (n, m). Without it they are central differences, of four evaluations for each parameter.
    parameter_bounds : dict of str to pair of floats or "fixed", optional
        Of the hyperparameters.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.kernels import FunctionKernel
    >>> def overlap(X, Z, width):
    ...     return np.maximum(1 - np.abs(X - Z.T) / width, 0)
    >>> k = 2.0 * FunctionKernel(overlap, {"width": 2.0})
    >>> k([[0.0], [1.0]])
    array([[2., 1.],
           [1., 2.]])
    >>> k.pullback([[0.0], [1.0]], np.ones((2, 2))).round(6)  # in the logarithms of 2.0 and of the width
    array([6., 2.])
    """

    def __init__(
        self,
        function: PairFunction,
        parameters: Mapping[str, float | Parameter] | None = None,
        gradient: Callable[..., Mapping[str, ArrayLike]] | None = None,
        parameter_bounds: Mapping[str, Bounds] | None = None,
    ) -> None:
        self.function = function
        self.parameters = parameters
        self.gradient = gradient
        self.parameter_bounds = parameter_bounds
        self._check()

    def _check(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function: expected a function, got {self.function!r}")
        if self.gradient is not None and not callable(self.gradient):
            raise TypeError(f"gradient: expected a function, got {self.gradient!r}")
        for name, value in (self.parameters or {}).items():
            if numbers(value, f"parameters[{name!r}]", positive=_log(value)).ndim:
                raise ValueError(f"parameters[{name!r}]: expected one number, got {value!r}")
            check_bounds(f"parameter_bounds[{name!r}]", self._bounds_of(name, value), positive=_log(value))
            if isinstance(value, Parameter) and value.prior is not None and not _log(value):
                raise ValueError(
                    f"parameters[{name!r}]: a prior is a density of a positive number, and this one may be negative"
                )
        for name in self.parameter_bounds or {}:
            if name not in (self.parameters or {}):
                raise ValueError(f"parameter_bounds: {name!r} is not one of the parameters {', '.join(self.parameters or {})}")

    def _bounds_of(self, name: str, parameter: float | Parameter) -> Bounds:
        """Return the bounds of a parameter: those of a :class:`Parameter` come before `parameter_bounds`."""
        bounds = parameter.bounds if isinstance(parameter, Parameter) else None
        return (self.parameter_bounds or {}).get(name, "auto") if bounds is None else bounds

    def own(self) -> Iterator[tuple[Hyperparameter, ArrayLike]]:
        for name, parameter in (self.parameters or {}).items():
            prior, tie = (parameter.prior, parameter.name) if isinstance(parameter, Parameter) else (None, None)
            yield Hyperparameter(name, self._bounds_of(name, parameter), 1, _log(parameter), prior, tie), value_of(parameter)

    def with_values(self, values: Iterator[ArrayLike]) -> Self:
        changed: dict[str, object] = {}
        for (name, parameter), value in zip((self.parameters or {}).items(), values, strict=False):
            changed[name] = parameter.replaced(value) if isinstance(parameter, Parameter) else value
        return self.replaced(parameters=changed)

    def _values(self) -> dict[str, float]:
        return {name: float(value_of(value)) for name, value in (self.parameters or {}).items()}

    def build(self) -> _core.Kernel:
        parameters = self._values()
        scales = [h.log for h, _ in self.own()]
        theta = [float(np.log(v)) if log else v for v, log in zip(parameters.values(), scales, strict=True)]
        name = f"{id(self.function)} {parameters}"
        return _core.function(lambda X, Z: self.function(X, Z, **parameters), self._pull, theta, name)

    def _pull(self, X: Matrix, Z: Matrix, W: Matrix) -> list[float]:
        """Return the gradient of sum_ij W_ij k(x_i, z_j) in the parameters, on the scale of `theta`."""
        parameters = self._values()
        if self.gradient is None:
            return [self._difference(X, Z, W, name) for name in parameters]
        derivatives = self.gradient(X, Z, **parameters)
        if not isinstance(derivatives, Mapping) or set(derivatives) != set(parameters):
            raise ValueError(f"gradient: expected a dict with the keys {', '.join(parameters)}, got {derivatives!r}")
        result = []
        for h, _ in self.own():
            derivative = np.asarray(derivatives[h.name], dtype=np.float64)
            if derivative.shape != W.shape:
                raise ValueError(f"gradient[{h.name!r}]: expected an array of shape {W.shape}, got {derivative.shape}")
            result.append(float(np.vdot(W, derivative)) * (parameters[h.name] if h.log else 1.0))
        return result

    def _difference(self, X: Matrix, Z: Matrix, W: Matrix, name: str) -> float:
        """Return one entry of `_pull` by central differences of two steps, h and 2h, extrapolated: (4 D(h) - D(2h)) / 3."""
        parameters = self._values()
        value, log = parameters[name], _log((self.parameters or {})[name])
        step = 2.0**-10 if log else 2.0**-10 * max(abs(value), 1.0)

        def objective(h: float) -> float:
            shifted = value * float(np.exp(h)) if log else value + h
            return float(np.vdot(W, np.asarray(self.function(X, Z, **parameters | {name: shifted}), dtype=np.float64)))

        def difference(h: float) -> float:
            return (objective(h) - objective(-h)) / (2 * h)

        return (4 * difference(step) - difference(2 * step)) / 3


def _log(value: float | Parameter) -> bool:
    """Tell whether `theta` has the logarithm of a parameter."""
    return not (isinstance(value, Parameter) and value.log is False)

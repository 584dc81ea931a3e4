"""Kernels of other points, and kernels rescaled point by point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel.kernels.algebra import Operation
from kernsel.kernels.automatic import Data
from kernsel.kernels.base import Kernel
from kernsel.kernels.hyperparameter import Bounds, Hyperparameter, Parameter, numbers
from kernsel.kernels.inner_product import QuadraticForm, check_matrix
from kernsel.kernels.leaf import value_of

__all__ = ["Normalize", "Transform", "Warp"]


class Normalize(Operation):
    """A kernel divided by its diagonal, k(x, z) / (k(x, x) k(z, z))^(1/2): 1 for a point and itself.

    Parameters
    ----------
    kernel : Kernel
        Positive for every point and itself: no linear kernel at the origin.

    Examples
    --------
    >>> from kernsel.kernels import Linear, Normalize
    >>> Normalize(Linear())([[1.0, 0.0], [3.0, 4.0]])
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    _parts = ("kernel",)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._check()

    def build(self) -> _core.Kernel:
        return _core.normalize(self.kernel.build())


class Warp(Operation):
    """A kernel rescaled by a function of the points, f(x) k(x, z) f(z).

    Parameters
    ----------
    kernel : Kernel
    function : callable
        f, of points of shape (n, d), returns (n,).
    derivative : callable, optional
        The derivatives of f in each column, (n, d). Without it they are made by central differences, where the gradient in the
        points is asked for.

    Examples
    --------
    >>> from kernsel.kernels import RBF, Warp
    >>> Warp(RBF(1.0), lambda X: X[:, 0]).diag([[1.0], [2.0], [3.0]])
    array([1., 4., 9.])
    """

    _parts = ("kernel",)
    _of_numbers = True

    def __init__(self, kernel: Kernel, function: Callable[..., Any], derivative: Callable[..., Any] | None = None) -> None:
        self.kernel = kernel
        self.function = function
        self.derivative = derivative
        self._check()

    def _check(self) -> None:
        super()._check()
        check_function("function", self.function)
        check_function("derivative", self.derivative, optional=True)

    def build(self) -> _core.Kernel:
        return _core.warp(self.kernel.build(), self.function, self.derivative)


class Transform(Operation):
    """A kernel of other points, k(phi(x), phi(z)): phi a function, or a matrix that is learned, phi(x) = B x.

    Parameters
    ----------
    kernel : Kernel
        Of the points phi(x).
    phi : callable, array-like of shape (r, d), or "auto"
        A function of points of shape (n, d) that returns (n, r); or the matrix B, whose entries may have any sign, and are
        hyperparameters, row by row: their entries of `theta` are the numbers themselves. "auto" is a diagonal matrix that gives
        each column the same spread.
    phi_bounds : pair of floats, array-like of shape (r * d, 2), "fixed" or "auto"
        Of the entries of B; "fixed" for a matrix that is not learned.
    derivative : callable, optional
        The derivatives of a function, (n, r, d). Without it they are made by central differences, where the gradient in
        the points is asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.kernels import RBF, Transform
    >>> k = Transform(RBF(1.0), np.log)
    >>> bool(np.isclose(k([[1.0]], [[3.0]])[0, 0], np.exp(-np.log(3.0) ** 2 / 2)))
    True
    >>> Transform(RBF(1.0, "fixed"), [[1.0, -1.0]]).theta
    array([ 1., -1.])
    """

    _parts = ("kernel",)
    _of_numbers = True

    def __init__(
        self,
        kernel: Kernel,
        phi: Callable[..., Any] | ArrayLike | Parameter,
        phi_bounds: Bounds = "auto",
        derivative: Callable[..., Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.phi = phi
        self.phi_bounds = phi_bounds
        self.derivative = derivative
        self._check()

    def _check(self) -> None:
        super()._check()
        check_function("derivative", self.derivative, optional=True)
        if callable(self.phi):
            return
        check_matrix("phi", value_of(self.phi))
        QuadraticForm(self.phi, self.phi_bounds)  # has the same rules

    def own(self) -> Iterator[tuple[Hyperparameter, Any]]:
        if not callable(self.phi):
            for h, value in self._matrix().own():
                yield h.renamed("phi"), value
        yield from super().own()

    def _count_of_itself(self) -> int:
        return 0 if callable(self.phi) else sum(h.n_elements for h, _ in self._matrix().own())

    def _matrix(self) -> QuadraticForm:
        return QuadraticForm(self.phi, self.phi_bounds)  # type: ignore[arg-type]

    def with_values(self, values: Iterator[Any]) -> Self:
        if callable(self.phi):
            return super().with_values(values)
        matrix = self._matrix().with_values(iter([next(values)]))
        return super().with_values(values).replaced(phi=matrix.B)

    def resolve(self, data: Data) -> Kernel:
        seen: Any = self._seeing(data.X, data.names)
        if callable(self.phi):
            return seen.replaced(kernel=self.kernel.resolve(data.moved(_values(self.phi, data.X))))  # type: ignore[no-any-return]
        # QuadraticForm takes the root mean square of columns for their size: of the spreads alone, that is the spreads.
        start: Any = self._matrix().resolve(Data(data.spreads[None, :]))
        data.note("signed", int(np.size(value_of(start.B))))
        mapped = data.X @ numbers(start.B, "phi", positive=False).T
        return seen.replaced(phi=start.B, phi_bounds=start.B_bounds, kernel=self.kernel.resolve(data.moved(mapped)))  # type: ignore[no-any-return]

    def _seeing(self, X: Any, names: Sequence[str] | None) -> Kernel:
        """Learn from the first point how many numbers the function returns."""
        del names  # those of the points inside are unknown
        if np.ndim(X) != 2 or not np.isfinite(np.asarray(X[:1], dtype=np.float64)).all():
            return self  # the core says what is wrong with X
        first = np.asarray(X, dtype=np.float64)[:1]
        if not len(first):
            first = np.ones((1, np.shape(X)[1]))
        if not callable(self.phi):
            matrix = (
                numbers(self.phi, "phi", positive=False) if not isinstance(value_of(self.phi), str) else np.eye(first.shape[1])
            )
            return super()._seeing_inside(first[:, : matrix.shape[1]] @ matrix[:, : first.shape[1]].T, None)
        values = _values(self.phi, first)
        seen = super()._seeing_inside(values, None)
        return seen.replaced(_outputs=values.shape[1])

    def must_see_points(self) -> bool:
        return callable(self.phi) or super().must_see_points()

    _outputs = 0

    def build(self) -> _core.Kernel:
        inner = self.kernel.build()
        if callable(self.phi):
            return _core.transform(inner, self._outputs, self.phi, self._flat_derivative if self.derivative else None)
        B = numbers(self.phi, "phi", positive=False)
        return _core.project(inner, B.ravel().tolist(), len(B))

    def _flat_derivative(self, X: Any) -> Any:
        assert self.derivative is not None
        values = np.asarray(self.derivative(X), dtype=np.float64)
        expected = (len(X), self._outputs, X.shape[1])
        if values.shape != expected:
            raise ValueError(f"derivative: expected the function to return an array of shape {expected}, got {values.shape}")
        return values.reshape(len(X), -1)


def _values(function: Callable[..., Any], X: Any) -> Any:
    values = np.asarray(function(X), dtype=np.float64)
    if values.ndim != 2 or len(values) != len(X) or not values.shape[1]:
        raise ValueError(f"phi: expected the function to return an array of shape ({len(X)}, r), got {values.shape}")
    return values


def check_function(name: str, value: Any, *, optional: bool = False) -> None:
    """Raise unless `value` is a function."""
    if not callable(value) and not (optional and value is None):
        raise TypeError(f"{name}: expected a function, got {value!r}")

"""Kernels of transformed points, k(phi(x), phi(z)), and rescaled kernels, f(x) k(x, z) f(z)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Matrix, PointFunction
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
        With k(x, x) > 0 at all points, which a linear kernel does not have at the origin.

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
        Returns the derivatives of f in each column, (n, d). Without it they are central differences, computed when the gradient
        in the points is asked for.

    Examples
    --------
    >>> from kernsel.kernels import RBF, Warp
    >>> Warp(RBF(1.0), lambda X: X[:, 0]).diag([[1.0], [2.0], [3.0]])
    array([1., 4., 9.])
    """

    _parts = ("kernel",)
    _of_numbers = True

    def __init__(self, kernel: Kernel, function: PointFunction, derivative: PointFunction | None = None) -> None:
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
    """A kernel of transformed points, k(phi(x), phi(z)), where phi is a function, or phi(x) = B x with a matrix to be learned.

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
        Returns the derivatives of a function phi, (n, r, d). Without it they are central differences, computed when the
        gradient in the points is asked for.

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
        phi: PointFunction | ArrayLike | Parameter,
        phi_bounds: Bounds = "auto",
        derivative: PointFunction | None = None,
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
        QuadraticForm(self.phi, self.phi_bounds)  # raises where the bounds of a matrix are wrong

    def own(self) -> Iterator[tuple[Hyperparameter, ArrayLike]]:
        if not callable(self.phi):
            for h, value in self._matrix().own():
                yield h.renamed("phi"), value
        yield from super().own()

    def _count_of_itself(self) -> int:
        return 0 if callable(self.phi) else sum(h.n_elements for h, _ in self._matrix().own())

    def _matrix(self) -> QuadraticForm:
        """Return a kernel whose hyperparameters are the entries of the matrix, with the same values and bounds."""
        return QuadraticForm(self.phi, self.phi_bounds)  # type: ignore[arg-type]

    def with_values(self, values: Iterator[ArrayLike]) -> Self:
        if callable(self.phi):
            return super().with_values(values)
        matrix = self._matrix().with_values(iter([next(values)]))
        return super().with_values(values).replaced(phi=matrix.B)

    def resolve(self, data: Data) -> Kernel:
        sized = self._with_points(data.X, data.names)
        if callable(self.phi):
            return sized.replaced(kernel=self.kernel.resolve(data.moved(_values(self.phi, data.X))))
        # QuadraticForm divides by the root mean squares of the columns, which are the spreads for one point that has them as
        # its coordinates.
        start = self._matrix().resolve(Data(data.spreads[None, :]))
        data.note("signed", int(np.size(value_of(start.B))))
        mapped = data.X @ numbers(start.B, "phi", positive=False).T
        return sized.replaced(phi=start.B, phi_bounds=start.B_bounds, kernel=self.kernel.resolve(data.moved(mapped)))

    def _with_points(self, X: ArrayLike | None, names: Sequence[str] | None) -> Kernel:
        """Return the transform with the number of outputs of phi set, from its value at the first point."""
        del names  # the columns of phi(x) have none
        if X is None or np.ndim(X) != 2:
            return self  # the core raises the error that says what is wrong with X
        first = np.asarray(np.asarray(X)[:1], dtype=np.float64)
        if not np.isfinite(first).all():
            return self  # as above
        if not len(first):
            first = np.ones((1, np.shape(X)[1]))
        if not callable(self.phi):
            matrix = (
                numbers(self.phi, "phi", positive=False) if not isinstance(value_of(self.phi), str) else np.eye(first.shape[1])
            )
            return super()._with_points_of_parts(first[:, : matrix.shape[1]] @ matrix[:, : first.shape[1]].T, None)
        values = _values(self.phi, first)
        return super()._with_points_of_parts(values, None).replaced(_outputs=values.shape[1])

    def levels_of(self, names: Sequence[str | None]) -> dict[str | None, list[Any] | None]:
        del names
        return {}  # of the points phi(x), which are numbers

    def depends_on_points(self) -> bool:
        return callable(self.phi) or super().depends_on_points()

    _outputs = 0  # the number of columns of phi(x), once it is known

    def build(self) -> _core.Kernel:
        inner = self.kernel.build()
        if callable(self.phi):
            return _core.transform(inner, self._outputs, self.phi, self._flat_derivative if self.derivative else None)
        B = numbers(self.phi, "phi", positive=False)
        return _core.project(inner, B.ravel().tolist(), len(B))

    def _flat_derivative(self, X: Matrix) -> Matrix:
        """Return the derivatives of phi as the core takes them, shape (n, r d)."""
        assert self.derivative is not None
        values = np.asarray(self.derivative(X), dtype=np.float64)
        expected = (len(X), self._outputs, X.shape[1])
        if values.shape != expected:
            raise ValueError(f"derivative: expected the function to return an array of shape {expected}, got {values.shape}")
        return values.reshape(len(X), -1)


def _values(function: PointFunction, X: Matrix) -> Matrix:
    """Return function(X), shape (n, r); raise if it has another shape."""
    values = np.asarray(function(X), dtype=np.float64)
    if values.ndim != 2 or len(values) != len(X) or not values.shape[1]:
        raise ValueError(f"phi: expected the function to return an array of shape ({len(X)}, r), got {values.shape}")
    return values


def check_function(name: str, value: object, *, optional: bool = False) -> None:
    """Raise unless `value` is a function, or None where that is allowed."""
    if not callable(value) and not (optional and value is None):
        raise TypeError(f"{name}: expected a function, got {value!r}")

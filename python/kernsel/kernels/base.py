"""What all kernels have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from kernsel import _core
    from kernsel.kernels.algebra import Columns, Power, Product, Sum

__all__ = ["Data", "Kernel"]


@dataclass(frozen=True)
class Data:
    """What "auto" parameters and names of columns are resolved from."""

    X: NDArray[Any]
    weights: NDArray[Any] | None = None
    names: Sequence[str] | None = None

    def restricted(self, columns: Sequence[int]) -> Data:
        """Return the same with some columns only."""
        names = None if self.names is None else [self.names[i] for i in columns]
        return Data(self.X[:, list(columns)], self.weights, names)


class Kernel(ABC):
    """A positive semidefinite function of two points, k(x, z).

    Kernels are combined by ``+``, ``*`` and ``**``, with each other and with positive numbers. The parameters of a kernel
    are the arguments of its constructor, as in scikit-learn, and so are `theta`, `bounds`, `hyperparameters` and the rest
    of what scikit-learn's kernels offer.
    """

    @abstractmethod
    def _build(self) -> _core.Kernel:
        """Make the same kernel in the C++ core."""

    @abstractmethod
    def _check(self) -> None:
        """Raise if the parameters do not make a kernel."""

    @abstractmethod
    def _own(self) -> Iterator[tuple[Hyperparameter, Any]]:
        """Yield the hyperparameters in the order of the core, fixed ones included, with their values."""

    @abstractmethod
    def _with_values(self, values: Iterator[Any]) -> Self:
        """Return a copy with values for all hyperparameters, fixed ones included, in the order of `_own`."""

    def _resolve(self, data: Data) -> Kernel:
        """Return a kernel whose "auto" parameters and names of columns are set from the data."""
        del data
        return self

    def _on_points(self, X: Any) -> tuple[Kernel, Any]:
        """Return the kernel with names of columns resolved, if X is a table that has names."""
        names = getattr(X, "columns", None)
        if names is None:
            return self, X
        array = np.asarray(X)
        return self._resolve_names([str(name) for name in names]), array

    def _resolve_names(self, names: Sequence[str]) -> Kernel:
        del names
        return self

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the matrix k(X, X), or k(X, Z); see :func:`kernsel.gram`."""
        kernel, X = self._on_points(X)
        core = kernel._build()
        return core.gram(X, out) if Z is None else core.cross_gram(X, np.asarray(Z), out)

    def diag(self, X: ArrayLike) -> NDArray[Any]:
        """Return the diagonal of k(X, X), shape (n,), in O(n)."""
        kernel, X = self._on_points(X)
        return kernel._build().diagonal(X)

    def matmul(self, X: ArrayLike, Z: ArrayLike, V: ArrayLike) -> NDArray[Any]:
        """Return k(X, Z) V without forming the kernel matrix.

        Parameters
        ----------
        X : array-like of shape (n, d)
        Z : array-like of shape (m, d)
        V : array-like of shape (m,) or (m, r)

        Returns
        -------
        product : ndarray of shape (n,) or (n, r)
        """
        kernel, X = self._on_points(X)
        return kernel._build().multiply(X, np.asarray(Z), V)

    def pullback(self, X: ArrayLike, W: ArrayLike, Z: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return sum_ij W_ij dK_ij/dtheta for K = k(X, X), or k(X, Z).

        This is the gradient in the hyperparameters of any function of K whose gradient in K is W, in O(n^2 d) and in
        memory that does not grow with n.

        Parameters
        ----------
        X : array-like of shape (n, d)
        W : array-like of shape (n, n) or (n, m)
            Need not be symmetric.
        Z : array-like of shape (m, d), optional

        Returns
        -------
        gradient : ndarray of shape (p,)
            In the order and on the scale of `theta`.

        Examples
        --------
        >>> import numpy as np
        >>> from kernsel.kernels import RBF
        >>> k, X, W = RBF(2.0), np.array([[0.0], [3.0]]), np.array([[0.0, 1.0], [0.0, 0.0]])
        >>> step = 1e-6
        >>> change = np.vdot(W, RBF(2.0 * np.exp(step))(X) - RBF(2.0 * np.exp(-step))(X)) / (2 * step)
        >>> bool(np.isclose(k.pullback(X, W), change, rtol=1e-6))
        True
        """
        kernel, X = self._on_points(X)
        gradient = kernel._build().pullback(X, W, None if Z is None else np.asarray(Z))
        free = [not hyperparameter.fixed for hyperparameter, _ in self._own() for _ in range(hyperparameter.n_elements)]
        mask = np.array(free, dtype=bool)
        return np.asarray(gradient[mask], dtype=np.float64)

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """The hyperparameters in the order of `theta`, fixed ones included."""
        return [hyperparameter for hyperparameter, _ in self._own()]

    @property
    def n_dims(self) -> int:
        """Number of hyperparameters that are not fixed, those of each column counted."""
        return sum(hyperparameter.n_elements for hyperparameter in self.hyperparameters if not hyperparameter.fixed)

    @property
    def theta(self) -> NDArray[np.float64]:
        """Logarithms of the hyperparameters that are not fixed, from left to right in the expression."""
        values = [np.atleast_1d(numbers(value, h.name)) for h, value in self._own() if not h.fixed]
        return np.log(np.concatenate(values)) if values else np.zeros(0)

    @property
    def bounds(self) -> NDArray[np.float64]:
        """Logarithms of the bounds of `theta`, shape (n_dims, 2)."""
        limits = [h.bounds for h in self.hyperparameters if not h.fixed]
        return np.log(np.vstack(limits)) if limits else np.zeros((0, 2))

    def clone_with_theta(self, theta: ArrayLike) -> Self:
        """Return a copy with other values of the hyperparameters that are not fixed.

        Parameters
        ----------
        theta : array-like of shape (n_dims,)
            Logarithms, in the order of `theta`.

        Examples
        --------
        >>> from kernsel.kernels import RBF
        >>> (2.0 * RBF(1.0)).clone_with_theta([0.0, 0.0])
        ConstantKernel(constant_value=1.0) * RBF(length_scale=1.0)
        """
        values = np.exp(np.asarray(theta, dtype=np.float64))
        if values.shape != (self.n_dims,):
            raise ValueError(f"theta: expected {self.n_dims} numbers, got shape {values.shape}")
        if not np.isfinite(values).all() or (values == 0).any():
            raise ValueError(f"theta: expected logarithms of positive, finite numbers, got {theta!r}")
        position = 0
        everything: list[Any] = []
        for hyperparameter, value in self._own():
            if hyperparameter.fixed:
                everything.append(value)
                continue
            part = values[position : position + hyperparameter.n_elements]
            position += hyperparameter.n_elements
            everything.append(part if np.ndim(value) else float(part[0]))
        return self._with_values(iter(everything))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, those of parts as ``part__name``."""
        params: dict[str, Any] = {}
        for name in signature(type(self)).parameters:
            value = getattr(self, name)
            params[name] = value
            if deep and isinstance(value, Kernel):
                params.update({f"{name}__{key}": item for key, item in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of parts as ``part__name``."""
        valid = list(signature(type(self)).parameters)
        for name, value in params.items():
            head, _, rest = name.partition("__")
            if head not in valid:
                raise ValueError(f"{type(self).__name__} has no parameter {head!r}; it has {', '.join(valid)}")
            if rest:
                getattr(self, head).set_params(**{rest: value})
            else:
                setattr(self, head, value)
        self._check()
        return self

    def on(self, columns: Sequence[int] | Sequence[str]) -> Columns:
        """Return this kernel as a function of some columns of its points only.

        Parameters
        ----------
        columns : sequence of int or str
            Indices, or names where the points are a table.

        Examples
        --------
        >>> from kernsel.kernels import RBF
        >>> RBF(1.0).on([1])([[0.0, 5.0], [9.0, 5.0]])
        array([[1., 1.],
               [1., 1.]])
        """
        from kernsel.kernels.algebra import Columns

        return Columns(self, columns)

    def __add__(self, other: Kernel | float) -> Sum:
        from kernsel.kernels.algebra import Sum, as_kernel

        return NotImplemented if (right := as_kernel(other)) is None else Sum(self, right)

    def __radd__(self, other: float) -> Sum:
        from kernsel.kernels.algebra import Sum, as_kernel

        return NotImplemented if (left := as_kernel(other)) is None else Sum(left, self)

    def __mul__(self, other: Kernel | float) -> Product:
        from kernsel.kernels.algebra import Product, as_kernel

        return NotImplemented if (right := as_kernel(other)) is None else Product(self, right)

    def __rmul__(self, other: float) -> Product:
        from kernsel.kernels.algebra import Product, as_kernel

        return NotImplemented if (left := as_kernel(other)) is None else Product(left, self)

    def __pow__(self, exponent: int) -> Power:
        from kernsel.kernels.algebra import Power

        return Power(self, exponent)

    # NumPy numbers and arrays on the left give way to __radd__ and __rmul__.
    __array_ufunc__ = None

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Kernel):
            return False
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return all(np.array_equal(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]  # parameters can change

    def __repr__(self) -> str:
        shown = []
        for name, parameter in signature(type(self)).parameters.items():
            value, default = getattr(self, name), parameter.default
            side_matter = name.endswith("_bounds") or isinstance(default, bool)
            if not side_matter or plain(value) != default:
                shown.append(f"{name}={text(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"


def text(value: Any) -> str:
    """Return a number or an array so that Python reads it back."""
    return 'float("inf")' if isinstance(value, float) and value == np.inf else repr(plain(value))


def plain(value: Any) -> Any:
    """Return arrays and NumPy numbers as lists and Python numbers."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def numbers(value: Any, name: str) -> NDArray[np.float64]:
    """Return `value` as numbers, all positive and finite."""
    if isinstance(value, str) and value == "auto":
        raise ValueError(f'{name}: "auto" is set when an estimator is fitted; give a number to evaluate the kernel')
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected positive numbers, got {value!r}") from None
    if not (np.isfinite(array).all() and (array > 0).all()):
        raise ValueError(f"{name}: expected positive, finite numbers, got {value!r}")
    return array

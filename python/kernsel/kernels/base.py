"""What all kernels have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from kernsel import _core
    from kernsel.kernels.algebra import Product, Sum

__all__ = ["Kernel"]


class Kernel(ABC):
    """A positive semidefinite function of two points, k(x, z).

    Kernels are combined by ``+`` and ``*``, with each other and with positive numbers. The parameters of a kernel are
    the arguments of its constructor, as in scikit-learn.
    """

    @abstractmethod
    def _build(self) -> _core.Kernel:
        """Make the same kernel in the C++ core."""

    @abstractmethod
    def _check(self) -> None:
        """Raise if the parameters do not make a kernel."""

    def _resolve(self, X: NDArray[Any], weights: NDArray[Any] | None = None) -> Kernel:
        """Return a kernel whose "auto" parameters are set from the data X, its points weighted."""
        del X, weights
        return self

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the matrix k(X, X), or k(X, Z); see :func:`kernsel.gram`."""
        kernel = self._build()
        return kernel.gram(X, out) if Z is None else kernel.cross_gram(X, Z, out)

    def diag(self, X: ArrayLike) -> NDArray[Any]:
        """Return the diagonal of k(X, X), shape (n,), in O(n)."""
        return self._build().diagonal(X)

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
        return self._build().multiply(X, Z, V)

    def pullback(self, X: ArrayLike, W: ArrayLike, Z: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return sum_ij W_ij dK_ij/dtheta for K = k(X, X), or k(X, Z).

        This is the gradient in the parameters of any function of K whose gradient in K is W, in O(n^2 d) and in memory
        that does not grow with n.

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
        return self._build().pullback(X, W, Z)

    @property
    def theta(self) -> NDArray[np.float64]:
        """Logarithms of the parameters, from left to right in the expression."""
        return np.asarray(self._build().theta, dtype=np.float64)

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

    # NumPy numbers and arrays on the left give way to __radd__ and __rmul__.
    __array_ufunc__ = None

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Kernel):
            return False
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return all(np.array_equal(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]  # parameters can change

    def __repr__(self) -> str:
        arguments = (f"{name}={_text(value)}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({', '.join(arguments)})"


def _text(value: Any) -> str:
    return repr(value.tolist() if isinstance(value, np.ndarray | np.generic) else value)

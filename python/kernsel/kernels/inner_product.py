"""Kernels of the inner product of points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel.kernels.leaf import Bounds, Leaf, ScaledLeaf

__all__ = ["DotProduct", "Linear", "Polynomial"]


class DotProduct(Leaf):
    """The linear kernel, k(x, z) = sigma_0^2 + x'z.

    Parameters
    ----------
    sigma_0 : float
        The standard deviation of the constant term; 0 for functions through the origin.
    sigma_0_bounds : pair of floats, "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import DotProduct
    >>> DotProduct(1.0)([[1.0, 2.0], [3.0, 0.0]])
    array([[ 6.,  4.],
           [ 4., 10.]])
    """

    _hyper = ("sigma_0",)
    _may_be_zero = ("sigma_0",)

    def __init__(self, sigma_0: float = 1.0, sigma_0_bounds: Bounds = "auto") -> None:
        self.sigma_0 = sigma_0
        self.sigma_0_bounds = sigma_0_bounds
        self._check()

    def _build(self) -> _core.Kernel:
        return _core.dot_product(self._number("sigma_0"), [])


class Polynomial(Leaf):
    """The polynomial kernel, k(x, z) = (offset + sum_k x_k z_k / l_k^2)^degree.

    Parameters
    ----------
    degree : int
        At least 1. Not a hyperparameter: it is never selected.
    offset : float
        Not negative. With 0, all terms have the full degree.
    length_scale : float, array-like of shape (d,), or "auto"
    offset_bounds, length_scale_bounds : pair of floats, "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import Polynomial
    >>> Polynomial(2)([[1.0], [3.0]])
    array([[  4.,  16.],
           [ 16., 100.]])
    """

    _hyper = ("offset", "length_scale")
    _by_column = ("length_scale",)
    _may_be_zero = ("offset",)

    def __init__(
        self,
        degree: int = 2,
        offset: float = 1.0,
        length_scale: float | ArrayLike = 1.0,
        offset_bounds: Bounds = "auto",
        length_scale_bounds: Bounds = "auto",
    ) -> None:
        self.degree = degree
        self.offset = offset
        self.length_scale = length_scale
        self.offset_bounds = offset_bounds
        self.length_scale_bounds = length_scale_bounds
        self._check()

    def _check(self) -> None:
        super()._check()
        if isinstance(self.degree, bool) or not isinstance(self.degree, int | np.integer) or not 1 <= self.degree <= 100:
            raise ValueError(f"degree: expected a whole number from 1 to 100, got {self.degree!r}")

    def _build(self) -> _core.Kernel:
        return _core.polynomial(self._number("offset"), int(self.degree), self._numbers("length_scale"))


class Linear(ScaledLeaf):
    """The linear kernel without a constant, k(x, z) = sum_k x_k z_k / l_k^2.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,), or "auto"
    length_scale_bounds : pair of floats, array-like of shape (d, 2), "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import Linear
    >>> Linear([1.0, 2.0])([[1.0, 2.0], [3.0, 0.0]])
    array([[2., 3.],
           [3., 9.]])
    """

    def _build(self) -> _core.Kernel:
        return _core.polynomial(0.0, 1, self._numbers("length_scale"))

"""Kernels of the inner product of points."""

from __future__ import annotations

import warnings
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Vector
from kernsel._base.errors import NotPositiveSemidefiniteWarning
from kernsel.kernels.automatic import Data
from kernsel.kernels.hyperparameter import Bounds, Parameter, numbers
from kernsel.kernels.leaf import Leaf, ScaledLeaf, value_of

__all__ = ["ArcCosine", "Brownian", "DotProduct", "Linear", "Polynomial", "QuadraticForm", "RadialPair", "Sigmoid"]


class ProductLeaf(ScaledLeaf):
    """A kernel whose only hyperparameters are length scales of inner products."""

    _hyper: ClassVar = {"length_scale": "size"}


class DotProduct(Leaf):
    """The linear kernel, k(x, z) = sigma_0^2 + x'z, or sigma_0^2 + sum_k x_k z_k / l_k^2.

    Parameters
    ----------
    sigma_0 : float
        The standard deviation of the constant term; 0 for functions through the origin.
    sigma_0_bounds : pair of floats, "fixed" or "auto"
    length_scale : float, array-like of shape (d,), "auto" or None
        None, as in scikit-learn, leaves the points as they are.
    length_scale_bounds : pair of floats, array-like of shape (d, 2), "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import DotProduct
    >>> DotProduct(1.0)([[1.0, 2.0], [3.0, 0.0]])
    array([[ 6.,  4.],
           [ 4., 10.]])
    """

    _hyper: ClassVar = {"sigma_0": "norm", "length_scale": "size"}
    _by_column = ("length_scale",)
    _may_be_zero = ("sigma_0",)
    _may_be_none = ("length_scale",)

    def __init__(
        self,
        sigma_0: float | str | Parameter = 1.0,
        sigma_0_bounds: Bounds = "auto",
        length_scale: float | ArrayLike | Parameter | None = None,
        length_scale_bounds: Bounds = "auto",
    ) -> None:
        self.sigma_0 = sigma_0
        self.sigma_0_bounds = sigma_0_bounds
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self._check()

    def build(self) -> _core.Kernel:
        return _core.dot_product(self.number("sigma_0"), self.numbers("length_scale"))

    def _of_features(self) -> bool:
        return self._has_one_scale()

    def _of_inner_product(self) -> bool:
        return True

    def _rule(self, name: str) -> str:
        """Return for sigma_0 the rule that suits inner products of points that are scaled, or not."""
        return "ratio" if name == "sigma_0" and self.length_scale is not None else super()._rule(name)


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

    _hyper: ClassVar = {"offset": "ratio", "length_scale": "size"}
    _by_column = ("length_scale",)
    _may_be_zero = ("offset",)

    def __init__(
        self,
        degree: int = 2,
        offset: float | str | Parameter = 1.0,
        length_scale: float | ArrayLike | Parameter = 1.0,
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

    def build(self) -> _core.Kernel:
        return _core.polynomial(self.number("offset"), int(self.degree), self.numbers("length_scale"))

    def _of_features(self) -> bool:
        return self._has_one_scale()

    def _of_inner_product(self) -> bool:
        return True


class Linear(ProductLeaf):
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

    def build(self) -> _core.Kernel:
        return _core.polynomial(0.0, 1, self.numbers("length_scale"))

    def _of_features(self) -> bool:
        return self._has_one_scale()

    def _of_inner_product(self) -> bool:
        return True


class Sigmoid(Leaf):
    """The sigmoid kernel, k(x, z) = tanh(offset + sum_k x_k z_k / l_k^2), which is **not** positive semidefinite.

    Matrices of it need not have a Cholesky factor, and regularization by their quadratic form means little: it is here for
    comparison with older work. See :class:`ArcCosine` for a kernel of neural networks.

    Parameters
    ----------
    offset : float
        May be negative: its entry of `theta` is the offset itself.
    length_scale : float, array-like of shape (d,), or "auto"
    offset_bounds, length_scale_bounds : pair of floats, "fixed" or "auto"

    Warns
    -----
    NotPositiveSemidefiniteWarning
        When it is constructed.

    Examples
    --------
    >>> import warnings
    >>> from kernsel.kernels import Sigmoid
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     k = Sigmoid(-1.0)
    >>> k([[1.0], [2.0]]).round(4)
    array([[0.    , 0.7616],
           [0.7616, 0.9951]])
    """

    _hyper: ClassVar = {"offset": "signed", "length_scale": "size"}
    _by_column = ("length_scale",)
    _signed = ("offset",)

    def __init__(
        self,
        offset: float | str | Parameter = 0.0,
        length_scale: float | ArrayLike | Parameter = 1.0,
        offset_bounds: Bounds = "auto",
        length_scale_bounds: Bounds = "auto",
    ) -> None:
        self.offset = offset
        self.length_scale = length_scale
        self.offset_bounds = offset_bounds
        self.length_scale_bounds = length_scale_bounds
        self._check()
        warnings.warn(
            "Sigmoid is not positive semidefinite: its matrices need not have a Cholesky factor",
            NotPositiveSemidefiniteWarning,
            stacklevel=2,
        )

    def build(self) -> _core.Kernel:
        return _core.sigmoid(self.number("offset"), self.numbers("length_scale"))


class RadialPair(ProductLeaf):
    """The radial pair, k(x, z) = x'z + (|x| |z|)^2, of columns divided by length scales: the features x and |x|^2.

    A linear model in these features separates the inside of a circle from its outside.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,), or "auto"
    length_scale_bounds : pair of floats, array-like of shape (d, 2), "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import RadialPair
    >>> RadialPair()([[1.0, 0.0], [1.0, 1.0]])
    array([[2., 3.],
           [3., 6.]])
    """

    def build(self) -> _core.Kernel:
        return _core.radial_pair(self.numbers("length_scale"))


class ArcCosine(Leaf):
    """The arc-cosine kernel of order n: a network of one infinitely wide layer, of steps, ramps or squared ramps.

    With u = offset + sum_k x_k^2 / l_k^2, v the same of z, and t the angle between the two, offset included:
    (u v)^(n/2) J_n(t) / pi, where J_0 = pi - t, J_1 = sin t + (pi - t) cos t, J_2 = 3 sin t cos t + (pi - t)(1 + 2 cos^2 t).

    Parameters
    ----------
    order : {0, 1, 2}
        Not a hyperparameter: it is never selected.
    offset : float
        The variance of the biases; not negative. With 0, k(0, z) = 0.
    length_scale : float, array-like of shape (d,), or "auto"
    offset_bounds, length_scale_bounds : pair of floats, "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import ArcCosine
    >>> ArcCosine(1)([[0.0], [1.0]]).round(4)
    array([[1.    , 1.0683],
           [1.0683, 2.    ]])
    """

    _hyper: ClassVar = {"offset": "ratio", "length_scale": "size"}
    _by_column = ("length_scale",)
    _may_be_zero = ("offset",)

    def __init__(
        self,
        order: int = 1,
        offset: float | str | Parameter = 1.0,
        length_scale: float | ArrayLike | Parameter = 1.0,
        offset_bounds: Bounds = "auto",
        length_scale_bounds: Bounds = "auto",
    ) -> None:
        self.order = order
        self.offset = offset
        self.length_scale = length_scale
        self.offset_bounds = offset_bounds
        self.length_scale_bounds = length_scale_bounds
        self._check()

    def _check(self) -> None:
        super()._check()
        if isinstance(self.order, bool) or self.order not in (0, 1, 2):
            raise ValueError(f"order: expected 0, 1 or 2, got {self.order!r}")

    def build(self) -> _core.Kernel:
        return _core.arc_cosine(int(self.order), self.number("offset"), self.numbers("length_scale"))


class Brownian(Leaf):
    """The kernel of Brownian motion, k(x, z) = min(x, z): of the Brownian sheet, prod_k min(x_k, z_k), for several columns.

    Motion starts at 0 and goes both ways: of negative numbers the one nearer to 0 counts, and where signs differ k is 0. As a
    function of points it has kinks; where two are equal, its derivative is the mean of both sides.

    Examples
    --------
    >>> from kernsel.kernels import Brownian
    >>> Brownian()([[1.0], [2.0], [-3.0]])
    array([[1., 1., 0.],
           [1., 2., 0.],
           [0., 0., 3.]])
    """

    _hyper: ClassVar = {}

    def __init__(self) -> None:
        pass

    def build(self) -> _core.Kernel:
        return _core.brownian()


class QuadraticForm(Leaf):
    """The kernel of a quadratic form, k(x, z) = x'Az with A = B'B: a linear kernel with a metric that can be learned.

    Parameters
    ----------
    B : array-like of shape (r, d), or "auto"
        Its entries may have any sign, and are hyperparameters, row by row: their entries of `theta` are the numbers
        themselves. "auto" is diagonal.
    B_bounds : pair of floats, array-like of shape (r * d, 2), "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import QuadraticForm
    >>> QuadraticForm([[1.0, -1.0]])([[1.0, 0.0], [0.0, 2.0]])
    array([[ 1., -2.],
           [-2.,  4.]])
    """

    _hyper: ClassVar = {"B": "signed"}
    _signed = ("B",)

    def __init__(self, B: ArrayLike | Parameter = "auto", B_bounds: Bounds = "auto") -> None:
        self.B = B
        self.B_bounds = B_bounds
        self._check()

    def _check_value(self, name: str, value: object) -> None:
        check_matrix(name, value)

    def resolve(self, data: Data) -> Self:
        resolved = self.replaced(**resolved_matrix(self, "B", 1 / data.sizes))
        data.note("signed", int(np.size(value_of(resolved.B))))
        return resolved

    def build(self) -> _core.Kernel:
        B = numbers(self.B, "B", positive=False)
        return _core.quadratic_form(B.ravel().tolist(), len(B))


def check_matrix(name: str, value: object) -> None:
    """Raise unless `value` is a matrix of finite numbers, or "auto"."""
    if isinstance(value, str) and value == "auto":
        return
    shape = numbers(value, name, positive=False).shape
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f'{name}: expected a matrix with one column for each column of X, or "auto", got {value!r}')


def resolved_matrix(kernel: Leaf, name: str, scale: Vector) -> dict[str, object]:
    """Return a matrix and its bounds, "auto" ones resolved: diag(scale) / sqrt(d), and entries up to 1000 times the scale."""
    argument, bounds = getattr(kernel, name), kernel.bounds_of(name)
    value = value_of(argument)
    if isinstance(value, str):
        value = np.diag(scale / len(scale) ** 0.5)
    if isinstance(bounds, str) and bounds == "auto":
        limits = np.tile(1000 * scale, len(np.asarray(value)))
        bounds = np.column_stack([-limits, limits])
    if isinstance(argument, Parameter):
        return {name: argument.replaced(value, bounds)}
    return {name: value, f"{name}_bounds": bounds}

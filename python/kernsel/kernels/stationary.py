"""Kernels of the distance between points.

Throughout, r^2 = sum_k (x_k - z_k)^2 / l_k^2 with one length scale l for all columns, or one for each. Distances are direct
differences: never negative, exactly zero between equal points, correct for data far from the origin and in any unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel.kernels.leaf import Bounds, Leaf, ScaledLeaf

__all__ = ["RBF", "Cosine", "ExpSineSquared", "Exponential", "Matern", "RationalQuadratic", "Wendland"]


class RBF(ScaledLeaf):
    """The squared exponential kernel, k(x, z) = exp(-r^2 / 2).

    Functions of this kernel are infinitely smooth.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,), or "auto"
        One length scale, or one for each column. "auto" takes, when an estimator is fitted, the standard deviation of
        each column times the square root of the number of columns.
    length_scale_bounds : pair of floats, array-like of shape (d, 2), "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import RBF
    >>> RBF(2.0)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    def _build(self) -> _core.Kernel:
        return _core.rbf(self._numbers("length_scale"))


class Exponential(ScaledLeaf):
    """The exponential kernel, k(x, z) = exp(-r): Matern with nu = 1/2.

    Functions of this kernel are continuous and nowhere differentiable.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,), or "auto"
    length_scale_bounds : pair of floats, array-like of shape (d, 2), "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import Exponential
    >>> Exponential(2.0)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    def _build(self) -> _core.Kernel:
        return _core.exponential(self._numbers("length_scale"))


class Matern(Leaf):
    """The Matern kernel of smoothness nu.

    exp(-r) for nu = 1/2; (1 + a) exp(-a), a = 3^(1/2) r, for 3/2; (1 + a + a^2/3) exp(-a), a = 5^(1/2) r, for 5/2;
    exp(-r^2/2) for infinity. Functions of it are differentiable as often as there are whole numbers below nu.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,), or "auto"
    length_scale_bounds : pair of floats, array-like of shape (d, 2), "fixed" or "auto"
    nu : {0.5, 1.5, 2.5, inf}
        Not a hyperparameter: it is never selected.
    product : bool
        False for the kernel of the distance r, as in scikit-learn; True for the product over the columns of kernels of one
        column each, as in kriging. Both are the same for nu = inf.

    Examples
    --------
    >>> from kernsel.kernels import Matern
    >>> Matern(1.0, nu=2.5)([[0.0], [1.0]]).round(4)
    array([[1.   , 0.524],
           [0.524, 1.   ]])
    """

    _hyper = ("length_scale",)
    _by_column = ("length_scale",)

    def __init__(
        self,
        length_scale: float | ArrayLike = 1.0,
        length_scale_bounds: Bounds = "auto",
        nu: float = 1.5,
        product: bool = False,
    ) -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self.nu = nu
        self.product = product
        self._check()

    def _check(self) -> None:
        super()._check()
        if not isinstance(self.nu, int | float | np.number) or float(self.nu) not in (0.5, 1.5, 2.5, np.inf):
            raise ValueError(f"nu: expected 0.5, 1.5, 2.5 or inf, got {self.nu!r}")
        if not isinstance(self.product, bool | np.bool_):
            raise TypeError(f"product: expected True or False, got {self.product!r}")

    def _build(self) -> _core.Kernel:
        if self.product and self.nu != np.inf:
            return _core.product_matern(float(self.nu), self._numbers("length_scale"))
        makers: dict[float, Any] = {0.5: _core.exponential, 1.5: _core.matern32, 2.5: _core.matern52, np.inf: _core.rbf}
        kernel: _core.Kernel = makers[float(self.nu)](self._numbers("length_scale"))
        return kernel


class RationalQuadratic(Leaf):
    """The rational quadratic kernel, k(x, z) = (1 + r^2 / (2 alpha))^-alpha.

    A mixture of squared exponential kernels of many length scales; the larger alpha, the fewer.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,), or "auto"
    alpha : float
    length_scale_bounds, alpha_bounds : pair of floats, "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import RationalQuadratic
    >>> RationalQuadratic(1.0, alpha=0.5)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.7071],
           [0.7071, 1.    ]])
    """

    _hyper = ("alpha", "length_scale")
    _by_column = ("length_scale",)

    def __init__(
        self,
        length_scale: float | ArrayLike = 1.0,
        alpha: float = 1.0,
        length_scale_bounds: Bounds = "auto",
        alpha_bounds: Bounds = "auto",
    ) -> None:
        self.length_scale = length_scale
        self.alpha = alpha
        self.length_scale_bounds = length_scale_bounds
        self.alpha_bounds = alpha_bounds
        self._check()

    def _build(self) -> _core.Kernel:
        return _core.rational_quadratic(self._number("alpha"), self._numbers("length_scale"))


class ExpSineSquared(Leaf):
    """The periodic kernel, k(x, z) = exp(-2 sin(pi r)^2 / length_scale^2), r the distance in periods.

    Positive semidefinite for points of one column; for more than one, use a product of kernels, each
    :meth:`~kernsel.kernels.Kernel.on` one column.

    Parameters
    ----------
    length_scale : float
        The smaller, the more a function may do within a period.
    periodicity : float or array-like of shape (d,)
    length_scale_bounds, periodicity_bounds : pair of floats, "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import ExpSineSquared
    >>> ExpSineSquared(1.0, periodicity=12.0)([[0.0], [6.0], [12.0]]).round(4)
    array([[1.    , 0.1353, 1.    ],
           [0.1353, 1.    , 0.1353],
           [1.    , 0.1353, 1.    ]])
    """

    _hyper = ("length_scale", "periodicity")
    _by_column = ("periodicity",)

    def __init__(
        self,
        length_scale: float = 1.0,
        periodicity: float | ArrayLike = 1.0,
        length_scale_bounds: Bounds = "auto",
        periodicity_bounds: Bounds = "auto",
    ) -> None:
        self.length_scale = length_scale
        self.periodicity = periodicity
        self.length_scale_bounds = length_scale_bounds
        self.periodicity_bounds = periodicity_bounds
        self._check()

    def _build(self) -> _core.Kernel:
        return _core.periodic(self._number("length_scale"), self._numbers("periodicity"))


class Cosine(Leaf):
    """The cosine kernel, k(x, z) = cos(2 pi sum_k (x_k - z_k) / periodicity_k).

    A single frequency. Of signed differences, not of the distance: so it is positive semidefinite for any number of columns.
    Its matrices have rank 2.

    Parameters
    ----------
    periodicity : float, array-like of shape (d,), or "auto"
    periodicity_bounds : pair of floats, array-like of shape (d, 2), "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import Cosine
    >>> Cosine(4.0)([[0.0], [1.0], [2.0]]).round(4) + 0.0
    array([[ 1.,  0., -1.],
           [ 0.,  1.,  0.],
           [-1.,  0.,  1.]])
    """

    _hyper = ("periodicity",)
    _by_column = ("periodicity",)

    def __init__(self, periodicity: float | ArrayLike = 1.0, periodicity_bounds: Bounds = "auto") -> None:
        self.periodicity = periodicity
        self.periodicity_bounds = periodicity_bounds
        self._check()

    def _build(self) -> _core.Kernel:
        return _core.cosine(self._numbers("periodicity"))


class Wendland(Leaf):
    """Wendland's kernel of compact support: zero from r = 1 on, polynomial before.

    With j = floor(d / 2) + smoothness + 1 for points of d columns, (1 - r)^j for smoothness 0,
    (1 - r)^(j+1) (1 + (j+1) r) for 1, and (1 - r)^(j+2) (1 + (j+2) r + (j+1)(j+3)/3 r^2) for 2. Positive definite in that
    many columns. Matrices are stored dense: the factor of a sparse one fills up, except where hardly any points are
    neighbours.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,), or "auto"
        The radius of the support.
    length_scale_bounds : pair of floats, array-like of shape (d, 2), "fixed" or "auto"
    smoothness : {0, 1, 2}
        How often functions of this kernel can be differentiated. Not a hyperparameter: it is never selected.

    Examples
    --------
    >>> from kernsel.kernels import Wendland
    >>> Wendland(2.0, smoothness=1)([[0.0], [1.0], [2.0]])
    array([[1.    , 0.3125, 0.    ],
           [0.3125, 1.    , 0.3125],
           [0.    , 0.3125, 1.    ]])
    """

    _hyper = ("length_scale",)
    _by_column = ("length_scale",)

    def __init__(
        self, length_scale: float | ArrayLike = 1.0, length_scale_bounds: Bounds = "auto", smoothness: int = 1
    ) -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self.smoothness = smoothness
        self._check()

    def _check(self) -> None:
        super()._check()
        if isinstance(self.smoothness, bool) or self.smoothness not in (0, 1, 2):
            raise ValueError(f"smoothness: expected 0, 1 or 2, got {self.smoothness!r}")

    def _build(self) -> _core.Kernel:
        return _core.wendland(int(self.smoothness), self._numbers("length_scale"))

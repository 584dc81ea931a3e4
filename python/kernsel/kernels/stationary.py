"""Kernels of the distance between points.

Throughout, r^2 = sum_k (x_k - z_k)^2 / l_k^2 with one length scale l for all columns, or one for each. Distances are direct
differences: never negative, exactly zero between equal points, correct for data far from the origin and in any unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Matrix
from kernsel.kernels.automatic import Data
from kernsel.kernels.base import Kernel
from kernsel.kernels.hyperparameter import Bounds, Hyperparameter, Parameter, numbers
from kernsel.kernels.leaf import Leaf, ScaledLeaf, value_of

__all__ = ["RBF", "Cosine", "ExpSineSquared", "Exponential", "Matern", "RationalQuadratic", "SpectralMixture", "Wendland"]


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

    def build(self) -> _core.Kernel:
        return _core.rbf(self.numbers("length_scale"))

    def _of_features(self) -> bool:
        return self._has_one_scale()

    def _divisible(self) -> bool:
        return True


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

    def build(self) -> _core.Kernel:
        return _core.exponential(self.numbers("length_scale"))

    def _of_features(self) -> bool:
        return self._has_one_scale()

    def _divisible(self) -> bool:
        return True


class Matern(Leaf):
    """The Matern kernel of smoothness nu.

    k(x, z) = 2^(1-nu) / Gamma(nu) a^nu K_nu(a), a = (2 nu)^(1/2) r, K_nu the modified Bessel function. Which is exp(-r) for
    nu = 1/2; (1 + a) exp(-a) for 3/2; (1 + a + a^2/3) exp(-a) for 5/2; exp(-r^2/2) for infinity: these are fastest. Any
    other is read from a table that is made when it is first used, in some 20 ms, and as accurate. Functions of this kernel are
    differentiable as often as there are whole numbers below nu.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,), or "auto"
    length_scale_bounds : pair of floats, array-like of shape (d, 2), "fixed" or "auto"
    nu : float
        From 1e-6 to 100, or infinity. Not a hyperparameter: it is never selected.
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

    _hyper: ClassVar = {"length_scale": "length"}
    _by_column = ("length_scale",)
    _always_shown = ("nu",)

    def __init__(
        self,
        length_scale: float | ArrayLike | Parameter = 1.0,
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
        if not isinstance(self.nu, Real) or isinstance(self.nu, bool) or not (1e-6 <= self.nu <= 100 or self.nu == np.inf):
            raise ValueError(f"nu: expected a number from 1e-6 to 100, or inf, got {self.nu!r}")
        if not isinstance(self.product, bool | np.bool_):
            raise TypeError(f"product: expected True or False, got {self.product!r}")

    def build(self) -> _core.Kernel:
        make = _core.product_matern if self.product else _core.matern
        return make(float(self.nu), self.numbers("length_scale"))

    def _of_features(self) -> bool:
        return not self.product and self.nu in (0.5, 1.5, 2.5, np.inf) and self._has_one_scale()

    def _divisible(self) -> bool:
        return True  # the characteristic function of Student's t, which is infinitely divisible


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

    _hyper: ClassVar = {"alpha": "ratio", "length_scale": "length"}
    _by_column = ("length_scale",)

    def __init__(
        self,
        length_scale: float | ArrayLike | Parameter = 1.0,
        alpha: float | str | Parameter = 1.0,
        length_scale_bounds: Bounds = "auto",
        alpha_bounds: Bounds = "auto",
    ) -> None:
        self.length_scale = length_scale
        self.alpha = alpha
        self.length_scale_bounds = length_scale_bounds
        self.alpha_bounds = alpha_bounds
        self._check()

    def build(self) -> _core.Kernel:
        return _core.rational_quadratic(self.number("alpha"), self.numbers("length_scale"))

    def _of_features(self) -> bool:
        return self._has_one_scale()

    def _divisible(self) -> bool:
        return True


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

    _hyper: ClassVar = {"length_scale": "ratio", "periodicity": "period"}
    _by_column = ("periodicity",)

    def __init__(
        self,
        length_scale: float | str | Parameter = 1.0,
        periodicity: float | ArrayLike | Parameter = 1.0,
        length_scale_bounds: Bounds = "auto",
        periodicity_bounds: Bounds = "auto",
    ) -> None:
        self.length_scale = length_scale
        self.periodicity = periodicity
        self.length_scale_bounds = length_scale_bounds
        self.periodicity_bounds = periodicity_bounds
        self._check()

    def build(self) -> _core.Kernel:
        return _core.periodic(self.number("length_scale"), self.numbers("periodicity"))

    def _divisible(self) -> bool:
        return True


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

    _hyper: ClassVar = {"periodicity": "period"}
    _by_column = ("periodicity",)

    def __init__(self, periodicity: float | ArrayLike | Parameter = 1.0, periodicity_bounds: Bounds = "auto") -> None:
        self.periodicity = periodicity
        self.periodicity_bounds = periodicity_bounds
        self._check()

    def build(self) -> _core.Kernel:
        return _core.cosine(self.numbers("periodicity"))


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

    _hyper: ClassVar = {"length_scale": "length"}
    _by_column = ("length_scale",)

    def __init__(
        self, length_scale: float | ArrayLike | Parameter = 1.0, length_scale_bounds: Bounds = "auto", smoothness: int = 1
    ) -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self.smoothness = smoothness
        self._check()

    def _check(self) -> None:
        super()._check()
        if isinstance(self.smoothness, bool) or self.smoothness not in (0, 1, 2):
            raise ValueError(f"smoothness: expected 0, 1 or 2, got {self.smoothness!r}")

    def build(self) -> _core.Kernel:
        return _core.wendland(int(self.smoothness), self.numbers("length_scale"))


class SpectralMixture(Leaf):
    """A mixture of Gaussians as spectral density: sum_q w_q exp(-r_q^2 / 2) cos(2 pi sum_k (x_k - z_k) / p_qk).

    Component q has the weight w_q, length scales and periods; its frequencies lie around 1/p_q, the further the smaller its
    length scales. With enough components, close to any stationary kernel.

    Parameters
    ----------
    weights : array-like of shape (q,), or "auto"
        Variances.
    length_scale, periodicity : array-like of shape (q,) or (q, d), or "auto"
    weights_bounds, length_scale_bounds, periodicity_bounds : pair of floats, "fixed" or "auto"
    n_components : int, optional
        How many "auto" makes.

    Examples
    --------
    >>> from kernsel.kernels import SpectralMixture
    >>> SpectralMixture([1.0, 0.5], [5.0, 8.0], [2.0, 3.0])([[0.0], [1.0]]).round(4)
    array([[ 1.5   , -1.2283],
           [-1.2283,  1.5   ]])
    """

    _hyper: ClassVar = {"weights": "variance", "length_scale": "length", "periodicity": "period"}

    def __init__(
        self,
        weights: ArrayLike | Parameter = "auto",
        length_scale: ArrayLike | Parameter = "auto",
        periodicity: ArrayLike | Parameter = "auto",
        weights_bounds: Bounds = "auto",
        length_scale_bounds: Bounds = "auto",
        periodicity_bounds: Bounds = "auto",
        n_components: int = 4,
    ) -> None:
        self.weights = weights
        self.length_scale = length_scale
        self.periodicity = periodicity
        self.weights_bounds = weights_bounds
        self.length_scale_bounds = length_scale_bounds
        self.periodicity_bounds = periodicity_bounds
        self.n_components = n_components
        self._check()

    def _check(self) -> None:
        super()._check()
        count = self.n_components
        if not isinstance(count, int | np.integer) or isinstance(count, bool) or not 1 <= count <= 1000:
            raise ValueError(f"n_components: expected a whole number from 1 to 1000, got {count!r}")
        shapes = {np.shape(value)[:1] for name in self._hyper if not isinstance(value := value_of(getattr(self, name)), str)}
        if len(shapes) > 1:
            raise ValueError(
                "weights, length_scale and periodicity: expected one for each component, got shapes "
                + ", ".join(str(np.shape(value_of(getattr(self, name)))) for name in self._hyper)
            )

    def _check_value(self, name: str, value: object) -> None:
        if isinstance(value, str):
            return super()._check_value(name, value)
        shape = numbers(value, name).shape
        if len(shape) not in ((1,) if name == "weights" else (1, 2)) or 0 in shape:
            raise ValueError(f"{name}: expected one number for each component, got {value!r}")
        return None

    def components(self) -> list[tuple[list[float], list[float]]]:
        """Return the length scales and the periods of each component, one number or one for each column."""
        scales, periods = (np.asarray(numbers(getattr(self, name), name)) for name in ("length_scale", "periodicity"))
        return [(np.atleast_1d(a).tolist(), np.atleast_1d(b).tolist()) for a, b in zip(scales, periods, strict=True)]

    def build(self) -> _core.Kernel:
        scales, periods = zip(*self.components(), strict=True)
        return _core.spectral_mixture(self.numbers("weights"), list(scales), list(periods))

    def core_order(self) -> list[int]:
        counts = [np.size(value) for _, value in self.own()]
        q = counts[0]
        columns = np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1])
        return np.hstack([part.reshape(q, -1) for part in columns]).ravel().tolist()

    def own(self) -> Iterator[tuple[Hyperparameter, ArrayLike]]:
        for h, value in super().own():
            if isinstance(value, str):  # "auto", for each component
                yield Hyperparameter(h.name, h.bounds, self.n_components, True, h.prior, h.tie), value
            else:
                yield h, value

    def resolve(self, data: Data) -> Kernel:
        """Start from the period that fits best, and others between twice the spacing and the range."""
        q = self.n_components
        for name in self._hyper:
            if not isinstance(value := value_of(getattr(self, name)), str):
                q = len(np.asarray(value))
        for rule, columns in (("variance", 1), ("length", data.X.shape[1]), ("period", data.X.shape[1])):
            data.note(rule, q * columns)
        starts: dict[str, Matrix] = {"weights": np.full(q, data.variance / q)}
        period, length = data.proposal("period"), data.proposal("length")
        spread = np.geomspace(1.0, 0.1, q)[:, None] if q > 1 else np.ones((1, 1))
        periods = np.maximum(np.asarray(period.upper) * 0.5 * spread, period.lower)
        periods[0] = period.start
        starts["periodicity"] = periods
        starts["length_scale"] = np.broadcast_to(np.asarray(length.start), periods.shape).copy()
        limits = {"weights": data.proposal("variance"), "length_scale": length, "periodicity": period}
        changed: dict[str, object] = {}
        for name in self._hyper:
            argument, bounds = getattr(self, name), self.bounds_of(name)
            value = starts[name] if isinstance(value_of(argument), str) else value_of(argument)
            if isinstance(bounds, str) and bounds == "auto":
                columns = np.shape(value)[1] if np.ndim(value) == 2 else 1
                bounds = limits[name].bounds(columns, columns > 1)
                bounds = np.tile(bounds, (q, 1)) if columns > 1 else bounds
            if isinstance(argument, Parameter):
                changed[name] = argument.replaced(value, bounds)
            else:
                changed |= {name: value, f"{name}_bounds": bounds}
        return self.replaced(**changed)

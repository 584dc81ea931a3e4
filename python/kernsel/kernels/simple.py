"""Kernels that do not depend on the distance or the inner product of points: constants and noise."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import PointFunction, Vector
from kernsel.kernels.hyperparameter import Bounds, Parameter
from kernsel.kernels.leaf import Leaf

__all__ = ["ConstantKernel", "HeteroscedasticNoise", "WhiteKernel"]


class ConstantKernel(Leaf):
    """The constant kernel, k(x, z) = constant_value; as a factor, the variance of what it multiplies.

    Parameters
    ----------
    constant_value : float
        Positive.
    constant_value_bounds : pair of floats, "fixed" or "auto"
    """

    _hyper: ClassVar = {"constant_value": "variance"}
    _sees_points = False

    def __init__(self, constant_value: float | str | Parameter = 1.0, constant_value_bounds: Bounds = "auto") -> None:
        self.constant_value = constant_value
        self.constant_value_bounds = constant_value_bounds
        self._check()

    def build(self) -> _core.Kernel:
        return _core.constant(self.number("constant_value"))

    def _divisible(self) -> bool:
        return True


class WhiteKernel(Leaf):
    """White noise: k(x, x) = noise_level for a point against itself, zero otherwise.

    k(X) has `noise_level` on its diagonal; k(X, Z) is zero, whatever X and Z are.

    Parameters
    ----------
    noise_level : float
        Positive: a variance.
    noise_level_bounds : pair of floats, "fixed" or "auto"
    """

    _hyper: ClassVar = {"noise_level": "noise"}
    _sees_points = False

    def __init__(self, noise_level: float | str | Parameter = 1.0, noise_level_bounds: Bounds = "auto") -> None:
        self.noise_level = noise_level
        self.noise_level_bounds = noise_level_bounds
        self._check()

    def build(self) -> _core.Kernel:
        return _core.white(self.number("noise_level"))


class HeteroscedasticNoise(Leaf):
    """Noise of a variance that differs from point to point: k(x, x) = noise_level v(x) for a point against itself, else zero.

    Parameters
    ----------
    variances : callable or array-like of shape (n,)
        v: either a function of points, (n, d) to (n,), not negative; or its values at the training points, with which the
        kernel can be evaluated on as many points only.
    noise_level : float
        Positive; "fixed" by default, so that the variances are what they are.
    noise_level_bounds : pair of floats, "fixed" or "auto"

    Examples
    --------
    >>> from kernsel.kernels import RBF, HeteroscedasticNoise
    >>> k = RBF(1.0) + HeteroscedasticNoise(lambda X: 0.1 + X[:, 0])
    >>> k.diag([[0.0], [1.0], [2.0]])
    array([1.1, 2.1, 3.1])
    """

    _hyper: ClassVar = {"noise_level": "ratio"}

    def __init__(
        self,
        variances: PointFunction | ArrayLike,
        noise_level: float | str | Parameter = 1.0,
        noise_level_bounds: Bounds = "fixed",
    ) -> None:
        self.variances = variances
        self.noise_level = noise_level
        self.noise_level_bounds = noise_level_bounds
        self._check()

    def _check(self) -> None:
        super()._check()
        if callable(self.variances):
            return
        try:
            values = np.asarray(self.variances, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"variances: expected a function or an array of numbers, got {self.variances!r}") from None
        if values.ndim != 1 or not np.isfinite(values).all() or (values < 0).any():
            raise ValueError(f"variances: expected finite numbers that are not negative, one for each point, got {values!r}")

    def build(self) -> _core.Kernel:
        variances = self.variances
        function = variances if callable(variances) else lambda X: self._values(len(X))
        return _core.noise(self.number("noise_level"), function)

    def _values(self, n: int) -> Vector:
        """Return the variances of the training points; raise if there are not n."""
        values = np.asarray(self.variances, dtype=np.float64)
        if len(values) != n:
            raise ValueError(f"variances: expected one for each of {n} points, got {len(values)}; a function fits any points")
        return values

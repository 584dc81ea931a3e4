"""Kernels that hardly look at the points."""

from __future__ import annotations

from kernsel import _core
from kernsel.kernels.leaf import Bounds, Leaf

__all__ = ["ConstantKernel", "WhiteKernel"]


class ConstantKernel(Leaf):
    """The constant kernel, k(x, z) = constant_value; as a factor, the variance of what it multiplies.

    Parameters
    ----------
    constant_value : float
        Positive.
    constant_value_bounds : pair of floats, "fixed" or "auto"
    """

    _hyper = ("constant_value",)

    def __init__(self, constant_value: float = 1.0, constant_value_bounds: Bounds = "auto") -> None:
        self.constant_value = constant_value
        self.constant_value_bounds = constant_value_bounds
        self._check()

    def _build(self) -> _core.Kernel:
        return _core.constant(self._number("constant_value"))


class WhiteKernel(Leaf):
    """White noise: k(x, x) = noise_level for a point against itself, zero otherwise.

    k(X) has `noise_level` on its diagonal; k(X, Z) is zero, whatever X and Z are.

    Parameters
    ----------
    noise_level : float
        Positive: a variance.
    noise_level_bounds : pair of floats, "fixed" or "auto"
    """

    _hyper = ("noise_level",)

    def __init__(self, noise_level: float = 1.0, noise_level_bounds: Bounds = "auto") -> None:
        self.noise_level = noise_level
        self.noise_level_bounds = noise_level_bounds
        self._check()

    def _build(self) -> _core.Kernel:
        return _core.white(self._number("noise_level"))

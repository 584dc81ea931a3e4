"""Kernels of scikit-learn as kernels of ours."""

from __future__ import annotations

from typing import Any

from sklearn.gaussian_process import kernels as sk

from kernsel.kernels.base import Kernel

__all__ = ["from_sklearn"]


def from_sklearn(kernel: sk.Kernel) -> Kernel:
    """Return the same kernel as one of ours: values, gradients, `theta`, bounds and what is fixed.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        Also accepted wherever kernels are combined.

    Returns
    -------
    kernel : Kernel

    Examples
    --------
    >>> from sklearn.gaussian_process import kernels as sk
    >>> from kernsel.kernels import from_sklearn
    >>> from_sklearn(sk.RBF(0.5) + sk.WhiteKernel(0.1, "fixed"))
    RBF(length_scale=0.5, length_scale_bounds=(1e-05, 100000.0)) + WhiteKernel(noise_level=0.1, noise_level_bounds='fixed')
    """
    from kernsel import kernels as ours

    if isinstance(kernel, sk.Exponentiation):
        return ours.Power(from_sklearn(kernel.kernel), kernel.exponent)
    if isinstance(kernel, sk.Sum):
        return ours.Sum(from_sklearn(kernel.k1), from_sklearn(kernel.k2))
    if isinstance(kernel, sk.Product):
        return ours.Product(from_sklearn(kernel.k1), from_sklearn(kernel.k2))
    same: dict[type, Any] = {
        sk.ConstantKernel: ours.ConstantKernel,
        sk.WhiteKernel: ours.WhiteKernel,
        sk.RBF: ours.RBF,
        sk.Matern: ours.Matern,
        sk.RationalQuadratic: ours.RationalQuadratic,
        sk.ExpSineSquared: ours.ExpSineSquared,
        sk.DotProduct: ours.DotProduct,
    }
    if type(kernel) not in same:
        raise TypeError(f"kernel: {type(kernel).__name__} has no counterpart in kernsel.kernels")
    converted: Kernel = same[type(kernel)](**kernel.get_params())
    return converted

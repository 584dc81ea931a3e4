"""The conversion of kernels to those of scikit-learn, as far as it has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernsel.kernels.algebra import Power, Product, Sum
from kernsel.kernels.base import Kernel
from kernsel.kernels.inner_product import DotProduct, Linear, Polynomial
from kernsel.kernels.leaf import Leaf
from kernsel.kernels.simple import ConstantKernel, WhiteKernel
from kernsel.kernels.stationary import RBF, Exponential, ExpSineSquared, Matern, RationalQuadratic

if TYPE_CHECKING:
    from sklearn.gaussian_process import kernels as sk

__all__ = ["to_sklearn"]

_SAME = (ConstantKernel, WhiteKernel, RBF, RationalQuadratic, ExpSineSquared, Matern, DotProduct)


def to_sklearn(kernel: Kernel) -> sk.Kernel:
    """Return the kernel of scikit-learn that has the same values: the inverse of :func:`from_sklearn`.

    Parameters
    ----------
    kernel : Kernel
        A sum, product or power of ``ConstantKernel``, ``WhiteKernel``, ``RBF``, ``Exponential``, ``Matern`` of the distance,
        ``RationalQuadratic``, ``ExpSineSquared``, ``DotProduct``, ``Linear`` and ``Polynomial``. In scikit-learn the squared
        exponential and Matern kernels alone have a length scale for each column.

    Returns
    -------
    kernel : sklearn.gaussian_process.kernels.Kernel
        With the same bounds. ``Exponential`` is a Matern kernel there, and ``Linear`` and ``Polynomial``, which have no
        counterparts, are made of its ``DotProduct``, whose hyperparameters are then fixed.

    Examples
    --------
    >>> from kernsel.kernels import RBF, Linear, to_sklearn
    >>> to_sklearn(2.0 * RBF([0.5, 1.0]) + Linear(2.0))
    1.41**2 * RBF(length_scale=[0.5, 1]) + 0.5**2 * DotProduct(sigma_0=0)
    """
    from sklearn.gaussian_process import kernels as sk

    if isinstance(kernel, Power):
        return sk.Exponentiation(to_sklearn(kernel.kernel), kernel.exponent)
    if isinstance(kernel, Sum | Product):
        first, pairs = kernel.chain()
        result = to_sklearn(first)
        for pair in pairs:
            result = (sk.Sum if isinstance(pair, Sum) else sk.Product)(result, to_sklearn(pair.k2))
        return result
    if type(kernel) is Exponential:
        return sk.Matern(**_arguments(kernel), nu=0.5)
    if isinstance(kernel, Linear | Polynomial):
        degree, offset = (kernel.degree, kernel.number("offset")) if isinstance(kernel, Polynomial) else (1, 0.0)
        length = _one_number(kernel, "length_scale")
        product = sk.DotProduct(offset**0.5 * length, "fixed")
        return sk.ConstantKernel(length ** (-2.0 * degree), "fixed") * (product if degree == 1 else product**degree)
    if not isinstance(kernel, Leaf) or type(kernel) not in _SAME:
        raise TypeError(f"kernel: scikit-learn has no {type(kernel).__name__}, which is part of what was given")
    if isinstance(kernel, Matern):
        if kernel.product and len(kernel.numbers("length_scale")) > 1 and not np.isinf(kernel.nu):
            raise TypeError("kernel: scikit-learn has no Matern(product=True), but that of the distance, Matern(product=False)")
        return sk.Matern(**_arguments(kernel), nu=kernel.nu)
    if isinstance(kernel, DotProduct) and kernel.numbers("length_scale"):
        raise TypeError("kernel: scikit-learn has no length scales of DotProduct; Linear has one, which it can express")
    return getattr(sk, type(kernel).__name__)(**_arguments(kernel))


def _arguments(kernel: Leaf) -> dict[str, Any]:
    """Return the values of all hyperparameters and their bounds, by the names that they have in scikit-learn, too."""
    arguments: dict[str, Any] = {}
    for one in kernel.hyperparameters:
        numbers = kernel.numbers(one.name)
        if numbers:  # DotProduct may have no length scale
            by_column = len(numbers) > 1 and isinstance(kernel, RBF | Exponential | Matern)
            arguments[one.name] = np.array(numbers) if by_column else _one_number(kernel, one.name)
            arguments[f"{one.name}_bounds"] = "fixed" if one.fixed else one.bounds if by_column else tuple(one.bounds[0])
    return arguments


def _one_number(kernel: Leaf, name: str) -> float:
    found = kernel.numbers(name)
    if len(set(found)) > 1:
        raise TypeError(f"kernel: scikit-learn has one {name} of {type(kernel).__name__} for all columns, got {found}")
    return found[0]

"""The conversion of scikit-learn's kernels to kernels of kernsel."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from kernsel._base.annotations import Matrix, PairFunction
from kernsel.kernels.base import Kernel

if TYPE_CHECKING:
    from sklearn.gaussian_process import kernels as sk

__all__ = ["from_sklearn", "is_of_sklearn"]


def is_of_sklearn(value: object, kind: str = "Kernel") -> bool:
    """Tell whether a value is a kernel of scikit-learn, or one of a class of them.

    Where scikit-learn's kernels have not been imported there are none, and they need not be imported to see it.
    """
    return isinstance(value, getattr(sys.modules.get("sklearn.gaussian_process.kernels"), kind, ()))


def from_sklearn(kernel: sk.Kernel) -> Kernel:
    """Return the kernel of kernsel that has the same values, gradients, `theta` and bounds as a kernel of scikit-learn.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        All but a CompoundKernel, which is a list of kernels. In sums and products it is converted when a kernel of kernsel is
        the left operand: scikit-learn's own ``+`` and ``*`` take their right operand for a number.

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
    from sklearn.gaussian_process import kernels as sk

    from kernsel import kernels as ours

    if isinstance(kernel, sk.ConstantKernel) and isinstance(kernel.constant_value, Kernel):
        return kernel.constant_value  # a kernel of kernsel, which scikit-learn's ``+`` or ``*`` took for a number
    if isinstance(kernel, sk.Exponentiation):
        return ours.Power(from_sklearn(kernel.kernel), kernel.exponent)
    if type(kernel) is sk.PairwiseKernel:
        return _pairwise(kernel)
    if isinstance(kernel, sk.CompoundKernel):
        raise TypeError("kernel: CompoundKernel is a list of kernels, not a kernel; take them from its attribute `kernels`")
    if isinstance(kernel, sk.KernelOperator):
        return _combined(kernel)
    counterparts: dict[type, Callable[..., Kernel]] = {
        sk.ConstantKernel: ours.ConstantKernel,
        sk.WhiteKernel: ours.WhiteKernel,
        sk.RBF: ours.RBF,
        sk.Matern: ours.Matern,
        sk.RationalQuadratic: ours.RationalQuadratic,
        sk.ExpSineSquared: ours.ExpSineSquared,
        sk.DotProduct: ours.DotProduct,
    }
    if type(kernel) not in counterparts:
        raise TypeError(
            f"kernel: {type(kernel).__name__} has no counterpart in kernsel.kernels; FunctionKernel makes one of a function"
        )
    return counterparts[type(kernel)](**kernel.get_params())


def _combined(kernel: sk.KernelOperator) -> Kernel:
    """Return a sum or a product, by a loop over those that nest on the left."""
    from sklearn.gaussian_process import kernels as sk

    from kernsel import kernels as ours

    pairs = []
    while isinstance(kernel, sk.KernelOperator):
        pairs.append(kernel)
        kernel = kernel.k1
    result = from_sklearn(kernel)
    for pair in reversed(pairs):
        operation = ours.Sum if isinstance(pair, sk.Sum) else ours.Product
        result = operation(result, from_sklearn(pair.k2))
    return result


class _Pairwise:
    """A function of :func:`sklearn.metrics.pairwise.pairwise_kernels`, for a FunctionKernel."""

    def __init__(self, metric: str | PairFunction, options: Mapping[str, object] | None) -> None:
        self.metric = metric
        self.options = options

    def __call__(self, X: Matrix, Z: Matrix, gamma: float) -> Matrix:
        from sklearn.metrics.pairwise import pairwise_kernels

        K: Matrix = pairwise_kernels(X, Z, metric=self.metric, filter_params=True, gamma=gamma, **self.options or {})
        return K

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Pairwise) and (self.metric, self.options) == (other.metric, other.options)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<sklearn.metrics.pairwise {self.metric}>"


def _pairwise(kernel: sk.PairwiseKernel) -> Kernel:
    from kernsel.kernels.given import FunctionKernel

    function = _Pairwise(kernel.metric, kernel.pairwise_kernels_kwargs)
    return FunctionKernel(function, {"gamma": kernel.gamma}, parameter_bounds={"gamma": kernel.gamma_bounds})

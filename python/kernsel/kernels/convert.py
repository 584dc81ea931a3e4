"""Kernels of scikit-learn as kernels of ours."""

from __future__ import annotations

from typing import Any

from sklearn.gaussian_process import kernels as sk
from sklearn.metrics.pairwise import pairwise_kernels

from kernsel.kernels.base import Kernel

__all__ = ["from_sklearn"]


def from_sklearn(kernel: sk.Kernel) -> Kernel:
    """Return the same kernel as one of ours: values, gradients, `theta`, bounds and what is fixed.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        All but CompoundKernel, which is none. Also accepted where one of ours is on the left: scikit-learn's own ``+``
        and ``*`` take what stands on their right for a number.

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

    if isinstance(kernel, sk.ConstantKernel) and isinstance(kernel.constant_value, Kernel):
        return kernel.constant_value  # ours, on the right of theirs
    if isinstance(kernel, sk.Exponentiation):
        return ours.Power(from_sklearn(kernel.kernel), kernel.exponent)
    if type(kernel) is sk.PairwiseKernel:
        return _pairwise(kernel)
    if isinstance(kernel, sk.CompoundKernel):
        raise TypeError("kernel: CompoundKernel is a list of kernels, not a kernel; take them from its attribute `kernels`")
    if isinstance(kernel, sk.KernelOperator):
        return _combined(kernel)
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
        raise TypeError(
            f"kernel: {type(kernel).__name__} has no counterpart in kernsel.kernels; FunctionKernel makes one of a function"
        )
    converted: Kernel = same[type(kernel)](**kernel.get_params())
    return converted


def _combined(kernel: sk.KernelOperator) -> Kernel:
    """Return a sum or a product; long ones lean to the left."""
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

    def __init__(self, metric: Any, options: dict[str, Any] | None) -> None:
        self.metric = metric
        self.options = options

    def __call__(self, X: Any, Z: Any, gamma: float) -> Any:
        return pairwise_kernels(X, Z, metric=self.metric, filter_params=True, gamma=gamma, **self.options or {})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Pairwise) and (self.metric, self.options) == (other.metric, other.options)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<sklearn.metrics.pairwise {self.metric}>"


def _pairwise(kernel: sk.PairwiseKernel) -> Kernel:
    from kernsel.kernels.given import FunctionKernel

    function = _Pairwise(kernel.metric, kernel.pairwise_kernels_kwargs)
    return FunctionKernel(function, {"gamma": kernel.gamma}, parameter_bounds={"gamma": kernel.gamma_bounds})

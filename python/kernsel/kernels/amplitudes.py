"""What a kernel leaves open of a Gaussian process: the amplitudes of its terms, and the noise."""

from __future__ import annotations

from kernsel.kernels.algebra import Columns, Product, Sum
from kernsel.kernels.base import Kernel
from kernsel.kernels.categories import Coregion
from kernsel.kernels.simple import ConstantKernel, HeteroscedasticNoise, WhiteKernel

__all__ = ["finds_noise", "has_noise", "with_amplitudes", "with_sizes_of_terms"]

_SIZED = ConstantKernel | WhiteKernel | Coregion  # are variances, or have variances of their own


def with_amplitudes(kernel: Kernel, *, needed: bool = True) -> Kernel:
    """Return a kernel with an "auto" factor for each term that has none, also in products and restrictions to columns.

    The first term gets none if no amplitude is `needed`, because a factor of all terms would be redundant: a product that the
    sum is in, or the model, has one.

    Examples
    --------
    >>> from kernsel.kernels import RBF, ConstantKernel, Linear
    >>> from kernsel.kernels.amplitudes import with_amplitudes
    >>> with_amplitudes(RBF("auto") + 2.0 * Linear("auto")) == ConstantKernel("auto") * RBF("auto") + 2.0 * Linear("auto")
    True
    """
    if isinstance(kernel, Sum):
        first, *others = kernel.operands()
        total = with_amplitudes(first, needed=needed)
        for term in others:
            total = Sum(total, with_amplitudes(term, needed=True))
        return total
    if isinstance(kernel.kernel if isinstance(kernel, Columns) else kernel, _SIZED | HeteroscedasticNoise):
        return kernel
    if isinstance(kernel, Columns) and isinstance(kernel.kernel, Sum | Product):
        return kernel.moved_to(with_amplitudes(kernel.kernel, needed=needed))
    if isinstance(kernel, Product):
        factors = kernel.operands()
        needed = needed and not any(_has_size(factor) for factor in factors)
        result: Kernel | None = None
        for factor in factors:
            part = factor
            if _has_sum(factor):
                part, needed = with_amplitudes(factor, needed=needed), False
            result = part if result is None else result * part
        assert result is not None
        return ConstantKernel("auto") * result if needed else result
    return ConstantKernel("auto") * kernel if needed else kernel


def with_sizes_of_terms(kernel: Kernel) -> Kernel:
    """Return a kernel whose terms may have any sizes, for a model in which a factor of the whole kernel is redundant.

    A kernel of one term stays as it is. In a sum, all terms get an amplitude, not all but one: an amplitude is sought near the
    variance of the targets, and so is their ratio then near one.
    """
    return kernel if with_amplitudes(kernel, needed=False) == kernel else with_amplitudes(kernel)


def has_noise(kernel: Kernel) -> bool:
    """Tell whether a term of the kernel is noise, also in products and restrictions to columns."""
    if isinstance(kernel, Sum | Product):
        return any(has_noise(operand) for operand in kernel.operands())
    if isinstance(kernel, Columns):
        return has_noise(kernel.kernel)
    return isinstance(kernel, WhiteKernel | HeteroscedasticNoise)


def finds_noise(kernel: Kernel) -> bool:
    """Tell whether a term of the kernel is noise that a search may change, also in products and restrictions to columns."""
    if isinstance(kernel, Sum | Product):
        return any(finds_noise(operand) for operand in kernel.operands())
    if isinstance(kernel, Columns):
        return finds_noise(kernel.kernel)
    return isinstance(kernel, WhiteKernel | HeteroscedasticNoise) and any(not h.fixed for h in kernel.hyperparameters)


def _has_size(kernel: Kernel) -> bool:
    """Tell whether a factor of a product is a variance, or has variances of its own."""
    if isinstance(kernel, Columns):
        return _has_size(kernel.kernel)
    if isinstance(kernel, Product):
        return any(_has_size(factor) for factor in kernel.operands())
    return isinstance(kernel, _SIZED)


def _has_sum(kernel: Kernel) -> bool:
    return isinstance(kernel, Sum) or (isinstance(kernel, Columns) and _has_sum(kernel.kernel))

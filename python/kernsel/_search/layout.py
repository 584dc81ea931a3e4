"""The hyperparameters of a kernel that a search may change, in the order and on the scale of the C++ core."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel import _core
from kernsel._base.annotations import Vector
from kernsel.kernels import Columns, ConstantKernel, Functionals, Kernel, Product, Sum, Transform, Warp, WhiteKernel
from kernsel.kernels.automatic import Anchor
from kernsel.kernels.hyperparameter import Hyperparameter, numbers

__all__ = ["Layout", "has_open", "has_values"]


class Layout:
    """The hyperparameters of a kernel, with the positions, values and bounds that a search needs repeatedly."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.entries = kernel.layout()  # the position at which each begins in theta, -1 if it is fixed
        own = [at + i if at >= 0 else -1 for at, h, _ in self.entries for i in range(h.n_elements)]
        self.places = np.array(own, dtype=np.intp)  # the position in theta of each number, from left to right
        free: dict[int, tuple[Hyperparameter, Any]] = {}
        for at, h, value in self.entries:
            if at >= 0:
                free.setdefault(at, (h, value))
        self.free = list(free.values())
        values = [_on_scale(h, np.ravel(numbers(value, h.name, positive=h.log))) for h, value in self.free]
        self.theta = np.concatenate(values) if values else np.zeros(0)
        limits = [_on_scale(h, h.bounds) for h, _ in self.free]
        self.bounds = np.vstack(limits) if limits else np.zeros((0, 2))

    def names(self) -> list[str]:
        """Return a name for each number of theta."""
        every: list[str] = []
        for h, _ in self.free:
            every += [h.name if h.n_elements == 1 else f"{h.name}[{i}]" for i in range(h.n_elements)]
        return every

    def kernel_at(self, theta: Vector) -> Kernel:
        """Return the kernel with the hyperparameters theta, like `clone_with_theta`, without computing the layout again."""
        everything: list[Any] = []
        for at, h, value in self.entries:
            if at < 0:
                everything.append(value)
                continue
            part = theta[at : at + h.n_elements]
            part = np.exp(part) if h.log else part
            everything.append(part.reshape(np.shape(value)) if np.ndim(value) else float(part[0]))
        return self.kernel.with_values(iter(everything))

    def core_places(self) -> list[int]:
        """Return the position in theta of each hyperparameter of the core, or -1 if it is fixed."""
        places = np.full(len(self.places), -1)
        places[self.kernel.core_order()] = self.places
        return [int(place) for place in places]

    def anchors(self, found: Sequence[Anchor]) -> list[tuple[str, int, int, bool, _core.Statistics]]:
        """Return for each hyperparameter the rule that derives its starts, its place in theta, and its data, for the core.

        The list is empty for a kernel that does not declare such rules.
        """
        if [h.n_elements for _, h, _ in self.entries] != [anchor.count for anchor in found]:
            return []
        pairs = zip(self.entries, found, strict=True)
        return [(anchor.rule, at, h.n_elements, h.log, anchor.data.statistics) for (at, h, _), anchor in pairs]

    def maker(self) -> Callable[[list[float]], _core.Kernel]:
        """Return a function that builds the kernel from hyperparameters of the core, for kernels that are Python functions."""
        order = self.kernel.core_order()

        def make(core_theta: list[float]) -> _core.Kernel:
            own = np.asarray(core_theta)[order]
            theta = self.theta.copy()
            begin = 0
            for at, h, _ in self.entries:
                if at >= 0:
                    theta[at : at + h.n_elements] = own[begin : begin + h.n_elements]
                begin += h.n_elements
            return self.kernel.clone_with_theta(theta).build()

        return make

    def log_prior(self, theta: list[float]) -> tuple[float, list[float]]:
        """Return the log density of the priors at theta, and its gradient."""
        value, gradient = self.kernel.clone_with_theta(np.asarray(theta)).log_prior()
        return value, gradient.tolist()

    def log_prior_of_logarithms(self, theta: list[float]) -> tuple[float, list[float]]:
        """Return the log density of theta that follows from the priors, which are densities of exp(theta), and its gradient."""
        value, gradient = self.log_prior(theta)
        with_prior = self.with_prior()
        return value + float(np.sum(np.asarray(theta)[with_prior])), (np.asarray(gradient) + with_prior).tolist()

    def with_prior(self) -> NDArray[np.bool_]:
        """Tell for each number of theta whether it has a prior."""
        return np.array([h.prior is not None for h, _ in self.free for _ in range(h.n_elements)], dtype=bool)

    @property
    def has_priors(self) -> bool:
        """Tell whether any hyperparameter has a prior."""
        return bool(self.with_prior().any())

    def amplitudes(self) -> list[int] | None:
        """Return the positions in theta of the amplitudes, which all grow by log s if the kernel is multiplied by s, or None.

        Amplitudes are factors that are hyperparameters: one for every term of a sum, and one for a product. The result is None
        if there is a term without one, or if an amplitude is fixed, shared, or has a prior.
        """
        found = _factors(self.kernel, 0)
        if found is None:
            return None
        theta = [int(self.places[i]) for i in found]
        times = np.bincount(self.places[self.places >= 0], minlength=len(self.theta))
        with_prior = self.with_prior()
        return theta if all(at >= 0 and times[at] == 1 and not with_prior[at] for at in theta) else None


def _on_scale(h: Hyperparameter, values: Vector) -> Vector:
    """Return numbers on the scale of theta, by the logarithm of C: NumPy's may differ from the core's in the last bit."""
    return np.array([math.log(value) for value in np.ravel(values)]).reshape(np.shape(values)) if h.log else values


def _factors(kernel: Kernel, begin: int) -> list[int] | None:
    """Return the positions, counted from `begin`, of those of the kernel's numbers that are its amplitudes, or None."""
    if isinstance(kernel, ConstantKernel | WhiteKernel):
        return None if next(kernel.own())[0].fixed else [begin]
    if isinstance(kernel, Columns | Functionals | Warp) or (isinstance(kernel, Transform) and callable(kernel.phi)):
        return _factors(kernel.kernel, begin)
    if not isinstance(kernel, Sum | Product):
        return None
    parts: list[list[int] | None] = []
    for operand in kernel.operands():
        parts.append(_factors(operand, begin))
        begin += sum(h.n_elements for h, _ in operand.own())
    if isinstance(kernel, Sum):
        return None if any(part is None for part in parts) else [i for part in parts for i in part or []]
    return next((part for part in parts if part is not None), None)


def has_open(kernel: Kernel) -> bool:
    """Tell whether any hyperparameter is to be found from the data alone, its value being "auto"."""
    return any(not h.fixed and isinstance(getattr(value, "value", value), str) for h, value in kernel.own())


def has_values(kernel: Kernel) -> bool:
    """Tell whether any hyperparameter that is to be found has a number as its value, instead of "auto"."""
    return any(not h.fixed and not isinstance(getattr(value, "value", value), str) for h, value in kernel.own())

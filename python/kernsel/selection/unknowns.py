"""What a search may change: the hyperparameters of a kernel that are not fixed, and the noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel import _core
from kernsel.kernels import Columns, ConstantKernel, Kernel, Product, Sum, Transform, Warp, WhiteKernel
from kernsel.kernels.hyperparameter import Hyperparameter, numbers

__all__ = ["Layout", "Unknowns"]

Vector = NDArray[np.float64]


class Layout:
    """The hyperparameters of a kernel, with all that a search asks of them more than once."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.entries = kernel.layout()  # where each begins in theta, -1 if it is fixed
        own = [at + i if at >= 0 else -1 for at, h, _ in self.entries for i in range(h.n_elements)]
        self.places = np.array(own, dtype=np.intp)  # in theta, of each number from left to right
        free: dict[int, tuple[Hyperparameter, Any]] = {}
        for at, h, value in self.entries:
            if at >= 0:
                free.setdefault(at, (h, value))
        self.free = list(free.values())
        values = [h.on_scale(np.ravel(numbers(value, h.name, positive=h.log))) for h, value in self.free]
        self.theta = np.concatenate(values) if values else np.zeros(0)
        limits = [h.on_scale(h.bounds) for h, _ in self.free]
        self.bounds = np.vstack(limits) if limits else np.zeros((0, 2))

    has_values = False  # did the kernel come with a number to start from, where it was not fixed?

    def names(self) -> list[str]:
        """Return a name for each number of theta."""
        every: list[str] = []
        for h, _ in self.free:
            every += [h.name if h.n_elements == 1 else f"{h.name}[{i}]" for i in range(h.n_elements)]
        return every

    def kernel_at(self, theta: Vector) -> Kernel:
        """Return the kernel with other hyperparameters: `clone_with_theta` on a layout that is known."""
        everything: list[Any] = []
        for at, h, value in self.entries:
            if at < 0:
                everything.append(value)
                continue
            part = theta[at : at + h.n_elements]
            part = np.exp(part) if h.log else part
            everything.append(part.reshape(np.shape(value)) if np.ndim(value) else float(part[0]))
        return self.kernel.with_values(iter(everything))

    @property
    def has_priors(self) -> bool:
        """Tell whether any hyperparameter has a prior."""
        return any(h.prior is not None for h, _ in self.free)

    def amplitudes(self) -> list[int] | None:
        """Return the numbers of `theta` that all grow by log s if the kernel is multiplied by s; None if there are none such.

        Factors that are hyperparameters of their own: of every term of a sum, of one factor of a product.
        """
        found = _factors(self.kernel, 0)
        if found is None:
            return None
        theta = [int(self.places[i]) for i in found]
        times = np.bincount(self.places[self.places >= 0], minlength=len(self.theta))
        with_prior = [h.prior is not None for h, _ in self.free for _ in range(h.n_elements)]
        return theta if all(at >= 0 and times[at] == 1 and not with_prior[at] for at in theta) else None


def _factors(kernel: Kernel, begin: int) -> list[int] | None:
    """Return which of the kernel's own numbers, counted from `begin`, are such factors."""
    if isinstance(kernel, ConstantKernel | WhiteKernel):
        return None if next(kernel.own())[0].fixed else [begin]
    if isinstance(kernel, Columns | Warp) or (isinstance(kernel, Transform) and callable(kernel.phi)):
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


def has_values(kernel: Kernel) -> bool:
    """Tell whether a kernel has numbers of its own for hyperparameters that are to be found."""
    return any(not h.fixed and not isinstance(getattr(value, "value", value), str) for h, value in kernel.own())


class Unknowns:
    """The numbers x of a search: those of `theta` that are not held, and last the logarithm of the noise if it is unknown."""

    def __init__(self, layout: Layout, noise: bool, noise_bounds: tuple[float, float], held: tuple[int, ...]) -> None:
        self.layout = layout
        self.kernel = layout.kernel
        self.noise = noise
        self.free = [i for i in range(len(layout.theta)) if i not in held]  # which numbers of theta are in x
        bounds = layout.bounds[self.free]
        self.bounds = np.vstack([bounds, np.log([noise_bounds])]) if noise else bounds

    def reach(self, noise_like: NDArray[np.bool_]) -> list[float]:
        """Return how far a step may go in each number: logarithms of noise may go three times as far."""
        wide = [*noise_like[self.free], *([True] if self.noise else [])]
        return [3.0 if is_noise else 1.0 for is_noise in wide]

    def x_of(self, theta: Vector, log_noise: float) -> Vector:
        """Return x for all of theta, and for a noise."""
        return np.append(theta[self.free], log_noise) if self.noise else theta[self.free]

    def theta_of(self, x: Vector) -> Vector:
        """Return theta, those that are held as the kernel has them."""
        theta = self.layout.theta.copy()
        theta[self.free] = x[: len(self.free)]
        return theta

    def places(self) -> list[int]:
        """Return for each hyperparameter of the core which number of x it is, or -1."""
        numbers_of_x = np.full(len(self.layout.theta) + 1, -1)  # the last for all that are fixed
        numbers_of_x[self.free] = np.arange(len(self.free))
        places = np.full(len(self.layout.places), -1)
        places[self.kernel.core_order()] = numbers_of_x[self.layout.places]
        return places.tolist()

    def maker(self) -> Callable[[list[float]], _core.Kernel]:
        """Return a function that builds the kernel anew for hyperparameters of the core: for kernels that are functions."""
        order = self.kernel.core_order()

        def make(core_theta: list[float]) -> _core.Kernel:
            own = np.asarray(core_theta)[order]
            theta = self.layout.theta.copy()
            begin = 0
            for at, h, _ in self.layout.entries:
                if at >= 0:
                    theta[at : at + h.n_elements] = own[begin : begin + h.n_elements]
                begin += h.n_elements
            return self.kernel.clone_with_theta(theta).build()

        return make

    def prior(self) -> Callable[[list[float]], tuple[float, list[float]]]:
        """Return the log prior as a function of x, with its gradient."""

        def log_prior(x: list[float]) -> tuple[float, list[float]]:
            value, gradient = self.kernel.clone_with_theta(self.theta_of(np.asarray(x))).log_prior()
            return value, self.x_of(gradient, 0.0).tolist()

        return log_prior

    def names(self) -> list[str]:
        """Return a name for each number of x."""
        every = self.layout.names()
        return [every[i] for i in self.free] + (["noise"] if self.noise else [])

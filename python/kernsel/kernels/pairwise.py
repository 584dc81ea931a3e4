"""Kernels by the names that scikit-learn's kernel machines use, with their arguments gamma, degree and coef0."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real

import numpy as np

from kernsel._base.annotations import Matrix, PairFunction
from kernsel.kernels.base import Kernel
from kernsel.kernels.given import FunctionKernel
from kernsel.kernels.inner_product import Linear, Polynomial
from kernsel.kernels.stationary import RBF, Matern

__all__ = ["INDEFINITE", "NAMES", "pairwise_kernel", "row_kernel"]

NAMES = ("additive_chi2", "chi2", "cosine", "laplacian", "linear", "poly", "polynomial", "rbf", "sigmoid")
INDEFINITE = ("additive_chi2", "sigmoid")  # functions of two points that are not positive semidefinite


def pairwise_kernel(name: str, columns: int, gamma: float | None, degree: float, coef0: float) -> Kernel:
    """Return the kernel of that name: x'z, exp(-gamma |x - z|^2), (gamma x'z + coef0)^degree, exp(-gamma |x - z|_1), ...

    All its hyperparameters are fixed. gamma = None stands for one divided by the number of columns. "cosine" is scikit-learn's
    function, which is 0 where a point is the origin.
    """
    if gamma is None:
        gamma = 1.0 / max(columns, 1) if name != "chi2" else 1.0
    for option, value, least in (("gamma", gamma, 0.0), ("degree", degree, 0.0), ("coef0", coef0, -np.inf)):
        if not isinstance(value, Real) or not np.isfinite(value) or value < least or (option == "gamma" and value == 0):
            expected = {"gamma": "a positive number or None", "degree": "a number from 0 on", "coef0": "a finite number"}[
                option
            ]
            raise ValueError(f"{option}: expected {expected}, got {value!r}")
    length = gamma**-0.5
    if name == "linear":
        return Linear(1.0, "fixed")
    if name == "rbf":
        return RBF(length * 0.5**0.5, "fixed")
    if name == "laplacian":
        return Matern(1 / gamma, "fixed", nu=0.5, product=True)
    if name in ("poly", "polynomial") and float(degree).is_integer() and 1 <= degree <= 100 and coef0 >= 0:
        return Polynomial(int(degree), coef0, length, offset_bounds="fixed", length_scale_bounds="fixed")
    return FunctionKernel(_ByName(name, {"gamma": gamma, "degree": degree, "coef0": coef0}))


def row_kernel(function: PairFunction, options: Mapping[str, object] | None) -> Kernel:
    """Return the kernel of a function of two points, called for each pair of them."""
    if not isinstance(options, Mapping | None):
        raise TypeError(f"kernel_params: expected a dict or None, got {options!r}")
    return FunctionKernel(_OfRows(function, dict(options or {})))


class _ByName:
    """A function of :func:`sklearn.metrics.pairwise.pairwise_kernels`."""

    def __init__(self, name: str, options: dict[str, float]) -> None:
        self.name = name
        self.options = options

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        from sklearn.metrics.pairwise import pairwise_kernels

        return np.asarray(pairwise_kernels(X, Z, metric=self.name, filter_params=True, **self.options))

    def __repr__(self) -> str:
        return f"<sklearn.metrics.pairwise {self.name}>"


class _OfRows:
    """A function of two sets of points, from a function of two points."""

    def __init__(self, function: PairFunction, options: dict[str, object]) -> None:
        self.function = function
        self.options = options

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        values = [[self.function(x, z, **self.options) for z in Z] for x in X]
        first = values[0][0] if len(X) and len(Z) else 0.0
        if not isinstance(first, Real) and np.shape(first) != ():
            raise ValueError(f"kernel: expected a function that returns a number for two points, got {first!r}")
        try:
            return np.array(values, dtype=np.float64).reshape(len(X), len(Z))
        except (TypeError, ValueError):
            raise ValueError(f"kernel: expected a function that returns a number for two points, got {first!r}") from None

    def __repr__(self) -> str:
        return f"<{getattr(self.function, '__name__', self.function)} of rows>"

"""The problem of support vector regression, solved: coefficients that are zero for most points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Vector
from kernsel.kernels import Kernel

__all__ = ["SupportSolution", "SupportVectors"]

_LARGEST = 1e150  # bound of a coefficient, in the unit of y


@dataclass(frozen=True)
class SupportSolution:
    """The solution of one problem.

    Attributes
    ----------
    a : ndarray of shape (n,)
        Coefficients, exactly zero for points that are no support vectors.
    intercept : float
    objective : float
        |f - b|^2 / 2 + sum_i C_i max(|y_i - f(x_i)| - epsilon, 0).
    gap : float
        How far the objective is above its minimum, at most.
    iterations, rows : int
        Steps of a pair of coefficients; rows of the kernel matrix that were computed so far.
    converged : bool
    indefinite : bool
        Was the kernel seen not to be positive semidefinite?
    """

    a: Vector
    intercept: float
    objective: float
    gap: float
    iterations: int
    rows: int
    converged: bool
    indefinite: bool


class SupportVectors:
    """Solves problems on the same points and the same kernel: rows of the kernel matrix are kept between them.

    Minimizes |f - b|^2 / 2 + sum_i C_i max(|y_i - f(x_i)| - epsilon, 0) over f = b + sum_j a_j k(., x_j) by decomposition: a
    set of points at a time, by pairs of coefficients that second-order information picks.

    Parameters
    ----------
    kernel : Kernel
        With all its hyperparameters.
    X : ndarray of shape (n, d)
    cache_size : float
        Megabytes for rows of the kernel matrix.
    """

    def __init__(self, kernel: Kernel, X: Vector, cache_size: float = 500.0) -> None:
        self.n = len(X)
        self.core = _core.SupportSolver(kernel.build(), X, cache_size)

    def solve(
        self,
        y: Vector,
        C: float | Vector,
        epsilon: float,
        *,
        fit_intercept: bool = True,
        start: Vector | None = None,
        tol: float = 1e-4,
        max_iter: int = -1,
        shrinking: bool = True,
    ) -> SupportSolution:
        """Solve one problem.

        Parameters
        ----------
        y : ndarray of shape (n,)
        C : float or ndarray of shape (n,)
            Bounds of the coefficients; zero leaves a point out.
        epsilon : float
            Half the width of the tube.
        fit_intercept : bool
        start : ndarray of shape (n,), optional
            Coefficients to begin with; those out of their bounds are moved.
        tol : float
            Of the duality gap, relative to the objective.
        max_iter : int
            Steps at most; -1 for as many as it takes.
        shrinking : bool
            Leave points out for a while that no step moves, if not the whole kernel matrix is kept.

        Returns
        -------
        solution : SupportSolution
        """
        bounds = np.broadcast_to(np.asarray(C, dtype=np.float64), (self.n,))
        # About its middle and in its own unit, a power of two: the solver takes squares, and differences of f and y.
        used = y[bounds > 0] if (bounds > 0).any() else y
        middle = used.min() / 2 + used.max() / 2 if fit_intercept else 0.0
        targets = np.where(bounds > 0, y, middle) - middle
        unit = _power_of_two(max(float(np.abs(targets).max()), epsilon))
        scaled = np.minimum(bounds, _LARGEST * unit) / unit
        begin = [] if start is None else (self._start(start) / unit).tolist()
        found = self.core.solve(
            targets / unit, scaled.tolist(), epsilon / unit, fit_intercept, begin, tol, max_iter, shrinking, 0
        )
        return SupportSolution(
            found["a"] * unit,
            found["intercept"] * unit + middle,
            found["primal"] * unit * unit,
            max(found["gap"], 0.0) * unit * unit,
            found["iterations"],
            found["rows"],
            found["converged"],
            found["indefinite"],
        )

    def _start(self, start: Vector) -> Vector:
        if start.shape != (self.n,) or not np.isfinite(start).all():
            raise ValueError(f"start: expected {self.n} finite numbers, got {start!r}")
        return start


def _power_of_two(value: float) -> float:
    """Return the largest one up to a value; 1 for zero."""
    return float(np.ldexp(1.0, np.frexp(value)[1] - 1)) if value > 0 else 1.0

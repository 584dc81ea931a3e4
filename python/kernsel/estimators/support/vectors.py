"""The solver behind all support vector machines, whose coefficients are zero for most points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Vector
from kernsel.kernels import Kernel

__all__ = ["SupportSolution", "SupportVectors"]

_LARGEST = 1e150  # the largest bound of a coefficient, in the unit of y


@dataclass(frozen=True)
class SupportSolution:
    """The solution of the problem of one support vector machine.

    Attributes
    ----------
    a : ndarray of shape (n,)
        The coefficients, exactly zero for points that are not support vectors.
    intercept : float
    objective : float
        |f - b|^2 / 2 + the sum of the losses, see :meth:`SupportVectors.between`.
    gap : float
        The duality gap, an upper bound of the difference between the objective and its minimum.
    rounding : float
        A gap that rounding errors may leave where large coefficients cancel in the function.
    iterations, rows : int
        The number of steps, each of two coefficients, and of rows of the kernel matrix that were computed so far.
    converged : bool
        Whether the gap has reached the tolerance.
    indefinite : bool
        Whether the solver has found that the kernel is not positive semidefinite.
    """

    a: Vector
    intercept: float
    objective: float
    gap: float
    rounding: float
    iterations: int
    rows: int
    converged: bool
    indefinite: bool

    def told(self, n: int) -> str:
        """Return a line about the solution for n points."""
        return (
            f"{self.iterations} steps, objective {self.objective:.9g}, duality gap {self.gap:.3g}, {np.count_nonzero(self.a)} "
            f"support vectors of {n} points, {self.rows} rows of the kernel matrix computed"
        )


class SupportVectors:
    """Solver for several problems with the same points and kernel, between which rows of the kernel matrix are kept.

    It minimizes |f - b|^2 / 2 + sum_i C_i max(|y_i - f(x_i)| - epsilon, 0), or another loss whose slope is bounded, over
    f = b + sum_j a_j k(., x_j) by decomposition: it solves for one set of points at a time, by steps in pairs of coefficients
    that second-order information selects.

    Parameters
    ----------
    kernel : Kernel
        A kernel without "auto" parameters.
    X : ndarray of shape (n, d)
    cache_size : float
        The memory for rows of the kernel matrix, in megabytes.
    noise : ndarray of shape (n,), optional
        Numbers, not negative, that are added to the diagonal of the kernel matrix.
    """

    def __init__(self, kernel: Kernel, X: Vector, cache_size: float = 500.0, noise: Vector | None = None) -> None:
        self.n = len(X)
        self.core = _core.SupportSolver(kernel.build(), X, cache_size, [] if noise is None else noise.tolist())
        self._arguments = kernel, X, cache_size, noise

    def __reduce__(self) -> tuple[type[SupportVectors], tuple[Kernel, Vector, float, Vector | None]]:
        return SupportVectors, self._arguments  # a copy computes rows of the kernel matrix anew

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
        """Solve one problem of regression.

        Parameters
        ----------
        y : ndarray of shape (n,)
        C : float or ndarray of shape (n,)
            The bounds of the coefficients; zero leaves a point out.
        epsilon : float
            The size up to which errors cost nothing.
        fit_intercept : bool
        start : ndarray of shape (n,), optional
            Coefficients to start from; those outside their bounds are moved into them.
        tol : float
            The duality gap at which the solver stops, relative to the objective.
        max_iter : int
            The largest number of steps; -1 for no limit.
        shrinking : bool
            Whether to leave out temporarily the points whose coefficients stay at zero or at a bound, if the whole kernel
            matrix does not fit into the cache.

        Returns
        -------
        solution : SupportSolution
        """
        bounds = np.broadcast_to(np.asarray(C, dtype=np.float64), (self.n,))
        return self.between(
            y,
            -bounds,
            bounds,
            epsilon,
            fit_intercept=fit_intercept,
            start=start,
            tol=tol,
            max_iter=max_iter,
            shrinking=shrinking,
        )

    def between(
        self,
        y: Vector,
        lower: Vector,
        upper: Vector,
        epsilon: float = 0.0,
        *,
        total: float = 0.0,
        fit_intercept: bool = True,
        start: Vector | None = None,
        tol: float = 1e-4,
        max_iter: int = -1,
        shrinking: bool = True,
    ) -> SupportSolution:
        """Minimize |f - b|^2 / 2 + b total + sum_i (upper_i max(r_i - epsilon, 0) - lower_i max(-r_i - epsilon, 0)), r = y - f.

        Parameters
        ----------
        y : ndarray of shape (n,)
        lower, upper : ndarray of shape (n,)
            The bounds of the coefficients, lower <= 0 <= upper; both zero leave a point out.
        epsilon : float
            The size up to which errors cost nothing.
        total : float
            The sum of the coefficients, if there is an intercept; from 0 to the sum of `upper`. Other than 0 only for y = 0.
        fit_intercept, start, tol, max_iter, shrinking
            As in :meth:`solve`.

        Returns
        -------
        solution : SupportSolution
        """
        counts = upper > lower
        # y is centred and divided by a power of two, for accurate squares and differences of f and y in the solver.
        used = y[counts] if counts.any() else y
        middle = used.min() / 2 + used.max() / 2 if fit_intercept else 0.0
        targets = np.where(counts, y, middle) - middle
        unit = _power_of_two(max(float(np.abs(targets).max()), epsilon))
        low, high = (np.clip(bound, -_LARGEST * unit, _LARGEST * unit) / unit for bound in (lower, upper))
        begin = [] if start is None else (self._start(start) / unit).tolist()
        found = self.core.solve(
            targets / unit,
            low.tolist(),
            high.tolist(),
            epsilon / unit,
            fit_intercept,
            total / unit,
            begin,
            tol,
            max_iter,
            shrinking,
            0,
        )
        return SupportSolution(
            found["a"] * unit,
            found["intercept"] * unit + middle,
            found["primal"] * unit * unit,
            max(found["gap"], 0.0) * unit * unit,
            found["rounding"] * unit * unit,
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
    """Return the largest power of two that is not larger than a value; 1 for zero."""
    return float(np.ldexp(1.0, np.frexp(value)[1] - 1)) if value > 0 else 1.0

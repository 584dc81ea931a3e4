"""The covariance of linear functionals of a process: its values, its partial derivatives, its averages over boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.kernels.algebra import Operation
from kernsel.kernels.automatic import Data
from kernsel.kernels.base import Kernel

__all__ = ["Functionals"]


class Functionals(Operation):
    """The covariance of values, partial derivatives and averages over boxes of a process f whose covariance is a kernel.

    For functionals L and M, the kernel k applied to both of its arguments, L_x M_z k(x, z): for derivatives
    d^2 k / dx_i dz_j, for averages its integral over both boxes divided by their volumes, all in closed form. Functionals are
    rows of 2 d + 1 numbers, which `values`, `slopes` and `averages` make and which can be stacked: the lower and the upper ends
    of a box, and the number of a column from 1 on, or 0. :meth:`kernsel.GaussianProcessRegressor.fit` does all of this by
    itself, with its arguments `slopes` and `averages`; the kernel is for other models, and for covariances.

    Parameters
    ----------
    kernel : Kernel
        RBF, Matern of nu 3/2, 5/2 or infinity, RationalQuadratic, Linear, DotProduct, Polynomial, Cosine, ExpSineSquared of one
        column, ConstantKernel, and sums, products, powers, ``Exp`` and ``on`` of these. Averages take RBF, Matern with
        ``product=True`` or of one column, Exponential of one column, Linear, DotProduct, ConstantKernel, their sums, and
        products whose factors see different columns.

    Examples
    --------
    The derivative of a process is uncorrelated with its value at the same point, and has the variance 1 / l^2:

    >>> import numpy as np
    >>> from kernsel.kernels import RBF, Functionals
    >>> x = np.array([[3.0]])
    >>> rows = np.vstack([Functionals.values(x), Functionals.slopes(x)])
    >>> rows
    array([[3., 3., 0.],
           [3., 3., 1.]])
    >>> Functionals(RBF(2.0))(rows) + 0.0
    array([[1.  , 0.  ],
           [0.  , 0.25]])

    The average over an interval varies less than a value:

    >>> Functionals(RBF(1.0)).diag(Functionals.averages([[0.0]], [[2.0]])).round(4)
    array([0.764])
    """

    _parts = ("kernel",)
    _of_numbers = True

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._check()

    def build(self) -> _core.Kernel:
        return _core.functionals(self.kernel.build())

    def resolve(self, data: Data) -> Kernel:
        if data.X.shape[1] < 3 or data.X.shape[1] % 2 == 0:
            raise ValueError(f"X: expected rows of 2 d + 1 numbers, as Functionals.values makes them, got {data.X.shape[1]}")
        y = None if data.y is None else values_at(data.X, data.y)
        return self.replaced(kernel=self.kernel.resolve(replace(data, X=centres(data.X), y=y, names=None)))

    def _with_points(self, X: ArrayLike | None, names: Sequence[str] | None) -> Kernel:
        del names  # of the numbers of rows, which are no columns of points
        points = np.asarray(X)
        return super()._with_points_of_parts(centres(points) if X is not None and points.ndim == 2 else None, None)

    def __repr__(self) -> str:
        return f"Functionals({self.kernel!r})"

    @staticmethod
    def values(X: ArrayLike) -> Matrix:
        """Return the rows of the values at points.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        rows : ndarray of shape (n, 2 d + 1)
        """
        points = _points("X", X)
        return np.hstack([points, points, np.zeros((len(points), 1))])

    @staticmethod
    def slopes(X: ArrayLike, columns: Sequence[int] | None = None) -> Matrix:
        """Return the rows of the partial derivatives at points, one point after the other.

        Parameters
        ----------
        X : array-like of shape (n, d)
        columns : sequence of int, optional
            The columns along which derivatives are taken, all by default.

        Returns
        -------
        rows : ndarray of shape (n * len(columns), 2 d + 1)

        Examples
        --------
        >>> from kernsel.kernels import Functionals
        >>> Functionals.slopes([[1.0, 5.0]])
        array([[1., 5., 1., 5., 1.],
               [1., 5., 1., 5., 2.]])
        """
        points = _points("X", X)
        chosen = columns_of(columns, points.shape[1])
        each = np.repeat(points, len(chosen), axis=0)
        return np.hstack([each, each, np.tile(chosen + 1.0, len(points))[:, None]])

    @staticmethod
    def averages(lower: ArrayLike, upper: ArrayLike) -> Matrix:
        """Return the rows of the averages over boxes.

        Parameters
        ----------
        lower, upper : array-like of shape (n, d)
            The ends; a column in which they are equal is fixed at that number.

        Returns
        -------
        rows : ndarray of shape (n, 2 d + 1)

        Examples
        --------
        >>> from kernsel.kernels import Functionals
        >>> Functionals.averages([[0.0, 1.0]], [[2.0, 3.0]])
        array([[0., 1., 2., 3., 0.]])
        """
        low, high = _points("lower", lower), _points("upper", upper)
        if low.shape != high.shape:
            raise ValueError(f"lower, upper: expected one shape, got {low.shape} and {high.shape}")
        if (low > high).any():
            i, j = np.argwhere(low > high)[0]
            raise ValueError(
                f"lower, upper: expected lower ends that are not above the upper ones, got box {i}, column {j}: "
                f"{low[i, j]:.6g} and {high[i, j]:.6g}"
            )
        return np.hstack([low, high, np.zeros((len(low), 1))])


def columns_of(columns: Sequence[int] | None, d: int) -> Indices:
    """Return the columns along which derivatives are taken, all by default; raise unless they are columns of points."""
    if columns is None:
        return np.arange(d)
    chosen = np.asarray(columns)
    if chosen.ndim != 1 or not chosen.size or chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= d:
        raise ValueError(f"columns: expected a list of whole numbers from 0 to {d - 1}, got {columns!r}")
    return chosen.astype(np.intp)


def centres(rows: Matrix) -> Matrix:
    """Return the points, or the centres of the boxes, that functionals are at."""
    d = (rows.shape[1] - 1) // 2
    return np.asarray(0.5 * (rows[:, :d] + rows[:, d : 2 * d]))


def values_at(rows: Matrix, y: Matrix) -> Matrix:
    """Return a guess of the values at the centres of functionals, from which starts and bounds of a search are read.

    Where a derivative is given, it is the nearest value plus the derivative times the distance along its column.
    """
    at, along = centres(rows), rows[:, -1].astype(np.intp) - 1
    known, unknown = np.flatnonzero(along < 0), np.flatnonzero(along >= 0)
    guess: Vector = np.array(y, dtype=np.float64)
    spread = at.std(axis=0)
    scaled = at / np.where(spread > 0, spread, 1.0)
    places = at[known] if len(known) else at.mean(axis=0, keepdims=True)
    of_places = guess[known] if len(known) else np.zeros((1, *guess.shape[1:]))
    for i in unknown:
        distances = np.sum((scaled[known] - scaled[i]) ** 2, axis=1) if len(known) else np.zeros(1)
        nearest = int(np.argmin(distances))
        guess[i] = of_places[nearest] + y[i] * (at[i, along[i]] - places[nearest, along[i]])
    return guess


def _points(name: str, X: ArrayLike) -> Matrix:
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or not points.shape[1]:
        raise ValueError(f"{name}: expected shape (n, d), got {points.shape}")
    if not np.isfinite(points).all():
        raise ValueError(f"{name}: expected finite numbers, got {points[~np.isfinite(points)][0]}")
    return points

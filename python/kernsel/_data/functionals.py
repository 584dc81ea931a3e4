"""Slopes and averages as data: what is given to a fit besides values, as rows of functionals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.trend import Trend
from kernsel.kernels.functionals import Functionals, centres

__all__ = ["Observed", "TrendOfFunctionals", "averages_given", "slopes_given"]


@dataclass(frozen=True)
class Observed:
    """Observations of functionals of one kind.

    Attributes
    ----------
    rows : ndarray of shape (n, 2 d + 1)
        See :class:`kernsel.kernels.Functionals`.
    y : ndarray of shape (n,)
    noise : ndarray of shape (n,)
        The known noise variances.
    finds_noise : bool
        Whether a noise variance is found as well.
    """

    rows: Matrix
    y: Vector
    noise: Vector
    finds_noise: bool

    def points_and_targets(self) -> tuple[Matrix, Matrix]:
        """Return the points of values, shape (n, d), and these, (n, 1)."""
        return centres(self.rows), self.y[:, None]

    @property
    def along(self) -> Indices:
        """The column of each derivative, -1 for what is none."""
        return self.rows[:, -1].astype(np.intp) - 1


def slopes_given(slopes: object, noise: object, check: Callable[[object], Matrix]) -> Observed:
    """Return the partial derivatives of the argument `slopes`, a pair of points and derivatives; nan are not observed.

    Parameters
    ----------
    slopes : pair of array-like of shape (m, d)
    noise : None, float or array-like of shape (d,) or (m, d)
        Known variances; None if they are to be found.
    check : callable
        Returns the points as an array, as an estimator checks them.
    """
    Z, dy = _parts("slopes", slopes, ("points", "derivatives"))
    points = check(Z)
    given = _numbers("slopes: derivatives", dy)
    if given.ndim == 1 and points.shape[1] == 1:
        given = given[:, None]
    if given.shape != points.shape:
        raise ValueError(f"slopes: expected derivatives of shape {points.shape}, nan where there is none, got {given.shape}")
    if np.isinf(given).any():
        raise ValueError("slopes: expected finite derivatives, or nan where there is none, got inf")
    seen = np.isfinite(given)
    if not seen.any():
        raise ValueError("slopes: expected some derivatives, got nan only")
    rows = Functionals.slopes(points)[seen.ravel()]
    return Observed(rows, given[seen], _variances("slope_noise", noise, seen, "(d,) or (m, d)"), noise is None)


def averages_given(averages: object, noise: object, check: Callable[[object], Matrix]) -> Observed:
    """Return the averages over boxes of the argument `averages`: lower ends, upper ends and values.

    Parameters
    ----------
    averages : tuple of array-like of shape (m, d), (m, d) and (m,)
    noise : None, float or array-like of shape (m,)
        Known variances; None if they are to be found.
    check : callable
        Returns points as an array, as an estimator checks them.
    """
    lower, upper, values = _parts("averages", averages, ("lower ends", "upper ends", "values"))
    try:
        rows = Functionals.averages(check(lower), check(upper))
    except ValueError as error:
        raise ValueError(f"averages: {error}") from None
    y = _numbers("averages: values", values)
    if y.shape != (len(rows),):
        raise ValueError(f"averages: expected values of shape {(len(rows),)}, got {y.shape}")
    if not np.isfinite(y).all():
        raise ValueError(f"averages: expected finite values, got {y[~np.isfinite(y)][0]}")
    return Observed(rows, y, _variances("average_noise", noise, np.ones(len(rows), dtype=bool), "(m,)"), noise is None)


@dataclass(frozen=True)
class TrendOfFunctionals:
    """The functionals of the functions of a trend: their derivatives and their averages.

    Attributes
    ----------
    trend : {"constant", "linear", "quadratic"}
    """

    trend: Trend

    def __call__(self, rows: Matrix) -> Matrix:
        d = (rows.shape[1] - 1) // 2
        along = rows[:, -1].astype(np.intp) - 1
        derivative = (along >= 0)[:, None]
        constant = np.where(derivative, 0.0, 1.0)
        if self.trend == "constant":
            return constant
        means = centres(rows)
        one = np.equal.outer(along, np.arange(d)).astype(np.float64)
        columns = [constant, np.where(derivative, one, means)]
        if self.trend == "quadratic":
            squares = (rows[:, d : 2 * d] - rows[:, :d]) ** 2 / 12  # the variance of a column within a box
            for j in range(d):
                for k in range(j, d):
                    product = means[:, j] * means[:, k] + (squares[:, j] if j == k else 0.0)
                    slope = one[:, j] * means[:, k] + one[:, k] * means[:, j]
                    columns.append(np.where(derivative[:, 0], slope, product)[:, None])
        return np.hstack(columns)


def _parts(name: str, given: object, parts: tuple[str, ...]) -> Any:
    """Return the parts of an argument; raise unless it has that many."""
    if not isinstance(given, tuple | list) or len(given) != len(parts):
        raise ValueError(
            f"{name}: expected a tuple of {', '.join(parts)}, got {type(given).__name__}"
            + (f" of {len(given)}" if isinstance(given, tuple | list) else "")
        )
    return given


def _numbers(name: str, values: ArrayLike) -> Vector:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected numbers, got {values!r:.60}") from None


def _variances(name: str, noise: object, seen: Matrix, shapes: str) -> Vector:
    """Return the known variance of each observation."""
    if isinstance(noise, str):
        raise ValueError(f'{name}: expected "auto", variances or None, got {noise!r}')
    values = _numbers(name, 0.0 if noise is None else noise)  # type: ignore[arg-type]
    try:
        each = np.broadcast_to(values, seen.shape)[seen]
    except ValueError:
        raise ValueError(f"{name}: expected a number or shape {shapes}, here {seen.shape}, got {values.shape}") from None
    if not np.isfinite(each).all() or (each < 0).any():
        raise ValueError(f"{name}: expected finite variances that are not negative, got {values!r:.80}")
    return np.array(each)

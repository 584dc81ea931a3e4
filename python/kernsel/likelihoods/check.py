"""The check of a likelihood: its methods against each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Matrix, Vector
from kernsel.likelihoods.base import Likelihood, Together

__all__ = ["check_likelihood"]

_STEP = 2.0**-11  # of differences
_ROUNDING = 1e3 * float(np.finfo(np.float64).eps) / _STEP
_DRAWS = 1000


def check_likelihood(likelihood: Likelihood, y: ArrayLike, f: ArrayLike, size: ArrayLike | None = None) -> None:
    """Check that a likelihood is consistent, and that its derivatives are right.

    Raises an AssertionError that says what is wrong. Derivatives are compared with central differences, moments with sums over
    a fine grid, the density with the slope of the probability or its steps, quantiles with the probability, and draws with mean
    and variance.

    Parameters
    ----------
    likelihood : Likelihood
    y, f : array-like of shape (n,)
        Observations, and values of f at which they are neither impossible nor certain; about ten are enough.
    size : array-like of shape (n,), optional
        The sizes of observations, for likelihoods that have them.

    Examples
    --------
    >>> from kernsel.likelihoods import StudentT
    >>> from kernsel.testing import check_likelihood
    >>> check_likelihood(StudentT(scale=0.5, df=3.0), y=[-1.0, 0.0, 4.0], f=[0.5, 0.0, -0.5])
    """
    rows = Together(y, f, None, size)
    _check_rows(likelihood, rows[0], rows[1], rows[3])


def _check_rows(likelihood: Likelihood, y: Vector, f: Vector, size: Vector | None) -> None:
    likelihood.check(y, size)
    if size is not None:
        likelihood.check_sizes(size)
    assert np.isfinite(likelihood.rough(y, size)).all(), "rough(y) has values that are not finite"
    _check_derivatives(likelihood, y, f, size)
    _check_precision(likelihood, y, f, size)
    _check_parameters(likelihood, y, f, size)
    _check_density(likelihood, y, f, size)
    _check_moments(likelihood, y, f, size)
    _check_quantiles(likelihood, f, size)
    _check_draws(likelihood, f, size)


def _compare(what: str, derivative: Vector, function: Callable[[float], Vector]) -> None:
    """Raise unless `derivative` is that of a function at 0, by differences that are exact to the fourth power of the step."""
    near, far = ((function(h) - function(-h)) / (2 * h) for h in (_STEP, 2 * _STEP))
    expected, size = (4 * near - far) / 3, 1 + np.abs(function(0.0))
    error = np.abs(derivative - expected)
    bad = ~(error <= np.abs(near - far) + _ROUNDING * size)
    if bad.any():
        row = int(np.argmax(bad))
        raise AssertionError(f"{what} is {derivative[row]:.6g} in row {row}, by central differences {expected[row]:.6g}")


def _check_derivatives(likelihood: Likelihood, y: Vector, f: Vector, size: Vector | None) -> None:
    value, found = likelihood.log_density(y, f, size), likelihood.derivatives(y, f, size)
    assert np.shape(value) == y.shape, f"log_density(y, f) has the shape {np.shape(value)} for {len(y)} observations"
    assert len(found) == 3, f"derivatives(y, f) returns {len(found)} arrays, expected 3"
    first, second, third = (np.broadcast_to(one, y.shape) for one in found)
    _compare("the first derivative", first, lambda h: likelihood.log_density(y, f + h, size))
    _compare("the second derivative", second, lambda h: likelihood.derivatives(y, f + h, size)[0])
    _compare("the third derivative", third, lambda h: np.broadcast_to(likelihood.derivatives(y, f + h, size)[1], y.shape))


def _density(likelihood: Likelihood, y: Vector, f: Vector, size: Vector | None) -> Matrix:
    return likelihood.core().density(y, f, size)


def _check_precision(likelihood: Likelihood, y: Vector, f: Vector, size: Vector | None) -> None:
    found = _density(likelihood, y, f, size)
    assert (found[:, 4] >= 0).all(), "the precision is negative" + (": log p is not concave" if likelihood.log_concave else "")
    _compare("the derivative of the precision", found[:, 5], lambda h: _density(likelihood, y, f + h, size)[:, 4])
    if likelihood.log_concave:
        return
    # The expectation of minus the second derivative is that of the square of the first.
    p = (np.arange(_DRAWS) + 0.5) / _DRAWS
    for row in range(min(len(y), 3)):
        at = np.full(_DRAWS, f[row])
        sizes = None if size is None else np.full(_DRAWS, size[row])
        first = np.asarray(likelihood.derivatives(likelihood.quantiles(p, at, sizes), at, sizes)[0])
        expected, precision = float(np.mean(first**2)), found[row, 4]
        assert abs(precision - expected) <= 0.05 * expected, f"the information is {precision:.4g}, expected {expected:.4g}"


def _check_parameters(likelihood: Likelihood, y: Vector, f: Vector, size: Vector | None) -> None:
    values = np.array([parameter.value for parameter in likelihood.parameters()])
    for p, parameter in enumerate(likelihood.parameters(y, size)):
        assert parameter.lower <= parameter.value <= parameter.upper, f"{parameter.name} begins outside of its bounds"

        def moved(h: float, p: int = p) -> Matrix:
            return _density(likelihood.with_values(list(values + h * (np.arange(len(values)) == p))), y, f, size)

        found = np.broadcast_arrays(*likelihood.parameter_derivatives(y, f, p, size), y)
        for what, derivative, column in zip(("log p", "the first", "the precision"), found, (0, 1, 4), strict=False):
            _compare(f"the derivative of {what} in {parameter.name}", derivative, partial(_column, moved, column))


def _column(function: Callable[[float], Matrix], column: int, h: float) -> Vector:
    return function(h)[:, column]


def _check_density(likelihood: Likelihood, y: Vector, f: Vector, size: Vector | None) -> None:
    """Compare densities with derivatives of the probability, and probabilities of single values with its steps."""
    lower, upper, discrete = likelihood.outcomes
    p = np.exp(likelihood.log_density(y, f, size))
    at_limit = (y == lower) | (y == upper)  # which observations that are cut off have with a probability
    before = np.where(discrete, y - 1, np.nextafter(y, -np.inf))
    step = likelihood.probability(y, f, size) - likelihood.probability(before, f, size)
    single = np.full(y.shape, True) if discrete else at_limit
    rounding = 1e4 * float(np.finfo(np.float64).eps)
    assert (np.abs(p - step)[single] <= rounding).all(), "the density of a value is not the step of the probability there"
    if not single.all():
        distance = np.minimum(1.0, 0.5 * np.minimum(y - lower, upper - y)[~single])
        sizes = None if size is None else size[~single]
        _compare(
            "the density",
            (p[~single] * distance),
            lambda h: likelihood.probability(y[~single] + h * distance, f[~single], sizes),
        )


def _check_moments(likelihood: Likelihood, y: Vector, f: Vector, size: Vector | None) -> None:
    x = np.linspace(-10, 10, 4001)
    nodes = f + x[:, None]
    sizes = None if size is None else np.tile(size, len(x))
    logs = likelihood.log_density(np.tile(y, len(x)), nodes.ravel(), sizes).reshape(nodes.shape) - 0.5 * x[:, None] ** 2
    largest = logs.max(axis=0)
    density = np.exp(logs - largest)
    total = density.sum(axis=0)
    mean = (density * x[:, None]).sum(axis=0) / total
    square = (density * (x[:, None] - mean) ** 2).sum(axis=0) / total
    value = largest + np.log(total * (x[1] - x[0])) - 0.5 * np.log(2 * np.pi)
    for what, found, expected in zip(
        ("log E p", "its first derivative", "its second derivative"),
        likelihood.moments(y, f, 1.0, size),
        (value, mean, square - 1),
        strict=True,
    ):
        assert (np.abs(found - expected) <= 1e-5 * (1 + np.abs(expected))).all(), f"{what} is {found}, expected {expected}"


def _check_quantiles(likelihood: Likelihood, f: Vector, size: Vector | None) -> None:
    lower, _, discrete = likelihood.outcomes
    for p in (0.01, 0.5, 0.9):
        y = likelihood.quantiles(p, f, size)
        reached = likelihood.probability(y, f, size)
        assert (reached >= p - 1e-9).all(), f"up to the quantile of {p} the probability is {reached.min()}"
        below = np.where(discrete, y - 1, y - 1e-7 * (1e-300 + np.abs(y)))
        before = np.where(y > lower, likelihood.probability(below, f, size), 0.0)
        assert (before <= p).all(), f"below the quantile of {p} the probability is {before.max()}"


def _check_draws(likelihood: Likelihood, f: Vector, size: Vector | None) -> None:
    mean, variance = likelihood.conditional(f, size)
    mean, variance = np.broadcast_to(mean, f.shape), np.broadcast_to(variance, f.shape)
    for row in np.flatnonzero(np.isfinite(variance))[:3]:
        draws = likelihood.draw(np.full(_DRAWS, f[row]), None if size is None else np.full(_DRAWS, size[row]), 0)
        away = abs(float(np.mean(draws)) - mean[row]) / np.sqrt(variance[row] / _DRAWS)
        assert away <= 6, f"the mean of {_DRAWS} draws is {away:.0f} standard errors from the mean of y"
        spread = float(np.mean((draws - mean[row]) ** 2)) / variance[row]
        assert 0.5 <= spread <= 2, f"the variance of draws is {spread:.2g} times that of y"

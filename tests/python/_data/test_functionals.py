"""Slopes and averages as data, and the trend of functionals."""

import numpy as np
import pytest

from kernsel._data.functionals import TrendOfFunctionals, averages_given, slopes_given
from kernsel._data.trend import trend_matrix
from kernsel.kernels import Functionals

from accuracy import eps

rng = np.random.default_rng(0)
X = rng.normal(size=(6, 2))


def test_observed_slopes_are_rows():
    dy = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0]])
    seen = slopes_given((X[:3], dy), [0.1, 0.2], np.asarray)
    np.testing.assert_array_equal(seen.y, [1, 2, 3, 4])
    np.testing.assert_array_equal(seen.along, [0, 1, 0, 1])
    np.testing.assert_array_equal(seen.noise, [0.1, 0.2, 0.1, 0.2])
    np.testing.assert_array_equal(seen.rows[:, :2], X[[0, 1, 2, 2]])
    one = slopes_given((X[:, :1], X[:, 1]), None, np.asarray)  # of one column
    np.testing.assert_array_equal(one.y, X[:, 1])
    assert one.finds_noise
    assert not seen.finds_noise


@pytest.mark.parametrize("trend", ["constant", "linear", "quadratic"])
def test_functionals_of_a_trend(trend):
    of_rows, (nodes, weights) = TrendOfFunctionals(trend), np.polynomial.legendre.leggauss(2)
    H = trend_matrix(trend, X, check=False)
    np.testing.assert_array_equal(of_rows(Functionals.values(X)), H)
    slopes = of_rows(Functionals.slopes(X)).reshape(6, 2, -1)
    for j, step in enumerate(np.eye(2)):  # differences of quadratic functions are exact but for rounding
        expected = (trend_matrix(trend, X + step, check=False) - trend_matrix(trend, X - step, check=False)) / 2
        np.testing.assert_allclose(slopes[:, j], expected, atol=16 * eps(float) * np.abs(H).max())
    half = np.array([0.7, 0.0])  # Gauss's rule of two nodes is exact for quadratic functions
    found = of_rows(Functionals.averages(X - half, X + half))
    expected = sum(w / 2 * trend_matrix(trend, X + t * half, check=False) for t, w in zip(nodes, weights, strict=True))
    np.testing.assert_allclose(found, expected, atol=16 * eps(float) * np.abs(H).max())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: slopes_given(X, None, np.asarray), "slopes: expected a tuple of points, derivatives, got ndarray"),
        (lambda: slopes_given((X,), None, np.asarray), "got tuple of 1"),
        (lambda: slopes_given((X, X[:3]), None, np.asarray), r"derivatives of shape \(6, 2\), .* got \(3, 2\)"),
        (lambda: slopes_given((X, X * np.nan), None, np.asarray), "slopes: expected some derivatives"),
        (lambda: slopes_given((X, X / 0), None, np.asarray), "slopes: expected finite derivatives"),
        (lambda: slopes_given((X, "steep"), None, np.asarray), "slopes: derivatives: expected numbers, got 'steep'"),
        (lambda: slopes_given((X, X), "some", np.asarray), "slope_noise: expected \"auto\", variances or None, got 'some'"),
        (lambda: slopes_given((X, X), -1.0, np.asarray), "slope_noise: expected finite variances"),
        (lambda: slopes_given((X, X), np.ones(3), np.asarray), r"slope_noise: .* here \(6, 2\), got \(3,\)"),
        (lambda: averages_given((X, X + 1), None, np.asarray), "averages: expected a tuple of lower ends, upper ends, values"),
        (lambda: averages_given((X, X - 1, X[:, 0]), None, np.asarray), "averages: lower, upper: .* box 0, column 0"),
        (lambda: averages_given((X, X, X), None, np.asarray), r"averages: expected values of shape \(6,\), got \(6, 2\)"),
        (lambda: averages_given((X, X, X[:, 0] * np.nan), None, np.asarray), "averages: expected finite values, got nan"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_bad_data_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

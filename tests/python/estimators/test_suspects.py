"""Robust functions are not moved by gross errors, and so tell which targets are suspect."""

import numpy as np
import pytest

from kernsel.estimators.suspects import far_from_neighbours, far_from_smooth, suspects_among


def made_up(n, d, size):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, d))
    f = np.sin(np.pi * X[:, 0] * X[:, 1]) + 2 * (X[:, 2] - 0.5) ** 2 + X[:, 3] + 0.5 * X[:, 4]
    rows = np.sort(rng.choice(n, n // 20, replace=False))
    y = f + 0.1 * f.std() * rng.standard_normal(n)
    y[rows] += size * f.std() * rng.choice([-1, 1], len(rows))
    return X, y, rows


@pytest.mark.parametrize("size", [3.0, 1e6])
def test_a_smooth_function_finds_errors_where_neighbours_are_far(size):
    X, y, rows = made_up(60, 5, size)
    for moved in (X, 1e200 * X - 1e199, X * [1, 1e-3, 10, 1e6, 5]):
        assert set(rows) <= set(far_from_smooth(moved, 1e3 * y - 7))
    assert len(far_from_smooth(X, y)) <= len(rows) + 2


def test_degenerate_points():
    y = np.sin(np.arange(30.0))
    y[7] = 100.0
    for X in (np.ones((30, 2)), np.column_stack([np.ones(30), np.arange(30.0)])):
        assert 7 in suspects_among(X, y)
    assert not len(suspects_among(np.ones((30, 1)), np.ones(30)))


def test_many_points_are_compared_with_their_neighbours():
    X, y, rows = made_up(400, 5, 10.0)
    np.testing.assert_array_equal(suspects_among(X, y), far_from_neighbours(X, y))
    assert set(rows) <= set(far_from_neighbours(X, y))

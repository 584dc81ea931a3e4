"""Kernels of functions of the points, and kernels of unit diagonal."""

import numpy as np
import pytest

from kernsel.kernels import (
    RBF,
    Linear,
    Normalize,
    Polynomial,
    Transform,
    Warp,
)


def last(X):
    return X[:, -1]


def test_one_function_on_different_columns(rng):
    X, W = rng.standard_normal((9, 3)), rng.standard_normal((9, 9))
    a, b = Warp(RBF().on([0]), last).on([0, 1]), Warp(RBF().on([0]), last).on([0, 2])
    assert (a + b)(X) == pytest.approx(a(X) + b(X))
    assert (a + b).pullback(X, W, wrt="X") == pytest.approx(a.pullback(X, W, wrt="X") + b.pullback(X, W, wrt="X"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_normalize_of_a_small_diagonal(dtype, rng):
    power, size = (20, 1e-5) if dtype == np.float64 else (6, 1e-2)
    k = Normalize(Polynomial(power, offset=0.0, length_scale=[1.0, 2.0]))  # does not see the size of points
    X, W = (1 + rng.uniform(size=(5, 2))).astype(dtype), rng.standard_normal((5, 5)).astype(dtype)
    tolerance = 1e-9 if dtype == np.float64 else 1e-3
    small = (X * dtype(size)).astype(dtype)
    assert k.pullback(small, W) == pytest.approx(k.pullback(X, W), rel=tolerance, abs=tolerance)
    in_the_points = k.pullback(small, W, wrt="X") * size
    assert in_the_points == pytest.approx(k.pullback(X, W, wrt="X"), rel=tolerance, abs=tolerance)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_derivatives_by_differences_near_a_limit():
    X = np.array([[1e-4], [0.5], [1.0]])
    k = Transform(RBF(), np.log)
    assert np.isfinite(k(X)).all()
    with pytest.raises(ValueError, match=r"give its derivative|not finite"):
        k.pullback(X, np.ones((3, 3)), wrt="X")
    exact = Transform(RBF(), np.log, derivative=lambda X: 1 / X[:, :, None])
    assert np.isfinite(exact.pullback(X, np.ones((3, 3)), wrt="X")).all()


def test_normalize_refuses_the_same_points():
    for call in (Normalize(Linear()), Normalize(Linear()).diag):
        with pytest.raises(ValueError, match="is not positive for a point"):
            call([[0.0], [1.0]])


def laplace(X, Z, width=1.0):
    return np.exp(-np.abs(X[:, None] - Z[None]).sum(axis=-1) / width)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda X: Warp(RBF(), lambda X: X)(X),
            r"function: expected the function to return an array of shape \(3,\), got \(3, 2\)",
        ),
        (lambda X: Warp(RBF(), lambda X: X[:, 0] / 0)(X), "a function of the points returned a number that is not finite"),
        (lambda X: Transform(RBF(), lambda X: X[:, 0])(X), r"phi: expected the function to return an array of shape \(1, r\)"),
        (lambda X: Transform(RBF(), lambda X: X[:2])(X), "phi: expected the function to return an array of shape"),
        (
            lambda X: Transform(RBF(), np.sin, derivative=np.cos).pullback(X, np.ones((3, 3)), wrt="X"),
            r"derivative: expected the function to return an array of shape \(3, 2, 2\), got \(3, 2\)",
        ),
        (lambda X: Transform(RBF(), [[1.0, 2.0, 3.0]])(X), "one column for each column of X"),
        (lambda X: Transform(RBF(), [1.0, 2.0])(X), "phi: expected a matrix"),
        (lambda X: Normalize(Linear())(0 * X), "is not positive for a point"),
        (lambda X: Warp(RBF(), 3.0)(X), r"function: expected a function, got 3\.0"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bad_functions(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make(np.arange(6.0).reshape(3, 2))

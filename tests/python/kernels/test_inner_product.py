"""Functions of the inner product of points: against many digits, and for points near zero."""

import mpmath
import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import (
    ArcCosine,
    DotProduct,
    Polynomial,
    QuadraticForm,
    Sigmoid,
)

from accuracy import assert_ulps, eps

ANGLES = np.concatenate([np.geomspace(1e-9, 1.5, 60), np.pi - np.geomspace(1e-9, 1.5, 60)])


@pytest.mark.core
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_high_precision_of_angles(order, dtype):
    """Within some rounding of the largest value, k(x, x), for any angle: nothing is lost near 0 and near pi."""
    X = np.column_stack([3 * np.cos(ANGLES), 3 * np.sin(ANGLES)]).astype(dtype)
    K = ks.gram(ArcCosine(order, 0.0), np.array([[2.0, 0.0]], dtype), X)[0]
    with mpmath.workdps(30):
        for value, x in zip(K, X.astype(float), strict=True):
            t = mpmath.acos(x[0] / mpmath.sqrt(mpmath.mpf(x[0]) ** 2 + mpmath.mpf(x[1]) ** 2))
            size, rest = 2 * mpmath.sqrt(mpmath.mpf(x[0]) ** 2 + mpmath.mpf(x[1]) ** 2), mpmath.pi - t
            J = [
                rest,
                mpmath.sin(t) + rest * mpmath.cos(t),
                3 * mpmath.sin(t) * mpmath.cos(t) + rest * (1 + 2 * mpmath.cos(t) ** 2),
            ]
            assert abs(value - size**order * J[order] / mpmath.pi) <= 8 * eps(dtype) * 3.0**order * size**order


@pytest.mark.core
@pytest.mark.filterwarnings("ignore:Sigmoid is not positive")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_high_precision_of_the_sigmoid(dtype):
    s = np.concatenate([-np.geomspace(1e-8, 30, 300), np.geomspace(1e-8, 30, 300)]).astype(dtype)
    K = ks.gram(Sigmoid(0.0), np.ones((1, 1), dtype), s[:, None])[0]
    with mpmath.workdps(30):
        exact = np.array([np.longdouble(mpmath.nstr(mpmath.tanh(mpmath.mpf(float(x))), 25)) for x in s])
    assert_ulps(K, exact, 4.0)


@pytest.mark.core
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Polynomial(0), "degree: expected a whole number from 1 to 100"),
        (lambda: Polynomial(2.5), "degree: expected a whole number"),
        (lambda: Polynomial(2, offset=-1.0), "offset: expected positive"),
    ],
)
def test_what_would_not_be_a_kernel(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.core
def test_zero_is_a_constant_where_it_is_allowed(rng):
    X, W = rng.standard_normal((20, 2)), rng.standard_normal((20, 20))
    for k in (DotProduct(0.0), DotProduct(0), Polynomial(2, offset=0.0, length_scale_bounds="fixed")):
        assert k.n_dims == 0
        assert k.pullback(X, W).shape == (0,)
        assert k.clone_with_theta([]) == k
    assert DotProduct(0.0)(X) == pytest.approx(X @ X.T)


def test_small_points_have_a_direction():
    assert ArcCosine(0, offset=0.0)([[1e-200]])[0, 0] == 1
    assert ArcCosine(0, offset=0.0)(np.array([[1e-25]], np.float32))[0, 0] == 1
    assert ArcCosine(0, offset=0.0)([[0.0]])[0, 0] == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: QuadraticForm([1.0]), "B: expected a matrix"),
        (lambda: ArcCosine(3), "order: expected 0, 1 or 2, got 3"),
        (lambda: ArcCosine(0, -1.0), "offset: expected positive"),
    ],
)
def test_bad_hyperparameters(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()

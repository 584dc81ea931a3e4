"""Kernel matrices against their slow twin; what the numbers promise."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernsel as ks
from kernsel.kernels import RBF, ArcCosine, ConstantKernel, Matern, Normalize, Transform, WhiteKernel

import reference
from accuracy import assert_ulps, eps

pytestmark = pytest.mark.core

DTYPES = [np.float64, np.float32]
SIZES = st.one_of(st.integers(1, 20), st.sampled_from([119, 120, 121, 143, 144, 145, 241, 290]))
OTHERS = st.one_of(st.integers(1, 20), st.sampled_from([119, 121, 145]))
COLUMNS = st.one_of(st.integers(1, 6), st.sampled_from([17, 70]))


def points(n, d, seed, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)


def kernels(d):
    """Pairs of a kernel and its twin."""
    scales = np.geomspace(0.7, 3.0, d)
    one, ard = RBF(1.3), RBF(scales)
    return [
        (one, reference.rbf(1.3)),
        (ard, reference.rbf(scales)),
        (ConstantKernel(2.5), reference.constant(2.5)),
        (WhiteKernel(0.3), reference.white(0.3)),
        (ard + WhiteKernel(0.3), reference.add(reference.rbf(scales), reference.white(0.3))),
        (one * ard, reference.multiply(reference.rbf(1.3), reference.rbf(scales))),
        (
            2.0 * one + ard * 0.5 * (one + 1.0),
            reference.add(
                reference.multiply(reference.constant(2.0), reference.rbf(1.3)),
                reference.multiply(
                    reference.multiply(reference.rbf(scales), reference.constant(0.5)),
                    reference.add(reference.rbf(1.3), reference.constant(1.0)),
                ),
            ),
        ),
    ]


@given(SIZES, COLUMNS, st.integers(0, 6), st.sampled_from(DTYPES), st.sampled_from("CF"), st.integers(0, 100))
def test_gram(n, d, which, dtype, order, seed):
    X = np.asarray(points(n, d, seed, dtype), order=order)
    k, twin = kernels(d)[which]
    K = ks.gram(k, X)
    expected = reference.gram(twin, X)
    assert K.dtype == dtype
    assert (K == K.T).all()
    assert np.abs(K - expected).max() <= (d + 8) * eps(dtype) * expected.max()
    assert np.array_equal(k.diag(X), np.diag(K))


@given(SIZES, OTHERS, COLUMNS, st.integers(0, 6), st.sampled_from(DTYPES), st.integers(0, 100))
def test_cross_gram_and_matmul(n, m, d, which, dtype, seed):
    X, Z = points(n, d, seed, dtype), points(m, d, seed + 1, dtype)
    k, twin = kernels(d)[which]
    K = ks.gram(k, X, Z)
    expected = reference.gram(twin, X, Z)
    assert K.shape == (n, m)
    assert np.abs(K - expected).max() <= (d + 8) * eps(dtype) * max(expected.max(), 1)
    V = points(m, 3, seed + 2, dtype)
    limit = (d + 8 + m) * eps(dtype) * (np.abs(expected) @ np.abs(V)).max() + np.finfo(dtype).tiny
    assert np.abs(k.matmul(X, Z, V) - expected @ V).max() <= limit
    assert np.abs(k.matmul(X, Z, V[:, 0]) - expected @ V[:, 0]).max() <= limit


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponential_is_accurate_to_one_ulp(dtype):
    # exp(-t^2 / 2) for t exact in the type: the argument t^2 / 2 is rounded once.
    t = np.concatenate([np.linspace(0, 13, 4001), np.geomspace(1e-6, 37.5 if dtype == np.float64 else 13.1, 2000)]).astype(
        dtype
    )
    K = ks.gram(RBF(1.0), np.zeros((1, 1), dtype), t[:, None])[0]
    squares = (t * t).astype(dtype) / 2
    with mpmath.workdps(30):
        exact = np.array([np.longdouble(mpmath.nstr(mpmath.exp(-mpmath.mpf(float(s))), 25)) for s in squares])
    assert_ulps(K, exact, 1.0)
    assert K[0] == 1
    assert ks.gram(RBF(1.0), np.zeros((1, 1), dtype), np.array([[50.0], [1e18]], dtype)).tolist() == [[0, 0]]


def test_equal_points_are_at_distance_zero(rng):
    X = 1e8 + rng.standard_normal((150, 40))
    X[100:] = X[:50]
    K = ks.gram(RBF(0.1), X)
    assert (np.diag(K) == 1).all()
    assert (K[np.arange(100, 150), np.arange(50)] == 1).all()


def test_far_from_the_origin_nothing_is_lost():
    offsets = np.array([0.0, 0.25, 0.5, 4.0])  # exact at 2**30
    near, far = (ks.gram(RBF(0.5), (base + offsets)[:, None]) for base in (0.0, 2.0**30))
    assert np.array_equal(near, far)


@pytest.mark.parametrize("unit", [1e-200, 1e-30, 1e-6, 1e6, 1e30, 1e200])
def test_any_unit(unit, rng):
    X = rng.standard_normal((130, 3))
    expected = ks.gram(RBF(0.8), X)
    for kernel in (RBF(0.8 * unit), RBF([0.8 * unit] * 3)):
        assert np.abs(ks.gram(kernel, X * unit) - expected).max() <= 64 * eps(float)


@pytest.mark.parametrize(("x", "scale"), [(1e200, 1e-150), (1.0, 1e-320)])
def test_out_of_range(x, scale):
    with pytest.raises(ValueError, match="out of the range of their type"):
        RBF(scale)(np.array([[x], [2 * x]]))


def test_columns_in_different_units(rng):
    X = rng.standard_normal((130, 3))
    units = np.array([1e-150, 1.0, 1e150])
    assert np.abs(ks.gram(RBF(units), X * units) - ks.gram(RBF(1.0), X)).max() <= 64 * eps(float)


@pytest.mark.parametrize("dtype", DTYPES)
def test_same_bits_for_any_number_of_threads(dtype, threads, rng):
    X = rng.standard_normal((450, 5)).astype(dtype)
    V, W = rng.standard_normal((450, 9)).astype(dtype), rng.standard_normal((450, 450)).astype(dtype)
    k = 1.5 * RBF([1.0, 2.0, 3.0, 4.0, 5.0]) + RBF(0.7) * WhiteKernel(0.1)
    k = k + Normalize(ArcCosine(1)) * Transform(Matern([1.0, 2.0], nu=0.9), np.ones((2, 5)))

    def results(count):
        threads(count)
        forward = [k(X), k(X, X[:300]), k.diag(X), k.matmul(X, X, V)]
        return [*forward, k.pullback(X, W), k.pullback(X, W, X), k.pullback(X, W, wrt="X"), k.pullback(X, W, X, wrt="X")]

    for one, many in zip(results(1), results(2), strict=True):
        assert np.array_equal(one, many)


@pytest.mark.parametrize("n", [50, 3000])  # the larger one goes past the caches
@pytest.mark.parametrize("dtype", DTYPES)
def test_out(n, dtype, rng):
    X = rng.standard_normal((n, 2)).astype(dtype)
    k = RBF(1.0)
    expected = ks.gram(k, X)
    room = np.full((n + 5, n + 3), 7, dtype)
    for out in (
        np.empty((n, n), dtype),
        np.empty((n, n), dtype, order="F"),
        room[2 : n + 2, 1 : n + 1],
        room.T[1 : n + 1, 2 : n + 2],
    ):
        assert ks.gram(k, X, out=out) is out
        assert np.array_equal(out, expected)
    assert (room[:2] == 7).all()
    assert (room[n + 2 :] == 7).all()
    assert (room[:, 0] == 7).all()
    assert (room[:, n + 1 :] == 7).all()
    cross = np.empty((n, 7), dtype, order="F")
    assert ks.gram(k, X, X[:7], out=cross) is cross
    assert np.array_equal(cross, ks.gram(k, X, X[:7]))


def test_out_may_be_the_points(rng):
    X = rng.standard_normal((60, 60))
    expected = ks.gram(RBF(3.0), X)
    assert np.array_equal(ks.gram(RBF(3.0), X, out=X), expected)


def test_precision_of_the_result(rng):
    X = rng.standard_normal((4, 2))
    single = X.astype(np.float32)
    assert ks.gram(RBF(), single).dtype == np.float32
    assert ks.gram(RBF(), single, X).dtype == np.float64
    assert ks.gram(RBF(), X.astype(np.float16)).dtype == np.float64
    assert ks.gram(RBF(), np.arange(4).reshape(2, 2)).dtype == np.float64


def test_nothing():
    none = np.zeros((0, 3))
    X = np.zeros((2, 3))
    assert ks.gram(RBF(), none).shape == (0, 0)
    assert ks.gram(RBF(), none, X).shape == (0, 2)
    assert ks.gram(RBF(), X, none).shape == (2, 0)
    assert ks.gram(RBF(), np.zeros((2, 0))).tolist() == [[1, 1], [1, 1]]
    assert RBF().diag(none).shape == (0,)
    assert RBF().matmul(X, none, np.zeros(0)).tolist() == [0, 0]
    assert RBF().matmul(X, X, np.zeros((2, 0))).shape == (2, 0)
    assert RBF().pullback(none, np.zeros((0, 0))).tolist() == [0]

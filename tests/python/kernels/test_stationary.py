"""Functions of the distance of points: against many digits, and at any distance."""

import os
import threading
import time

import mpmath
import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import (
    RBF,
    Cosine,
    Exponential,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    SpectralMixture,
    Wendland,
)

from accuracy import assert_ulps


@pytest.mark.core
def test_product_matern_far_away():
    X = np.array([[0.0] * 40, [1e200] * 40, [1e-300] * 40])
    for nu in (0.5, 1.5, 2.5):
        assert Matern(1.0, nu=nu, product=True)(X).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]


SMALL = mpmath.mpf(2) ** -40


def matern(nu):
    def k(r):
        a = mpmath.sqrt(2 * mpmath.mpf(nu)) * r
        return 2 ** (1 - mpmath.mpf(nu)) / mpmath.gamma(nu) * a**nu * mpmath.besselk(nu, a)

    return k


PROFILES = {
    "matern 0.3": (lambda scale: Matern(scale, nu=0.3), matern(0.3)),
    "matern 1": (lambda scale: Matern(scale, nu=1), matern(1)),
    "matern 2.2": (lambda scale: Matern(scale, nu=2.2), matern(2.2)),
    "matern 30.4": (lambda scale: Matern(scale, nu=30.4), matern(30.4)),
    "product matern 2.2": (lambda scale: Matern(scale, nu=2.2, product=True), matern(2.2)),
    "root": (lambda scale: RBF(scale) ** 0.5, lambda r: mpmath.exp(-(r**2) / 4)),
    "exponential": (lambda scale: Exponential(scale), lambda r: mpmath.exp(-r)),
    "matern 3/2": (lambda scale: Matern(scale, nu=1.5), lambda r: (1 + mpmath.sqrt(3) * r) * mpmath.exp(-mpmath.sqrt(3) * r)),
    "matern 5/2": (
        lambda scale: Matern(scale, nu=2.5),
        lambda r: (1 + mpmath.sqrt(5) * r + 5 * r**2 / 3) * mpmath.exp(-mpmath.sqrt(5) * r),
    ),
    "rational quadratic": (
        lambda scale: RationalQuadratic(scale, 0.75),
        lambda r: (1 + r**2 / mpmath.mpf(1.5)) ** mpmath.mpf(-0.75),
    ),
    "rational quadratic, large alpha": (
        lambda scale: RationalQuadratic(scale, 2.0**20),
        lambda r: (1 + r**2 / mpmath.mpf(2.0**21)) ** mpmath.mpf(-(2.0**20)),
    ),
    "periodic": (lambda scale: ExpSineSquared(1.0, scale), lambda r: mpmath.exp(-2 * mpmath.sin(mpmath.pi * r) ** 2)),
}


@pytest.mark.core
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", PROFILES)
def test_high_precision(name, dtype):
    """Within 4 ULP times 1 + |r k'(r) / k(r)|, how much the kernel amplifies a rounding of its argument."""
    make, exact = PROFILES[name]
    r = np.concatenate([np.geomspace(1e-6, 1, 60), np.linspace(0.05, 12, 120)])[::6].astype(dtype)
    K = ks.gram(make(1.0), np.zeros((1, 1), dtype), r[:, None])[0]
    with mpmath.workdps(40):
        for value, x in zip(K, r, strict=True):
            at = mpmath.mpf(float(x))
            expected = exact(at)
            amplification = abs((exact(at * (1 + SMALL)) - exact(at * (1 - SMALL))) / (2 * SMALL * expected))
            limit = 4 * float(1 + amplification)
            assert_ulps(np.array([value]), np.array([np.longdouble(mpmath.nstr(expected, 30))]), limit)


@pytest.mark.core
def test_matern_of_any_smoothness_joins_the_closed_forms():
    X = np.concatenate([[0.0], np.geomspace(1e-8, 100, 200)])[:, None]
    W = np.random.default_rng(0).standard_normal((201, 201))
    for nu in (0.5, 1.5, 2.5):
        near, exact = Matern(1.0, nu=nu * (1 + 1e-12)), Matern(1.0, nu=nu)
        assert np.abs(near(X) - exact(X)).max() <= 1e-11
        assert near.pullback(X, W) == pytest.approx(exact.pullback(X, W), rel=1e-9)
        product = Matern(1.0, nu=nu * (1 + 1e-12), product=True)
        assert product.pullback(X, W) == pytest.approx(exact.pullback(X, W), rel=1e-9)
    assert np.abs(Matern(1.0, nu=100)(X) - RBF(1.0)(X)).max() <= 0.005


@pytest.mark.core
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Matern(nu=0.0), r"nu: expected a number from 1e-6 to 100, or inf, got 0\.0"),
        (lambda: Matern(nu=5e-324), "nu: expected a number from 1e-6 to 100"),
        (lambda: Matern(nu=101), "nu: expected a number from 1e-6 to 100, or inf, got 101"),
        (lambda: Matern(product=1), "product: expected True or False, got 1"),
        (lambda: Wendland(smoothness=3), "smoothness: expected 0, 1 or 2, got 3"),
        (lambda: Cosine(0.0), "periodicity: expected positive"),
        (lambda: RationalQuadratic(alpha=0.0), "alpha: expected positive"),
        (lambda: ExpSineSquared(periodicity=-1.0), "periodicity: expected positive"),
    ],
)
def test_what_would_not_be_a_kernel(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


FAR = [
    RBF(),
    Exponential(),
    Matern(nu=0.7),
    Matern(nu=1.5),
    Matern(nu=2.5),
    Matern(nu=0.5, product=True),
    Matern(nu=1.5, product=True),
    Matern(nu=2.5, product=True),
    Matern(nu=3.3, product=True),
    RationalQuadratic(),
    RationalQuadratic(alpha=0.3),
    Wendland(),
    Wendland(smoothness=2),
    ExpSineSquared(),
]


@pytest.mark.parametrize("k", FAR, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_points_far_apart(k, dtype):
    X = (np.array([[0.0, 0.0], [1.0, 2.0]]) * (1e200 if dtype == np.float64 else 1e25)).astype(dtype)
    K, W = k(X), np.ones((2, 2), dtype)
    assert np.isfinite(K).all()
    assert (np.diag(K) == 1).all()
    assert K[0, 1] == 0 or isinstance(k, RationalQuadratic | ExpSineSquared)
    assert np.isfinite(k.pullback(X, W)).all()
    assert np.isfinite(k.pullback(X, W, wrt="X")).all()


def test_matern_just_below_one():
    nu = sum([0.1] * 10)
    assert nu < 1
    for near in (nu, 1 - 1e-9, 1 - 1e-6, 0.95):
        k = Matern(nu=near)
        r = np.geomspace(1e-12, 1e-3, 200)[:, None]
        values = k([[0.0]], r)[0]
        assert (np.diff(values) <= 1e-15).all()
        assert 1 - values[100] < 1e-12
        assert k.pullback([[0.0]], [[1.0]], [[1e-10]])[0] < 1e-17


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_fork_while_a_table_is_made():
    stop = []

    def build():
        i = 0
        while not stop:
            i += 1
            Matern(nu=50 + i * 1e-4)([[0.0], [1.0]])

    worker = threading.Thread(target=build, daemon=True)
    worker.start()
    children = []
    for i in range(5):
        time.sleep(0.01)
        child = os.fork()
        if child == 0:
            Matern(nu=60.5 + i)([[0.0], [1.0]])
            os._exit(0)
        children.append(child)
    end = time.time() + 20
    while children and time.time() < end:
        children = [child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0]
        time.sleep(0.05)
    stop.append(True)
    worker.join()
    for child in children:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert not children


def test_the_period_of_a_difference(rng):
    X = rng.standard_normal((9, 2))
    assert (Cosine(2.0) + Cosine([2.0, 2.0]))(X) == pytest.approx(2 * Cosine(2.0)(X))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SpectralMixture([1.0], [1.0, 2.0], [1.0]), "expected one for each component, got shapes"),
        (lambda: SpectralMixture(n_components=0), "n_components: expected a whole number from 1 to 1000, got 0"),
    ],
)
def test_bad_hyperparameters(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()

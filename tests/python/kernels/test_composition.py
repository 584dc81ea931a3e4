"""Kernels of another kernel's features."""

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
from kernsel.kernels import (
    RBF,
    Composition,
    ConstantKernel,
    DotProduct,
    Exponential,
    Linear,
    Matern,
    Normalize,
    Parameter,
    Polynomial,
    Power,
    RationalQuadratic,
    Wendland,
    WhiteKernel,
)
from kernsel.testing import check_kernel

EPS = np.finfo(float).eps


@pytest.fixture
def X(rng):
    return rng.normal(size=(150, 3))


def squared_distances(K):
    return np.diag(K)[:, None] + np.diag(K) - 2 * K


@pytest.mark.parametrize(
    ("outer", "of_squares"),
    [
        (RBF(0.7), lambda s: np.exp(-s / (2 * 0.49))),
        (Exponential(2.0), lambda s: np.exp(-np.sqrt(s) / 2)),
        (Matern(2.0, nu=1.5), lambda s: (1 + np.sqrt(3 * s) / 2) * np.exp(-np.sqrt(3 * s) / 2)),
        (Matern(2.0, nu=np.inf), lambda s: np.exp(-s / 8)),
        (RationalQuadratic(1.5, 0.6), lambda s: (1 + s / (2 * 0.6 * 1.5**2)) ** -0.6),
    ],
)
@pytest.mark.parametrize("inner", [0.5 * Polynomial(2, 1.3, 2.0) + 0.3, Normalize(DotProduct(0.5, length_scale=1.1))])
def test_kernels_of_the_distance(X, outer, of_squares, inner):
    K = inner(X)
    expected = of_squares(np.maximum(squared_distances(K), 0))
    # The square of a small distance is a difference of numbers of the size of K; its root has the root of that error.
    allowed = 10 * np.sqrt(EPS * np.abs(K).max())
    assert np.abs((outer @ inner)(X) - expected).max() <= allowed
    check_kernel(outer @ inner, X[:30], points=not isinstance(outer, Exponential))


@pytest.mark.parametrize(
    ("outer", "of_product"),
    [
        (Linear(2.0), lambda t: t / 4),
        (DotProduct(0.7), lambda t: 0.49 + t),
        (Polynomial(3, 0.5, 2.0), lambda t: (0.5 + t / 4) ** 3),
    ],
)
def test_kernels_of_the_inner_product(X, outer, of_product):
    inner = RBF([1.0, 2.0, 3.0])
    assert np.allclose((outer @ inner)(X), of_product(inner(X)), rtol=20 * EPS, atol=0)
    check_kernel(outer @ inner, X[:30])


def test_linear_features_are_the_points(X):
    for outer in (RBF(2.0), Matern(0.7, nu=2.5), Polynomial(2, 1.0, 2.0)):
        assert np.abs((outer @ Linear())(X) - outer(X)).max() <= 1000 * EPS * np.abs(outer(X)).max()


def test_it_nests_and_shares(X):
    inner = Polynomial(2, 1.0, 3.0)
    nested = RBF(1.5) @ (RBF(1.0) @ inner) + 0.5 * inner
    K = inner(X)
    first = np.exp(-squared_distances(K) / 2)
    expected = np.exp(-squared_distances(first) / 4.5) + 0.5 * K
    assert np.abs(nested(X) - expected).max() <= 1e3 * EPS * np.abs(K).max() ** 2
    check_kernel(nested, X[:20])


def test_different_points(X):
    kernel = RBF(0.8) @ (Matern(1.0, nu=1.5).on([0, 2]) + 0.1 * Linear())
    K = kernel(X)
    assert np.abs(kernel(X[:130], X[20:]) - K[:130, 20:]).max() <= 100 * EPS
    assert np.array_equal(kernel.diag(X), np.ones(len(X)))


def test_sums_and_products_are_composed_by_parts():
    inner = Linear()
    assert 2.0 * RBF(1.0) @ inner == ConstantKernel(2.0) * Composition(RBF(1.0), inner)
    assert (RBF(1.0) + WhiteKernel(0.1)) @ inner == Composition(RBF(1.0), inner) + WhiteKernel(0.1)
    assert RBF(1.0) ** 2 @ inner == Power(Composition(RBF(1.0), inner), 2)
    fixed = Linear(1.0, "fixed")
    assert (RBF(1.0) + Matern(2.0)) @ fixed == Composition(RBF(1.0), fixed) + Composition(Matern(2.0), fixed)
    with pytest.raises(ValueError, match="once for each part"):
        (RBF(1.0) + Matern(2.0)) @ inner
    assert sk.RBF(2.0) @ inner == Composition(RBF(2.0, (1e-5, 1e5)), inner)


@pytest.mark.parametrize(
    "outer", [RBF([1.0, 2.0]), Matern(1.0, product=True), Matern(1.0, nu=0.7), Wendland(1.0), Normalize(RBF(1.0))]
)
def test_others_are_refused(outer):
    with pytest.raises(ValueError, match="outer: expected a kernel of a distance or an inner product"):
        outer @ Linear()


def test_numbers_are_no_kernels():
    with pytest.raises(TypeError):
        RBF(1.0) @ 2.0
    with pytest.raises(TypeError):
        2.0 @ RBF(1.0)


def test_printed_as_written():
    kernel = 2.0 * RBF(1.5) @ (Linear() + 0.5) + RBF(Parameter(1.0, name="a")) @ Linear()
    assert eval(repr(kernel), vars(ks.kernels) | vars(ks.kernels.priors)) == kernel
    assert str(kernel) == "2 * (RBF(1.5) @ (Linear(1) + ConstantKernel(0.5))) + RBF(1) @ Linear(1)"
    for other in (Linear() * (RBF(1.0) @ Linear()), (RBF(1.0) @ Linear()) ** 2, (RBF(1.0) @ Linear()).on([1]) * Linear()):
        assert eval(repr(other), vars(ks.kernels)) == other


def test_auto_follows_the_features(X):
    for scale in (1.0, 1e6, 1e-6):
        kernel = (RBF("auto") @ Linear(1.0, "fixed")).for_data(scale * X)
        # The features are the points: their spread is the root of the sum of variances.
        assert np.isclose(kernel.outer.length_scale, scale * np.sqrt(X.var(axis=0).sum()), rtol=1e-6)
        lower, upper = kernel.outer.length_scale_bounds
        assert lower < 0.1 * kernel.outer.length_scale < 100 * kernel.outer.length_scale < upper


def test_constant_features_have_a_length_scale():
    kernel = (RBF("auto") @ ConstantKernel(2.0)).for_data(np.zeros((5, 1)))
    assert np.array_equal(kernel(np.zeros((5, 1))), np.ones((5, 5)))


def test_hyperparameters_inside_are_found(rng):
    X = rng.uniform(-2, 2, size=(60, 2))
    y = np.exp(-((X[:, 0] ** 2 + X[:, 0]) ** 2) / 2) + 0.01 * rng.normal(size=60)
    model = ks.GaussianProcessRegressor(RBF("auto") @ Polynomial(2, 1.0, "auto"), noise="auto", criterion="lml").fit(X, y)
    names = [h.name for h in model.kernel_.hyperparameters]
    assert names == ["outer__length_scale", "inner__offset", "inner__length_scale"]
    theta = model.kernel_.theta
    value, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    inside = (theta > model.kernel_.bounds[:, 0] + 1e-3) & (theta < model.kernel_.bounds[:, 1] - 1e-3)
    assert np.abs(gradient[inside]).max() < 1e-2 * max(abs(value), 1)
    assert np.std(model.predict(X) - y) < 0.05

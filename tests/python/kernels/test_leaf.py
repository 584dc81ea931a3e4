"""Every kernel and random trees of them: values, gradients, the diagonal, precision, against slow twins and other packages."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import pairwise
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
from kernsel.kernels import (
    RBF,
    ArcCosine,
    Brownian,
    ConstantKernel,
    Cosine,
    DotProduct,
    Exp,
    Exponential,
    ExpSineSquared,
    FunctionKernel,
    HeteroscedasticNoise,
    Linear,
    Matern,
    Normalize,
    Polynomial,
    PolynomialOf,
    QuadraticForm,
    RadialPair,
    RationalQuadratic,
    Sigmoid,
    SpectralMixture,
    Transform,
    Warp,
    Wendland,
    WhiteKernel,
    from_sklearn,
    kernel,
)

import reference as ref
from accuracy import assert_ulps, eps

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore:Sigmoid is not positive")]

D = 3
ONE = ConstantKernel(1.0, "fixed")


def wave(X):
    return np.sin(X[:, 0]) + 1.5 + X[:, -1]


def pair(X):
    return np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])


def pair_slopes(X):
    none = np.zeros(len(X))
    return np.stack([np.column_stack([np.cos(X[:, 0]), none, none]), np.column_stack([none, X[:, 2], X[:, 1]])], axis=1)


def mixture(X, Z, width, height):
    return height * np.exp(-0.5 * ((X[:, None] - Z[None]) ** 2).sum(axis=-1) / width**2)


def mixture_slopes(X, Z, width, height):
    K = mixture(X, Z, width, height)
    return {"height": K / height, "width": K * ((X[:, None] - Z[None]) ** 2).sum(axis=-1) / width**3}


# Kernels of points of three columns, as functions of their hyperparameters h, with their slow twins.
LEAVES = {
    "rbf": (1, lambda h: RBF(h[0]), lambda h: ref.rbf(h[0])),
    "rbf ard": (3, RBF, ref.rbf),
    "exponential": (1, lambda h: Exponential(h[0]), lambda h: ref.exponential(h[0])),
    "exponential ard": (3, Exponential, ref.exponential),
    "matern 1/2": (3, lambda h: Matern(h, nu=0.5), ref.exponential),
    "matern 3/2": (1, lambda h: Matern(h[0], nu=1.5), lambda h: ref.matern32(h[0])),
    "matern 3/2 ard": (3, lambda h: Matern(h, nu=1.5), ref.matern32),
    "matern 5/2": (1, lambda h: Matern(h[0], nu=2.5), lambda h: ref.matern52(h[0])),
    "matern 5/2 ard": (3, lambda h: Matern(h, nu=2.5), ref.matern52),
    "matern inf": (3, lambda h: Matern(h, nu=np.inf), ref.rbf),
    "product matern 1/2": (3, lambda h: Matern(h, nu=0.5, product=True), lambda h: ref.product(ref.exponential, h)),
    "product matern 3/2": (1, lambda h: Matern(h[0], nu=1.5, product=True), lambda h: ref.product(ref.matern32, h[0])),
    "product matern 3/2 ard": (3, lambda h: Matern(h, nu=1.5, product=True), lambda h: ref.product(ref.matern32, h)),
    "product matern 5/2 ard": (3, lambda h: Matern(h, nu=2.5, product=True), lambda h: ref.product(ref.matern52, h)),
    "cosine": (1, lambda h: Cosine(h[0]), lambda h: ref.cosine(h[0])),
    "cosine ard": (3, Cosine, ref.cosine),
    "wendland 0": (3, lambda h: Wendland(h, smoothness=0), lambda h: ref.wendland(0, h)),
    "wendland 1": (1, lambda h: Wendland(h[0], smoothness=1), lambda h: ref.wendland(1, h[0])),
    "wendland 2": (3, lambda h: Wendland(h, smoothness=2), lambda h: ref.wendland(2, h)),
    "wendland 2 on one column": (
        1,
        lambda h: Wendland(h[0], smoothness=2).on([1]),
        lambda h: ref.on(ref.wendland(2, h[0]), [1]),
    ),
    "rational quadratic": (2, lambda h: RationalQuadratic(h[1], h[0]), lambda h: ref.rational_quadratic(h[0], h[1])),
    "rational quadratic ard": (4, lambda h: RationalQuadratic(h[1:], h[0]), lambda h: ref.rational_quadratic(h[0], h[1:])),
    "periodic": (2, lambda h: ExpSineSquared(h[0], h[1]), lambda h: ref.periodic(h[0], h[1])),
    "periodic, a period a column": (4, lambda h: ExpSineSquared(h[0], h[1:]), lambda h: ref.periodic(h[0], h[1:])),
    "constant": (1, lambda h: ConstantKernel(h[0]), lambda h: ref.constant(h[0])),
    "white": (1, lambda h: WhiteKernel(h[0]), lambda h: ref.white(h[0])),
    "dot product": (1, lambda h: DotProduct(h[0]), lambda h: ref.polynomial(h[0] ** 2, 1, 1.0)),
    "linear": (1, lambda h: Linear(h[0]), lambda h: ref.polynomial(0.0, 1, h[0])),
    "linear ard": (3, Linear, lambda h: ref.polynomial(0.0, 1, h)),
    "polynomial": (2, lambda h: Polynomial(3, h[0], h[1]), lambda h: ref.polynomial(h[0], 3, h[1])),
    "polynomial ard": (4, lambda h: Polynomial(2, h[0], h[1:]), lambda h: ref.polynomial(h[0], 2, h[1:])),
    "columns": (2, lambda h: RBF(h).on([2, 0]), lambda h: ref.on(ref.rbf(h), [2, 0])),
    "columns of columns": (1, lambda h: Matern(h[0]).on([1]).on([0, 2]), lambda h: ref.on(ref.matern32(h[0]), [2])),
    "matern 0.8": (3, lambda h: Matern(h, nu=0.8), lambda h: ref.matern(0.8, h)),
    "matern 1": (1, lambda h: Matern(h[0], nu=1.0), lambda h: ref.matern(1.0, h[0])),
    "matern 7": (1, lambda h: Matern(h[0], nu=7.0), lambda h: ref.matern(7.0, h[0])),
    "product matern 0.8": (
        1,
        lambda h: Matern(h[0], nu=0.8, product=True),
        lambda h: ref.product(lambda scale: ref.matern(0.8, scale), h[0]),
    ),
    "product matern 3.2": (
        3,
        lambda h: Matern(h, nu=3.2, product=True),
        lambda h: ref.product(lambda scale: ref.matern(3.2, scale), h),
    ),
    "product matern inf": (3, lambda h: Matern(h, nu=np.inf, product=True), ref.rbf),
    "spectral mixture": (
        14,
        lambda h: SpectralMixture(h[:2], h[2:8].reshape(2, 3), h[8:].reshape(2, 3)),
        lambda h: ref.spectral_mixture(h[:2], h[2:8].reshape(2, 3), h[8:].reshape(2, 3)),
    ),
    "spectral mixture, a scale a component": (
        6,
        lambda h: SpectralMixture(h[:2], h[2:4], h[4:]),
        lambda h: ref.spectral_mixture(h[:2], h[2:4], h[4:]),
    ),
    "dot product ard": (
        4,
        lambda h: DotProduct(h[0], length_scale=h[1:]),
        lambda h: ref.polynomial(h[0] ** 2, 1, h[1:]),
    ),
    "sigmoid": (2, lambda h: Sigmoid(h[0], h[1]), lambda h: ref.sigmoid(h[0], h[1])),
    "sigmoid ard": (4, lambda h: Sigmoid(h[0], h[1:]), lambda h: ref.sigmoid(h[0], h[1:])),
    "radial pair": (1, lambda h: RadialPair(h[0]), lambda h: ref.radial_pair(h[0])),
    "radial pair ard": (3, RadialPair, ref.radial_pair),
    "arc-cosine 0": (2, lambda h: ArcCosine(0, h[0], h[1]), lambda h: ref.arc_cosine(0, h[0], h[1])),
    "arc-cosine 1": (4, lambda h: ArcCosine(1, h[0], h[1:]), lambda h: ref.arc_cosine(1, h[0], h[1:])),
    "arc-cosine 2": (4, lambda h: ArcCosine(2, h[0], h[1:]), lambda h: ref.arc_cosine(2, h[0], h[1:])),
    "arc-cosine 1 without offset": (3, lambda h: ArcCosine(1, 0.0, h), lambda h: ref.arc_cosine(1, 0.0, h)),
    "brownian": (0, lambda h: Brownian(), lambda h: ref.brownian()),
    "quadratic form": (6, lambda h: QuadraticForm(h.reshape(2, 3)), lambda h: ref.quadratic_form(h.reshape(2, 3))),
    "normalize": (
        2,
        lambda h: Normalize(Polynomial(2, h[0], h[1])),
        lambda h: ref.normalize(ref.polynomial(h[0], 2, h[1])),
    ),
    "normalize noise": (
        6,
        lambda h: Normalize(DotProduct(h[0], length_scale=h[1:4]) * RBF(h[4]) + WhiteKernel(h[5])),
        lambda h: ref.normalize(ref.add(ref.multiply(ref.polynomial(h[0] ** 2, 1, h[1:4]), ref.rbf(h[4])), ref.white(h[5]))),
    ),
    "normalize twice": (
        4,
        lambda h: Normalize(Normalize(ArcCosine(1, h[0], h[1])) + Polynomial(2, h[2], h[3])),
        lambda h: ref.normalize(ref.add(ref.normalize(ref.arc_cosine(1, h[0], h[1])), ref.polynomial(h[2], 2, h[3]))),
    ),
    "columns of transformed": (
        7,
        lambda h: Transform(RBF(h[6]).on([1]), h[:6].reshape(2, 3)),
        lambda h: ref.transform(ref.on(ref.rbf(h[6]), [1]), lambda x: h[:6].reshape(2, 3) @ x),
    ),
    "transform": (
        8,
        lambda h: Transform(Matern(h[6:], nu=2.5), h[:6].reshape(2, 3)),
        lambda h: ref.transform(ref.matern52(h[6:]), lambda x: h[:6].reshape(2, 3) @ x),
    ),
    "transform of columns, twice": (
        8,
        lambda h: Transform(Transform(RBF(1.0, "fixed"), h[4:].reshape(2, 2)), h[:4].reshape(2, 2)).on([2, 0]),
        lambda h: ref.on(ref.transform(ref.rbf(1.0), lambda x: h[4:].reshape(2, 2) @ (h[:4].reshape(2, 2) @ x)), [2, 0]),
    ),
    "normalize transformed": (
        7,
        lambda h: Normalize(Transform(Polynomial(2, h[6], 1.0, length_scale_bounds="fixed"), h[:6].reshape(2, 3))),
        lambda h: ref.normalize(ref.transform(ref.polynomial(h[6], 2, 1.0), lambda x: h[:6].reshape(2, 3) @ x)),
    ),
    "noise": (
        1,
        lambda h: HeteroscedasticNoise(lambda X: 1 + X[:, 0] ** 2, h[0], "auto"),
        lambda h: ref.noise(h[0], lambda x: 1 + x[0] ** 2),
    ),
    "warp": (1, lambda h: Warp(RBF(h[0]), wave), lambda h: ref.warp(ref.rbf(h[0]), lambda x: wave(x[None])[0])),
    "warped columns": (
        1,
        lambda h: Warp(RBF(h[0]), lambda X: X[:, 1], lambda X: np.column_stack([np.zeros(len(X)), np.ones(len(X))])).on([1, 2]),
        lambda h: ref.on(ref.warp(ref.rbf(h[0]), lambda x: x[1]), [1, 2]),
    ),
    "transform by a function": (
        3,
        lambda h: Transform(RBF(h[:2]) * Linear(h[2]), pair),
        lambda h: ref.transform(ref.multiply(ref.rbf(h[:2]), ref.polynomial(0.0, 1, h[2])), lambda x: pair(x[None])[0]),
    ),
    "transform by a function and its derivative": (
        1,
        lambda h: Transform(RBF(h[0]), pair, derivative=pair_slopes),
        lambda h: ref.transform(ref.rbf(h[0]), lambda x: pair(x[None])[0]),
    ),
    "normalize warped": (
        1,
        lambda h: Normalize(Warp(Linear(h[0]) + ONE, wave)),
        lambda h: ref.normalize(ref.warp(ref.add(ref.polynomial(0.0, 1, h[0]), ref.constant(1.0)), lambda x: wave(x[None])[0])),
    ),
    "function": (
        2,
        lambda h: FunctionKernel(mixture, {"width": h[0], "height": h[1]}),
        lambda h: ref.multiply(ref.constant(h[1]), ref.rbf(h[0])),
    ),
    "function with its gradient": (
        2,
        lambda h: FunctionKernel(mixture, {"width": h[0], "height": h[1]}, mixture_slopes),
        lambda h: ref.multiply(ref.constant(h[1]), ref.rbf(h[0])),
    ),
    "normalize function": (
        2,
        lambda h: Normalize(FunctionKernel(mixture, {"width": h[0], "height": h[1]}) + ONE).on([0, 1]),
        lambda h: ref.on(ref.normalize(ref.add(ref.multiply(ref.constant(h[1]), ref.rbf(h[0])), ref.constant(1.0))), [0, 1]),
    ),
    "power": (1, lambda h: RBF(h[0]) ** 3, lambda h: ref.power(ref.rbf(h[0]), 3)),
    "root": (1, lambda h: RBF(h[0]) ** 0.5, lambda h: ref.power(ref.rbf(h[0]), 0.5)),
    "power of a product": (
        3,
        lambda h: (RationalQuadratic(h[1], h[0]) * Matern(h[2], nu=0.7)) ** 1.7,
        lambda h: ref.power(ref.multiply(ref.rational_quadratic(h[0], h[1]), ref.matern(0.7, h[2])), 1.7),
    ),
    "exp": (1, lambda h: Exp(RBF(h[0])), lambda h: ref.exp(ref.rbf(h[0]))),
    "series": (1, lambda h: PolynomialOf(RBF(h[0]), [0.5, 0, 2]), lambda h: ref.series([0.5, 0, 2], ref.rbf(h[0]))),
}


# Which hyperparameters theta has as they are.
PLAIN = {
    "sigmoid": 1,
    "sigmoid ard": 1,
    "quadratic form": 6,
    "transform": 6,
    "columns of transformed": 6,
    "transform of columns, twice": 8,
    "normalize transformed": 6,
}
INDEFINITE = {"periodic", "periodic, a period a column", "sigmoid", "sigmoid ard"}
UNREADABLE = {
    name for name in LEAVES if any(word in name for word in ("function", "warp", "noise")) and name != "normalize noise"
}


def theta_of(name, h):
    return np.concatenate([h[: PLAIN.get(name, 0)], np.log(h[PLAIN.get(name, 0) :])])


def values(name, seed):
    return np.random.default_rng(seed).uniform(0.6, 1.8, LEAVES[name][0])


def points(n, seed, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal((n, D)).astype(dtype)


@given(
    st.sampled_from(list(LEAVES)), st.sampled_from([1, 9, 40]), st.sampled_from([np.float64, np.float32]), st.integers(0, 99)
)
def test_values(name, n, dtype, seed):
    _, make, twin = LEAVES[name]
    h = values(name, seed)
    k, X, Z = make(h), points(n, seed, dtype), points(7, seed + 1, dtype)
    expected, cross = ref.gram(twin(h), X), ref.gram(twin(h), X, Z)
    limit = 64 * eps(dtype) * max(np.abs(expected).max(), np.abs(cross).max(), 1)
    K = ks.gram(k, X)
    assert np.abs(K - expected).max() <= limit
    assert (K == K.T).all()
    assert np.array_equal(k.diag(X), np.diag(K))
    assert np.abs(ks.gram(k, X, Z) - cross).max() <= limit
    assert np.abs(k.matmul(X, Z, np.eye(7, dtype=dtype)) - cross).max() <= limit


@pytest.mark.parametrize("name", LEAVES)
@pytest.mark.parametrize("n", [20, 130])
def test_gradients(name, n, rng):
    _, make, _ = LEAVES[name]
    X = points(n, 1)
    X[-2:] = X[:2]  # distance zero, off the diagonal
    W = rng.standard_normal((n, n))
    k = make(values(name, 1))
    assert k.theta == pytest.approx(theta_of(name, values(name, 1)), abs=4 * eps(float))
    assert k.n_dims == LEAVES[name][0] == len(k.bounds)
    again = k.clone_with_theta(k.theta + 0.1)
    assert again.theta == pytest.approx(k.theta + 0.1)
    expected, error = ref.central_differences(lambda t: np.vdot(W, k.clone_with_theta(t)(X)), k.theta, step=1e-4)
    rounding = eps(float) * np.linalg.norm(W) * np.linalg.norm(k(X)) * 4 / 1e-4
    assert (np.abs(k.pullback(X, W) - expected) <= error + rounding).all()


@pytest.mark.parametrize(("name", "cross", "n"), pairwise(LEAVES, [False, True], [20, 130]))
def test_gradients_in_the_points(name, cross, n, rng):
    X, W = points(n, 1), rng.standard_normal((n, n))
    Z = points(n, 2) if cross else None
    k = LEAVES[name][1](values(name, 1))
    direction = rng.standard_normal(X.shape)
    expected, error = ref.central_differences(lambda t: np.vdot(W, k(X + t[0] * direction, Z)), [0.0], step=1e-4)
    gradient = k.pullback(X, W, Z, wrt="X")
    rounding = eps(float) * np.linalg.norm(W) * np.linalg.norm(k(X)) * 16 / 1e-4
    # Differences across a kink are as wrong as the step is long, and there are more kinks the more points there are.
    rough = any(word in name for word in ("brownian", "1/2", "0.8", "exponential", "wendland 0", "arc-cosine 0"))
    kinks = (1e-4 * n + 9 * error[0] * (n > 100)) if rough else 0.0
    assert gradient.shape == X.shape
    assert abs(np.vdot(gradient, direction) - expected[0]) <= error[0] + rounding + kinks
    single = k.pullback(X.astype(np.float32), W.astype(np.float32), None if Z is None else Z.astype(np.float32), wrt="X")
    assert single.dtype == np.float32
    assert np.abs(single - gradient).max() <= 2e-3 * max(np.abs(gradient).max(), 1.0)


@pytest.mark.parametrize("name", [name for name in LEAVES if name not in INDEFINITE])
def test_positive_semidefinite(name, rng):
    for seed in range(3):
        X = points(60, seed)
        K = LEAVES[name][1](values(name, seed))(X)
        assert np.linalg.eigvalsh(K).min() >= -60 * eps(float) * np.abs(K).max() * 60
    del rng


# Trees of depth up to 4, with their twins.
def trees(excluded=()):
    leaf = st.sampled_from([name for name in LEAVES if name not in excluded]).flatmap(
        lambda name: st.integers(0, 20).map(
            lambda seed: (LEAVES[name][1](values(name, seed)), LEAVES[name][2](values(name, seed)))
        )
    )
    pair = lambda f, g: lambda two: (f(two[0][0], two[1][0]), g(two[0][1], two[1][1]))  # noqa: E731
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(pair(lambda a, b: a + b, ref.add)),
            st.tuples(inner, inner).map(pair(lambda a, b: a * b, ref.multiply)),
            inner.map(lambda one: (0.5 * one[0], ref.multiply(ref.constant(0.5), one[1]))),
            inner.map(lambda one: (one[0] ** 2, ref.power(one[1], 2))),
            inner.map(lambda one: (PolynomialOf(one[0], [1.0, 0.5]), ref.series([1.0, 0.5], one[1]))),
        ),
        max_leaves=6,
    )


@given(trees(), st.integers(0, 99))
def test_trees(tree, seed):
    k, twin = tree
    X, W = 0.5 * points(25, seed), np.random.default_rng(seed).standard_normal((25, 25))
    K, expected = ks.gram(k, X), ref.gram(twin, X)
    assert np.abs(K - expected).max() <= 500 * eps(float) * max(np.abs(expected).max(), 1)
    assert np.linalg.eigvalsh(K).min() >= -1000 * eps(float) * np.abs(K).max() * 25 or any(
        name in repr(k) for name in ("ExpSineSquared", "Sigmoid")
    )
    direction = np.random.default_rng(seed + 1).standard_normal(k.n_dims)
    change, error = ref.central_differences(
        lambda t: np.vdot(W, k.clone_with_theta(k.theta + t[0] * direction)(X)), [0.0], 1e-4
    )
    rounding = eps(float) * np.linalg.norm(W) * np.linalg.norm(K) * 16 / 1e-4
    assert abs(k.pullback(X, W) @ direction - change[0]) <= error[0] + rounding
    assert k.clone_with_theta(k.theta).theta == pytest.approx(k.theta, abs=16 * eps(float))


THEIRS = [
    2.0 * sk.RBF([1.0, 2.0, 0.7]) + sk.WhiteKernel(0.1),
    sk.Matern(1.3, nu=0.5) + sk.Matern([1.0, 2.0, 3.0], nu=1.5) * sk.Matern(0.9, nu=2.5),
    sk.Matern(0.8, nu=np.inf) * sk.RationalQuadratic(1.2, 0.7),
    sk.ExpSineSquared(1.1, 2.3) * sk.RBF(2.0) + sk.ConstantKernel(0.3, "fixed"),
    (sk.DotProduct(0.8) + sk.RBF(1.0)) ** 2,
    (sk.RBF(0.8) * sk.ConstantKernel(2.0)) ** 0.5 + sk.Matern(1.1, nu=1.5) ** 3,
    sk.RBF([1.0, 2.0, 3.0], length_scale_bounds="fixed") + sk.RBF(0.5, (0.1, 3.0)),
]


@pytest.mark.parametrize("theirs", THEIRS, ids=str)
def test_scikit_learns_kernels(theirs, rng):
    ours, X, W = from_sklearn(theirs), points(60, 3), rng.standard_normal((60, 60))
    K, gradient = theirs(X, eval_gradient=True)
    tolerance = 200 * eps(float) * np.abs(K).max()
    assert ours(X) == pytest.approx(K, abs=tolerance)
    assert ours(X, X[:9]) == pytest.approx(theirs(X, X[:9]), abs=tolerance)
    assert ours.diag(X) == pytest.approx(theirs.diag(X), abs=tolerance)
    assert ours.theta == pytest.approx(theirs.theta)
    assert ours.bounds == pytest.approx(theirs.bounds)
    assert [h.name for h in ours.hyperparameters] == [h.name for h in theirs.hyperparameters]
    expected = np.einsum("ij,ijp->p", W, gradient)
    assert ours.pullback(X, W) == pytest.approx(expected, abs=200 * eps(float) * np.abs(gradient).max() * np.abs(W).sum())
    moved = theirs.clone_with_theta(theirs.theta - 0.2)
    assert ours.clone_with_theta(ours.theta - 0.2)(X) == pytest.approx(moved(X), abs=tolerance)
    assert ks.gram(theirs, X) == pytest.approx(K, abs=tolerance)
    y = X.sum(1)
    assert np.array_equal(*(ks.KernelRidge(k, alpha=60.0).fit(X, y).predict(X) for k in (theirs, ours)))


@pytest.mark.parametrize(
    "theirs",
    [
        sk.Matern(1.3, nu=0.8) + sk.Matern([1.0, 2.0, 3.0], nu=2.2),
        sk.PairwiseKernel(0.7, metric="rbf") + sk.PairwiseKernel(0.2, (0.1, 2.0), metric="polynomial"),
        2.0 * sk.PairwiseKernel(metric="laplacian") * sk.RBF(2.0),
        sk.PairwiseKernel(metric="cosine") + sk.PairwiseKernel(metric="linear"),
    ],
    ids=str,
)
def test_scikit_learns_kernels_with_gradients_by_differences(theirs, rng):
    ours, X, W = from_sklearn(theirs), points(40, 3), rng.standard_normal((40, 40))
    K, gradient = theirs(X, eval_gradient=True)
    assert ours(X) == pytest.approx(K, abs=1000 * eps(float) * np.abs(K).max())
    assert ours.theta == pytest.approx(theirs.theta)
    assert ours.bounds == pytest.approx(theirs.bounds)
    expected = np.einsum("ij,ijp->p", W, gradient)
    assert ours.pullback(X, W) == pytest.approx(expected, abs=1e-5 * np.abs(gradient).max() * np.abs(W).sum())
    assert from_sklearn(theirs) == ours


def test_what_has_no_counterpart():
    class Own(sk.RBF):
        pass

    with pytest.raises(TypeError, match="CompoundKernel is a list of kernels, not a kernel"):
        RBF() + sk.CompoundKernel([sk.RBF()])
    with pytest.raises(TypeError, match=r"Own has no counterpart in kernsel\.kernels; FunctionKernel makes one"):
        RBF() + Own()


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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", PROFILES)
def test_high_precision(name, dtype):
    """Within 4 ULP times 1 + |r k'(r) / k(r)|, how much the kernel amplifies a rounding of its argument."""
    make, exact = PROFILES[name]
    r = np.concatenate([np.geomspace(1e-6, 1, 60), np.linspace(0.05, 12, 120)])[::4].astype(dtype)
    K = ks.gram(make(1.0), np.zeros((1, 1), dtype), r[:, None])[0]
    with mpmath.workdps(40):
        for value, x in zip(K, r, strict=True):
            at = mpmath.mpf(float(x))
            expected = exact(at)
            amplification = abs((exact(at * (1 + SMALL)) - exact(at * (1 - SMALL))) / (2 * SMALL * expected))
            limit = 4 * float(1 + amplification)
            assert_ulps(np.array([value]), np.array([np.longdouble(mpmath.nstr(expected, 30))]), limit)


ANGLES = np.concatenate([np.geomspace(1e-9, 1.5, 60), np.pi - np.geomspace(1e-9, 1.5, 60)])


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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_high_precision_of_the_sigmoid(dtype):
    s = np.concatenate([-np.geomspace(1e-8, 30, 300), np.geomspace(1e-8, 30, 300)]).astype(dtype)
    K = ks.gram(Sigmoid(0.0), np.ones((1, 1), dtype), s[:, None])[0]
    with mpmath.workdps(30):
        exact = np.array([np.longdouble(mpmath.nstr(mpmath.tanh(mpmath.mpf(float(x))), 25)) for x in s])
    assert_ulps(K, exact, 4.0)


def test_exact_leaves(rng):
    """Brownian motion and the diagonal of stationary kernels have no rounding at all."""
    X = rng.standard_normal((50, 1))
    expected = np.where(X * X.T > 0, np.minimum(np.abs(X), np.abs(X.T)), 0.0)
    assert np.array_equal(Brownian()(X), expected)
    for k in (
        Matern(0.3, nu=0.8),
        Matern(0.3, nu=7.1, product=True),
        SpectralMixture([1.0], [0.3], [0.7]),
        Normalize(Linear()),
    ):
        assert (k.diag(1e3 * X) == 1).all()
    assert ArcCosine(0).diag(X).tolist() == [1.0] * 50


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


def test_overflow_is_an_error():
    X = np.full((3, 2), 1e3)
    for k in (
        Exp(Linear()),
        Linear() ** 100,
        Polynomial(99, 1.0) * ConstantKernel(2.0),
        PolynomialOf(Linear(), [0.0] * 60 + [1.0]),
    ):
        for call in (
            lambda k=k: k(X),
            lambda k=k: k(X, X),
            lambda k=k: k.diag(X),
            lambda k=k: k.matmul(X, X, X),
            lambda k=k: k.pullback(X, np.ones((3, 3))),
        ):
            with pytest.raises(ValueError, match="the kernel overflows"):
                call()
        with pytest.raises(ValueError, match="the kernel overflows"):
            ks.KernelRidge(k).fit(X, X[:, 0])
    assert np.isfinite(Exp(Linear())(np.full((3, 2), 18.0))).all()


def test_columns_by_name(rng):
    import pandas as pd

    table = pd.DataFrame(rng.standard_normal((20, 3)), columns=["year", "price", "size"])
    k = RBF(1.0).on(["price"]) + Matern([1.0, 2.0]).on(["size", "year"])
    by_index = RBF(1.0).on([1]) + Matern([1.0, 2.0]).on([2, 0])
    assert np.array_equal(k(table), by_index(table.to_numpy()))
    W = rng.standard_normal((20, 20))
    assert np.array_equal(k.pullback(table, W), by_index.pullback(table.to_numpy(), W))
    model = ks.KernelRidge(RBF("auto").on(["size", "price"]), alpha=0.1).fit(table, table["size"])
    assert model.kernel_.columns == [2, 1]
    assert model.kernel_.kernel.length_scale == pytest.approx(table[["size", "price"]].std(ddof=0) * 2**0.5)
    with pytest.raises(ValueError, match="columns: weight not among the columns year, price, size"):
        RBF().on(["weight"])(table)
    with pytest.raises(ValueError, match="are names, and the points have none"):
        RBF().on(["price"])(table.to_numpy())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Linear() ** 0.5, "other powers of this kernel need not be positive semidefinite"),
        (lambda: RBF() ** 0, "exponent: expected a whole number from 1 to 100, got 0"),
        (lambda: RBF() ** -1, "exponent: expected a whole number"),
        (lambda: PolynomialOf(RBF(), [1.0, -1.0]), "a polynomial with a negative coefficient need not be"),
        (lambda: PolynomialOf(RBF(), []), "coefficients: expected"),
        (lambda: PolynomialOf(RBF(), "x"), "coefficients: expected numbers, got 'x'"),
        (lambda: Exp(3.0), r"kernel: expected a kernel, got 3\.0"),
        (lambda: RBF().on([]), "columns: expected a list of indices or of names"),
        (lambda: RBF().on([-1]), "columns: expected indices from 0 on"),
        (lambda: RBF().on([0, 0]), "columns: a column is named twice"),
        (lambda: RBF().on([5])(np.ones((2, 2))), "on: a column that the points do not have"),
        (lambda: RBF([1.0, 2.0]).on([0, 1, 2])(np.ones((4, 3))), "one length scale, or one for each column"),
        (lambda: Matern(nu=0.0), r"nu: expected a number from 1e-6 to 100, or inf, got 0\.0"),
        (lambda: Matern(nu=5e-324), "nu: expected a number from 1e-6 to 100"),
        (lambda: Matern(nu=101), "nu: expected a number from 1e-6 to 100, or inf, got 101"),
        (lambda: Matern(product=1), "product: expected True or False, got 1"),
        (lambda: Wendland(smoothness=3), "smoothness: expected 0, 1 or 2, got 3"),
        (lambda: Cosine(0.0), "periodicity: expected positive"),
        (lambda: Polynomial(0), "degree: expected a whole number from 1 to 100"),
        (lambda: Polynomial(2.5), "degree: expected a whole number"),
        (lambda: Polynomial(2, offset=-1.0), "offset: expected positive"),
        (lambda: RationalQuadratic(alpha=0.0), "alpha: expected positive"),
        (lambda: ExpSineSquared(periodicity=-1.0), "periodicity: expected positive"),
        (lambda: RBF(1.0, (2.0, 1.0)), "length_scale_bounds: the lower bound is above the upper one"),
        (lambda: RBF(1.0, (0.0, 1.0)), "length_scale_bounds: expected positive"),
        (lambda: RBF(1.0, "free"), 'length_scale_bounds: expected two numbers, "fixed" or "auto"'),
        (lambda: RBF(1.0, (1.0, 2.0, 3.0)), "length_scale_bounds: expected a lower and an upper bound"),
        (lambda: RBF(1.0).clone_with_theta([1.0, 2.0]), r"theta: expected 1 numbers, got shape \(2,\)"),
        (lambda: RBF(1.0).clone_with_theta([np.nan]), "theta: expected logarithms"),
    ],
)
def test_what_would_not_be_a_kernel(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_zero_is_a_constant_where_it_is_allowed(rng):
    X, W = rng.standard_normal((20, 2)), rng.standard_normal((20, 20))
    for k in (DotProduct(0.0), DotProduct(0), Polynomial(2, offset=0.0, length_scale_bounds="fixed")):
        assert k.n_dims == 0
        assert k.pullback(X, W).shape == (0,)
        assert k.clone_with_theta([]) == k
    assert DotProduct(0.0)(X) == pytest.approx(X @ X.T)


def test_fixed_hyperparameters_are_not_in_theta(rng):
    k = RBF([1.0, 2.0], "fixed") + RationalQuadratic(1.5, 0.5, alpha_bounds="fixed")
    X, W = rng.standard_normal((20, 2)), rng.standard_normal((20, 20))
    assert k.theta == pytest.approx([np.log(1.5)])
    free = RBF([1.0, 2.0]) + RationalQuadratic(1.5, 0.5)
    assert k.pullback(X, W) == pytest.approx(free.pullback(X, W)[3:])
    moved = k.clone_with_theta([0.0])
    assert moved == RBF([1.0, 2.0], "fixed") + RationalQuadratic(1.0, 0.5, alpha_bounds="fixed")


ROUGH = {name for name in LEAVES if any(word in name for word in ("brownian", "1/2", "exponential", " 0", "matern 1"))}


@given(trees(ROUGH), st.booleans(), st.integers(0, 99))
def test_trees_as_functions_of_the_points(tree, cross, seed):
    k, _ = tree
    X, W = 0.5 * points(25, seed), np.random.default_rng(seed).standard_normal((25, 25))
    Z = 0.5 * points(25, seed + 7) if cross else None
    direction = np.random.default_rng(seed + 1).standard_normal(X.shape)
    change, error = ref.central_differences(lambda t: np.vdot(W, k(X + t[0] * direction, Z)), [0.0], 1e-4)
    rounding = eps(float) * np.linalg.norm(W) * np.linalg.norm(k(X, Z)) * 64 / 1e-4
    assert abs(np.vdot(k.pullback(X, W, Z, wrt="X"), direction) - change[0]) <= error[0] + rounding


@given(trees(UNREADABLE))
def test_repr_reads_back(tree):
    k, _ = tree
    names = {name: getattr(ks.kernels, name) for name in ks.kernels.__all__}
    again = eval(repr(k), names)
    assert kernel(repr(k)) == again
    assert repr(again) == repr(k)
    X = points(6, 0)
    assert np.array_equal(again(X), k(X))

"""Every kernel beside its slow twin in `reference`, and random trees of them."""

import numpy as np
from hypothesis import strategies as st

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
    WarpedInputs,
    Wendland,
    WhiteKernel,
)

import reference as ref

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
    "kumaraswamy": (
        7,
        lambda h: WarpedInputs(Matern(h[6], nu=2.5), h[:3], h[3:6], lower=-1.0, upper=[0.5, 1.0, 3.0]),
        lambda h: ref.transform(
            ref.matern52(h[6]), lambda x: ref.kumaraswamy(x, h[:3], h[3:6], -np.ones(3), np.array([0.5, 1.0, 3.0]))
        ),
    ),
    "kumaraswamy of one shape, of columns": (
        4,
        lambda h: Normalize(WarpedInputs(Polynomial(2, h[2], h[3]), h[0], h[1], lower=-1.0, upper=1.0)).on([2, 0]),
        lambda h: ref.on(
            ref.normalize(
                ref.transform(ref.polynomial(h[2], 2, h[3]), lambda x: ref.kumaraswamy(x, h[0], h[1], -np.ones(2), np.ones(2)))
            ),
            [2, 0],
        ),
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


def values(name, seed):
    return np.random.default_rng(seed).uniform(0.6, 1.8, LEAVES[name][0])


def points(n, seed, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal((n, D)).astype(dtype)


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


ROUGH = {name for name in LEAVES if any(word in name for word in ("brownian", "1/2", "exponential", " 0", "matern 1"))}

"""Features against scikit-learn's, brute force, and the law of large numbers."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel import kernels
from kernsel.features import Fourier, Polynomial, RadialBasis
from kernsel.kernels import (
    RBF,
    ArcCosine,
    ConstantKernel,
    Cosine,
    Exponential,
    ExpSineSquared,
    FunctionKernel,
    Linear,
    Matern,
    RationalQuadratic,
    SpectralMixture,
    Transform,
    Wendland,
    WhiteKernel,
)

EPS = np.finfo(float).eps


@parametrize_with_checks(
    [
        Polynomial(),
        Polynomial(3, include_bias=True, interaction_only=True, scale=False),
        RadialBasis(),
        RadialBasis(5, kernel=Matern("auto"), random_state=3),
        Fourier(),
        Fourier(7, kernel=2.0 * RationalQuadratic("auto")),
    ]
)
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("transformer", [Polynomial(3), RadialBasis(6), Fourier(5, random_state=0)])
def test_tables_copies_and_precision(transformer, rng):
    table = pd.DataFrame(rng.standard_normal((20, 3)), columns=["a", "b", "c"], index=np.arange(20) + 7)
    plain = transformer.fit_transform(table.to_numpy())
    fitted = clone(transformer).set_output(transform="pandas").fit(table)
    out = fitted.transform(table)
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]
    assert list(out.columns) == list(fitted.get_feature_names_out())
    assert len(set(out.columns)) == plain.shape[1]
    assert (out.index == table.index).all()
    assert np.array_equal(out.to_numpy(), plain)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).transform(table), out)
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(table[["b", "a", "c"]])
    single = clone(transformer).fit_transform(table.to_numpy().astype(np.float32))
    assert single.dtype == np.float32
    # Rounding of the points, and of sums and products of three columns, which are below 3 deviations.
    assert single == pytest.approx(plain, rel=1e-4, abs=100 * 2.0**-23)


@pytest.mark.parametrize(
    "transformer", [Polynomial(2), RadialBasis(4), RadialBasis(4, random_state=5), Fourier(5, random_state=0)]
)
def test_weights_are_repetitions(transformer, rng):
    X, w = rng.standard_normal((15, 2)), rng.integers(0, 4, 15)
    weighted = clone(transformer).fit(X, sample_weight=w).transform(X)
    repeated = clone(transformer).fit(np.repeat(X, w, axis=0)).transform(X)
    assert weighted == pytest.approx(repeated, rel=1e-12, abs=1e-12)
    assert not np.allclose(weighted, clone(transformer).fit(X).transform(X), rtol=1e-3)
    for bad, message in ((-w, "not negative"), (0 * w, "zero")):  # scikit-learn may say the second
        with pytest.raises(ValueError, match=f"(?i)sample.weight.*{message}"):
            clone(transformer).fit(X, sample_weight=bad)


@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("include_bias", [False, True])
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_polynomials_are_those_of_scikit_learn(degree, include_bias, interaction_only, rng):
    X, Z = rng.uniform(-3, 5, (30, 3)), rng.standard_normal((7, 3))
    options = {"include_bias": include_bias, "interaction_only": interaction_only}
    ours = Polynomial(degree, **options).fit(X)
    theirs = make_pipeline(StandardScaler(), PolynomialFeatures(degree, **options)).fit(X)
    assert ours.transform(Z) == pytest.approx(theirs.transform(Z), rel=1e-12)
    assert np.array_equal(ours.powers_, theirs[-1].powers_)
    assert list(ours.get_feature_names_out()) == list(theirs[-1].get_feature_names_out())
    raw = Polynomial(degree, scale=False, **options).fit(X).transform(Z)
    assert raw == pytest.approx(PolynomialFeatures(degree, **options).fit_transform(Z), rel=1e-13)


def test_polynomials_in_any_unit(rng):
    X = rng.uniform(size=(40, 3))
    X[:, 2] = 7.0  # constant
    units, origin = np.array([1e-150, 1e20, 1.0]), np.array([3.0, -2.0, 0.0])
    features, moved = Polynomial(3).fit_transform(X), Polynomial(3).fit_transform((X + origin) * units)
    assert moved == pytest.approx(features, rel=1e-12, abs=1e-12)
    assert np.abs(features).max() < 12**1.5  # of uniform columns
    assert Polynomial(1).fit_transform(X)[:, 2] == pytest.approx(np.zeros(40), abs=0)


def test_radial_basis(rng):
    X, Z = rng.standard_normal((60, 2)), rng.standard_normal((9, 2))
    basis = RadialBasis(12, kernel=Matern("auto", nu=2.5)).fit(X)
    assert basis.kernel_.length_scale == pytest.approx(X.std(axis=0) * 2**0.5)
    assert np.array_equal(basis.transform(Z), basis.kernel_(Z, basis.centers_))
    assert list(basis.get_feature_names_out()[:2]) == ["radialbasis0", "radialbasis1"]
    assert isinstance(RadialBasis().fit(X).kernel_, RBF)


@pytest.mark.parametrize("random_state", [None, 0])
def test_centres_fill_the_space(random_state, rng):
    X = rng.standard_normal((80, 3)) * [1.0, 1e-6, 1e9] + [0.0, 5.0, 0.0]
    found = RadialBasis(15, random_state=random_state).fit(X)
    places = [int(np.flatnonzero((center == X).all(axis=1))[0]) for center in found.centers_]
    assert len(set(places)) == 15
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    distance = np.linalg.norm(scaled[:, None] - scaled, axis=2)
    for k in range(1, 15):
        assert distance[places[k], places[:k]].min() == pytest.approx(distance[:, places[:k]].min(axis=1).max(), rel=1e-12)
    # So centres are as far from each other as any point is from one.
    apart = distance[np.ix_(places, places)] + 1e9 * np.eye(15)
    assert apart.min() >= distance[:, places].min(axis=1).max()
    if random_state is None:
        assert places[0] == np.argmin(np.linalg.norm(scaled, axis=1))
    else:
        firsts = {tuple(RadialBasis(1, random_state=i).fit(X).centers_[0]) for i in range(8)}
        assert len(firsts) > 2
    more = RadialBasis(20, random_state=random_state).fit(X).centers_
    assert np.array_equal(more[:15], found.centers_)


def test_all_distinct_points_are_centres(rng):
    X = np.repeat(rng.standard_normal((5, 2)), 3, axis=0)
    centers = RadialBasis(10).fit(X).centers_
    assert np.array_equal(np.unique(centers, axis=0), np.unique(X, axis=0))
    assert len(centers) == 5
    assert RadialBasis(10).fit(X).transform(X).shape == (15, 5)


KNOWN = [
    RBF(0.7),
    RBF([0.5, 2.0]),
    Exponential([0.5, 2.0]),
    Matern(1.0, nu=0.3),
    Matern(1.0, nu=0.5),
    Matern([0.5, 2.0], nu=0.8),
    Matern(1.0, nu=1.5),
    Matern(1.0, nu=2.5),
    Matern(1.0, nu=np.inf),
    Matern([0.5, 2.0], nu=1.5, product=True),
    RationalQuadratic([0.5, 2.0], alpha=0.4),
    Cosine([3.0, 5.0]),
    SpectralMixture([1.0, 0.5], [[1.0, 2.0], [0.5, 3.0]], [[2.0, 3.0], [4.0, 1.5]]),
    ExpSineSquared(0.8, periodicity=2.5).on([1]),
    2.5 * RBF(0.7),
    0.5 * RBF(0.7) + 2.0 * Matern(1.0).on([0]) + ConstantKernel(0.3),
    (RBF(0.7) + 2.0 * Exponential(3.0)) * Cosine([3.0, 5.0]) * SpectralMixture([0.5], [1.0], [2.0]),
    RBF(1.0).on([0]) * ExpSineSquared(1.0, periodicity=1.5).on([1]),
    (0.5 * Matern(2.0) + Cosine(4.0)) ** 3,
    Transform(RBF([1.0, 2.0, 0.5]), [[1.0, -1.0], [0.5, 0.0], [0.3, 0.2]]),
]


def error(kernel, X, count, seed):
    """Return the error of the approximation of k(X), and the standard deviation that it should have."""
    features = Fourier(count, kernel=kernel, random_state=seed).fit_transform(X)
    # The mean of cos(w't)^2 over frequencies is (1 + rho(2 t)) / 2.
    v = float(kernel.diag(X[:1])[0])
    variance = v * (v + kernel(2 * X)) / 2 - kernel(X) ** 2
    return features @ features.T - kernel(X), np.sqrt(np.maximum(variance, 0) / count)


@pytest.mark.parametrize("kernel", KNOWN, ids=str)
def test_fourier_features_approximate_the_kernel(kernel, rng):
    X = rng.standard_normal((8, 2))
    off, deviation = error(kernel, X, 20000, 0)
    assert (np.abs(off) <= 5 * deviation + 1e-6).all()  # square roots of rounding, where the error is zero
    v = kernel.diag(X[:1])[0]
    assert np.diag(off) == pytest.approx(np.zeros(8), abs=1e-13 * v)
    wrong = Fourier(20000, kernel=RBF(1.9), random_state=0).fit_transform(X)  # this test could fail
    assert (np.abs(wrong @ wrong.T - kernel(X)) > 5 * deviation + 1e-6).any()


@pytest.mark.parametrize("kernel", [RBF(0.7), Matern(1.0, nu=0.8), 0.5 * RBF(0.7) + 2.0 * Exponential(1.0)], ids=str)
def test_the_error_falls_with_the_root_of_the_number_of_frequencies(kernel, rng):
    X = rng.standard_normal((8, 2))
    counts, seeds = np.array([25, 100, 400, 1600]), range(60)
    mean, expected = np.empty((2, 4))
    for i, count in enumerate(counts):
        errors = [error(kernel, X, count, seed) for seed in seeds]
        mean[i] = np.mean([np.mean(off**2) for off, _ in errors]) ** 0.5
        expected[i] = np.mean(errors[0][1] ** 2) ** 0.5
    assert np.polyfit(np.log(counts), np.log(mean), 1)[0] == pytest.approx(-0.5, abs=0.08)
    # A mean of squares of a few independent numbers, 60 times: 10 % off, twice that with bad luck.
    assert mean == pytest.approx(expected, rel=0.25)


def test_fourier_features_do_not_depend_on_the_origin(rng):
    X = rng.standard_normal((20, 2))
    one = Fourier(50, kernel=RBF(1.0), random_state=1).fit_transform(X)
    far = Fourier(50, kernel=RBF(1.0), random_state=1).fit_transform(X + 2.0**30)
    assert far == pytest.approx(one, abs=1e3 * 2.0**30 * EPS)
    assert np.array_equal(one, Fourier(50, kernel=RBF(1.0), random_state=1).fit_transform(X))
    assert not np.allclose(one, Fourier(50, kernel=RBF(1.0), random_state=2).fit_transform(X))
    assert Fourier(50).fit(X).kernel_.length_scale == pytest.approx(X.std(axis=0) * 2**0.5)


def test_frequencies_beyond_all_scales():
    X = np.linspace(0, 1, 5).reshape(-1, 1)
    features = Fourier(3000, kernel=Matern(1.0, nu=0.005), random_state=0).fit_transform(X)
    assert np.isfinite(features).all()
    assert (features**2).sum(axis=1) == pytest.approx(np.ones(5))


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (Linear(), "Linear"),
        (Wendland(1.0), "Wendland"),
        (ArcCosine(), "ArcCosine"),
        (ExpSineSquared(1.0), "ExpSineSquared"),  # of two columns
        (RBF(1.0) + WhiteKernel(0.1), "WhiteKernel"),
        (RBF(1.0) * Linear(), "Linear"),
        (Matern(1.0) ** 0.5, "Matern"),
        (Transform(RBF(1.0), np.exp), "Transform"),
        (FunctionKernel(lambda X, Z: X @ Z.T), "FunctionKernel"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_kernels_whose_spectrum_is_not_known(kernel, name, rng):
    with pytest.raises(ValueError, match=rf"kernel: the spectrum of {name}.* is not known"):
        Fourier(kernel=kernel).fit(rng.standard_normal((5, 2)))


@pytest.mark.parametrize(
    ("transformer", "message"),
    [
        (Polynomial(0), "degree: expected a whole number from 1 on, got 0"),
        (Polynomial(2.5), "degree: expected a whole number"),
        (Polynomial(scale="yes"), "scale: expected True or False, got 'yes'"),
        (Polynomial(include_bias=1), "include_bias: expected True or False"),
        (RadialBasis(0), "n_centers: expected a whole number from 1 on, got 0"),
        (RadialBasis(kernel="rbf"), "kernel: there is no kernel 'rbf'.*did you mean RBF"),
        (RadialBasis(kernel=2.0), "kernel: expected a kernel"),
        (RadialBasis(kernel=RBF([1.0, 2.0, 3.0])), "one length scale, or one for each column"),
        (Fourier(True), "n_components: expected a whole number from 1 on, got True"),
        (Fourier(kernel=RBF), "kernel: expected a kernel"),
        (Fourier(kernel=RBF([1.0, 2.0, 3.0])), "one length scale, or one for each column"),
    ],
)
def test_bad_parameters(transformer, message, rng):
    X = rng.standard_normal((5, 2))
    with pytest.raises((ValueError, TypeError), match=message):
        transformer.fit(X).transform(X)


def test_in_a_pipeline(rng):
    X = rng.uniform(0, 6, (300, 1))
    y = np.sin(X[:, 0])
    for transformer in (Polynomial(7), RadialBasis(20), Fourier(20, random_state=0)):
        assert make_pipeline(transformer, LinearRegression()).fit(X, y).score(X, y) > 0.999


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Polynomial(3, 0.7, [1.0, 2.0]),
        kernels.Polynomial(2, 0.0),
        0.3 * kernels.DotProduct(0.8),
        kernels.Linear([0.5, 3.0]) * 2.0,
    ],
    ids=str,
)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_ridge_regression_on_features_of_a_kernel_is_that_of_the_kernel(kernel, fit_intercept, rng, tmp_path):
    X, Z = rng.standard_normal((30, 2)), rng.standard_normal((7, 2))
    y = X[:, 0] ** 3 - X[:, 1] + 2 + 0.1 * rng.standard_normal(30)
    features = Polynomial(kernel=kernel)
    assert features.fit_transform(X) @ features.transform(Z).T == pytest.approx(kernel(X, Z), rel=1e-12, abs=1e-12)
    primal = ks.RidgeRegression(features, alpha=0.5, fit_intercept=fit_intercept).fit(X, y)
    dual = ks.KernelRidge(kernel, alpha=0.5, fit_intercept=fit_intercept).fit(X, y)
    assert primal.predict(Z) == pytest.approx(dual.predict(Z), rel=1e-10, abs=1e-10)  # the condition of K + alpha, times eps
    ks.save(primal, tmp_path / "a.ksl")
    assert ks.load(tmp_path / "a.ksl").predict(Z) == pytest.approx(primal.predict(Z), rel=1e-14)


def test_given_centres(rng):
    X, centers = rng.standard_normal((9, 2)), np.array([[0.0, 1.0], [2.0, 3.0]])
    assert RadialBasis(centers, kernel=RBF(1.0)).fit_transform(X) == pytest.approx(RBF(1.0)(X, centers))
    with pytest.raises(
        ValueError, match=r"^n_centers: expected a number, or finite centres of shape \(n, 2\), got shape \(2, 3\)"
    ):
        RadialBasis(np.ones((2, 3))).fit(X)
    with pytest.raises(ValueError, match=r"^kernel: RBF.* has no polynomial features; Polynomial, DotProduct, Linear"):
        Polynomial(kernel=RBF(1.0)).fit(X)

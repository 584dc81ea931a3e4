"""Ties, priors, bounds, what is "auto", and estimators that search over the arguments of a kernel."""

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import GridSearchCV

import kernsel as ks
from kernsel.kernels import (
    RBF,
    ArcCosine,
    ConstantKernel,
    Cosine,
    DotProduct,
    ExpSineSquared,
    Linear,
    Matern,
    Parameter,
    Polynomial,
    QuadraticForm,
    RadialPair,
    RationalQuadratic,
    SpectralMixture,
    Transform,
    Wendland,
    WhiteKernel,
    kernel,
)
from kernsel.kernels.priors import Gamma, HalfCauchy, LogNormal
from kernsel.testing import check_kernel

import reference


def test_ties(rng):
    X, W = rng.standard_normal((30, 2)), rng.standard_normal((30, 30))

    def make(t):
        length = Parameter(np.exp(t[1]), bounds=(0.1, 10.0), name="length")
        return float(np.exp(t[0])) * RBF(length).on([0]) + Matern(length).on([1]) * RBF(np.exp(t[2]))

    theta = np.array([0.3, -0.2, 0.1])
    k = make(theta)
    assert k.n_dims == 3
    assert k.theta == pytest.approx(theta)
    assert k.bounds[1] == pytest.approx(np.log([0.1, 10.0]))
    assert [h.name for h in k.hyperparameters] == [
        "k1__k1__constant_value",
        "k1__k2__kernel__length_scale",
        "k2__k2__length_scale",
    ]
    expected, error = reference.central_differences(lambda t: np.vdot(W, make(t)(X)), theta, 1e-4)
    assert (np.abs(k.pullback(X, W) - expected) <= error + 1e-9).all()
    moved = k.clone_with_theta(theta + 1)
    assert np.array_equal(moved(X), make(theta + 1)(X)) or moved(X) == pytest.approx(make(theta + 1)(X))
    check_kernel(k, X)
    both = Parameter([1.0, 2.0], name="both")
    assert (RBF(both) * Matern(both)).n_dims == 2
    fixed = Parameter(1.0, bounds="fixed", name="fixed")
    assert (RBF(fixed) + Linear(fixed)).n_dims == 0


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Parameter(2.0, name="a"), r"hyperparameters of one name must agree, k1__length_scale is 1\.0, k2__length_scale 2\.0"),
        (Parameter(1.0, bounds="fixed", name="a"), "must agree"),
        (Parameter([1.0, 1.0], name="a"), "must agree"),
    ],
)
def test_ties_that_disagree(other, message):
    with pytest.raises(ValueError, match=message):
        (RBF(Parameter(1.0, name="a")) + RBF(other)).theta  # noqa: B018


@pytest.mark.parametrize(
    ("prior", "density"),
    [
        (LogNormal(0.3, 0.7), lambda x: stats.lognorm.logpdf(x, 0.7, scale=np.exp(0.3))),
        (Gamma(2.5, 0.8), lambda x: stats.gamma.logpdf(x, 2.5, scale=1 / 0.8)),
        (HalfCauchy(1.7), lambda x: stats.halfcauchy.logpdf(x, scale=1.7)),
    ],
)
def test_priors(prior, density):
    x = np.geomspace(1e-3, 1e3, 40)
    assert prior.log_density(x) == pytest.approx(density(x), rel=1e-12)
    k = RBF(Parameter(x, prior=prior)) + ConstantKernel(2.0)
    value, gradient = k.log_prior()
    assert value == pytest.approx(density(x).sum())
    expected, error = reference.central_differences(lambda t: k.clone_with_theta(t).log_prior()[0], k.theta, 1e-4)
    assert (np.abs(gradient - expected) <= error + 1e-8).all()
    assert gradient[-1] == 0
    assert k.clone_with_theta(k.theta).k1.length_scale.prior is prior
    assert kernel(repr(RBF(Parameter(1.0, prior=prior)))) == RBF(Parameter(1.0, prior=prior))
    assert RBF(Parameter(1.0, bounds="fixed", prior=prior)).log_prior()[0] == 0


def test_a_tied_prior_counts_once():
    p = Parameter(2.0, prior=Gamma(2.0, 1.0), name="p")
    assert (RBF(p) + RBF(p)).log_prior()[0] == pytest.approx(RBF(p).log_prior()[0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LogNormal(0.0, 0.0), r"scale: expected a positive, finite number, got 0\.0"),
        (lambda: LogNormal(np.nan, 1.0), "mean: expected a finite number"),
        (lambda: Gamma(-1.0, 1.0), r"shape: expected a positive, finite number, got -1\.0"),
        (lambda: HalfCauchy("wide"), "scale: expected"),
        (lambda: Parameter(1.0, prior=3.0), r"prior: expected one of kernsel\.kernels\.priors, got 3\.0"),
        (lambda: Parameter(Parameter(1.0)), "value: expected a number"),
        (lambda: Parameter(1.0, name=3), "name: expected a text, got 3"),
        (lambda: RBF(Parameter(-1.0)), "length_scale: expected positive"),
        (
            lambda: RBF(["auto", "auto"]),
            'length_scale: expected positive numbers, got .*; "auto" alone stands for one for each',
        ),
        (lambda: RBF(Parameter(1.0, bounds=(2.0, 1.0))), "length_scale_bounds: the lower bound is above the upper one"),
        (lambda: RBF(Parameter(1.0, log=False)), "length_scale: log=False is for parameters of a FunctionKernel"),
        (lambda: QuadraticForm(Parameter([[1.0]], prior=Gamma(1.0, 1.0))), "a prior is a density of a positive number"),
        (lambda: QuadraticForm([1.0]), "B: expected a matrix"),
        (lambda: RBF([1.0, 2.0], [(1, 2), (1, 2), (1, 2)]).theta, "length_scale_bounds: expected one pair of bounds, or 2"),
        (lambda: SpectralMixture([1.0], [1.0, 2.0], [1.0]), "expected one for each component, got shapes"),
        (lambda: SpectralMixture(n_components=0), "n_components: expected a whole number from 1 to 1000, got 0"),
        (lambda: ArcCosine(3), "order: expected 0, 1 or 2, got 3"),
        (lambda: ArcCosine(0, -1.0), "offset: expected positive"),
        (lambda: RBF("wide"), "length_scale: expected a number or \"auto\", got 'wide'"),
        (lambda: RBF("auto")([[1.0]]), '"auto" is set when an estimator is fitted'),
        (lambda: RBF().pullback([[1.0]], [[1.0]], wrt="Z"), 'wrt: expected "theta" or "X", got \'Z\''),
        (lambda: RBF().for_data([1.0]), r"X: expected shape \(n, d\), got \(1,\)"),
    ],
)
def test_bad_hyperparameters(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


EVERYTHING = [
    ConstantKernel("auto") * RBF("auto") + WhiteKernel("auto"),
    Matern("auto", nu=0.7) + RationalQuadratic("auto", "auto"),
    Wendland("auto") * Polynomial(2, "auto", "auto"),
    DotProduct("auto", length_scale="auto") + Linear("auto") + RadialPair("auto"),
    ArcCosine(1, "auto", "auto") + QuadraticForm("auto"),
    SpectralMixture() + Cosine("auto"),
    SpectralMixture(n_components=2).on([1]),
    Transform(RBF("auto"), "auto") + Transform(RBF("auto"), np.cos),
    ExpSineSquared("auto", "auto").on([1]),
    RBF(Parameter("auto", prior=LogNormal(0.0, 1.0))),
]


@pytest.mark.parametrize("k", EVERYTHING, ids=str)
def test_auto_follows_the_data(k, rng):
    """Everything is set; starts lie within bounds; in other units, everything is the same in those units."""
    X, y = rng.uniform(-1.0, 2.0, (60, 2)), rng.standard_normal(60)
    one = k.for_data(X, y)
    assert np.isfinite(one.theta).all()
    assert (one.bounds[:, 0] <= one.theta).all()
    assert (one.theta <= one.bounds[:, 1]).all()
    assert (one.bounds[:, 0] < one.bounds[:, 1]).all()
    K = one(X)
    assert np.isfinite(K).all()
    assert 0.01 < np.abs(K).max() < 100
    if "cos" in str(k):  # a function of the points need not follow their unit
        return
    moved = k.for_data(X * [1e-6, 1e6], y)
    assert np.abs(moved(X * [1e-6, 1e6]) - K).max() <= 1e-9 * np.abs(K).max()
    assert (
        moved.bounds - moved.theta[:, None] == pytest.approx(one.bounds - one.theta[:, None], abs=1e-6)
        or "phi" in str(k)
        or ("Quadratic" in str(k))
    )


def test_auto_knows_the_target(rng):
    X, y = rng.uniform(size=(100, 1)), 1000 * rng.standard_normal(100)
    k = (ConstantKernel("auto") * RBF("auto") + WhiteKernel("auto")).for_data(X, y)
    assert k.k1.k1.constant_value == pytest.approx(y.var())
    assert k.k2.noise_level == pytest.approx(0.1 * y.var())
    weights = (np.arange(100) < 50).astype(float)
    weighted = ConstantKernel("auto").for_data(X, y, weights)
    assert weighted.constant_value == pytest.approx(y[:50].var())
    assert ConstantKernel("auto").for_data(X).constant_value == 1
    assert ConstantKernel("auto").for_data(X, np.ones(100)).constant_value == 1


def test_auto_finds_a_period(rng):
    x = np.sort(rng.uniform(0, 50, 300))[:, None]
    y = np.sin(2 * np.pi * x[:, 0] / 7.3) + 0.3 * rng.standard_normal(300)
    assert ExpSineSquared(1.0, "auto").for_data(x, y).periodicity == pytest.approx([7.3], rel=0.05)


@pytest.mark.parametrize("X", [np.zeros((5, 2)), np.ones((1, 2)), np.array([[1.0, 2.0], [1.0, 3.0]])])
@pytest.mark.parametrize("k", EVERYTHING, ids=str)
def test_auto_survives_poor_data(k, X):
    resolved = k.for_data(X, np.ones(len(X)))
    assert np.isfinite(resolved.theta).all()
    assert (resolved.bounds[:, 0] < resolved.bounds[:, 1]).all()


def test_names_and_maps_are_resolved(rng):
    import pandas as pd

    table = pd.DataFrame(rng.standard_normal((20, 3)), columns=["a", "b", "c"])
    k = Transform(RBF("auto").on([1]), np.tanh).on(["c", "a"])
    resolved = k.for_data(table)
    assert resolved.columns == [2, 0]
    X = table.to_numpy()
    expected = RBF(resolved.kernel.kernel.kernel.length_scale)(np.tanh(X[:, [0]]))
    assert k.for_data(table)(X) == pytest.approx(expected)


def test_grid_search_over_a_length_scale(rng):
    X = rng.uniform(0, 6, (60, 1))
    y = np.sin(X[:, 0])
    model = ks.KernelRidge(2.0 * RBF(1.0) + WhiteKernel(1e-3), alpha=1e-6)
    search = GridSearchCV(model, {"kernel__k1__k2__length_scale": [1e-3, 1.0, 100.0], "kernel__k2__noise_level": [1e-4]}, cv=3)
    search.fit(X, y)
    assert search.best_params_["kernel__k1__k2__length_scale"] == 1.0
    assert search.best_estimator_.kernel.k2.noise_level == 1e-4
    single = GridSearchCV(ks.KernelRidge(RBF(), alpha=1e-6), {"kernel__length_scale": [1e-3, 1.0]}, cv=3).fit(X, y)
    assert single.best_params_ == {"kernel__length_scale": 1.0}


def test_sets_of_bounds():
    k = RBF([1.0, 2.0], [(0.1, 1.0), (0.2, 2.0)])
    assert k.bounds == pytest.approx(np.log([[0.1, 1.0], [0.2, 2.0]]))
    q = QuadraticForm([[1.0, -2.0]], (-3.0, 3.0))
    assert q.bounds == pytest.approx(np.array([[-3.0, 3.0], [-3.0, 3.0]]))
    assert q.theta == pytest.approx([1.0, -2.0])
    assert q.clone_with_theta([0.0, -1.0]).B.tolist() == [[0.0, -1.0]]

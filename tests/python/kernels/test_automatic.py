"""Hyperparameters that are "auto": what they become for the data of an estimator."""

import numpy as np
import pytest

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
)
from kernsel.kernels.base import Data
from kernsel.kernels.priors import LogNormal


def test_auto_is_for_estimators(rng):
    X = rng.standard_normal((50, 2)) * [1.0, 1e6]
    with pytest.raises(ValueError, match='"auto" is set when an estimator is fitted'):
        RBF("auto")(X)
    X = np.column_stack([X, np.ones(50)])
    resolved = (2.0 * RBF("auto") + WhiteKernel()).resolve(Data(X))
    scale = resolved.k1.k2.length_scale
    assert scale == pytest.approx([X[:, 0].std() * 3**0.5, X[:, 1].std() * 3**0.5, 3**0.5])


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_auto_in_any_unit(unit, rng):
    X = rng.standard_normal((30, 2))
    for k in (RBF("auto"), Linear("auto"), Cosine("auto")):
        one, other = k.for_data(X), k.for_data(X * unit)
        assert other.theta == pytest.approx(one.theta + np.log(unit))
        assert other.bounds == pytest.approx(one.bounds + np.log(unit))
    for nothing in (np.zeros((3, 0)), np.zeros((0, 2))):
        assert np.isfinite(RBF("auto").for_data(nothing).bounds).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF("auto")([[1.0]]), '"auto" is set when an estimator is fitted'),
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
    assert resolved.columns == ["c", "a"]
    assert resolved.indices() == [2, 0]
    X = table.to_numpy()
    expected = RBF(resolved.kernel.kernel.kernel.length_scale)(np.tanh(X[:, [0]]))
    assert k.for_data(table)(X) == pytest.approx(expected)

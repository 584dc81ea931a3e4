"""Kernels of sets and of distributions that are sums of a kernel over pairs of points."""

import numpy as np
import pytest

import kernsel as ks
from kernsel import structured as st
from kernsel.kernels import RBF, ConstantKernel


@pytest.fixture
def sets(rng):
    return [rng.normal(size=(rng.integers(1, 9), 2)) for _ in range(24)]


@pytest.fixture
def clouds(rng):
    found = [rng.normal(m, 0.5 + 0.1 * m, size=(12, 2)) for m in range(12)]
    for m in range(12):
        weights = rng.uniform(0.5, 1.5, size=7)
        found.append((rng.normal(-m, 1.0, size=(7, 2)), weights / weights.sum()))
    return found


def test_sets_as_sums_of_pairs(sets):
    base = 0.7 * RBF([0.5, 1.0])
    for mean in (False, True):
        expected = [[(base(A, B).mean() if mean else base(A, B).sum()) for B in sets] for A in sets]
        assert np.allclose(st.SetKernel(base, mean)(sets), expected, rtol=1e-12)
    assert np.allclose(st.SetKernel(base, True)(sets), st.MeanEmbedding(base)(sets), rtol=1e-12)


def test_clouds_as_expectations(clouds):
    base = RBF(0.8)
    pairs = [cloud if isinstance(cloud, tuple) else (cloud, np.full(len(cloud), 1 / len(cloud))) for cloud in clouds]
    expected = [[a @ base(x, z) @ b for z, b in pairs] for x, a in pairs]
    assert np.allclose(st.MeanEmbedding(base)(clouds), expected, rtol=1e-12)


def test_as_many_columns_as_in_fit(sets, clouds):
    for kernel, points in ((st.SetKernel(RBF()), sets), (st.MeanEmbedding(RBF()), clouds), (st.LinearizedTransport(), clouds)):
        model = ks.KernelRidge(kernel).fit(points, np.arange(float(len(points))))
        with pytest.raises(ValueError, match="expected points of 2 columns"):
            model.predict([np.zeros((4, 3))])


def test_auto_inside_follows_the_points(sets, rng):
    y = rng.normal(size=len(sets))
    for scale in (1.0, 1e5):
        scaled = [scale * one for one in sets]
        model = ks.KernelRidge(st.SetKernel(RBF("auto")), alpha=0.1).fit(scaled, y)
        everything = np.vstack(scaled)
        assert np.allclose(model.kernel_.kernel.length_scale, everything.std(axis=0) * 2**0.5)


def test_hyperparameters_inside_are_learnt(rng):
    sets = [rng.normal(size=(6, 1)) * width for width in np.linspace(0.3, 3.0, 60)]
    y = np.linspace(0.3, 3.0, 60)
    model = ks.GaussianProcessRegressor(
        ConstantKernel("auto") * (RBF("auto") @ st.SetKernel(RBF("auto"), mean=True)), noise="auto", criterion="lml"
    ).fit(sets[::2], y[::2])
    assert np.corrcoef(model.predict(sets[1::2]), y[1::2])[0, 1] > 0.8
    names = [h.name for h in model.kernel_.hyperparameters]
    assert "k2__inner__kernel__length_scale" in names


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: st.SetKernel(RBF(), mean=True)([np.zeros((0, 2)), np.zeros((1, 2))]),
            ValueError,
            r"X\[0\]: expected one point",
        ),
        (lambda: st.SetKernel(3.0), TypeError, "kernel: expected a kernel of vectors"),
        (lambda: st.SetKernel(st.Spectrum(2)), TypeError, "kernel: expected a kernel of vectors"),
        (
            lambda: st.SetKernel(RBF())([np.zeros((2, 2)), np.zeros((2, 3))]),
            ValueError,
            r"X\[1\]: expected points of 2 columns",
        ),
        (lambda: st.MeanEmbedding(RBF())([np.zeros((0, 2))]), ValueError, "the cloud is empty"),
        (lambda: st.MeanEmbedding(RBF())([(np.zeros((2, 1)), [0.5, 0.6])]), ValueError, r"weights of X\[0\]"),
        (lambda: st.MeanEmbedding(RBF())([(np.zeros((2, 1)), [1.5, -0.5])]), ValueError, r"weights of X\[0\]"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()

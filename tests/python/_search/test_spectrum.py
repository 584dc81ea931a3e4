"""Starts that see the spectrum: oscillations of many periods are found, by every criterion and estimator."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel


def oscillation(periods, seed):
    x = np.linspace(0, 1, 300)[:, None]
    return x, np.sin(2 * np.pi * periods * x[:, 0]) + 0.1 * np.random.default_rng(seed).standard_normal(300)


@pytest.mark.parametrize("periods", [5, 15, 30, 60])
@pytest.mark.parametrize("criterion", ["reml", "loo", "gcv"])
def test_many_periods(periods, criterion):
    X, y = oscillation(periods, 1)
    kernel = ConstantKernel("auto") * RBF("auto")
    model = ks.GaussianProcessRegressor(kernel, noise="auto", criterion=criterion, trend="constant").fit(X, y)
    assert model.score(X, y) > 0.97
    near = ks.GaussianProcessRegressor(1.0 * RBF(0.25 / periods), alpha=0.01, criterion=criterion, noise="auto").fit(X, y)
    assert model.score(X, y) > near.score(X, y) - 0.02


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_every_estimator(scale):
    X, y = oscillation(30, 2)
    assert ks.KernelRidge(RBF("auto"), alpha="auto").fit(scale * X, y).score(scale * X, y) > 0.97
    found = ks.GaussianProcessClassifier(RBF("auto")).fit(scale * X, np.sin(60 * np.pi * X[:, 0]) > 0)
    assert found.score(scale * X, np.sin(60 * np.pi * X[:, 0]) > 0) > 0.9


def test_one_fast_column_among_others():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 3))
    y = np.sin(100 * X[:, 1]) + X[:, 0] ** 2 + 0.05 * rng.standard_normal(400)
    kernel = ConstantKernel("auto") * RBF("auto")
    model = ks.GaussianProcessRegressor(kernel, noise="auto", trend="constant").fit(X, y)
    Z = rng.uniform(size=(200, 3))
    assert model.score(Z, np.sin(100 * Z[:, 1]) + Z[:, 0] ** 2) > 0.95


def test_noise_has_no_oscillation():
    rng = np.random.default_rng(5)
    X, y = rng.uniform(size=(200, 2)), rng.standard_normal(200)
    model = ks.GaussianProcessRegressor(ConstantKernel("auto") * RBF("auto"), noise="auto", trend="constant").fit(X, y)
    assert model.score(X, y) < 0.2

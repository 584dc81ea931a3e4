"""Indices by integrals over columns are those of the definition, on a grid."""

import numpy as np
import pytest
from reference_sensitivity import gauss, gauss_hermite, on_grid
from reference_sensitivity import sobol as by_definition

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel, Exponential, Matern, WhiteKernel
from kernsel.sensitivity import Normal, Uniform, sobol
from kernsel.sensitivity.exact import exact_variances
from kernsel.sensitivity.studied import studied

from accuracy import eps

KERNELS = {
    "rbf": 3.0 * RBF([0.8, 1.5]),
    "matern": 2.0 * Matern([0.7, 1.9], nu=2.5, product=True),
    "rough": 2.0 * Matern([0.7, 1.9], nu=0.5, product=True),
    "sum": ConstantKernel(2.0) * RBF([0.5, 2.0]) + Matern(1.1, nu=1.5).on([1]) + Exponential(0.9).on([0]) + WhiteKernel(0.1),
    "product": Matern(1.3, nu=1.5).on([0]) * (RBF(1.0) + 0.5 * Matern([2.0, 3.0], nu=1.5, product=True)) ** 2,
}


def data(n=9):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1.2, 1.2, (n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 0] * X[:, 1] + 0.5 * X[:, 1] ** 2


def rounding(f):
    """The error of a quadratic form in the weights: each of its N^2 terms has one of some units of rounding."""
    return 16 * eps(np.float64) * np.abs(f.weights).sum() ** 2


@pytest.mark.parametrize("trend", [None, "quadratic"])
@pytest.mark.parametrize("name", KERNELS)
def test_indices_of_processes(name, trend):
    X, y = data()
    gp = ks.GaussianProcessRegressor(KERNELS[name], alpha=0.05, optimizer=None, trend=trend, normalize_y=True).fit(X, y)
    inputs = [Uniform(-1.0, 1.1), Uniform(-0.3, 1.5)]
    rules = [gauss(one.lower, one.upper, X[:, k], 10) for k, one in enumerate(inputs)]
    mean, variance, first, total, second = by_definition(on_grid(gp.predict, rules), rules)
    found = sobol(gp, inputs, second_order=True, n_draws=0)
    tolerance = rounding(studied(gp, inputs, 0).expand())
    assert found.method == "exact"
    assert abs(found.mean - mean) <= tolerance
    assert abs(found.variance - variance) <= tolerance
    for one, other in ((found.first, first), (found.total, total), (found.second, second)):
        np.testing.assert_allclose(one, other, rtol=0, atol=2 * tolerance / variance)
    assert found.second[0, 1] == pytest.approx(found.total[0] - found.first[0], abs=2 * tolerance / variance)
    assert found.first_interval is None


@pytest.mark.parametrize("name", ["rbf", "matern"])
def test_normal_inputs_and_kernel_ridge(name):
    X, y = data(20)
    ridge = ks.KernelRidge(KERNELS[name], alpha=0.1, fit_intercept=True).fit(X, np.column_stack([y, y**2]))
    inputs = [Normal(0.2, 0.4), Uniform(-1.0, 1.0)]
    smooth = name == "rbf"
    lower, upper = 0.2 - 9 * 0.4, 0.2 + 9 * 0.4
    nodes, weights = gauss(lower, upper, [*X[:, 0], *np.linspace(lower, upper, 20)], 10)
    weights = weights * np.exp(-0.5 * ((nodes - 0.2) / 0.4) ** 2)
    rules = [
        gauss_hermite(0.2, 0.4) if smooth else (nodes, weights / weights.sum()),
        gauss(-1.0, 1.0, X[:, 1], 8),
    ]
    _, variance, first, total, _ = by_definition(on_grid(lambda Z: ridge.predict(Z)[:, 1], rules), rules)
    found = sobol(ridge, inputs, output=1)
    tolerance = rounding(studied(ridge, inputs, 1).expand()) / variance
    np.testing.assert_allclose(found.first, first, rtol=0, atol=2 * tolerance)
    np.testing.assert_allclose(found.total, total, rtol=0, atol=2 * tolerance)


def test_parts_add_up_in_many_columns(rng):
    X = rng.uniform(0, 1, (40, 5))
    y = X[:, 0] * X[:, 1] + np.sin(4 * X[:, 2]) + X[:, 3] * X[:, 4] * X[:, 0]
    gp = ks.GaussianProcessRegressor(4.0 * RBF(1.0), alpha=0.01, optimizer=None).fit(X, y)
    of = studied(gp, [(0.0, 1.0)] * 4 + [(0.3, 0.3)], 0)
    found = exact_variances(of.expand(), of.inputs, second=True)
    tolerance = rounding(of.expand())
    assert found.first[4] == found.total[4] == 0.0  # an input that is held
    assert (found.total >= found.first - tolerance).all()
    assert (found.total >= found.first + found.second.sum(axis=1) - tolerance).all()
    assert found.first.sum() + found.second.sum() / 2 <= found.variance + tolerance
    smaller = studied(lambda Z: gp.predict(np.insert(Z, 4, 0.3, axis=1)), [(0.0, 1.0)] * 4, 0)
    rules = [gauss(0.0, 1.0, order=8)] * 4
    _, variance, first, total, _ = by_definition(on_grid(smaller.values, rules), rules)
    np.testing.assert_allclose(found.first[:4] / found.variance, first, rtol=0, atol=2 * tolerance / variance)
    np.testing.assert_allclose(found.total[:4] / found.variance, total, rtol=0, atol=2 * tolerance / variance)

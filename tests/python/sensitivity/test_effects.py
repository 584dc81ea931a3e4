"""Main effects and their bands are means over a grid, and of the posterior covariance over it."""

import numpy as np
import pytest
from reference_sensitivity import gauss, gauss_hermite

import kernsel as ks
from kernsel.kernels import RBF, Matern
from kernsel.sensitivity import Normal, main_effects
from kernsel.sensitivity.studied import studied

from accuracy import eps


@pytest.mark.parametrize("trend", [None, "linear"])
def test_means_and_bands(rng, trend):
    X = rng.uniform(-1, 1, (25, 2))
    Y = np.column_stack([X[:, 0] ** 2, 3 + 40 * np.sin(2 * X[:, 1])])
    kernel = 2.0 * RBF([0.6, 1.0]) + 0.3 * RBF(0.8).on([1])
    gp = ks.GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None, trend=trend, normalize_y=True).fit(X, Y)
    inputs = [(-1.0, 1.0), Normal(0.1, 0.4)]
    found = main_effects(gp, inputs, n_points=4, output=1)
    rules = [gauss(-1.0, 1.0), gauss_hermite(0.1, 0.4)]
    f = studied(gp, inputs, 1).expand()
    tolerance = 64 * eps(np.float64) * np.abs(f.weights).sum()
    for j in (0, 1):
        nodes, weights = rules[1 - j]
        for t, mean, std in zip(found.grid[j], found.mean[j], found.std[j], strict=True):
            Z = np.column_stack([np.full(len(nodes), t), nodes][:: 1 - 2 * j])
            values, cov = gp.predict(Z, return_cov=True, noisy=False)
            assert mean == pytest.approx(weights @ values[:, 1], abs=tolerance)
            prior = weights @ kernel(Z) @ weights * gp.scale_[1] * gp._y_train_std[1] ** 2
            # The variance is a difference, with errors of the prior's variance times the condition of K over alpha.
            amplified = 64 * eps(np.float64) * len(X) * 2.3 / 0.1 * prior
            assert std**2 == pytest.approx(weights @ cov[..., 1] @ weights, abs=amplified)
    assert found.overall == pytest.approx(rules[0][1] @ [weights_of(gp, x, rules[1]) for x in rules[0][0]], abs=tolerance)


def weights_of(gp, x, rule):
    """The mean of the second output along a line."""
    nodes, weights = rule
    return weights @ gp.predict(np.column_stack([np.full(len(nodes), x), nodes]))[:, 1]


def test_bands_of_kernels_with_kinks(rng):
    X = rng.uniform(0, 1, (8, 2))
    kernel = Matern([0.5, 0.8], nu=1.5, product=True)
    gp = ks.GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(X, X[:, 0])
    found = main_effects(gp, [(0.0, 1.0)] * 2, n_points=3)
    nodes, weights = gauss(0.0, 1.0, np.linspace(0, 1, 80), 2)
    Z = np.column_stack([np.full(len(nodes), 0.5), nodes])
    cov = gp.predict(Z, return_cov=True, noisy=False)[1]
    # The kernel's third derivative jumps on the diagonal: panels of 1/79 leave an error of some 79^-3 of a variance of one.
    assert found.std[0, 1] ** 2 == pytest.approx(weights @ cov @ weights, abs=79.0**-3)


def test_sums_instead_of_integrals(rng):
    X = rng.uniform(-1, 1, (20, 3))
    gp = ks.GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    exact, sampled = (main_effects(gp, n_points=5, method=method) for method in ("exact", "sampled"))
    assert sampled.std is None
    # 1024 points of a scrambled net err less than random ones, by at least a factor of four for a smooth function.
    np.testing.assert_allclose(sampled.mean, exact.mean, rtol=0, atol=np.ptp(exact.mean) / 4 / 1024**0.5)
    machine = ks.KernelRidge(RBF(1.0)).fit(X, X[:, 0])
    assert main_effects(machine).std is None
    with pytest.raises(ValueError, match='method: "exact" is not to be had, f is a function'):
        main_effects(np.sum, [(0, 1)], method="exact")
    with pytest.raises(ValueError, match="n_points: expected a whole number from 2 on, got 1"):
        main_effects(gp, n_points=1)

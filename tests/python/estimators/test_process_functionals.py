"""Slopes and averages predicted by processes that were fitted to values."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, Linear, Matern, WhiteKernel

rng = np.random.default_rng(0)
gp = ks.GaussianProcessRegressor
X, Z = rng.uniform(0, 4, (25, 2)), rng.uniform(0, 4, (5, 2))
y = np.sin(X[:, 0]) * X[:, 1] + 0.05 * rng.standard_normal(25)


@pytest.fixture(scope="module")
def fitted():
    return gp("auto", trend="quadratic").fit(X, y)


def test_slopes_are_differences_of_the_process(fitted):
    mean, covariance = fitted.predict_slopes(Z, return_cov=True)
    np.testing.assert_allclose(mean, fitted.predict_gradient(Z), rtol=1e-8, atol=1e-10)
    h = 2.0**-9
    both = np.vstack([*(np.vstack([z + h * e, z - h * e]) for z in Z for e in np.eye(2))])
    of_values = fitted.predict(both, return_cov=True, noisy=False)[1]
    difference = np.kron(np.eye(10), [[1.0, -1.0]]) / (2 * h)
    expected = (difference @ of_values @ difference.T).reshape(5, 2, 5, 2)
    # h^2 times a fourth derivative of the kernel over its second, and rounding over h^2.
    np.testing.assert_allclose(covariance, expected, atol=1e-3 * np.abs(expected).max())
    std = fitted.predict_slopes(Z, [1], return_std=True)[1]
    np.testing.assert_allclose(std[:, 0] ** 2, [covariance[i, 1, i, 1] for i in range(5)], rtol=1e-6)


def test_averages_are_averages_of_the_process(fitted):
    nodes, weights = np.polynomial.legendre.leggauss(12)
    low, high = Z[:2], Z[:2] + np.array([1.0, 0.5])
    mean, covariance = fitted.predict_averages(low, high, return_cov=True)
    grid = np.stack(np.meshgrid(nodes, nodes), -1).reshape(-1, 2)
    share = np.kron(np.eye(2), np.outer(weights, weights).ravel() / 4)
    at = np.vstack([a + (grid + 1) / 2 * (b - a) for a, b in zip(low, high, strict=True)])
    values, between = fitted.predict(at, return_cov=True, noisy=False)
    # Gauss's rule has some 5 digits where the fifth derivative of the kernel jumps.
    np.testing.assert_allclose(mean, share @ values, atol=1e-5 * np.abs(values).max())
    np.testing.assert_allclose(covariance, share @ between @ share.T, atol=1e-5 * np.abs(between).max())
    std = fitted.predict_averages(low, high, return_std=True)[1]
    np.testing.assert_allclose(std**2, np.diag(covariance), rtol=1e-6)


def test_noise_of_the_kernel_is_no_part_of_the_function():
    plain = gp(1.5 * RBF(1.2), noise=0.1, optimizer=None).fit(X, y)
    for kernel in (1.5 * RBF(1.2) + WhiteKernel(0.1), (1.5 * RBF(1.2) + 0.5 * WhiteKernel(0.2)).on([0, 1])):
        found = gp(kernel, optimizer=None, alpha=0.0).fit(X, y).predict_slopes(Z, return_std=True)
        np.testing.assert_allclose(found, plain.predict_slopes(Z, return_std=True), rtol=1e-9)
    with pytest.raises(ValueError, match="noise that cannot be told from the function"):
        gp(WhiteKernel(0.1) * Linear(), optimizer=None, noise=0.1).fit(X, y).predict_slopes(Z)


def test_an_update_is_seen():
    model = gp(1.5 * RBF(1.2), noise=0.1, optimizer=None).fit(X[:20], y[:20])
    model.predict_slopes(Z)
    model.update(X[20:], y[20:])
    whole = gp(1.5 * RBF(1.2), noise=0.1, optimizer=None).fit(X, y)
    np.testing.assert_allclose(model.predict_slopes(Z), whole.predict_slopes(Z), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:approximation. 9 landmarks")
@pytest.mark.parametrize(
    ("model", "call", "message"),
    [
        (gp(RBF(), noise=0.1), lambda m: m.predict_slopes(Z, [2]), "columns: .* from 0 to 1"),
        (gp(RBF(), noise=0.1), lambda m: m.predict_slopes(Z[:, :1]), "X has 1 features"),
        (gp(RBF(), noise=0.1), lambda m: m.predict_averages(Z, Z - 1), "lower, upper: .* box 0, column 0"),
        (gp(Matern(nu=2.5), noise=0.1), lambda m: m.predict_averages(Z, Z + 1), "no closed averages"),
        (gp("Exponential", noise=0.1), lambda m: m.predict_slopes(Z), "smoothness 1/2 have no derivatives"),
        (gp(RBF(), noise=0.1, trend=lambda X: X), lambda m: m.predict_slopes(Z), "trend: expected"),
        (gp(RBF(), noise=0.1, approximation=ks.Nystrom(9)), lambda m: m.predict_slopes(Z), "without an approximation"),
    ],
)
def test_what_is_not_there_is_refused(model, call, message):
    model.set_params(optimizer=None).fit(X, y)
    with pytest.raises(ValueError, match=message):
        call(model)

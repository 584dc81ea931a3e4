"""The posterior given values, slopes and averages, beside a dense twin."""

import pickle

import numpy as np
import pytest

from kernsel._data.functionals import TrendOfFunctionals
from kernsel._solve.functional_posterior import FunctionalPosterior
from kernsel.kernels import RBF, Functionals

import reference as ref
from accuracy import assert_forward

rng = np.random.default_rng(0)
X, Z = rng.uniform(0, 3, (6, 2)), rng.uniform(0, 3, (4, 2))
ROWS = np.vstack([Functionals.values(X), Functionals.slopes(X[:3]), Functionals.averages(X[:2], X[:2] + np.array([0.5, 0.0]))])
NEW = np.vstack([Functionals.values(Z), Functionals.slopes(Z), Functionals.averages(Z, Z + 1)])
y, noise = rng.normal(size=(len(ROWS), 1)), rng.uniform(0.01, 0.1, len(ROWS))
KERNEL = 1.7 * RBF([0.9, 1.4])


@pytest.fixture(scope="module")
def posterior():
    return FunctionalPosterior(KERNEL, ROWS, y, noise, "linear", len(X), (np.full(2, np.nan), np.nan))


def test_moments_of_functionals(posterior):
    k, H = Functionals(KERNEL), TrendOfFunctionals("linear")
    K = k(ROWS) + np.diag(noise)
    mean, covariance, _ = ref.kriging(K, k(ROWS, NEW), k(NEW), H(ROWS), H(NEW), y)
    condition = np.linalg.cond(K)
    assert_forward(posterior.mean_of(NEW), mean, condition, len(y), float)
    assert_forward(posterior.covariance_of(NEW), covariance, condition, len(y), float)
    assert_forward(posterior.variance_of(NEW), np.diag(covariance), condition, len(y), float)
    np.testing.assert_array_equal(posterior.mean(Z), posterior.mean_of(NEW[:4]))
    np.testing.assert_array_equal(posterior.points, X)


def test_gradients_are_differences(posterior):
    of_mean, of_variance = posterior.mean_gradient(Z)[:, :, 0], posterior.variance_gradient(Z)
    for j, step in enumerate(2.0**-8 * np.eye(2)):
        for f, found in ((lambda at: posterior.mean(at)[:, 0], of_mean), (posterior.variance, of_variance)):
            once, twice = ((f(Z + h * step) - f(Z - h * step)) / (2 * h * 2.0**-8) for h in (1, 2))
            np.testing.assert_allclose(found[:, j], (4 * once - twice) / 3, atol=0.1 * np.abs(once - twice).max() + 1e-11)


def test_values_are_left_out_of_all_else(posterior):
    residuals, variances, _ = posterior.leave_one_out()
    others = np.arange(1, len(y))
    without = FunctionalPosterior(KERNEL, ROWS[1:], y[1:], noise[1:], "linear", len(X) - 1, (np.full(2, np.nan), np.nan))
    condition = np.linalg.cond(Functionals(KERNEL)(ROWS[others]) + np.diag(noise[others]))
    assert residuals.shape == (len(X), 1)
    assert_forward(residuals[0], y[0] - without.mean(X[:1])[0], condition, len(y), float)
    assert_forward(variances[:1], without.variance(X[:1]) + noise[0], condition, len(y), float)


def test_pickling(posterior):
    other = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(other.covariance_of(NEW), posterior.covariance_of(NEW))
    assert (other.n_values, other.kernel_of_points, other.trend_of_points) == (len(X), KERNEL, "linear")

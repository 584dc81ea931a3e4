"""Predictive distributions of observations, against integrals over the latent function and counts of what was observed."""

import numpy as np
import pytest
from scipy import stats

import kernsel as ks
from kernsel.estimators.observed_distribution import ObservedDistribution
from kernsel.kernels import RBF
from kernsel.likelihoods import CensoredGaussian, NegativeBinomial, Poisson, StudentT

MEAN, VARIANCE, EXPOSURE = np.array([0.3, 1.5]), np.array([0.2, 0.5]), np.array([1.0, 2.0])
QUADRATURE = 1e-8  # the error of the core's integrals


def probability(conditional):
    """Return the integral of a conditional probability over the latent function at each of the two points."""
    steps, width = np.linspace(-12, 12, 2001, retstep=True)  # the trapezoidal rule is exact for such functions
    return np.array(
        [
            np.sum(conditional(m + v**0.5 * steps, e) * stats.norm.pdf(steps)) * width
            for m, v, e in zip(MEAN, VARIANCE, EXPOSURE, strict=True)
        ]
    )


def test_residuals_of_counts_are_random_within_the_probability_of_the_count():
    found = ObservedDistribution(Poisson(), MEAN, VARIANCE, EXPOSURE)
    y = np.array([0.0, 7.0])
    up_to = probability(lambda f, e: stats.poisson.cdf(0 if e == 1 else 7, e * np.exp(f)))
    below = probability(lambda f, e: 0.0 if e == 1 else stats.poisson.cdf(6, e * np.exp(f)))
    u = stats.norm.cdf(found.standardized(y[:, None])[:, 0])
    random = np.random.default_rng(0).uniform(size=2)
    np.testing.assert_allclose(u, below + random * (up_to - below), atol=QUADRATURE)
    np.testing.assert_array_equal(found.standardized(y[:, None]), found.standardized(y[:, None]))


def test_residuals_at_limits_are_random_and_others_are_not():
    likelihood = CensoredGaussian(lower=0.0, upper=2.0, noise=0.3)
    found = ObservedDistribution(likelihood, np.array([0.3, 1.5, 1.0]), np.array([0.2, 0.5, 0.1]))
    u = stats.norm.cdf(found.standardized(np.array([[0.0], [2.0], [1.2]])))[:, 0]
    spread = np.sqrt(np.array([0.2, 0.5, 0.1]) + 0.3)
    random = np.random.default_rng(0).uniform(size=3)
    at_lower, below_upper = stats.norm.cdf(-0.3 / spread[0]), stats.norm.cdf(0.5 / spread[1])
    expected = [random[0] * at_lower, below_upper + random[1] * (1 - below_upper), stats.norm.cdf(0.2 / spread[2])]
    np.testing.assert_allclose(u, expected, atol=QUADRATURE)


def test_moments_densities_quantiles_and_frequencies():
    found = ObservedDistribution(NegativeBinomial(2.0), MEAN, VARIANCE, EXPOSURE)
    mean, variance = NegativeBinomial(2.0).predict(MEAN, VARIANCE, EXPOSURE)
    np.testing.assert_array_equal(found.mean, mean[:, None])
    np.testing.assert_array_equal(found.std, np.sqrt(variance)[:, None])

    def pmf(k):
        return probability(lambda f, e: stats.nbinom.pmf(k, 2, 2 / (2 + e * np.exp(f))))

    frequencies = found.frequencies(3)
    np.testing.assert_allclose(frequencies[:4], [pmf(k).sum() for k in range(4)], atol=QUADRATURE)
    assert frequencies.sum() == pytest.approx(2)
    np.testing.assert_allclose(found.log_density(np.array([[3.0], [3.0]])), np.log(pmf(3)), atol=1e3 * QUADRATURE)
    low, high = found.quantiles([0.1, 0.9])[1, 0]
    of_second = np.cumsum([pmf(k)[1] for k in range(int(high) + 1)])
    assert (of_second >= 0.1).argmax() == low
    assert (of_second >= 0.9).argmax() == high


def test_processes_have_them():
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 5, (80, 1))
    exposure = rng.uniform(0.5, 3, 80)
    y = rng.poisson(exposure * np.exp(1 + np.sin(2 * X[:, 0])))
    gp = ks.GaussianProcessRegressor(RBF(0.7), optimizer=None, likelihood="poisson").fit(X, y, exposure=exposure)
    left_out = gp.left_out_predictive()
    np.testing.assert_array_equal(left_out.log_density(y[:, None].astype(float)), gp.loo_log_density_)
    z = left_out.standardized(y[:, None].astype(float))
    assert stats.kstest(z[:, 0], "norm").pvalue > 0.01
    shown = gp.left_out()
    np.testing.assert_array_equal(shown.standardized, z[:, 0])
    np.testing.assert_array_equal(shown.quantiles(np.array([0.5]))[:, 0], left_out.quantiles(0.5)[:, 0])
    new = gp.predictive(X[:3], exposure=2.0)
    np.testing.assert_array_equal(new.mean[:, 0], gp.predict(X[:3], exposure=2.0))
    np.testing.assert_array_equal(new.quantiles([0.1, 0.9])[:, 0], gp.predict_quantiles(X[:3], [0.1, 0.9], exposure=2.0))
    with pytest.raises(ValueError, match=r"noisy: expected True with a likelihood; predict_latent\(\) is of the function"):
        gp.predictive(X[:3], noisy=False)


def test_deviations_that_are_infinite():
    found = ObservedDistribution(StudentT(scale=1.0, df=1.5), MEAN, VARIANCE)
    assert np.isinf(found.std).all()
    assert np.isfinite(found.standardized(np.array([[1e30], [-1e30]]))).all()
    X = np.linspace(0, 5, 20)[:, None]
    gp = ks.GaussianProcessRegressor(RBF(1.0), optimizer=None, likelihood=StudentT(scale=0.1, df=1.5)).fit(X, np.sin(X[:, 0]))
    assert gp.left_out().std is None
    assert np.isfinite(gp.prediction(X, level=0.9, noisy=True).upper).all()

"""Mixtures of normal distributions, compared with sums, integrals and roots found one by one."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq

from kernsel.estimators.stacking.mixture import Mixture


@pytest.fixture
def mixture(rng):
    return Mixture(np.array([0.2, 0.5, 0.3]), rng.normal(size=(3, 4, 2)), rng.uniform(0.1, 2.0, (3, 4, 2)))


def distribution(mixture, i, k, x):
    return mixture.weights @ stats.norm.cdf(x, mixture.means[:, i, k], mixture.stds[:, i, k])


def test_moments_are_integrals(mixture):
    for i, k in ((0, 0), (3, 1)):

        def density(x, i=i, k=k):
            return mixture.weights @ stats.norm.pdf(x, mixture.means[:, i, k], mixture.stds[:, i, k])

        mean = quad(lambda x: x * density(x), -20, 20, limit=200)[0]
        variance = quad(lambda x, mean=mean: (x - mean) ** 2 * density(x), -20, 20, limit=200)[0]
        assert mixture.mean[i, k] == pytest.approx(mean, abs=1e-7)
        assert mixture.std[i, k] == pytest.approx(np.sqrt(variance), rel=1e-6)


def test_densities_are_joint_over_outputs(mixture, rng):
    y = rng.normal(size=(4, 2))
    parts = stats.norm.pdf(y, mixture.means, mixture.stds).prod(axis=2)
    np.testing.assert_allclose(mixture.log_density(y), np.log(mixture.weights @ parts), rtol=1e-12)


def test_quantiles_are_roots_and_rise_with_the_probability(mixture):
    p = np.array([1e-12, 0.025, 0.3, 0.5, 0.9, 1 - 1e-10])
    found = mixture.quantiles(p)
    assert found.shape == (4, 2, 6)
    assert (np.diff(found, axis=2) > 0).all()
    for i in range(4):
        for k in range(2):
            for j, probability in enumerate(p):
                root = brentq(lambda x, i=i, k=k, q=probability: distribution(mixture, i, k, x) - q, -40, 40, xtol=1e-13)
                # Where the density is small, the difference that the root is of has a rounding error that matters.
                assert found[i, k, j] == pytest.approx(root, abs=1e-9 if 0.01 < probability < 0.99 else 1e-4)
    assert mixture.quantiles(0.5).shape == (4, 2)
    np.testing.assert_allclose(mixture.standardized(mixture.quantiles(0.1)), stats.norm.ppf(0.1), rtol=1e-12)


@pytest.mark.parametrize("std", [0.0, 1e-12, 1e-3])
def test_quantiles_of_narrow_parts_far_apart(std):
    means = np.array([0.0, 1e6, -3.0]).reshape(3, 1, 1)
    mixture = Mixture(np.array([0.5, 0.25, 0.25]), means, np.full((3, 1, 1), std))
    found = mixture.quantiles([0.1, 0.2, 0.4, 0.6, 0.7, 0.8, 0.99])[0, 0]
    np.testing.assert_allclose(found, [-3, -3, 0, 0, 0, 1e6, 1e6], atol=10 * std + 1e-9)
    assert (np.diff(found) >= -1e-9).all()  # equal ones, up to rounding


def test_one_part_is_a_normal_distribution(rng):
    means, stds = rng.normal(size=(1, 5, 1)), rng.uniform(0.1, 1, (1, 5, 1))
    one = Mixture(np.ones(1), means, stds)
    np.testing.assert_allclose(one.quantiles(0.975), (means + 1.959963984540054 * stds)[0], rtol=1e-14)
    y = rng.normal(size=(5, 1))
    np.testing.assert_array_equal(one.standardized(y), ((y - means) / stds)[0])
    np.testing.assert_array_equal(one.mean, means[0])


def test_both_tails_are_exact():
    mixture = Mixture(np.array([0.5, 0.5]), np.zeros((2, 2, 1)), np.ones((2, 2, 1)))
    y = np.array([[-35.0], [35.0]])
    np.testing.assert_allclose(mixture.standardized(y), y, rtol=1e-12)


def test_what_are_no_probabilities_is_said(mixture):
    for wrong in (0.0, 1.0, [0.5, 2.0], np.nan):
        with pytest.raises(ValueError, match="probabilities: expected numbers between 0 and 1"):
            mixture.quantiles(wrong)

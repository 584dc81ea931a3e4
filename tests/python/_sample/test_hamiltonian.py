"""Draws by Hamiltonian Monte Carlo: of densities whose moments and quantiles are known."""

import numpy as np
import pytest
from scipy import stats

from kernsel._sample.diagnostics import effective_sample_size
from kernsel._sample.hamiltonian import Plan, sample_density

LIMIT = 4.5  # standard errors: one in 150 000 comparisons is further off by chance


def normal(mean, covariance):
    precision = np.linalg.inv(covariance)
    return lambda x: (-0.5 * (x - mean) @ precision @ (x - mean), -precision @ (x - mean))


def test_moments_of_a_normal_density_from_a_bad_guess(rng):
    mean, covariance = np.array([1.0, -2.0, 30.0]), np.array([[2.0, 1.3, 0.0], [1.3, 1.0, 1.0], [0.0, 1.0, 50.0]])
    guess = np.diag([0.1, 1.0, 500.0])
    draws = sample_density(normal(mean, covariance), mean + 1.0, guess, Plan(round=400, rounds=1), rng)
    assert draws.values.shape == (4, 400, 3)
    assert draws.divergences == 0
    assert (draws.effective_sample_size > 400).all()
    error = np.sqrt(np.diag(covariance) / draws.effective_sample_size)
    assert (np.abs(draws.values.mean(axis=(0, 1)) - mean) <= LIMIT * error).all()
    away = draws.values - mean
    products = away[..., :, None] * away[..., None, :]
    error = np.sqrt(products.var(axis=(0, 1)) / effective_sample_size(products))
    assert (np.abs(products.mean(axis=(0, 1)) - covariance) <= LIMIT * error).all()


def test_heavy_tails_and_a_bound(rng):
    """Student's t of 4 degrees of freedom to the right of -1, where its density is far from zero."""
    t = stats.t(4)

    def density(x):
        slope = -5 * x / (4 + x**2)
        return (-2.5 * float(np.log1p(x[0] ** 2 / 4)), slope) if x[0] > -1 else (-np.inf, np.zeros(1))

    draws = sample_density(density, np.zeros(1), np.eye(1), Plan(round=400, rounds=1), rng).values[..., 0]
    assert draws.min() > -1
    rest = t.sf(-1)
    for level in (0.05, 0.5, 0.99):
        below = draws <= t.isf(rest * (1 - level))
        error = np.sqrt(level * (1 - level) / effective_sample_size(below))
        assert abs(below.mean() - level) <= LIMIT * error


def test_chains_go_on_until_draws_suffice(rng):
    plan = Plan(round=50, rounds=8, least_size=60.0, r_hat=1.03, warm_up=100)
    draws = sample_density(normal(np.zeros(1), np.eye(1)), np.zeros(1), np.eye(1), plan, rng)
    count = draws.values.shape[1]
    assert 50 < count < 400
    assert (draws.effective_sample_size >= 240).all()
    late = Plan(round=50, rounds=8, least_size=1e6, warm_up=100, seconds=0.0)
    assert sample_density(normal(np.zeros(1), np.eye(1)), np.zeros(1), np.eye(1), late, rng).values.shape == (4, 50, 1)


def test_seeds():
    plan = Plan(round=10, rounds=1, warm_up=20, chains=2)
    one, same, other = (
        sample_density(normal(np.zeros(2), np.eye(2)), np.zeros(2), np.eye(2), plan, np.random.default_rng(seed)).values
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).all()
    assert (one[0] != one[1]).all()


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_a_density_that_moves_away_does_not_end_the_chain(scale, rng):
    """A mode far from the centre: chains find it in the warm-up."""
    mean = np.array([20.0 * scale])
    draws = sample_density(normal(mean, np.eye(1) * scale**2), np.zeros(1), np.eye(1) * scale**2, Plan(rounds=1), rng)
    error = scale / np.sqrt(draws.effective_sample_size)
    assert (np.abs(draws.values.mean(axis=(0, 1)) - mean) <= LIMIT * error).all()

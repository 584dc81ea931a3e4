"""Draws of hyperparameters together with latent values, against quadrature over both."""

import numpy as np
import pytest
from scipy import stats

from kernsel._sample.diagnostics import effective_sample_size
from kernsel._sample.together import LatentModel, sample_together
from kernsel.linalg.cholesky import cholesky

LIMIT = 4.5  # standard errors: one in 150 000 comparisons is further off by chance
Y = np.array([0.0, 6.0])


def model(prior):
    return LatentModel(
        lambda x: cholesky(np.exp(x[0]) * np.array([[1.0, 0.5], [0.5, 1.0]])),
        lambda x: float(prior.logpdf(x[0])),
        lambda x, f: np.sum(Y * f - np.exp(np.minimum(f, 500.0)), axis=1),  # Poisson, but for a constant
    )


def exact(prior):
    """The mean and the variance of x, f_1 and f_2, by sums over a grid."""
    x = np.linspace(-4, 4, 61)
    f = np.linspace(-9, 5, 141)
    a, b = np.meshgrid(f, f, indexing="ij")
    both = np.stack([a.ravel(), b.ravel()], axis=1)
    likelihood = np.sum(Y * both - np.exp(both), axis=1)
    squares = both[:, 0] ** 2 - both[:, 0] * both[:, 1] + both[:, 1] ** 2  # f' K^-1 f = squares / (0.75 exp(x))
    weights = np.exp(np.array([prior.logpdf(t) + likelihood - squares / 1.5 * np.exp(-t) - t for t in x]))
    weights /= weights.sum()
    values = [np.repeat(x[:, None], len(both), axis=1), both[:, 0], both[:, 1]]
    means = [np.sum(weights * v) for v in values]
    return np.array(means), np.array([np.sum(weights * (v - m) ** 2) for v, m in zip(values, means, strict=True)])


@pytest.mark.slow  # test_sampled_hyperparameters.py does the same with labels
@pytest.mark.parametrize("precision", [0.05, 3.0])
def test_moments_are_those_of_the_joint_posterior(precision, rng):
    prior = stats.norm(0.0, 1.0)
    latent = model(prior)
    mean, variance = exact(prior)
    sites = np.full(2, precision), precision * np.log(Y + 0.5)  # of any precision, the draws are of the same posterior
    joint = sample_together(latent, np.zeros(1), np.eye(1) / 4, sites, n_draws=150, n_burn=30, n_chains=4, rng=rng)
    draws = np.concatenate([joint.x, joint.f], axis=2)
    assert draws.shape == (4, 150, 3)
    for values, expected in ((draws, mean), ((draws - mean) ** 2, variance)):
        error = np.sqrt(values.var(axis=(0, 1)) / effective_sample_size(values))
        assert (np.abs(values.mean(axis=(0, 1)) - expected) <= LIMIT * error).all()

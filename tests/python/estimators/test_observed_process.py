"""Laplace's approximation and expectation propagation beside long chains, which have no error but that of their length."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.likelihoods import (
    AsymmetricLaplace,
    Bernoulli,
    Beta,
    Binomial,
    CensoredGaussian,
    Gamma,
    Laplace,
    NegativeBinomial,
    Ordinal,
    Poisson,
    StudentT,
)

RNG = np.random.default_rng(3)
X = np.sort(RNG.uniform(0, 4, 15))[:, None]
Z = np.array([[0.3], [1.7], [3.0], [5.0]])
F = np.sin(2 * X[:, 0])
ODDS = 1 / (1 + np.exp(-F))
NOISY = F + RNG.laplace(0, 0.3, 15)

LIKELIHOODS = {
    "Poisson": (Poisson(), RNG.poisson(np.exp(F))),
    "negative binomial": (NegativeBinomial(2.0), RNG.poisson(np.exp(F) * RNG.gamma(2.0, 0.5, 15))),
    "logit": (Bernoulli(), NOISY > 0),
    "probit": (Bernoulli("probit"), NOISY > 0),
    "binomial": (Binomial(), RNG.binomial(5, ODDS)),
    "Gamma": (Gamma(2.0), np.exp(F) * RNG.gamma(2.0, 0.5, 15)),
    "Beta": (Beta(5.0), RNG.beta(5 * ODDS, 5 * (1 - ODDS))),
    "Student's t": (StudentT(scale=0.3, df=4.0), F + 0.3 * RNG.standard_t(4, 15)),
    "censored": (CensoredGaussian(upper=0.7, noise=0.04), np.minimum(NOISY, 0.7)),
    "ordinal": (Ordinal(3, (-0.5, 0.5)), np.digitize(NOISY, [-0.5, 0.5])),
    "Laplace": (Laplace(0.3), NOISY),
    "asymmetric Laplace": (AsymmetricLaplace(0.8, 0.2), NOISY),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_inferences_beside_long_chains(name):
    likelihood, y = LIKELIHOODS[name]
    sizes = {"trials": 5} if name == "binomial" else {}

    def latent(inference, **options):
        model = ks.GaussianProcessRegressor(
            2.0 * RBF(0.8), optimizer=None, likelihood=likelihood, inference=inference, random_state=0, **options
        )
        return model.fit(X, y.astype(float), **sizes).predict_latent(Z, return_std=True)

    mean, std = latent("mcmc", n_draws=6000)
    # Of some 2000 independent draws, means have an error of .02 deviations and deviations one of .02; the rest is the
    # approximation's: little of one that matches moments, more of one whose middle is the mode and not the mean.
    by_laplace = (1.0, 0.5) if name.endswith("Laplace") else (0.4, 0.3)  # a mode may be at a kink
    for inference, of_mean, of_std in (("ep", 0.1, 0.15), ("laplace", *by_laplace)):
        approximate, spread = latent(inference)
        assert np.abs((approximate - mean) / std).max() < of_mean, inference
        assert np.abs(spread / std - 1).max() < of_std, inference

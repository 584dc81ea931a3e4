"""Every likelihood with every inference: gradients by differences, and quantiles by simulation."""

import numpy as np
import pytest

import kernsel as ks
from kernsel import likelihoods as lk
from kernsel.kernels import RBF, ConstantKernel

N = 16
X = np.linspace(0, 4, N)[:, None]
F = np.sin(2 * X[:, 0])
EVERY = {
    "gaussian": lk.Gaussian(0.05),
    "student": lk.StudentT(0.3, 4.0),
    "laplace": lk.Laplace(0.3),
    "quantile": lk.AsymmetricLaplace(0.8, 0.2),
    "censored": lk.CensoredGaussian(-0.6, 0.7, 0.1),
    "logit": lk.Bernoulli(),
    "probit": lk.Bernoulli("probit"),
    "binomial": lk.Binomial(),
    "ordinal": lk.Ordinal(4, (-0.8, 0.1, 0.9)),
    "poisson": lk.Poisson(),
    "negative": lk.NegativeBinomial(2.5),
    "gamma": lk.Gamma(1.7),
    "beta": lk.Beta(4.0),
    "box cox": lk.BoxCox(0.4, 0.05, unit=2.0),
    "yeo johnson": lk.YeoJohnson(1.3, 0.05, unit=0.7, location=0.2),
}


def sizes(likelihood):
    if likelihood.size_name in ("exposure", "trials"):
        return {likelihood.size_name: 1.0 + np.arange(N) % 4}
    return {}


@pytest.mark.parametrize("criterion", ["lml", "loo_log_density"])
@pytest.mark.parametrize("inference", ["laplace", "ep"])
@pytest.mark.parametrize("name", EVERY)
def test_gradients(name, inference, criterion):
    likelihood, kernel, given = EVERY[name], ConstantKernel(0.9) * RBF(0.8), sizes(EVERY[name])
    y = likelihood.draw(F, next(iter(given.values()), None), random_state=1)
    phi = np.array([p.value for p in likelihood.parameters()])

    def evaluated(theta=kernel.theta, phi=phi, gradient=False):
        found = ks.evaluate(
            criterion, kernel.clone_with_theta(theta), X, y, noise=1e-6, trend="constant", gradient=gradient,
            likelihood=likelihood.with_values(phi.tolist()), inference=inference, **given,
        )  # fmt: skip
        return found if gradient else found.value

    kinked = likelihood.usual_inference == "ep"
    found, h = evaluated(gradient=True), 1e-4 if kinked and inference == "laplace" else 1e-3  # modes feel kinks

    def difference(at):
        return (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h)

    # Of the fourth order in h; quadrature is right to 1e-9, which is divided by h.
    slack = {"rel": 1e-5, "abs": 1e-4 if kinked else 1e-5}
    for slope, unit in zip(found.gradient, np.eye(2), strict=True):
        expected = difference(lambda step, unit=unit: evaluated(theta=kernel.theta + step * unit))
        assert slope == pytest.approx(expected, **slack)
    for slope, unit in zip(found.likelihood_gradient, np.eye(len(phi)), strict=True):
        expected = difference(lambda step, unit=unit: evaluated(phi=phi + step * unit))
        assert slope == pytest.approx(expected, **slack)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_quantiles_hold_as_many_draws_as_they_say(name):
    likelihood, count = EVERY[name], 100_000  # whose shares are within .002
    rng = np.random.default_rng(0)
    size = 3.0 if likelihood.size_name else None
    mean, deviation = 0.4, 0.7
    levels = np.array([0.05, 0.5, 0.95])
    quantiles = likelihood.predict_quantiles(levels, mean, deviation**2, size)
    f = mean + deviation * rng.standard_normal(count)
    y = likelihood.draw(f, size, random_state=rng.integers(2**31))
    tie = 1e-9 * (1 + np.abs(quantiles))  # draws at a limit, and whole numbers, are quantiles themselves
    up_to = np.mean(y[:, None] <= quantiles + tie, axis=0)
    below = np.mean(y[:, None] < quantiles - tie, axis=0)
    assert (up_to > levels - 0.01).all()
    assert (below < levels + 0.01).all()

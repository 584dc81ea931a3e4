"""The posterior density of hyperparameters: its parts, its derivatives, its mode."""

import numpy as np
import pytest
from scipy import stats

import kernsel as ks
from kernsel._search.density import density_of_hyperparameters
from kernsel._search.selection import Selection
from kernsel.kernels import RBF, Parameter
from kernsel.kernels.priors import LogNormal
from kernsel.likelihoods import NegativeBinomial
from kernsel.likelihoods.observations import Observations


def made(likelihood=None, kernel="RBF"):
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 5, (20, 2))
    f = np.sin(X[:, 0])
    y = f + 0.2 * rng.standard_normal(20) if likelihood is None else rng.poisson(np.exp(1 + f)).astype(float)
    model = ks.GaussianProcessRegressor(kernel, likelihood=likelihood, noise=None if likelihood or kernel == "RBF" else "auto")
    found = model.fit(X, y).selection_
    observations = None if likelihood is None else Observations(likelihood, y)
    return density_of_hyperparameters(
        model._prior_kernel(),
        X,
        y,
        found,
        finds_noise=likelihood is None,
        observations=observations,
        trend="constant",
        shrinkage="auto",
    )


@pytest.fixture(scope="module")
def normal():
    return made()


@pytest.fixture(scope="module")
def counts():
    return made(NegativeBinomial())


@pytest.mark.parametrize("which", ["normal", "counts"])
def test_the_gradient_is_that_of_the_value(which, request):
    density = request.getfixturevalue(which)
    x, step = density.start * 0.9 + 0.1, 1e-5
    for k, unit in enumerate(np.eye(len(x))):
        slope = (density(x + step * unit)[0] - density(x - step * unit)[0]) / (2 * step)
        # The error of differences: rounding of values near 100, the tolerance of the mode, and third derivatives.
        assert density(x)[1][k] == pytest.approx(slope, abs=1e-5)


def test_the_density_is_a_likelihood_times_what_is_expected(normal):
    """The difference of the density and the prior is the restricted likelihood, up to nothing."""
    x = normal.start + 0.2
    selection = normal.selection(x, Selection(normal.layout.kernel, 0.1, 0.0, ks.criteria.Likelihood(), 0.0))
    search = normal.search.evaluate(x.tolist(), 0)
    assert normal(x)[0] - normal.log_prior(x) == pytest.approx(search["criterion"], rel=1e-10)
    assert selection.noise == pytest.approx(np.exp(x[-1]))
    assert selection.kernel.theta == pytest.approx(x[:-1])
    assert normal.names == ["k1__constant_value", "k2__length_scale[0]", "k2__length_scale[1]", "noise"]
    assert normal.numbers(x) == pytest.approx(np.exp(x))


def test_the_mode_is_one(normal, counts):
    for density in (normal, counts):
        mode, covariance = density.mode()
        value, gradient = density(mode)
        assert np.abs(gradient).max() < 1e-2  # in nats for a step of one; a search ends there
        root = np.linalg.cholesky(covariance)
        assert value > max(density(mode + root @ unit)[0] for unit in [*np.eye(4), *-np.eye(4)])


def test_the_likelihoods_parameters_are_expected_where_they_start(counts):
    far = counts.start.copy()
    far[-1] -= 2.0
    parameter = counts.observations.likelihood.parameters(counts.observations.y)[0]
    expected = stats.norm(parameter.value, 2.0).logpdf
    assert counts.log_prior(far) - counts.log_prior(counts.start) == pytest.approx(
        expected(far[-1]) - expected(counts.start[-1])
    )


def test_it_is_zero_beyond_the_bounds(normal):
    upper = normal.search.bounds[1]
    assert normal(upper + 0.1)[0] == -np.inf
    assert normal.log_prior(upper + 0.1) == -np.inf


def test_own_priors_take_the_place_of_expectations():
    prior = LogNormal(0.3, 0.5)
    density = made(kernel=RBF(Parameter(1.0, prior=prior)))
    at = np.array([[0.1, -2.0], [0.7, -2.0]])
    expected = stats.norm(0.3, 0.5).logpdf(at[:, 0])
    assert density.log_prior(at[1]) - density.log_prior(at[0]) == pytest.approx(expected[1] - expected[0])
    criteria = [density.search.evaluate(x.tolist(), 0)["criterion"] for x in at]  # of which an own prior is a part
    assert density(at[1])[0] - density(at[0])[0] == pytest.approx(criteria[1] - criteria[0])

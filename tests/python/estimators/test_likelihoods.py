"""Gaussian processes whose observations have a likelihood of their own."""

import pickle

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.base import clone

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel
from kernsel.likelihoods import Bernoulli, Gamma, Gaussian, NegativeBinomial, Poisson, StudentT


def made(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 5, (n, 1))
    return rng, X, 1 + np.sin(2 * X[:, 0])


@pytest.fixture(scope="module")
def counts():
    rng, X, f = made()
    exposure = rng.uniform(0.5, 3.0, len(X))
    y = rng.poisson(exposure * np.exp(f))
    return ks.GaussianProcessRegressor(likelihood="poisson").fit(X, y, exposure=exposure), X, y, exposure


def test_a_normal_likelihood_is_normal_noise():
    rng, X, f = made()
    y = f + 0.2 * rng.standard_normal(len(X))
    kernel, Z = ConstantKernel(1.1) * RBF(0.7), np.linspace(0, 5, 7)[:, None]
    usual = ks.GaussianProcessRegressor(kernel, noise=0.04, optimizer=None, alpha=1e-8, trend="constant", criterion="reml")
    usual.fit(X, y)
    found = ks.GaussianProcessRegressor(
        kernel, likelihood=Gaussian(0.04, "fixed"), optimizer=None, alpha=1e-8, trend="constant"
    ).fit(X, y)
    tolerance = {"rtol": 1e-8, "atol": 1e-8}  # of Newton's last step
    np.testing.assert_allclose(found.log_marginal_likelihood_value_, usual.criterion_value_, **tolerance)
    mean, std = found.predict(Z, return_std=True)
    expected, spread = usual.predict(Z, return_std=True, noisy=True)
    np.testing.assert_allclose(mean, expected, **tolerance)
    np.testing.assert_allclose(std, np.sqrt(spread**2 - 1e-8), **tolerance)
    np.testing.assert_allclose(
        found.predict_latent(Z, return_std=True)[1], usual.predict(Z, return_std=True, noisy=False)[1], **tolerance
    )
    np.testing.assert_allclose(found.loo_log_density_, usual.loo_log_density_, rtol=1e-6)
    np.testing.assert_allclose(
        found.predict_quantiles(Z, [0.1, 0.5]), usual.predict_quantiles(Z, [0.1, 0.5]), rtol=1e-5, atol=1e-6
    )


def test_the_choice_is_the_best_one(counts):
    gp, X, y, exposure = counts
    best = gp.criterion_value_
    for step in np.vstack([np.eye(len(gp.kernel_.theta)), -np.eye(len(gp.kernel_.theta))]) * 0.05:
        kernel = gp.kernel_.clone_with_theta(gp.kernel_.theta + step)
        other = ks.GaussianProcessRegressor(kernel, likelihood=Poisson(), optimizer=None, trend="constant")
        assert other.fit(X, y, exposure=exposure).log_marginal_likelihood_value_ < best + 1e-6
    assert gp.log_marginal_likelihood_value_ == pytest.approx(best, abs=1e-6)  # ends of searches for the mode


def test_predictions_are_integrals_over_the_latent_function(counts):
    gp, *_ = counts
    mean, std = gp.predict_latent([[1.3]], return_std=True)
    weight = stats.norm(mean[0], std[0]).pdf
    span = mean[0] - 9 * std[0], mean[0] + 9 * std[0]
    rate = integrate.quad(lambda f: weight(f) * 2 * np.exp(f), *span)[0]
    square = integrate.quad(lambda f: weight(f) * (2 * np.exp(f) + 4 * np.exp(2 * f)), *span)[0]
    found, spread = gp.predict([[1.3]], return_std=True, exposure=2.0)
    assert found[0] == pytest.approx(rate, rel=1e-8)  # what quad promises
    assert spread[0] == pytest.approx(np.sqrt(square - rate**2), rel=1e-7)
    assert gp.predict([[1.3]], return_std=True, noisy=False)[1][0] < spread[0]
    density = np.log(integrate.quad(lambda f: weight(f) * stats.poisson(2 * np.exp(f)).pmf(5), *span)[0])
    assert gp.log_density([[1.3]], [5], exposure=2.0)[0] == pytest.approx(density, rel=1e-8)


def test_quantiles_and_draws_agree(counts):
    gp, *_ = counts
    drawn = gp.sample_y([[1.3], [1.31]], 20000, random_state=1)
    assert drawn.shape == (2, 20000)
    low, high = gp.predict_quantiles([[1.3]], [0.1, 0.9])[0]
    # Of 20,000 draws the share differs by less than five of its standard deviations.
    slack = 5 * np.sqrt(0.09 / 20000)
    assert np.mean(drawn[0] <= low) >= 0.1 - slack > np.mean(drawn[0] <= low - 1) - 2 * slack
    assert np.mean(drawn[0] <= high) >= 0.9 - slack
    assert np.corrcoef(gp.sample_y([[1.3], [1.31]], 2000, noisy=False))[0, 1] > 0.9


def test_left_out_observations_are_predicted_like_new_ones(counts):
    """Leaving out by cavities is the same fit without the point but for the sites of others, which hardly change."""
    gp, X, y, exposure = counts
    keep = np.arange(len(X)) != 7
    other = ks.GaussianProcessRegressor(gp.kernel_, likelihood=Poisson(), optimizer=None, trend="constant")
    other.fit(X[keep], y[keep], exposure=exposure[keep])
    honest = other.log_density(X[7:8], y[7:8], exposure=exposure[7:8])[0]
    assert gp.loo_log_density_[7] == pytest.approx(honest, abs=0.02)
    mean, std = other.predict(X[7:8], return_std=True, exposure=exposure[7:8])
    assert y[7] - gp.loo_residuals_[7] == pytest.approx(mean[0], rel=0.03)
    assert gp.loo_std_[7] == pytest.approx(std[0], rel=0.03)


@pytest.mark.parametrize("approximation", [ks.Vecchia(10), ks.Nystrom(40)])
def test_approximations_come_near(counts, approximation):
    gp, X, y, exposure = counts
    near = ks.GaussianProcessRegressor(likelihood=Poisson(), approximation=approximation).fit(X, y, exposure=exposure)
    assert near.criterion_value_ == pytest.approx(gp.criterion_value_, abs=1.0)
    Z = np.linspace(0, 5, 20)[:, None]
    (mean, std), (other, _) = gp.predict_latent(Z, return_std=True), near.predict_latent(Z, return_std=True)
    assert np.max(np.abs(mean - other) / std) < 0.3


@pytest.mark.parametrize(
    ("likelihood", "draw"),
    [
        (Bernoulli(), lambda rng, f: (rng.uniform(size=len(f)) < 1 / (1 + np.exp(3 - 3 * f))).astype(float)),
        (NegativeBinomial(), lambda rng, f: rng.poisson(np.exp(f) * rng.gamma(2.0, 0.5, len(f)))),
        (Gamma(), lambda rng, f: np.exp(f) * rng.gamma(3.0, 1 / 3, len(f))),
        (StudentT(), lambda rng, f: f + 0.2 * rng.standard_t(2, len(f))),
    ],
)
@pytest.mark.parametrize("criterion", ["lml", "loo_log_density"])
def test_each_can_be_fitted(likelihood, draw, criterion):
    rng, X, f = made(50, 3)
    y = draw(rng, f)
    gp = ks.GaussianProcessRegressor(likelihood=likelihood, criterion=criterion).fit(X, y)
    assert gp.selection_.ended == "converged"
    assert np.corrcoef(gp.predict_latent(X), f)[0, 1] > 0.5
    assert [p.fixed for p in gp.likelihood_.parameters()] == [p.fixed for p in likelihood.parameters()]
    assert type(likelihood).__name__ in str(gp.selection_)


def test_it_is_an_estimator_like_any_other(counts):
    gp, X, _, _ = counts
    assert clone(gp).get_params()["likelihood"] == "poisson"
    again = pickle.loads(pickle.dumps(gp))
    np.testing.assert_array_equal(again.predict(X), gp.predict(X))
    restored = clone(gp)
    restored.feature_names_in_ = None
    del restored.feature_names_in_
    restored.n_features_in_ = 1
    restored.restore(gp.state())
    np.testing.assert_array_equal(restored.predict_quantiles(X, [0.3]), gp.predict_quantiles(X, [0.3]))


def test_what_does_not_go_together_is_said(counts):
    gp, X, y, exposure = counts
    with pytest.raises(ValueError, match="trials: Poisson observations have no trials; they have exposure"):
        gp.predict(X, trials=3)
    with pytest.raises(ValueError, match="exposure: normal noise has none"):
        ks.GaussianProcessRegressor().fit(X, y, exposure=exposure)
    with pytest.raises(ValueError, match="noise: Poisson observations have no noise"):
        ks.GaussianProcessRegressor(likelihood="poisson", noise="auto").fit(X, y)
    with pytest.raises(ValueError, match='criterion: with a likelihood, expected "lml"'):
        ks.GaussianProcessRegressor(likelihood="poisson", criterion="gcv").fit(X, y)
    with pytest.raises(ValueError, match="likelihood: expected one of gaussian"):
        ks.GaussianProcessRegressor(likelihood="poison").fit(X, y)
    with pytest.raises(ValueError, match=r"got -1\.0 in row 4"):
        ks.GaussianProcessRegressor(likelihood="poisson").fit(X, np.where(np.arange(len(y)) == 4, -1, y))
    with pytest.raises(ValueError, match="return_cov: predict_latent"):
        gp.predict(X, return_cov=True)
    with pytest.raises(ValueError, match="update"):
        gp.update(X[:1], y[:1])

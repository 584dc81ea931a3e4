"""Predictions from the nearest points: exact if all are neighbours, the slow twin's if they are few, and kept on disk."""

import pickle

import numpy as np
import pytest

import kernsel as ks
from kernsel._solve.near import NearPosterior
from kernsel._solve.posterior import Posterior
from kernsel.approximations import Vecchia
from kernsel.criteria import Workspace
from kernsel.kernels import RBF, ExpSineSquared, Matern, WhiteKernel

import reference_vecchia as twin
from accuracy import eps

KERNEL = 1.3 * RBF([0.7, 1.1]) + WhiteKernel(0.05)
N = 25
CONDITION = 1e3  # of the kernel matrices, at most
TIGHT = 100 * N * eps(float) * CONDITION


def data(outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (N, 2))
    y = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2])[:, :outputs] + 0.1 * rng.standard_normal((N, outputs))
    return X, y, rng.uniform(0.05, 0.2, N), rng.uniform(-1, 1, (6, 2))


def near(few=5, trend="linear"):
    X, y, noise, _ = data()
    return NearPosterior(KERNEL, X, y, noise, trend, Vecchia(few, few))


@pytest.mark.parametrize("trend", [None, "constant", "quadratic"])
def test_everything_is_exact_if_all_points_are_neighbours(trend):
    X, y, noise, Z = data()
    exact, other = Posterior(KERNEL, X, y, noise, trend), near(2 * N, trend)
    for name in ("mean", "variance", "covariance", "mean_gradient", "variance_gradient"):
        np.testing.assert_allclose(getattr(other, name)(Z), getattr(exact, name)(Z), rtol=TIGHT, atol=TIGHT)
    for ours, theirs in zip(other.leave_one_out(), exact.leave_one_out(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=TIGHT, atol=TIGHT)
    np.testing.assert_allclose(other.weights, exact.weights, rtol=TIGHT, atol=TIGHT)
    for restricted in (False, True):
        likelihoods = [p.log_likelihood(np.ones(2), restricted=restricted) for p in (other, exact)]
        assert likelihoods[0] == pytest.approx(likelihoods[1], rel=TIGHT)


def test_few_neighbours_are_those_of_the_slow_twin():
    X, y, noise, Z = data()
    posterior = near(5, None)
    scale = np.array([1 / 0.7, 1 / 1.1])
    lists = twin.nearest_rows(Z * scale, X * scale, 5)
    K, cross = KERNEL(X, X), KERNEL(Z, X)
    found = twin.fit(K, noise + 0.05, np.zeros((N, 0)), y, np.full((N, 1), -1))
    mean, variance = twin.predict(found, cross, KERNEL.diag(Z), np.zeros((6, 0)), lists)
    np.testing.assert_allclose(posterior.mean(Z), mean, rtol=TIGHT, atol=TIGHT)
    np.testing.assert_allclose(posterior.variance(Z), variance, rtol=TIGHT)
    both = posterior.mean_and_variance(Z)
    np.testing.assert_array_equal(both[0], posterior.mean(Z))
    np.testing.assert_array_equal(both[1], posterior.variance(Z))


def test_points_left_out_are_predicted_as_new_points_are():
    X, y, noise, _ = data()
    posterior = NearPosterior(KERNEL, X, y, noise, None, Vecchia(3, 8))  # not from the 3 neighbours of the search
    residuals, variances, leverages = posterior.leave_one_out()
    for i in (0, 11):
        kept = np.delete(np.arange(N), i)
        without = NearPosterior(KERNEL, X[kept], y[kept], noise[kept], None, Vecchia(3, 8))
        mean, variance = without.mean_and_variance(X[i : i + 1])
        np.testing.assert_allclose(residuals[i], y[i] - mean[0], rtol=TIGHT, atol=TIGHT)
        assert variances[i] == pytest.approx(variance[0] + noise[i], rel=TIGHT)
    assert ((leverages >= 0) & (leverages < 1)).all()


def test_a_process_of_some_points_is_exact():
    X, y, noise, Z = data()
    rows = np.arange(0, N, 2)
    sample, exact = near(3).exact_of_some(rows), Posterior(KERNEL, X[rows], y[rows], noise[rows], "linear")
    np.testing.assert_array_equal(sample.mean(Z), exact.mean(Z))


def test_points_are_added_and_removed():
    X, y, noise, Z = data()
    whole, grown = near(2 * N), NearPosterior(KERNEL, X[:20], y[:20], noise[:20], "linear", Vecchia(2 * N, 2 * N))
    grown.append(X[20:], y[20:], noise[20:])
    np.testing.assert_allclose(grown.mean(Z), whole.mean(Z), rtol=100 * TIGHT)  # the trend is updated point by point
    np.testing.assert_allclose(grown.beta, whole.beta, rtol=100 * TIGHT)  # the trend is updated point by point
    grown.remove(3)
    kept = np.delete(np.arange(N), 3)
    without = Posterior(KERNEL, X[kept], y[kept], noise[kept], "linear")
    np.testing.assert_allclose(grown.variance(Z), without.variance(Z), rtol=100 * TIGHT)  # the trend is updated point by point
    assert len(grown.X) == N - 1


def test_pickles_predict_the_same():
    posterior, Z = near(), data()[3]
    copy = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(copy.mean(Z), posterior.mean(Z))
    np.testing.assert_array_equal(copy.variance(Z), posterior.variance(Z))


def test_no_factor_of_the_whole_matrix():
    with pytest.raises(AttributeError, match="no Cholesky factor"):
        near().lower()


@pytest.fixture(scope="module")
def fitted():
    X, y, _, _ = data(1)
    return ks.GaussianProcessRegressor("Matern(nu=1.5)", approximation=ks.Vecchia(6, 12)).fit(X, y[:, 0])


def test_a_process_says_what_it_approximates(fitted):
    assert "6 nearest neighbours" in fitted.selection_.approximation
    assert "12 nearest points" in str(fitted.selection_)
    assert isinstance(fitted.posterior_, NearPosterior)
    assert ks.GaussianProcessRegressor(RBF(1.0), optimizer=None).fit(*data(1)[:2]).selection_.approximation == ""


def test_a_process_predicts_updates_and_is_saved(fitted, tmp_path):
    Z = data()[3]
    mean, std = fitted.predict(Z, return_std=True)
    assert std.shape == mean.shape == (6,)
    _, cov = fitted.predict(Z, return_cov=True)
    np.testing.assert_allclose(np.sqrt(np.diag(cov)), std, rtol=0.1)
    assert fitted.sample_y(Z, 3, random_state=0).shape == (6, 3)
    slopes = fitted.predict_gradient(Z)
    assert np.shape(slopes) == (6, 2)
    assert fitted.alpha_.shape == fitted.loo_residuals_.shape == (N,)
    ks.save(fitted, tmp_path / "near.ksl")
    loaded = ks.load(tmp_path / "near.ksl")
    np.testing.assert_array_equal(loaded.predict(Z, return_std=True), (mean, std))
    assert loaded.posterior_.approximation == fitted.posterior_.approximation
    before = loaded.log_marginal_likelihood_value_
    loaded.update(Z, mean)
    assert len(loaded.X_train_) == N + 6
    assert loaded.log_marginal_likelihood_value_ != before
    loaded.downdate(0)
    assert np.isfinite(loaded.predict(Z)).all()


@pytest.mark.slow
def test_a_search_by_neighbours_finds_what_the_exact_search_finds():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(700, 2))
    y = np.sin(8 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(700)
    for criterion in ("reml", "loo_log_density"):
        exact, other = (
            ks.GaussianProcessRegressor(Matern([1.0, 1.0], nu=1.5), noise="auto", trend="constant", criterion=criterion,
                                        approximation=a).fit(X, y) for a in (None, ks.Vecchia(30, 100))
        )  # fmt: skip
        assert other.noise_ == pytest.approx(exact.noise_, rel=0.05)
        mean, std = exact.predict(X[:100] + 0.01, return_std=True)
        assert np.sqrt(np.mean(((other.predict(X[:100] + 0.01) - mean) / std) ** 2)) < 0.15


def test_neighbours_of_periodic_kernels_are_periods_away(rng):
    """The most correlated points of a slowly changing wave; of those that are near in time too few are of the same phase."""
    n, noise = 800, 0.01
    X = np.column_stack([rng.uniform(0, 30, n), rng.uniform(-1, 1, n)])
    kernel = ExpSineSquared(0.3, 1.5).on([0]) * RBF([40.0, 2.0])
    y = np.linalg.cholesky(kernel(X) + noise * np.eye(n)) @ rng.standard_normal(n)
    workspace = Workspace()
    exact, near = (
        ks.evaluate("loo_log_density", kernel, X, y, noise=noise, approximation=a, workspace=workspace).value
        for a in (None, ks.Vecchia(20))
    )
    K, found = kernel(X), workspace.neighbors(left_out=True)
    best = np.sort(K - 2 * np.eye(n))[:, -20:].sum(axis=1)
    share = np.take_along_axis(K, found, axis=1).sum(axis=1) / best
    assert np.median(share) > 0.95
    assert exact - near < 0.1 * n  # a nat for each point is lost with neighbours in time
    assert np.median(np.abs(X[found[:, 0], 0] - X[:, 0])) > 1.5

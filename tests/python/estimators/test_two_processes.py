"""A Gaussian process together with the log variance of its noise."""

import pickle

import numpy as np
import pytest
from scipy import stats

import kernsel as ks
from kernsel import _core
from kernsel.criteria import Workspace
from kernsel.estimators.two_processes import StackedTrend, stacked
from kernsel.kernels import RBF, Columns, ConstantKernel, Linear
from kernsel.likelihoods import HeteroscedasticGaussian


def made(n, seed=0):
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 4, n))[:, None]
    return X, np.sin(2 * X[:, 0]) + np.where(X[:, 0] < 2, 0.05, 0.5) * rng.standard_normal(n)


@pytest.fixture(scope="module")
def fitted():
    X, y = made(120)
    return ks.GaussianProcessRegressor(likelihood=HeteroscedasticGaussian()).fit(X, 5000 + 1000 * y), X, 5000 + 1000 * y


def test_gradients():
    X, y = made(25)
    points, targets = stacked(X), np.concatenate([y, y])
    sides = [Columns(Linear(1.0, "fixed"), [column]) for column in (1, 2)]
    kernel = Columns(ConstantKernel(1.2) * RBF(0.7), [0]) * sides[0] + Columns(ConstantKernel(0.8) * RBF(1.1), [0]) * sides[1]
    H = StackedTrend("constant")(points)

    def evaluated(theta, gradient=False):
        observed = _core.Observed(_core.heteroscedastic(), "laplace", [])
        found = _core.evaluate(
            _core.likelihood(True, "known"), kernel.clone_with_theta(theta).build(), points, targets, np.full(50, 1e-6), H,
            None, gradient, Workspace(), None, False, observed,
        )  # fmt: skip
        assert observed.converged
        return found if gradient else found["value"]

    slopes, h = kernel.in_theta(evaluated(kernel.theta, True)["gradient"]), 1e-4
    for slope, step in zip(slopes, h * np.eye(4), strict=True):
        at = [evaluated(kernel.theta + k * step) for k in (-2, -1, 1, 2)]
        # Of the fourth order in h; the mode ends at a squared decrement of 1e-20.
        assert slope == pytest.approx((at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h), rel=1e-6)


def test_the_noise_is_found_where_it_is(fitted):
    gp, X, y = fitted
    low, high = gp.predict([[1.0], [3.0]], return_std=True)[1]
    assert low < 120 < 350 < high < 700
    even = ks.GaussianProcessRegressor().fit(X, y)
    assert gp.loo_log_density_.sum() > even.loo_log_density_.sum() + 20
    assert gp.criterion_value_ > even.criterion_value_ + 20
    assert gp.X_train_.shape == X.shape
    np.testing.assert_array_equal(gp.y_train_, y)


def test_predictions_agree_with_each_other(fitted):
    gp, *_ = fitted
    Z = np.array([[1.0], [3.0]])
    drawn = gp.sample_y(Z, 20000, random_state=0)
    mean, std = gp.predict(Z, return_std=True)
    # Five standard deviations of means, and of deviations of a mixture with tails, of 20,000 draws.
    np.testing.assert_allclose(drawn.mean(axis=1), mean, atol=5 * std.max() / np.sqrt(20000))
    np.testing.assert_allclose(drawn.std(axis=1), std, rtol=0.05)
    quantiles = gp.predict_quantiles(Z, [0.05, 0.95])
    np.testing.assert_allclose(np.mean(drawn <= quantiles[:, 1:], axis=1), 0.95, atol=5 * np.sqrt(0.0475 / 20000))
    grid = np.linspace(mean[1] - 12 * std[1], mean[1] + 12 * std[1], 4001)
    density = np.exp(gp.log_density(np.repeat(Z[1:], len(grid), axis=0), grid))
    assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=1e-4)  # of tails beyond
    mean, cov = gp.predict_latent(Z, return_cov=True)
    np.testing.assert_allclose(np.sqrt(np.diag(cov)), gp.predict_latent(Z, return_std=True)[1], rtol=1e-6)
    step = 1e-4
    up, down = (gp.predict_latent(Z + side * step, return_std=True) for side in (1, -1))
    for slopes, above, below in zip(gp.predict_gradient(Z, return_std=True), up, down, strict=True):
        # Central differences: of the second order in the step.
        np.testing.assert_allclose(slopes[:, 0], (above - below) / (2 * step), rtol=1e-5, atol=1e-5 * mean.max())
    again = pickle.loads(pickle.dumps(gp))
    np.testing.assert_array_equal(again.predict_quantiles(Z, [0.3]), gp.predict_quantiles(Z, [0.3]))


def test_without_much_data_it_is_nearly_normal():
    """For a log variance that hardly varies, densities are those of normal noise."""
    X, y = made(40)
    flat = HeteroscedasticGaussian(ConstantKernel(1e-6, "fixed") * RBF(1.0, "fixed"))
    gp = ks.GaussianProcessRegressor(ConstantKernel(1.0, "fixed") * RBF(0.7, "fixed"), likelihood=flat, trend="constant")
    gp.fit(X, y)
    mean, std = gp.predict_latent([[1.3]], return_std=True)
    noise = gp.predict([[1.3]], return_std=True)[1] ** 2 - std**2
    # The constant mean of the log variance is known up to 2 / n.
    expected = stats.norm(mean[0], np.sqrt(std[0] ** 2 + noise[0])).logpdf(0.5)
    assert gp.log_density([[1.3]], [0.5])[0] == pytest.approx(expected, abs=0.05)


def test_what_it_is_not_for():
    X, y = made(20)
    for parameters, said in [
        ({"approximation": ks.Vecchia(5)}, "approximation: expected None"),
        ({"inference": "ep"}, "inference: expected"),
        ({"criterion": "loo_log_density"}, "not left out"),
    ]:
        with pytest.raises(ValueError, match=said):
            ks.GaussianProcessRegressor(likelihood=HeteroscedasticGaussian(), **parameters).fit(X, y)


def test_predictive_distributions_are_mixtures_over_the_log_variance(fitted):
    gp, X, y = fitted
    left_out = gp.left_out_predictive()
    np.testing.assert_allclose(left_out.log_density(y[:, None]), gp.loo_log_density_, rtol=1e-10)
    np.testing.assert_allclose(left_out.mean[:, 0], y - gp.loo_residuals_, rtol=1e-10)
    np.testing.assert_allclose(left_out.std[:, 0], gp.loo_std_, rtol=1e-8)
    new = gp.predictive(X[:5])
    np.testing.assert_allclose(new.quantiles([0.1, 0.9])[:, 0], gp.predict_quantiles(X[:5], [0.1, 0.9]), rtol=1e-8)
    assert len(gp.left_out().leverage) == len(X)


def test_the_function_is_described_in_the_unit_of_y(fitted):
    gp, X, _ = fitted
    whole = gp.mean_of_term(gp.kernel_) + gp.mean_of_trend() + gp._observed.offset
    np.testing.assert_allclose(whole, gp.predict(X), rtol=1e-8)

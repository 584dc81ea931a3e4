"""Gaussian processes that are fitted to slopes and averages."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel, Functionals, Linear, WhiteKernel
from kernsel.kernels.functionals import centres

rng = np.random.default_rng(0)
gp = ks.GaussianProcessRegressor
X, Z = rng.uniform([0, 0], [3, 60], (20, 2)), rng.uniform([0, 0], [3, 60], (200, 2))


def f(X):
    return np.sin(2 * X[:, 0]) * np.cos(X[:, 1] / 20)


def slopes(X):
    of_first = 2 * np.cos(2 * X[:, 0]) * np.cos(X[:, 1] / 20)
    return np.column_stack([of_first, -np.sin(2 * X[:, 0]) * np.sin(X[:, 1] / 20) / 20])


def mean_over(lower, upper):
    a, b = lower.T, upper.T
    of_first = (np.cos(2 * a[0]) - np.cos(2 * b[0])) / (2 * (b[0] - a[0]))
    return of_first * 20 * (np.sin(b[1] / 20) - np.sin(a[1] / 20)) / (b[1] - a[1])


BOXES = np.column_stack([np.repeat(np.arange(0.0, 3.0, 0.3), 3), np.tile([0.0, 20.0, 40.0], 10)])
ENDS = BOXES + np.array([0.3, 20.0])


@pytest.fixture(scope="module")
def noisy():
    dy = slopes(X) + [0.3, 0.01] * rng.standard_normal((20, 2))
    dy[:4, 0] = np.nan
    return gp("RBF").fit(X, f(X) + 0.05 * rng.standard_normal(20), slopes=(X, dy))


def test_slopes_add_what_values_do_not_tell():
    alone = gp("RBF", noise=0.0).fit(X, f(X))
    both = gp("RBF", noise=0.0).fit(X, f(X), slopes=(X, slopes(X)))
    errors = [np.std(model.predict(Z) - f(Z)) for model in (alone, both)]
    assert errors[1] < 0.05 * errors[0]
    at, std = both.predict(Z, return_std=True)
    assert 0.3 < np.std((at - f(Z)) / std) < 1.5
    np.testing.assert_allclose(both.predict_slopes(X), slopes(X), atol=1e-4 * np.abs(slopes(X)).max())
    assert np.isnan(both.slope_noise_).all()
    assert both.noise_ == 0.0


def test_each_kind_has_a_noise_in_its_unit(noisy):
    assert 0.02 < noisy.noise_**0.5 < 0.1
    assert 0.15 < noisy.slope_noise_[0] ** 0.5 < 0.5
    assert 0.005 < noisy.slope_noise_[1] ** 0.5 < 0.02
    assert np.isnan(noisy.average_noise_)
    std, of_observation = (noisy.predict(Z[:1], return_std=True, noisy=noise)[1] for noise in (False, True))
    np.testing.assert_allclose(of_observation**2, std**2 + noisy.noise_)
    assert noisy.X_train_.shape == X.shape
    assert noisy.loo_residuals_.shape == noisy.y_train_.shape == noisy.left_out_together_.shape == (20,)


def test_the_report_names_noises():
    table = pd.DataFrame(X, columns=["t", "x"])
    model = gp(ConstantKernel(3.0, "fixed") * RBF([2.7, 3e4], "fixed"), noise="auto")
    model.fit(table, np.sin(X[:, 0]), slopes=(table, np.column_stack([np.cos(X[:, 0]), np.zeros(20)])))
    ends = {"noise of values", "noise of slopes along t", "noise of slopes along x"}
    assert ends == {*model.selection_.at_bounds, *model.selection_.flat}


def test_the_search_ends_at_a_maximum(noisy):
    theta = noisy.kernel_.theta
    value, gradient = noisy.log_marginal_likelihood(theta, eval_gradient=True)
    assert value == pytest.approx(noisy.criterion_value_)
    step = 2.0**-10
    for p, e in enumerate(step * np.eye(len(theta))):
        difference = (noisy.log_marginal_likelihood(theta + e) - noisy.log_marginal_likelihood(theta - e)) / (2 * step)
        assert gradient[p] == pytest.approx(difference, abs=1e-4)  # the square of the step, times third derivatives
    assert np.abs(gradient).max() < 0.01


def test_averages_alone():
    model = gp("RBF", noise=0.0).fit(None, None, averages=(BOXES, ENDS, mean_over(BOXES, ENDS)))
    mean, std = model.predict(Z, return_std=True)
    assert np.std(mean - f(Z)) < 0.05
    assert 0.2 < np.std((mean - f(Z)) / std) < 2
    low, high = np.array([[0.5, 10.0]]), np.array([[2.5, 50.0]])
    mean, std = model.predict_averages(low, high, return_std=True)
    assert abs(mean - mean_over(low, high)) < 4 * std < 0.04
    assert model.X_train_.shape == (0, 2)
    assert np.isnan(model.noise_)


def test_slopes_alone_tell_differences():
    model = gp("RBF", noise=0.0).fit(None, None, slopes=(X, slopes(X)))
    mean, covariance = model.predict(Z[:2], return_cov=True)
    difference = covariance[0, 0] - 2 * covariance[0, 1] + covariance[1, 1]
    assert abs(np.diff(mean)[0] - np.diff(f(Z[:2]))[0]) < 4 * difference**0.5 < 0.1
    with pytest.raises(ValueError, match="trend: expected None, got 'constant': slopes alone"):
        gp("RBF", trend="constant").fit(None, None, slopes=(X, slopes(X)))


def test_known_noise_is_on_the_diagonal():
    kernel, own = 1.3 * RBF([0.8, 30.0]), np.linspace(0.01, 0.2, 20)
    values = mean_over(BOXES, ENDS)
    model = gp(kernel, optimizer=None).fit(
        X, f(X), noise=own, slopes=(X, slopes(X)), slope_noise=[0.1, 0.2], averages=(BOXES, ENDS, values), average_noise=0.3
    )
    rows = np.vstack([Functionals.values(X), Functionals.slopes(X), Functionals.averages(BOXES, ENDS)])
    noise = np.concatenate([own, np.tile([0.1, 0.2], 20), np.full(30, 0.3)])
    y = np.concatenate([f(X), slopes(X).ravel(), values])
    K = Functionals(kernel)(rows) + np.diag(noise)
    at = Functionals.values(Z)
    np.testing.assert_allclose(model.predict(Z), Functionals(kernel)(at, rows) @ np.linalg.solve(K, y), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.noise_, own)
    np.testing.assert_array_equal(model.kernel_.theta, kernel.theta)


def test_alpha_is_added_to_noise_that_is_found(noisy):
    dy = slopes(X)
    model = gp("RBF", alpha=0.02, max_evaluations=3).fit(X, noisy.y_train_, slopes=(X, dy), slope_noise=0.0)
    assert model.noise_ > 0
    expected = np.r_[np.full(20, model.noise_ + 0.02), np.full(40, 0.02)]
    np.testing.assert_allclose(model.posterior_.noise, expected + model.jitter_)
    exact = gp("RBF", alpha=np.full(20, 0.02), noise=0.0, max_evaluations=3).fit(X, noisy.y_train_, slopes=(X, dy))
    assert exact.noise_ == 0.0
    assert np.all(exact.posterior_.noise[:20] == 0.02)
    assert np.all(exact.posterior_.noise[20:] < 1e-12)


def test_a_table_a_trend_and_normalized_targets():
    table = pd.DataFrame(X, columns=["t", "x"])
    y = 100 + 7 * f(X) + 2 * X[:, 0]
    dy = 7 * slopes(X) + [2.0, 0.0]
    named = ConstantKernel("auto") * RBF("auto").on(["t", "x"])
    model = gp(named, trend="linear", normalize_y=True, noise=0.0).fit(table, y, slopes=(table, dy))
    new = pd.DataFrame(Z, columns=["t", "x"])
    assert np.std(model.predict(new) - (100 + 7 * f(Z) + 2 * Z[:, 0])) < 0.05
    assert np.abs(model.predict_slopes(new, columns=[1])[:, 0] - 7 * slopes(Z)[:, 1]).max() < 0.05
    mean = model.predict_averages(
        pd.DataFrame([[0.5, 10.0]], columns=["t", "x"]), pd.DataFrame([[2.5, 50.0]], columns=["t", "x"])
    )
    expected = 100 + 7 * mean_over(np.array([[0.5, 10.0]]), np.array([[2.5, 50.0]])) + 3.0
    np.testing.assert_allclose(mean, expected, atol=0.05)


def test_copies_are_equal(noisy):
    other = pickle.loads(pickle.dumps(noisy))
    np.testing.assert_array_equal(other.predict(Z), noisy.predict(Z))
    assert clone(noisy).get_params() == noisy.get_params()
    again = noisy.state()
    fresh = gp("RBF")
    fresh.n_features_in_ = 2
    fresh.restore(again)
    np.testing.assert_array_equal(fresh.predict_slopes(Z), noisy.predict_slopes(Z))


def test_parts_of_the_mean(noisy):
    whole = noisy.mean_of_term(noisy.kernel_) + noisy.mean_of_trend()
    np.testing.assert_allclose(whole, noisy.predict(X), rtol=1e-9, atol=1e-9)


def test_a_fit_without_slopes_forgets_them(noisy):
    model = pickle.loads(pickle.dumps(noisy)).fit(X, f(X))
    assert not hasattr(model, "slope_noise_")
    assert model.posterior_.X.shape == X.shape


DY = slopes(X)


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        (gp(), {"slopes": (X[:, :1], DY[:, :1])}, "X has 1 features, but GaussianProcessRegressor is expecting 2"),
        (gp(RBF() + WhiteKernel()), {"slopes": (X, DY)}, "kernel: a WhiteKernel would be noise of slopes"),
        (gp(RBF(), trend=np.ones_like), {"slopes": (X, DY)}, 'trend: expected "constant"'),
        (gp(likelihood="poisson"), {"slopes": (X, DY)}, "likelihood: expected None with slopes or averages, got 'poisson'"),
        (gp(hyperparameters="sample"), {"slopes": (X, DY)}, 'hyperparameters: expected "optimize"'),
        (gp(approximation=ks.Vecchia()), {"slopes": (X, DY)}, "approximation: expected None"),
        (gp(outliers=[1]), {"slopes": (X, DY)}, "outliers: expected None"),
        (gp(scale="each"), {"slopes": (X, DY)}, 'scale: expected "auto" or "shared"'),
        (gp(), {"slopes": (X, DY), "groups": np.arange(20)}, "groups: expected None with slopes or averages"),
        (gp(), {"slopes": (X, DY), "average_noise": 0.1}, "average_noise: expected None without averages, got 0.1"),
        (gp(), {"slope_noise": 0.1}, "slope_noise: expected None without slopes"),
        (gp("Exponential"), {"slopes": (X, DY)}, "smoothness 1/2 have no derivatives"),
        (gp("Wendland"), {"slopes": (X, DY)}, "one of its kernels has no derivatives"),
        (gp("RBF * RBF"), {"averages": (BOXES, ENDS, ENDS[:, 0])}, "see the same column"),
    ],
)
def test_what_does_not_go_together_is_refused(model, arguments, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, f(X), **arguments)


def test_bad_values_are_named():
    with pytest.raises(ValueError, match="y: expected one output with slopes or averages, got 2"):
        gp().fit(X, np.column_stack([f(X), f(X)]), slopes=(X, DY))
    with pytest.raises(ValueError, match="points 0 and 20 are equal, but their values differ"):
        gp("RBF", noise=0.0).fit(X[[*range(20), 0]], [*f(X), 7.0], slopes=(X, DY))
    with pytest.raises(ValueError, match="X: expected the points of y, got None"):
        gp().fit(None, f(X), slopes=(X, DY))
    with pytest.raises(ValueError, match="X: expected points, got None; only with slopes"):
        gp().fit(None, f(X))
    with pytest.raises(np.linalg.LinAlgError, match="matrix of values, slopes and averages"):
        gp(Linear(), optimizer=None).fit(X, f(X), noise=1e-300, slopes=(X, DY), slope_noise=1e-300)


def test_what_needs_values_only_says_so(noisy):
    for call in (
        lambda: noisy.update(X[:1], [0.0]),
        lambda: noisy.downdate(0),
        noisy.regularization_path,
        noisy.to_sklearn,
        lambda: ks.design.ExpectedImprovement(noisy),
    ):
        with pytest.raises(ValueError, match="fit to values"):
            call()
    assert centres(noisy.posterior_.X).shape == (56, 2)

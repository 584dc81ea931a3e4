"""Stacked processes: their predictions, their validation, and scikit-learn's conventions."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel import structured as st
from kernsel.estimators.stacking.weights import POINTS, probabilities_of, stacking_weights
from kernsel.kernels import RBF


def process(kernel, **options):
    return ks.GaussianProcessRegressor(kernel, **{"noise": "auto", "trend": "constant"} | options)


@parametrize_with_checks([ks.StackedRegressor([process("RBF", noise=0.1, optimizer=None), process("Matern(nu=0.5)")])])
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def data(rng):
    X = rng.uniform(0, 6, (60, 2))
    step = np.where(X[:, 0] > 3, 1.0, np.sin(4 * X[:, 0]))  # smooth on one side only
    return X, step + 0.1 * rng.normal(size=60)


ESTIMATORS = [process("RBF"), process("Matern(nu=0.5)"), process("Linear"), process("RBF.on([1])")]


@pytest.fixture
def model(data):
    fitted = ks.StackedRegressor(ESTIMATORS).fit(*data)
    assert len(fitted.weights_) > 1  # or these tests are of one process
    return fitted


def test_each_prediction_is_that_of_the_mixture(model, data):
    X = data[0][:5] + 0.05
    for noisy in (True, False):
        parts = [one.predict(X, return_std=True, noisy=noisy) for one in model.estimators_]
        mean = sum(w * m for w, (m, _) in zip(model.weights_, parts, strict=True))
        square = sum(w * (s**2 + m**2) for w, (m, s) in zip(model.weights_, parts, strict=True))
        found, std = model.predict(X, return_std=True, noisy=noisy)
        np.testing.assert_allclose(found, mean, rtol=1e-12)
        np.testing.assert_allclose(std, np.sqrt(square - mean**2), rtol=1e-8)
        np.testing.assert_allclose(model.predict(X), mean, rtol=1e-12)
        quantiles = model.predict_quantiles(X, [0.05, 0.5, 0.95], noisy=noisy)
        for k, p in enumerate([0.05, 0.5, 0.95]):
            below = sum(w * stats.norm.cdf(quantiles[:, k], m, s) for w, (m, s) in zip(model.weights_, parts, strict=True))
            np.testing.assert_allclose(below, p, rtol=1e-9)
        y = mean + 0.1
        density = sum(w * stats.norm.pdf(y, m, s) for w, (m, s) in zip(model.weights_, parts, strict=True))
        np.testing.assert_allclose(model.log_density(X, y, noisy=noisy), np.log(density), rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X, return_std=True)[1], model.predict(X, return_std=True, noisy=True)[1])


def test_the_weights_are_the_best_for_points_left_out(model, data):
    X, y = data
    logs, likelihoods = [], []
    for one in ESTIMATORS:
        fitted = clone(one).fit(X, y)
        likelihoods.append(fitted.criterion_value_)
        left_out = []
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            again = ks.GaussianProcessRegressor(
                fitted.kernel_, noise=fitted.noise_, alpha=fitted.jitter_, optimizer=None, trend="constant"
            ).fit(X[rest], y[rest])
            mean, std = again.predict(X[[i]], return_std=True, noisy=True)
            left_out.append(stats.norm.logpdf(y[i], mean[0], std[0]))
        logs.append(left_out)
    logs = np.array(logs).T
    weights = np.zeros(4)
    weights[model.kept_] = model.weights_
    expected = stacking_weights(logs, points=POINTS * probabilities_of(likelihoods, logs))
    np.testing.assert_allclose(weights, expected, atol=1e-5)
    np.testing.assert_allclose(model.loo_log_density_, np.log(np.exp(logs) @ weights), atol=1e-5)
    assert model.loo_log_density_.mean() > logs.mean(axis=0).max() - 0.02
    values = [one.criterion_value_ for _, one in model.processes]
    assert values == sorted(values, reverse=True)
    assert model.noise_ == pytest.approx(sum(w * one.noise_ for w, one in model.processes))
    np.testing.assert_allclose(model.loo_residuals_, sum(w * one.loo_residuals_ for w, one in model.processes))
    left_out = model.left_out()
    np.testing.assert_allclose(left_out.y - left_out.predictions, model.loo_residuals_)
    np.testing.assert_array_equal(left_out.std, model.loo_std_)
    below = sum(w * stats.norm.cdf(y, y - one.loo_residuals_, one.loo_std_) for w, one in model.processes)
    np.testing.assert_allclose(stats.norm.cdf(left_out.standardized), below, rtol=1e-9)


def test_noise_is_the_mean_of_those_that_are_numbers(data):
    X, y = data
    processes = [ks.GaussianProcessRegressor(RBF(0.7), noise=s, optimizer=None) for s in (0.05, np.linspace(0.1, 0.2, len(y)))]
    model = ks.StackedRegressor(processes).fit(X, y)
    one, other = model.weights_
    np.testing.assert_allclose(model.noise_, one * 0.05 + other * np.linspace(0.1, 0.2, len(y)))
    model.estimators_[1].noise_ = np.nan
    assert model.noise_ == pytest.approx(0.05)
    model.estimators_[0].noise_ = np.nan
    assert np.isnan(model.noise_)


def test_likelihoods_of_unlike_kinds_are_not_compared(data):
    """A likelihood and a leave-one-out error are no measures of the same; the densities of points left out are."""
    X, y = data
    processes = [process("RBF", criterion="loo"), process("Matern(nu=1.5)", criterion="reml")]
    mixed = ks.StackedRegressor(processes).fit(X, y)
    logs = np.column_stack([one.left_out_predictive().log_density(y[:, None]) for one in mixed.estimators_])
    expected = stacking_weights(logs, points=POINTS * probabilities_of(logs.sum(axis=0), logs))
    np.testing.assert_allclose(mixed.weights_, expected, rtol=1e-6)


def test_leverage_is_the_derivative_of_fitted_values(model, data):
    X, y = data
    moved = [clone(one).set_params(kernel=one.kernel_, noise=one.noise_, optimizer=None) for one in model.estimators_]

    def fitted(i, step):
        new = y.copy()
        new[i] += step
        return sum(w * one.fit(X, new).predict(X[[i]])[0] for w, one in zip(model.weights_, moved, strict=True))

    for i in (0, 17):
        assert model.leverage_[i] == pytest.approx((fitted(i, 0.5) - fitted(i, -0.5)), rel=1e-6)


@pytest.mark.parametrize("noisy", [False, True])
def test_samples_are_of_the_processes_by_their_weights(model, data, noisy):
    Z = data[0][:3] + 0.1
    samples = model.sample_y(Z, 4000, random_state=3, noisy=noisy)
    assert samples.shape == (3, 4000)
    mean, std = model.predict(Z, return_std=True, noisy=noisy)
    assert (np.abs(samples.mean(axis=1) - mean) < 5 * std / np.sqrt(4000)).all()
    np.testing.assert_allclose(samples.std(axis=1), std, rtol=0.1)
    np.testing.assert_array_equal(samples, model.sample_y(Z, 4000, random_state=3, noisy=noisy))
    assert model.sample_y(Z, 0).shape == (3, 0)
    two = model.sample_y(np.repeat(Z[:1], 2, axis=0), 2000, noisy=False)
    assert np.corrcoef(two)[0, 1] > 0.999  # joint: equal points have equal values
    with pytest.raises(ValueError, match="n_samples: expected a whole number from 0 on, got -1"):
        model.sample_y(Z, -1)


def test_several_outputs(data, rng):
    X, y = data
    Y = np.column_stack([y, X[:, 1] + 0.1 * rng.normal(size=60)])
    model = ks.StackedRegressor(ESTIMATORS).fit(X, Y)
    logs = [stats.norm.logpdf(one.loo_residuals_, 0, one.loo_std_).sum(axis=1) for one in model.estimators_]
    np.testing.assert_allclose(model.loo_log_density_, np.log(model.weights_ @ np.exp(logs)), rtol=1e-10)
    mean, std = model.predict(X[:4], return_std=True)
    assert mean.shape == std.shape == (4, 2)
    assert model.predict_quantiles(X[:4], [0.1, 0.5, 0.9]).shape == (4, 2, 3)
    assert model.sample_y(X[:4], 5).shape == (4, 2, 5)
    assert model.log_density(X[:4], Y[:4]).shape == (4,)
    assert model.left_out(output=1).predictions.shape == (60,)
    assert model.prediction(X[:4], level=0.9, output=1).lower.shape == (4,)
    with pytest.raises(ValueError, match=r"y: expected shape \(4, 2\), got \(4,\)"):
        model.log_density(X[:4], Y[:4, 0])


def test_copies_and_pickles(model, data):
    X, y = data
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X, return_std=True), model.predict(X, return_std=True))
    refitted = clone(model).fit(X, y)
    np.testing.assert_array_equal(refitted.weights_, model.weights_)
    assert repr(model).startswith("StackedRegressor(estimators=[GaussianProcessRegressor(kernel='RBF'")
    assert not hasattr(ESTIMATORS[0], "kernel_")  # clones are fitted
    table = pd.DataFrame(X, columns=["a", "b"])
    named = ks.StackedRegressor(ESTIMATORS[:2]).fit(table, y)
    assert named.feature_names() == ["a", "b"]
    assert np.isfinite(named.predict(table)).all()
    assert len(cross_val_score(ks.StackedRegressor(ESTIMATORS[:2]), X, y, cv=2)) == 2


def test_points_that_are_objects(rng):
    X = ["".join(rng.choice(list("abc"), 10)) for _ in range(40)]
    y = np.array([x.count("ab") - x.count("c") for x in X]) + 0.2 * rng.normal(size=40)
    model = ks.StackedRegressor([process(st.Spectrum(1)), process(RBF("auto") @ st.Spectrum(2))]).fit(X, y)
    mean, std = model.predict(["abab", "cc"], return_std=True)
    assert mean[0] > mean[1]
    assert (std > 0).all()


def test_what_cannot_be_stacked_is_said(data):
    for wrong in (None, [], "RBF"):
        with pytest.raises(ValueError, match="estimators: expected a list of GaussianProcessRegressor, at least one"):
            ks.StackedRegressor(wrong).fit(*data)
    for one in (ks.SVR(), "RBF", ("a", process("RBF"))):
        with pytest.raises(TypeError, match="estimators: expected each to be a GaussianProcessRegressor, got"):
            ks.StackedRegressor([process("RBF"), one]).fit(*data)
    with pytest.raises(NotFittedError):
        ks.StackedRegressor([process("RBF")]).predict(data[0])
